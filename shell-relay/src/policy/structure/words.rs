//! Words with what expands in them, redirections, and simple commands.

use std::ops::Range;

use super::{
    reader::{ENDS_WORD, FOLDER_CHANGES, NOT_READ, Read, Reader},
    values::{Mark, Source, Value, Written, is_own_name, written},
};
use crate::{
    policy::dialect::{MAY_LACK_OPERANDS, only_choose},
    shell::Shell,
};

/// Variables that a line may set for one program: they change the language it speaks, the order it sorts in, and the time it shows.
const OF_A_PROGRAM: &[&str] =
    &["COLUMNS", "LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "NO_COLOR", "TZ"];
/// Builtins to which all their words are texts.
const TEXTS: &[&str] = &["[", "echo", "print", "printf", "test"];

/// A word of the line, and its text among plain commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub raw: Range<usize>,
    pub text: String,
    /// Something in it expands.
    pub expands: bool,
    pub mark: Option<Mark>,
}

/// What a simple command is put together from.
#[derive(Debug, Default)]
struct Simple {
    assignments: Vec<(String, usize, Word)>,
    words: Vec<Word>,
    /// As text, with the word in it.
    redirects: Vec<(String, Word)>,
    /// What a here-string says.
    input: Option<Word>,
}

impl<'a> Reader<'a> {
    /// A word; the line goes on with what ends it.
    pub(super) fn word(&mut self, before: &str) -> Read<Word> {
        let start = self.at;
        let mut word = Word::default();
        if self.eat("<(") {
            self.substituted()?;
            word.text.push_str("/dev/null");
            word.expands = true;
        }
        while let Some(c) = self.next().filter(|c| !ENDS_WORD.contains(*c)) {
            match c {
                '\\' => {
                    let two = self.rest().chars().take(2).map(char::len_utf8).sum::<usize>();
                    word.text.push_str(self.text(self.at..self.at + two));
                    self.at += two;
                }
                '\'' => {
                    let end = self.rest()[1..].find('\'').ok_or(Some("has an open quote"))? + 2;
                    word.text.push_str(&self.rest()[..end]);
                    self.at += end;
                }
                '"' => self.double_quoted(&mut word, before)?,
                '$' | '`' => self.expansion(&mut word, before, false)?,
                '#' if self.at == start => return Err(Some("contains a comment")),
                '[' => match class(self.rest()).filter(|_| self.at > start || self.rest().len() > 1) {
                    // Any letter is more than those of the class.
                    Some(bytes) => {
                        self.at += bytes;
                        word.text.push('?');
                        (word.expands, self.has_more) = (true, true);
                    }
                    None => {
                        word.text.push(c);
                        self.at += 1;
                    }
                },
                _ => {
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if self.shell == Shell::Zsh && self.next() == Some('(') && has_pattern(&word.text) {
            self.qualifiers(before)?;
            (word.expands, self.has_more) = (true, true);
        }
        word.raw = start..self.at;
        if word.raw.is_empty() {
            return Err(NOT_READ);
        }
        self.words.insert(self.text(word.raw.clone()));
        if let Some(mark) = &mut word.mark {
            mark.is_whole = matches!(word.text.as_str(), "x" | "1" | "./x");
        }
        Ok(word)
    }

    /// `(.N)` behind a pattern, which only chooses. Without anything that matches the word may be left out.
    fn qualifiers(&mut self, before: &str) -> Read<()> {
        let (inside, _) = self.rest()[1..].split_once(')').ok_or(NOT_READ)?;
        let (kinds, modifiers) = inside.split_once(':').map_or((inside, None), |(kinds, rest)| (kinds, Some(rest)));
        let is_kept = !kinds.contains('N') || before.is_empty() || self.may_lack;
        if inside.is_empty()
            || self.line.contains("xargs")
            || !only_choose(kinds)
            || !is_kept
            || modifiers.is_some_and(|rest| !self.is_text || !matches!(rest, "t" | "h" | "r" | "e"))
        {
            return Err(NOT_READ);
        }
        let end = self.at + inside.len() + 2;
        self.hidden.push(self.at..end);
        self.at = end;
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word, before: &str) -> Read<()> {
        self.at += 1;
        let mut run = String::new();
        let mut is_empty = true;
        loop {
            match self.next().ok_or(Some("has an open quote"))? {
                '"' => break,
                '\\' => {
                    let two = self.rest().chars().take(2).map(char::len_utf8).sum::<usize>();
                    run.push_str(self.text(self.at..self.at + two));
                    self.at += two;
                }
                '$' | '`' => {
                    flush(&mut run, word);
                    self.expansion(word, before, true)?;
                }
                c => {
                    run.push(c);
                    self.at += c.len_utf8();
                }
            }
            is_empty = false;
        }
        self.at += 1;
        if is_empty {
            word.text.push_str("\"\"");
        }
        flush(&mut run, word);
        Ok(())
    }

    /// A command of words, assignments and redirections.
    pub(super) fn simple(&mut self) -> Read<()> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            let Some(c) = self.next() else { break };
            let behind_digits = self.rest().trim_start_matches(|c: char| c.is_ascii_digit());
            if behind_digits.starts_with(['<', '>']) && !self.rest().starts_with("<(") || self.rest().starts_with("&>")
            {
                self.redirect(&mut simple)?;
            } else if "\n;&|)".contains(c) || (self.shell == Shell::Zsh && self.bare_word() == "}") {
                break;
            } else if let Some(name) = self.assignment().filter(|_| simple.words.is_empty()) {
                let at = self.at;
                self.at += name.len() + 1;
                let is_empty = self.next().is_none_or(|c| ENDS_WORD.contains(c));
                let value = if is_empty { Word::default() } else { self.word("")? };
                simple.assignments.push((name.to_owned(), at, value));
            } else {
                self.may_lack =
                    simple.words.first().is_some_and(|name| MAY_LACK_OPERANDS.contains(&name.text.as_str()));
                self.is_text = simple.words.first().is_some_and(|name| TEXTS.contains(&name.text.as_str()));
                let before = simple.words.last().map(|word| word.text.clone()).unwrap_or_default();
                simple.words.push(self.word(&before)?);
            }
        }
        self.is_text = false;
        self.run(simple)
    }

    fn assignment(&self) -> Option<&'a str> {
        let (name, _) = self.rest().split_once('=')?;
        super::values::is_name(name).then_some(name)
    }

