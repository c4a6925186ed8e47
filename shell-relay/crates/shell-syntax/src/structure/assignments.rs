//! Reads commands that give variables values, and functions of the line.

use cohab_shell_state::shell::Shell;

use super::{
    commands::Read,
    out::Out,
    reader::{ENDS_WORD, NOT_READ, Reader},
    values::{SEPARATORS, Source, Value, is_name, written},
    words::{Simple, Word},
};

impl<'a> Reader<'a> {
    /// The name that gets a value here, and the number of bytes in front of the value: `name=`, `name+=` or `name[place]=`.
    pub(super) fn assignment(&self) -> Option<(&'a str, usize)> {
        let (before, _) = self.rest().split_once('=')?;
        let before_sign = before.strip_suffix('+').unwrap_or(before);
        let name = before_sign.split('[').next().unwrap_or_default();
        let is_place = before_sign[name.len()..].strip_prefix('[').is_none_or(|place| {
            place
                .strip_suffix(']')
                .is_some_and(|place| place.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        });
        (is_name(name) && is_place && before_sign[name.len()..].starts_with('[') == (before_sign != name))
            .then_some((name, before.len() + 1))
    }

    /// `name=(...)`, `name+=...` or `name[1]=...`: afterwards the variable may hold any of it.
    pub(super) fn list_of_values(&mut self, name: &'a str, at: usize) -> Read<()> {
        (self.has_more, self.code.computes) = (true, true);
        if !self.is_own_name(name) {
            return Err(Some("sets a variable that may matter"));
        }
        let is_list = self.eat("(");
        loop {
            if is_list {
                self.skip_space();
            }
            if self.next().is_none_or(|c| ENDS_WORD.contains(c)) {
                break;
            }
            let word = self.word("")?;
            self.may_be_a_file(&word);
            if !is_list {
                break;
            }
        }
        if is_list {
            self.expect(")")?;
        }
        self.assign(name, at, Value::Computed(Source::Any));
        Ok(())
    }

    /// Judges the word as a file that is read, since a program may get its name.
    pub(super) fn may_be_a_file(&mut self, word: &Word) {
        if word.mark.is_none() && !word.text.starts_with('-') {
            self.aside(format!("true <{}", word.text));
        }
    }

    pub(super) fn run_assignments(&mut self, simple: Simple) -> Read<()> {
        self.has_more = true;
        let sets_none = simple.assignments.is_empty() && !simple.has_lists;
        if sets_none || !simple.redirects.is_empty() || simple.input.is_some() {
            return Err(NOT_READ);
        }
        for (name, at, word) in simple.assignments {
            let only_splits = name == SEPARATORS && self.shell != Shell::Fish;
            if !only_splits && !self.is_own_name(&name) {
                return Err(Some("sets a variable that may matter"));
            }
            if !word.text.is_empty() && !only_splits {
                self.may_be_a_file(&word);
            }
            let raw = self.text(word.raw.clone());
            // A named folder of zsh's would show the value of a variable.
            if word.text.starts_with('~') && !word.text.starts_with("~/") {
                return Err(NOT_READ);
            }
            let expands = raw.matches('$').count() - raw.matches("$(").count();
            let is_open = word.expands && (word.text == "." || word.text.ends_with("~/."));
            let is_list = self.shell == Shell::Fish && word.text.contains(['*', '?']);
            let value = match word.mark {
                // The following text could belong to the name of the folder; a pattern of fish may match nothing.
                None if is_open || is_list => Value::Computed(Source::Any),
                Some(source) => Value::Computed(source),
                None => value_of(&word.text),
            };
            self.assign_from(&name, at, value, expands == 0);
        }
        self.skip_blanks();
        if self.around.depth == 1 && self.rest().is_empty() {
            return Err(Some("sets a variable that would be gone at once"));
        }
        Ok(())
    }

    /// Reads `read -r a b` and `mapfile -t a`, which print nothing.
    pub(super) fn run_read(&mut self, simple: &Simple) -> Read<()> {
        let mut words = simple.words[1..].iter();
        let mut names = Vec::new();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "-r" | "-t" | "-ra" | "-a" | "-A" | "-rA" => {}
                "-d" | "-n" | "-s" => drop(words.next()),
                name if !word.expands && (self.is_own_name(name) || name == "_") => {
                    names.push((name, word.raw.start));
                }
                _ => return Err(Some("sets a variable that may matter")),
            }
        }
        if names.is_empty() {
            return Err(Some("sets a variable that may matter"));
        }
        for (name, at) in names {
            self.assign(name, at, Value::Computed(Source::Any));
        }
        self.stand_for_redirects(&simple.redirects);
        Ok(())
    }

    /// `printf -v name FORMAT TEXT...`: the texts are judged as if they were printed.
    pub(super) fn run_printf(&mut self, simple: &Simple) -> Read<()> {
        self.has_more = true;
        let is_plain =
            simple.redirects.is_empty() && simple.input.is_none() && !self.pipe.is_piped && self.shell != Shell::Fish;
        let [printf, _, name, texts @ ..] = &simple.words[..] else { return Err(NOT_READ) };
        if !is_plain || name.expands || texts.is_empty() || !self.is_own_name(&name.text) {
            return Err(Some("sets a variable that may matter"));
        }
        self.assign(&name.text, name.raw.start, Value::Computed(Source::Any));
        let mut printed = Out::default();
        printed.begin(false)?;
        for (at, word) in std::iter::once(printf).chain(texts).enumerate() {
            printed.made(if at == 0 { "" } else { " " });
            printed.put(&word.text, word.mark);
        }
        self.lists.push(printed);
        Ok(())
    }

    /// `declare -A name`, `local name=value`.
    pub(super) fn run_declare(&mut self, simple: &Simple) -> Read<()> {
        self.has_more = true;
        let mut names = 0;
        for word in &simple.words[1..] {
            if matches!(word.text.as_str(), "-a" | "-A" | "-i" | "-r" | "-l") {
                continue;
            }
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            if !self.is_own_name(name) {
                return Err(Some("sets a variable that may matter"));
            }
            if !value.is_empty() {
                self.may_be_a_file(&Word { text: value.to_owned(), mark: word.mark, ..Word::default() });
            }
            self.assign(name, word.raw.start, Value::Computed(Source::Any));
            names += 1;
        }
        if names == 0 || !simple.redirects.is_empty() || simple.input.is_some() {
            return Err(Some("asks the shell about itself from a loop, condition or substitution"));
        }
        Ok(())
    }

    /// Calls a function of the line: its commands were read at its definition.
    pub(super) fn run_function(&mut self, simple: &Simple) -> Read<()> {
        if self.open_functions > 0 {
            return Err(Some("a function that may call itself"));
        }
        for word in &simple.words[1..] {
            self.may_be_a_file(word);
        }
        self.stand_for_redirects(&simple.redirects);
        self.aside("true".into());
        Ok(())
    }
}

/// The value of a variable that is given a word in which nothing is computed.
pub(super) fn value_of(text: &str) -> Value {
    match written(text) {
        Some(_) => Value::Text(text.to_owned()),
        None => Value::Computed(Source::Any),
    }
}
