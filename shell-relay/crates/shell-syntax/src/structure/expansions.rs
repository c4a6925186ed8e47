//! Reads variables, substitutions and arithmetic in a word.

use cohab_shell_state::shell::Shell;

use super::{
    commands::Read,
    reader::{ENDS_WORD, MAX_DEPTH, NOT_READ, Reader},
    values::{SEPARATORS, Source, Value, Written, is_name, written},
    words::{Word, sample},
};

const VARIABLE: &str = "expands a variable";
/// The forms of one sign behind a `$`.
const ONE_SIGN: &[&str] = &[r"'\t'", r"'\n'", r"'\0'", r"'\r'"];
/// Flags of zsh's `${(f)name}` that change a text or a list, and run nothing.
const PLAIN_FLAGS: &str = "@fFoOnuUiaLCMkvtqSIR";

impl Reader<'_> {
    /// Reads an expansion that begins with `$` or a backtick.
    pub(super) fn expansion(&mut self, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        (word.expands, self.has_more) = (true, true);
        if self.eat("`") {
            let end = self.rest().find('`').ok_or(Some("has an open quote"))?;
            // With a quote or another such sign in it, the written text differs from the text that runs.
            if self.rest()[..end].contains(['\\', '"', '$']) {
                return Err(Some("uses a substitution"));
            }
            self.backticked(end)?;
            self.compute(word, before, Source::Any);
            return Ok(());
        }
        self.at += 1;
        if !is_quoted && let Some(escape) = one_sign(self.rest()) {
            // Any other sign would be the same to the program.
            self.at += escape.len();
            word.text.push(':');
            return Ok(());
        }
        if self.eat("((") {
            self.arithmetic("))")?;
            self.compute(word, before, Source::Number);
        } else if self.eat("(") {
            let number = self.substituted()?;
            let source = if self.prints_number(number) { Source::Number } else { Source::Any };
            self.compute(word, before, source);
        } else if self.eat("{") {
            self.braced(word, before, is_quoted)?;
        } else if self.next().is_none_or(|c| ENDS_WORD.contains(c) || c == '"') {
            word.text.push('$');
        } else {
            self.bare(word, before, is_quoted)?;
        }
        Ok(())
    }

    /// A variable without braces, behind the `$`.
    fn bare(&mut self, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        let is_zsh = self.shell == Shell::Zsh;
        let tells_number = is_zsh && (self.eat("#") || self.eat("+"));
        let is_spread = is_zsh && self.eat("^");
        if let Some(sign) = self.next().filter(|c| c.is_ascii_digit() || matches!(c, '@' | '*' | '?' | '#')) {
            // The arguments are those of a function of the line; the status is that of a command of the line, if there was one.
            if sign == '?' && self.out.commands.is_empty() || self.functions.is_empty() && !matches!(sign, '?' | '#') {
                return Err(Some(VARIABLE));
            }
            self.at += 1;
            self.compute(word, before, if matches!(sign, '?' | '#') { Source::Number } else { Source::Any });
            return Ok(());
        }
        if tells_number && self.next().is_none_or(|c| ENDS_WORD.contains(c) || c == '"') {
            self.compute(word, before, Source::Number);
            return Ok(());
        }
        let end = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
        let name = &self.rest()[..end];
        if !is_name(name) {
            return Err(Some(VARIABLE));
        }
        self.at += end;
        let mut is_changed = tells_number || is_spread;
        if is_zsh {
            while self.next() == Some('[') {
                self.at += 1;
                self.changed("]")?;
                is_changed = true;
            }
            while let Some(behind) =
                self.rest().strip_prefix(':').filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
            {
                let is_plain = behind.starts_with(['t', 'h', 'r', 'e', 'u', 'l']);
                if !is_plain {
                    return Err(Some(VARIABLE));
                }
                self.at += 2;
                is_changed = true;
            }
        }
        if !is_changed {
            return self.variable(name, word, before, is_quoted);
        }
        self.known(name)?;
        self.compute(word, before, if tells_number { Source::Number } else { Source::Any });
        Ok(())
    }

    /// Checks that the variable is one of the line's, or shows nothing secret.
    fn known(&mut self, name: &str) -> Read<()> {
        if self.variables.contains_key(name) {
            return Ok(());
        }
        if !matches!(name, "PWD" | "HOME") {
            self.of_environment(name).ok_or(Some(VARIABLE))?;
        }
        if !self.vocabulary.is_set_by_the_shell(name) {
            self.environment.insert(name.to_owned());
        }
        Ok(())
    }

    /// Reads the text behind a variable's name within `${...}` or `[...]`, up to `end`: it changes a text, or chooses some of a list.
    fn changed(&mut self, end: &str) -> Read<()> {
        self.go_deeper(2 * MAX_DEPTH)?;
        self.code.computes = true;
        while !self.eat(end) {
            if let Some(escape) = self.rest().strip_prefix('$').and_then(one_sign) {
                self.at += "$".len() + escape.len();
                continue;
            }
            match self.next().ok_or(NOT_READ)? {
                '$' | '`' => self.expansion(&mut Word::default(), "", true)?,
                '"' => self.quoted_part()?,
                '\'' => {
                    let end = self.rest()[1..].find('\'').ok_or(Some("has an open quote"))? + 2;
                    self.at += end;
                }
                '[' => {
                    self.at += 1;
                    self.changed("]")?;
                }
                '\\' => {
                    let two = self.rest().chars().take(2).map(char::len_utf8).sum::<usize>();
                    self.at += two;
                }
                // A list of commands, or an evaluated text.
                '<' | '>' | ';' | '&' | '\n' | '{' => return Err(Some(VARIABLE)),
                // The variable may get another value here.
                ':' if self.rest().starts_with(":=") || self.rest().starts_with("::=") => return Err(Some(VARIABLE)),
                // `${name@P}` runs code.
                '@' if !self.text(0..self.at).ends_with('[') => return Err(Some(VARIABLE)),
                c => self.at += c.len_utf8(),
            }
        }
        self.around.depth -= 1;
        Ok(())
    }

    fn backticked(&mut self, bytes: usize) -> Read<()> {
        let line = self.line;
        let end = self.at + bytes;
        // The list ends where the text does.
        let mut inner = self.clone();
        inner.line = &line[..end];
        inner.out = super::out::Out::default();
        (inner.pipe.is_piped, inner.pipe.has_compound) = (false, false);
        inner.list(super::reader::Until::End)?;
        let list = std::mem::take(&mut inner.out);
        self.lists = std::mem::take(&mut inner.lists);
        self.lists.push(list);
        self.assigned = std::mem::take(&mut inner.assigned);
        self.called = std::mem::take(&mut inner.called);
        self.environment = std::mem::take(&mut inner.environment);
        self.has_xargs |= inner.has_xargs;
        (self.code.computes, self.code.holds_code) = (inner.code.computes, inner.code.holds_code);
        self.has_blocks |= inner.has_blocks;
        self.steps = inner.steps;
        self.at = end + 1;
        Ok(())
    }

    /// Whether a list prints only numbers, or nothing.
    fn prints_number(&self, number: usize) -> bool {
        let commands = &self.lists[number].commands;
        let Some((_, words)) = commands.last().filter(|_| commands.iter().skip(1).all(|(is_piped, _)| *is_piped))
        else {
            return false;
        };
        self.vocabulary.prints_number(words, self.shell)
    }

    fn variable(&mut self, name: &str, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        if !self.variables.contains_key(name) {
            self.known(name)?;
        }
        // In bash the name of a folder with a blank would be two words.
        let is_one = is_quoted || self.shell != Shell::Bash;
        let value = match name {
            _ if self.variables.contains_key(name) => self.variables[name].clone(),
            "PWD" if is_one && word.text.is_empty() && self.is_whole_name() => Value::Text(".".into()),
            "HOME" if is_one && word.text.is_empty() && self.is_whole_name() => {
                if self.eat("/") {
                    word.text.push_str("~/");
                } else {
                    // In a plain command a lone `~` must end the word.
                    word.text.push_str("~/.");
                }
                return Ok(());
            }
            "HOME" | "PWD" => Value::Computed(Source::Any),
            _ => self.of_environment(name).ok_or(Some(VARIABLE))?,
        };
        match value {
            Value::Computed(source) => self.compute(word, before, source),
            // It may be split at any sign.
            Value::Text(_) if self.changing.contains_key(SEPARATORS) => self.compute(word, before, Source::Any),
            Value::Text(text) => self.put_value(&text, word, before, is_quoted)?,
        }
        Ok(())
    }

    /// Whether the path that a variable holds ends here; otherwise it continues below.
    fn is_whole_name(&self) -> bool {
        let behind = self.rest().strip_prefix('"').unwrap_or(self.rest());
        behind.chars().next().is_none_or(|c| c == '/' || ENDS_WORD.contains(c))
    }

    fn put_value(&mut self, text: &str, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        let splits = !is_quoted && self.shell == Shell::Bash;
        let is_pattern = text.contains(['*', '?']);
        if is_pattern && (self.is_text || takes_file(before)) {
            // The file makes no difference to a text, and a value is one word.
            self.aside(if self.is_text { format!("echo {text}") } else { format!("true <{text}") });
            word.text.push_str("./x");
            join(word, Source::Matches);
            return Ok(());
        }
        if text.starts_with('~') && !word.text.is_empty() {
            return Err(Some(VARIABLE));
        }
        match written(text).ok_or(Some(VARIABLE))? {
            Written::Quoted if splits => return Err(Some(VARIABLE)),
            Written::Pattern => join(word, Source::Matches),
            _ => {}
        }
        word.text.push_str(text);
        Ok(())
    }

    fn compute(&mut self, word: &mut Word, before: &str, source: Source) {
        let text = if self.is_text { sample(Source::Number, "", "") } else { sample(source, before, &word.text) };
        word.text.push_str(text);
        join(word, source);
    }

    /// `${name}`, and the same with its text changed, behind the brace.
    fn braced(&mut self, word: &mut Word, before: &str, is_quoted: bool) -> Read<()> {
        let is_zsh = self.shell == Shell::Zsh;
        let mut is_number = false;
        if is_zsh && self.eat("(") {
            let (flags, _) = self.rest().split_once(')').ok_or(NOT_READ)?;
            if !are_plain_flags(flags) {
                return Err(Some(VARIABLE));
            }
            self.at += flags.len() + 1;
        }
        if self.rest().starts_with(['#', '+']) && !self.rest()[1..].starts_with('}') {
            self.at += 1;
            is_number = true;
        } else if !is_zsh && self.rest().starts_with('!') {
            // The places of a list; otherwise the variable that another one names.
            let (name, _) = self.rest()[1..].split_once(['[', '}']).ok_or(NOT_READ)?;
            if !["[@]}", "[*]}"].iter().any(|end| self.rest()[1 + name.len()..].starts_with(end)) {
                return Err(Some(VARIABLE));
            }
            self.at += 1;
        }
        // `${=name}` splits the value.
        let is_spread = is_zsh && !is_number && (self.eat("^") || self.eat("="));
        let end = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
        let name = &self.rest()[..end];
        if is_name(name) {
            self.at += end;
            if !is_number && !is_spread && self.eat("}") {
                return self.variable(name, word, before, is_quoted);
            }
            self.known(name)?;
            // The variable may get another value here.
            if self.rest().trim_start_matches(':').starts_with('=') {
                return Err(Some(VARIABLE));
            }
        } else if name.starts_with(|c: char| c.is_ascii_digit()) && !self.functions.is_empty() {
            self.at += end;
        } else if is_zsh && self.rest().starts_with("$") {
            self.expansion(&mut Word::default(), "", true)?;
        } else if is_zsh && self.rest().starts_with("\"$") {
            self.quoted_part()?;
        } else {
            return Err(Some(VARIABLE));
        }
        self.changed("}")?;
        self.compute(word, before, if is_number { Source::Number } else { Source::Any });
        Ok(())
    }

    /// Takes an expression up to `end`. Its result is a number in any case.
    pub(super) fn arithmetic(&mut self, end: &str) -> Read<()> {
        self.go_deeper(2 * MAX_DEPTH)?;
        self.code.computes = true;
        while !self.eat(end) {
            match self.next().ok_or(NOT_READ)? {
                '$' | '`' => self.expansion(&mut Word::default(), "", true)?,
                '(' => {
                    self.at += 1;
                    self.arithmetic(")")?;
                }
                '[' => {
                    self.at += 1;
                    self.arithmetic("]")?;
                }
                c if c.is_ascii_alphabetic() || c == '_' => {
                    let rest = self.rest();
                    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                    let at = self.at;
                    self.at += end;
                    if self.is_changed(at) {
                        if !self.is_own_name(&rest[..end]) {
                            return Err(Some("sets a variable that may matter"));
                        }
                        self.assign(&rest[..end], at, Value::Computed(Source::Number));
                    }
                }
                ')' | ']' | ';' | '\'' | '"' | '\\' => return Err(NOT_READ),
                c => self.at += c.len_utf8(),
            }
        }
        self.around.depth -= 1;
        Ok(())
    }

    /// Whether the name at `at`, which was just read, gets another value.
    fn is_changed(&self, at: usize) -> bool {
        let (before, behind) = (self.line[..at].trim_end(), self.rest().trim_start());
        // An element of a list is not the list.
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

/// Whether these flags of zsh only change a text or a list. Behind `s` and `j` stands the text that splits or joins, between two signs.
fn are_plain_flags(flags: &str) -> bool {
    let mut rest = flags;
    while let Some(flag) = rest.chars().next() {
        rest = &rest[flag.len_utf8()..];
        if !matches!(flag, 's' | 'j') {
            if !PLAIN_FLAGS.contains(flag) {
                return false;
            }
            continue;
        }
        let sign = rest.chars().next().filter(|sign| sign.is_ascii_punctuation() && !"([{<$`\"'\\".contains(*sign));
        let Some((text, behind)) = sign.and_then(|sign| rest[1..].split_once(sign)) else { return false };
        if text.contains(['$', '`', '"', '\'', '\\']) {
            return false;
        }
        rest = behind;
    }
    !flags.is_empty()
}

/// The escape of one sign that begins here, behind the `$`.
fn one_sign(text: &str) -> Option<&'static str> {
    ONE_SIGN.iter().copied().find(|escape| text.starts_with(escape))
}

/// Whether the word behind this option is its value: a file or folder, in most programs.
fn takes_file(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--") && option.ends_with(['C', 'd', 'f', 'p'])
}

/// Marks a word that has one more computed part.
fn join(word: &mut Word, source: Source) {
    word.mark = Some(match (word.mark, source) {
        (None, source) => source,
        (Some(Source::Any), _) | (_, Source::Any) => Source::Any,
        (Some(Source::Number), Source::Number) => Source::Number,
        (Some(Source::Matches | Source::Number), Source::Matches | Source::Number) => Source::Matches,
    });
}
