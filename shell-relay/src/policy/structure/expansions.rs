//! Variables, substitutions and arithmetic in a word.

use super::{
    reader::{ENDS_WORD, MAX_DEPTH, NOT_READ, Read, Reader},
    values::{Mark, Source, Value, Written, is_name, is_own_name, of_environment, written},
    words::{Word, sample},
};
use crate::shell::Shell;

const VARIABLE: &str = "expands a variable";
/// Programs with words that make them print one number, and how many more words they may have.
const PRINT_NUMBERS: &[(&str, usize)] = &[
    ("count", 9),
    ("date +%s", 0),
    ("id -u", 0),
    ("math", 9),
    ("nproc", 0),
    ("seq", 3),
    ("wc -c", 0),
    ("wc -l", 0),
    ("wc -m", 0),
    ("wc -w", 0),
];
/// What zsh may do to a variable's text: parts of a path, and letters.
const MODIFIERS: &[char] = &['t', 'h', 'r', 'e', 'u', 'l'];

impl Reader<'_> {
    /// What begins with `$` or a backtick.
    pub(super) fn expansion(&mut self, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        (word.expands, self.has_more) = (true, true);
        if self.eat("`") {
            let end = self.rest().find('`').ok_or(Some("has an open quote"))?;
            // With a quote or another sign in it, what stands there is not what is run.
            if self.rest()[..end].contains(['\\', '"', '$']) {
                return Err(Some("uses a substitution"));
            }
            let number = self.backticked(end)?;
            self.compute(word, before, Source::List(number), is_quoted);
            return Ok(());
        }
        self.at += 1;
        if self.eat("((") {
            self.arithmetic("))")?;
            self.compute(word, before, Source::Digits, true);
        } else if self.eat("(") {
            let start = self.at;
            let number = self.substituted()?;
            // Words of an error are no number.
            let source = if !self.text(start..self.at).contains('>') && self.prints_number(number) {
                Source::Number
            } else {
                Source::List(number)
            };
            self.compute(word, before, source, is_quoted);
        } else if self.eat("{") {
            self.braced(word, before, is_quoted)?;
        } else if self.eat("?") || self.eat("#") || self.eat("$") {
            self.ends_name()?;
            self.compute(word, before, Source::Digits, true);
        } else if self.eat("-") {
            self.ends_name()?;
            self.compute(word, before, Source::Any, is_quoted);
        } else if self.next().is_none_or(|c| ENDS_WORD.contains(c) || c == '"') {
            word.text.push('$');
        } else {
            let end = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
            let name = &self.rest()[..end];
            if !is_name(name) {
                return Err(Some(VARIABLE));
            }
            self.at += end;
            let is_modified = self
                .rest()
                .strip_prefix(':')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '&'));
            if self.next() == Some('[') || (self.shell == Shell::Zsh && is_modified) {
                return Err(Some(VARIABLE));
            }
            self.variable(name, word, before, is_quoted)?;
        }
        Ok(())
    }

    fn backticked(&mut self, bytes: usize) -> Read<usize> {
        let line = self.line;
        let end = self.at + bytes;
        // The list ends where the text does.
        let mut inner = self.clone();
        inner.line = &line[..end];
        inner.out = super::out::Out::default();
        (inner.is_piped, inner.has_compound, inner.feed) = (false, false, Source::Any);
        inner.unit = self.at;
        inner.units.entry(self.at).or_default().range = self.at..end;
        inner.list(super::reader::Until::End)?;
        let list = std::mem::take(&mut inner.out);
        self.lists = std::mem::take(&mut inner.lists);
        self.lists.push(list);
        self.units = std::mem::take(&mut inner.units);
        self.assigned = std::mem::take(&mut inner.assigned);
        self.changes_folder |= inner.changes_folder;
        self.has_xargs |= inner.has_xargs;
        self.has_blocks |= inner.has_blocks;
        self.steps = inner.steps;
        self.hidden = std::mem::take(&mut inner.hidden);
        self.words = std::mem::take(&mut inner.words);
        self.at = end + 1;
        Ok(self.lists.len() - 1)
    }

    /// Whether all that a list prints is numbers, or nothing.
    fn prints_number(&self, number: usize) -> bool {
        let commands = &self.lists[number].commands;
        let Some((_, words)) = commands.last().filter(|_| commands.iter().skip(1).all(|(is_piped, _)| *is_piped))
        else {
            return false;
        };
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        // Behind the launcher it is the same program.
        if words.get(1) == Some(&"--") && words[0].starts_with('/') {
            words.drain(..2);
        }
        // In bash these two are anything.
        let is_of_fish = |start: &str| !matches!(start, "count" | "math") || self.shell == Shell::Fish;
        PRINT_NUMBERS.iter().filter(|(start, _)| is_of_fish(start)).any(|(start, more)| {
            let start: Vec<&str> = start.split(' ').collect();
            let is_plain = |word: &&str| start[0] != "seq" || word.bytes().all(|byte| byte.is_ascii_digit());
            words.starts_with(&start) && words.len() <= start.len() + more && words[start.len()..].iter().all(is_plain)
        })
    }

    fn variable(&mut self, name: &str, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        let value = match name {
            _ if self.variables.contains_key(name) => self.variables[name].clone(),
            "PWD" if word.text.is_empty() && self.is_whole_name() => Value::Text(".".into()),
            "HOME" if word.text.is_empty() && self.is_whole_name() => {
                if self.eat("/") {
                    word.text.push_str("~/");
                } else {
                    // In a plain command a lone `~` must end the word.
                    word.text.push_str("~/.");
                }
                return Ok(());
            }
            "HOME" | "PWD" => Value::Computed(Source::Any),
            _ => of_environment(name, self.shell).ok_or(Some(VARIABLE))?,
        };
        match value {
            Value::Computed(source) => self.compute(word, before, source, is_quoted),
            Value::Text(text) => self.put_value(&text, word, before, is_quoted)?,
        }
        Ok(())
    }

    /// A shell may take what follows a name of one sign for a part of it.
    fn ends_name(&self) -> Read<()> {
        let goes_on = self.next().is_some_and(|c| !ENDS_WORD.contains(c) && !matches!(c, '"' | '/' | '.' | ','));
        if goes_on { Err(Some(VARIABLE)) } else { Ok(()) }
    }

    /// Whether the path that a variable holds ends here, or goes on below it.
    fn is_whole_name(&self) -> bool {
        let behind = self.rest().strip_prefix('"').unwrap_or(self.rest());
        behind.chars().next().is_none_or(|c| c == '/' || ENDS_WORD.contains(c))
    }

    fn put_value(&mut self, text: &str, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        let splits = !is_quoted && self.shell == Shell::Bash;
        let is_pattern = text.contains(['*', '?']);
        if is_pattern && (self.is_text || takes_file(before)) {
            // Which file it is makes no difference to a text, and a value is one word.
            self.aside(format!("true <{text}"));
            word.text.push_str("./x");
            join(word, Source::Matches, splits);
            return Ok(());
        }
        if text.starts_with('~') && !word.text.is_empty() {
            return Err(Some(VARIABLE));
        }
        match written(text).ok_or(Some(VARIABLE))? {
            Written::Quoted if splits => return Err(Some(VARIABLE)),
            Written::Pattern => join(word, Source::Matches, splits),
            _ => {}
        }
        word.text.push_str(text);
        Ok(())
    }

    fn compute(&mut self, word: &mut Word, before: &str, source: Source, is_quoted: bool) {
        let is_split = !is_quoted && source != Source::Digits;
        let text = if self.is_text { sample(&Source::Digits, "", "") } else { sample(&source, before, &word.text) };
        word.text.push_str(text);
        join(word, source, is_split);
    }

    /// `${name}`, and the same with its text changed.
    fn braced(&mut self, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        if self.shell == Shell::Zsh && self.next() == Some('(') {
            return self.flagged(word, before);
        }
        let (inside, _) = self.rest().split_once('}').ok_or(NOT_READ)?;
        self.at += inside.len() + 1;
        if is_name(inside) {
            return self.variable(inside, word, before, is_quoted);
        }
        let is_known = |name: &str| {
            self.variables.contains_key(name)
                || of_environment(name, self.shell).is_some()
                || matches!(name, "PWD" | "HOME")
        };
        if inside.strip_prefix('#').is_some_and(|name| is_name(name) && is_known(name)) {
            self.compute(word, before, Source::Digits, true);
            return Ok(());
        }
        let end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inside.len());
        let (name, change) = inside.split_at(end);
        if !is_name(name) || !is_known(name) || !self.only_changes_text(change) {
            return Err(Some(VARIABLE));
        }
        self.compute(word, before, Source::Any, is_quoted);
        Ok(())
    }

    /// zsh's `${(f)"$(ls)"}`, behind the brace: what is printed, in lines, sorted and the like.
    fn flagged(&mut self, word: &mut Word, before: &str) -> Read<()> {
        const PLAIN_FLAGS: &str = "foOuniaFULC@";
        let start = self.at - "${".len();
        let (flags, _) = self.rest()[1..].split_once(')').ok_or(NOT_READ)?;
        if flags.is_empty() || !flags.chars().all(|flag| PLAIN_FLAGS.contains(flag)) {
            return Err(Some(VARIABLE));
        }
        self.at += flags.len() + 2;
        if !self.rest().starts_with("\"$(") {
            return Err(Some(VARIABLE));
        }
        self.hidden.push(start..self.at);
        let mut inside = Word::default();
        self.double_quoted(&mut inside, "")?;
        let Some(Mark { source, .. }) = inside.mark else { return Err(Some(VARIABLE)) };
        self.hidden.push(self.at..self.at + 1);
        self.expect("}")?;
        self.compute(word, before, source, false);
        Ok(())
    }

    fn only_changes_text(&self, change: &str) -> bool {
        let is_plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:,+%@*?#^-\\ ".contains(&byte));
        if let Some(behind) = change.strip_prefix(':') {
            let is_modifier = self.shell == Shell::Zsh && behind.len() == 1 && behind.starts_with(MODIFIERS);
            let is_part = behind.split(':').all(|number| {
                let digits = number.trim_start_matches(' ').trim_start_matches('-');
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            });
            return is_modifier || is_part || behind.strip_prefix('-').is_some_and(is_plain);
        }
        match change.chars().next() {
            Some('%' | '#' | '/') => is_plain(&change[1..]),
            Some('^' | ',') => self.shell == Shell::Bash && matches!(change, "^" | "^^" | "," | ",,"),
            Some('-') => is_plain(&change[1..]),
            _ => false,
        }
    }

    /// Takes an expression up to `end` in which all is numbers: the shell would run what it finds in any other variable.
    pub(super) fn arithmetic(&mut self, end: &str) -> Read<()> {
        const UNKNOWN: &str = "computes with what is not known to be a number";
        if end != ")" {
            self.may_be_skipped = false;
        }
        loop {
            if self.eat(end) {
                return Ok(());
            }
            let c = self.next().ok_or(NOT_READ)?;
            if c == '$' {
                let mut word = Word::default();
                self.expansion(&mut word, "", true)?;
                let is_number = match word.mark {
                    Some(mark) => mark.source.is_number() && word.text == "1",
                    None => !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit()),
                };
                if !is_number && !self.is_survey {
                    return Err(Some(UNKNOWN));
                }
            } else if c.is_ascii_alphabetic() || c == '_' {
                let rest = self.rest();
                let name = &rest[..rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())];
                let at = self.at;
                self.at += name.len();
                let behind = self.rest().trim_start();
                if self.is_changed(at) && self.may_be_skipped {
                    return Err(Some(UNKNOWN));
                }
                if behind.starts_with('=') && !behind.starts_with("==") && is_own_name(name) {
                    self.assign(name, at, Value::Computed(Source::Digits));
                    continue;
                }
                let is_number = self.is_survey
                    || match self.variables.get(name).cloned().or_else(|| of_environment(name, self.shell)) {
                        Some(Value::Computed(source)) => source.is_number(),
                        Some(Value::Text(text)) => text.bytes().all(|byte| byte.is_ascii_digit()),
                        None => false,
                    };
                if !is_number {
                    return Err(Some(UNKNOWN));
                }
                if self.is_changed(at) {
                    self.assign(name, at, Value::Computed(Source::Digits));
                }
            } else if c.is_ascii_digit() || "+-*/%<>=!&|^~?:, \t".contains(c) {
                self.may_be_skipped |= "&|?".contains(c);
                self.at += 1;
            } else if c == '(' {
                self.at += 1;
                self.depth += 1;
                if self.depth > 2 * MAX_DEPTH {
                    return Err(Some(UNKNOWN));
                }
                self.arithmetic(")")?;
                self.depth -= 1;
            } else {
                return Err(Some(UNKNOWN));
            }
        }
    }

    /// Whether the name at `at`, which was just taken, gets another value.
    fn is_changed(&self, at: usize) -> bool {
        let (before, behind) = (self.line[..at].trim_end(), self.rest().trim_start());
        let is_set = behind.find('=').is_some_and(|sign| {
            behind[..sign].bytes().all(|byte| b"+-*/%<>&|^".contains(&byte)) && !behind[sign + 1..].starts_with('=')
        });
        before.ends_with("++")
            || before.ends_with("--")
            || behind.starts_with("++")
            || behind.starts_with("--")
            || is_set
    }
}

/// Whether the word behind this option is its value: a file or folder, in most programs.
fn takes_file(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--") && option.ends_with(['C', 'd', 'f', 'p'])
}

/// What a word is marked with that has one more part which is computed.
fn join(word: &mut Word, source: Source, is_split: bool) {
    let mark = match word.mark.take() {
        None => Mark { source, is_split, is_whole: false },
        Some(mark) => {
            let is_same = mark.source == source;
            let source = match (mark.source, source) {
                (both, _) if is_same => both,
                (number, other) | (other, number) if number.is_number() && other == Source::Matches => other,
                (one, other) if one.is_number() && other.is_number() => Source::Number,
                _ => Source::Any,
            };
            Mark { source, is_split: is_split || mark.is_split, is_whole: false }
        }
    };
    word.mark = Some(mark);
}