    fn run(&mut self, simple: Simple) -> Read<()> {
        let Some(name) = simple.words.first() else { return self.run_assignments(simple) };
        if name.expands {
            return Err(Some("which program runs is not known beforehand"));
        }
        let unit = self.unit;
        self.units.entry(unit).or_default().names.insert(name.raw.start);
        let for_program = |(variable, _, value): &(String, usize, Word)| {
            // A path in `TZ` would be read.
            let is_plain = (value.text.is_empty() || value.text.starts_with(|c: char| c.is_ascii_alphanumeric()))
                && !value.text.contains("..")
                && (variable == "TZ" || !value.text.contains('/'));
            let is_known = value.text.is_empty() || written(&value.text) == Some(Written::Plain);
            is_plain && is_known && !value.expands && OF_A_PROGRAM.contains(&variable.as_str())
        };
        let name = name.text.as_str();
        self.has_more |= !simple.assignments.is_empty();
        if !simple
            .assignments
            .iter()
            .all(|assignment| for_program(assignment) || (name == "read" && assignment.0 == "IFS"))
        {
            return Err(Some("begins with an assignment or a redirection"));
        }
        self.has_xargs |= name == "xargs";
        match name {
            "read" => return self.run_read(&simple),
            "break" | "continue" if self.loops > 0 && simple.words.len() == 1 && simple.redirects.is_empty() => {
                return Ok(());
            }
            "cd" | "pushd" | "popd" => {
                if self.loops > 0 || simple.words.iter().any(|word| word.expands) {
                    return Err(Some(FOLDER_CHANGES));
                }
                self.changes_folder = true;
            }
            "xargs" if simple.redirects.iter().any(|(sign, _)| sign.contains('<')) || simple.input.is_some() => {
                return Err(Some("`xargs` runs a command on what is not known"));
            }
            "xargs" if self.has_compound => return Err(Some("`xargs` runs a command on what is not known")),
            _ => {}
        }
        if let Some(input) = &simple.input {
            if self.is_piped {
                return Err(Some("uses a here-string"));
            }
            self.out.begin(false)?;
            self.out.made("echo ");
            self.put(input);
            self.is_piped = true;
        }
        self.out.begin(std::mem::take(&mut self.is_piped))?;
        for (at, word) in simple.words.iter().enumerate() {
            self.out.made(if at == 0 { "" } else { " " });
            self.put(word);
        }
        self.put_redirects(&simple.redirects);
        Ok(())
    }

    pub(super) fn put(&mut self, word: &Word) {
        self.out.word(&word.text);
        if word.expands {
            self.out.put(&word.text, word.raw.clone(), word.mark.clone());
        } else {
            self.out.copy(self.line, word.raw.clone());
        }
    }

    fn put_redirects(&mut self, redirects: &[(String, Word)]) {
        for (sign, target) in redirects {
            self.out.made(" ");
            self.out.made(sign);
            self.out.made(&target.text);
        }
    }

    fn run_assignments(&mut self, simple: Simple) -> Read<()> {
        self.has_more = true;
        if simple.assignments.is_empty() || !simple.redirects.is_empty() || simple.input.is_some() {
            return Err(NOT_READ);
        }
        for (name, at, word) in simple.assignments {
            if !is_own_name(&name) {
                return Err(Some("sets a variable that may matter"));
            }
            let raw = self.text(word.raw.clone());
            let doubles = raw.matches(&format!("${name}")).count() + raw.matches(&format!("${{{name}")).count() > 1;
            // A named folder of zsh's would tell what a variable holds, and what doubles in a loop fills the memory.
            if doubles || (word.text.starts_with('~') && !word.text.starts_with("~/")) {
                return Err(NOT_READ);
            }
            let expands = raw.matches('$').count() - raw.matches("$(").count();
            let replaces = raw
                .split("${")
                .skip(1)
                .any(|rest| rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').starts_with('/'));
            if self.loops > 0 && (expands > 1 || replaces) {
                return Err(Some("may fill the memory of the shell"));
            }
            let is_open = word.expands && (word.text == "." || word.text.ends_with("~/."));
            let is_list = self.shell == Shell::Fish && word.text.contains(['*', '?']);
            let value = match word.mark {
                // What follows could belong to the name of the folder; a pattern of fish may match nothing.
                None if is_open || is_list => Value::Computed(Source::Any),
                Some(mark) if mark.is_whole => Value::Computed(mark.source),
                Some(_) => Value::Computed(Source::Any),
                None => value_of(&word.text),
            };
            self.assign_from(&name, at, value, expands == 0);
        }
        Ok(())
    }

    /// `read -r a b`, which says nothing.
    fn run_read(&mut self, simple: &Simple) -> Read<()> {
        let mut words = simple.words[1..].iter();
        let mut names = Vec::new();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "-r" => {}
                "-d" => drop(words.next()),
                name if !word.expands && (is_own_name(name) || name == "_") => names.push((name, word.raw.start)),
                _ => return Err(Some("sets a variable that may matter")),
            }
        }
        if names.is_empty() {
            return Err(Some("sets a variable that may matter"));
        }
        // With other signs between words, a part of a line is another name.
        let is_whole = simple.assignments.iter().all(|(_, _, value)| value.text.is_empty());
        let is_fed = simple.redirects.is_empty() && simple.input.is_none() && is_whole;
        let source = if is_fed && names.len() == 1 { self.feed.clone() } else { Source::Any };
        for (name, at) in names {
            self.assign(name, at, Value::Computed(source.clone()));
        }
        self.stand_for_redirects(&simple.redirects);
        Ok(())
    }

    /// What is redirected without a program that it is judged with.
    pub(super) fn stand_for_redirects(&mut self, redirects: &[(String, Word)]) {
        for (sign, target) in redirects {
            self.aside(format!("true {sign}{}", target.text));
        }
    }

    /// The redirections behind a group or loop.
    pub(super) fn redirects(&mut self) -> Read<Vec<(String, Word)>> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            let behind_digits = self.rest().trim_start_matches(|c: char| c.is_ascii_digit());
            if !behind_digits.starts_with(['<', '>']) && !self.rest().starts_with("&>") {
                break;
            }
            self.redirect(&mut simple)?;
        }
        if let Some(input) = simple.input {
            // Judged as any text that is shown.
            self.aside(format!("echo {}", input.text));
        }
        Ok(simple.redirects)
    }

    fn redirect(&mut self, simple: &mut Simple) -> Read<()> {
        let start = self.at;
        self.at += self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if self.at == start && self.eat("<<<") {
            self.skip_blanks();
            let word = self.word("")?;
            self.has_more = true;
            return simple.input.replace(word).map_or(Ok(()), |_| Err(Some("uses a here-string")));
        }
        if self.rest().starts_with("<<") {
            return Err(Some("uses a here-document"));
        }
        let signs = ["&>", ">>", ">&", "<", ">"];
        let sign = signs.into_iter().find(|sign| self.eat(sign)).ok_or(NOT_READ)?;
        let sign = format!("{}{sign}", self.text(start..self.at - sign.len()));
        self.skip_blanks();
        let mut word = self.word("")?;
        match &word.mark {
            // The file is one of those that match, which are judged by themselves.
            Some(mark) if mark.source == Source::Matches && sign == "<" => {
                self.aside(format!("true <{}", word.text));
                word.text = "./x".into();
            }
            Some(_) => return Err(Some("redirects to or from what is not known beforehand")),
            None => {}
        }
        simple.redirects.push((sign, word));
        Ok(())
    }
}

/// What a variable holds that is given a word in which nothing is computed.
pub(super) fn value_of(text: &str) -> Value {
    match written(text) {
        Some(_) => Value::Text(text.to_owned()),
        None => Value::Computed(Source::Any),
    }
}

/// Stands for what is not known: a number where an option wants one.
pub(super) fn sample(source: &Source, before: &str, text: &str) -> &'static str {
    let is_option = |word: &str| word.len() == 2 && word.starts_with('-') && word != "--";
    let is_number = source.is_number() || is_option(before) || (text.starts_with('-') && text.len() == 2);
    if is_number { "1" } else { "x" }
}

/// The bytes of `[a-z]` at the front of a text.
fn class(text: &str) -> Option<usize> {
    let (inside, _) = text.strip_prefix('[')?.split_once(']')?;
    let letters = inside.strip_prefix(['!', '^']).unwrap_or(inside);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (!letters.is_empty() && letters.bytes().all(is_plain)).then_some(inside.len() + 2)
}

fn has_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
        && !text.ends_with(['?', '+', '@', '!', '#', '^', '$'])
        && !text.contains(['\'', '"', '\\'])
}

fn flush(run: &mut String, word: &mut Word) {
    if !run.is_empty() {
        word.text.extend(["\"", run.as_str(), "\""]);
        run.clear();
    }
}
