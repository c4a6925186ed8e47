//! Rewrites a fish line in bash syntax: blocks, substitutions in parentheses, and `set`. The meaning is the same; the parsers and the
//! reader know bash.

use std::ops::Range;

use super::{MAX_BYTES, out::Piece, reader::MAX_DEPTH};

/// The kind of a block, and its end in bash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FishBlock {
    If,
    Loop,
    Group,
    Switch,
    Function,
    Parenthesis,
}

/// The bash form of the next separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// No head of a block: the separator itself.
    None,
    Then,
    Do,
    /// Nothing: a command follows at once.
    Blank,
    /// `in`, behind the value of `switch`.
    In,
    /// `)`, behind the patterns of `case`.
    Pattern,
}

/// The line in bash syntax, and the map of its pieces; `None` if a part of it is not known to mean the same.
pub(crate) fn in_bash(line: &str) -> Option<(String, Vec<Piece>)> {
    if line.len() > MAX_BYTES {
        return None;
    }
    let mut translator = Translator {
        line,
        at: 0,
        text: String::new(),
        pieces: Vec::new(),
        blocks: Vec::new(),
        heads: vec![Head::None],
        cases: 0,
    };
    translator.lines()?;
    translator.blocks.is_empty().then_some((translator.text, translator.pieces))
}

struct Translator<'a> {
    line: &'a str,
    at: usize,
    text: String,
    pieces: Vec<Piece>,
    blocks: Vec<FishBlock>,
    /// One for the line, and one for each open parenthesis.
    heads: Vec<Head>,
    /// Patterns of `case` so far.
    cases: usize,
}

impl<'a> Translator<'a> {
    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn copy(&mut self, bytes: usize) {
        let start = self.text.len();
        self.text.push_str(&self.rest()[..bytes]);
        self.add(start, self.at..self.at + bytes, true);
        self.at += bytes;
    }

    /// Puts this text in the place of that many bytes.
    fn put(&mut self, text: &str, bytes: usize) {
        let start = self.text.len();
        self.text.push_str(text);
        self.add(start, self.at..self.at + bytes, false);
        self.at += bytes;
    }

    fn add(&mut self, start: usize, in_line: Range<usize>, is_copy: bool) {
        if start < self.text.len() {
            self.pieces.push(Piece { in_text: start..self.text.len(), in_line, is_copy });
        }
    }

    fn bare_word(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']).unwrap_or(rest.len())]
    }

    fn blanks(&self) -> usize {
        self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len()
    }

    fn lines(&mut self) -> Option<()> {
        let mut begins = true;
        while self.at < self.line.len() {
            if begins {
                self.at += self.blanks();
                if self.at == self.line.len() {
                    break;
                }
                begins = self.begin()?;
                continue;
            }
            begins = self.inside()?;
        }
        matches!(self.heads[..], [Head::None | Head::Blank]).then_some(())
    }

    /// Reads the beginning of a command; returns whether another command begins behind it.
    fn begin(&mut self) -> Option<bool> {
        let word = self.bare_word();
        match word {
            "if" | "while" | "for" | "switch" => {
                let (block, head, text) = match word {
                    "if" => (FishBlock::If, Head::Then, "if"),
                    "switch" => (FishBlock::Switch, Head::In, "case"),
                    _ => (FishBlock::Loop, Head::Do, word),
                };
                self.blocks.push(block);
                *self.heads.last_mut()? = head;
                self.put(text, word.len());
                let blanks = self.blanks();
                self.put(" ", blanks);
                return (blanks > 0).then_some(matches!(word, "if" | "while"));
            }
            "begin" => {
                self.blocks.push(FishBlock::Group);
                *self.heads.last_mut()? = Head::Blank;
                self.put("{", word.len());
                return self.separator();
            }
            "else" => return self.otherwise(),
            "case" => return self.case(),
            "end" => self.end()?,
            "not" | "!" => {
                self.put("! ", word.len());
                return Some(true);
            }
            // Joined by the separator in front.
            "and" | "or" if self.text.ends_with("&& ") || self.text.ends_with("|| ") => {
                self.put("", word.len());
                return Some(true);
            }
            "and" | "or" => return None,
            // fish gives values to variables in other words.
            _ if word.split_once('=').is_some_and(|(name, _)| super::values::is_name(name)) => return None,
            "set" => return self.set(),
            "read" => self.read()?,
            "function" => return self.function(),
            "builtin" | "eval" | "exec" | "return" | "time" | "{" | "}" | "[[" => return None,
            _ => {}
        }
        Some(false)
    }

    fn otherwise(&mut self) -> Option<bool> {
        if self.blocks.last() != Some(&FishBlock::If) {
            return None;
        }
        let behind = self.rest()["else".len()..].trim_start_matches([' ', '\t']);
        let is_if = behind.strip_prefix("if").is_some_and(|rest| rest.starts_with([' ', '\t']));
        if is_if {
            let bytes = self.rest().len() - behind.len() + "if".len();
            self.put("elif ", bytes);
            *self.heads.last_mut()? = Head::Then;
            return Some(true);
        }
        self.put("else", "else".len());
        *self.heads.last_mut()? = Head::Blank;
        self.separator()
    }

    fn case(&mut self) -> Option<bool> {
        if self.blocks.last() != Some(&FishBlock::Switch) {
            return None;
        }
        self.put(if self.cases > 0 { ";; " } else { "" }, "case".len());
        self.cases += 1;
        *self.heads.last_mut()? = Head::Pattern;
        self.at += self.blanks();
        Some(false)
    }

    fn end(&mut self) -> Option<()> {
        let text = match self.blocks.pop()? {
            FishBlock::If => "fi",
            FishBlock::Loop => "done",
            FishBlock::Group | FishBlock::Function => "}",
            FishBlock::Switch => "esac",
            FishBlock::Parenthesis => return None,
        };
        if text == "esac" {
            self.cases = 0;
        }
        self.put(text, "end".len());
        Some(())
    }

    /// `set -l name value`, which is `name=value`.
    fn set(&mut self) -> Option<bool> {
        let words: Vec<&str> = self.rest().split([' ', '\t']).filter(|word| !word.is_empty()).take(3).collect();
        if words.get(1).is_some_and(|word| matches!(*word, "-q" | "--query")) {
            return Some(false);
        }
        self.put("", "set".len());
        self.at += self.blanks();
        if matches!(self.bare_word(), "-l" | "--local") {
            self.at += self.bare_word().len();
            self.at += self.blanks();
        }
        let name = self.bare_word();
        if !super::values::is_name(name) {
            return None;
        }
        self.copy(name.len());
        let (at, text, pieces) = (self.at, self.text.len(), self.pieces.len());
        self.put("=", 0);
        self.at += self.blanks();
        while self.inside_of_word()? {}
        if self.is_end() {
            return Some(false);
        }
        // More than one value.
        self.at = at;
        self.text.truncate(text);
        self.pieces.truncate(pieces);
        self.put("=(", 0);
        self.at += self.blanks();
        while !self.is_end() {
            while self.inside_of_word()? {}
            if !self.is_end() {
                let blanks = self.blanks();
                (blanks > 0).then_some(())?;
                self.put(" ", blanks);
            }
        }
        self.put(")", 0);
        Some(false)
    }

    fn is_end(&mut self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        let is_end = rest.is_empty() || rest.starts_with([';', '\n', ')']);
        self.at += if is_end { self.blanks() } else { 0 };
        is_end
    }

    /// `function name`, which is `name() {`.
    fn function(&mut self) -> Option<bool> {
        self.put("", "function".len());
        self.at += self.blanks();
        let name = self.bare_word();
        super::values::is_name(name).then_some(())?;
        self.copy(name.len());
        self.put("() {", 0);
        self.blocks.push(FishBlock::Function);
        *self.heads.last_mut()? = Head::Blank;
        self.separator()
    }

    /// Reads `read -l name`, without the options for the scope of the name.
    fn read(&mut self) -> Option<()> {
        self.copy("read".len());
        loop {
            let blanks = self.blanks();
            let behind = &self.rest()[blanks..];
            match behind.split([' ', '\t']).next() {
                Some("-l" | "--local") => self.at += blanks + behind.split([' ', '\t']).next().map_or(0, str::len),
                _ => return Some(()),
            }
        }
    }

    /// One step within a command; whether another command begins behind it.
    fn inside(&mut self) -> Option<bool> {
        match self.rest().chars().next()? {
            ' ' | '\t' => {
                let blanks = self.blanks();
                if self.heads.last() == Some(&Head::Pattern) && !self.rest()[blanks..].starts_with([';', '\n']) {
                    self.put("|", blanks);
                } else {
                    self.put(" ", blanks);
                }
                Some(false)
            }
            ';' | '\n' => self.separator(),
            '|' if !self.rest().starts_with("||") => {
                self.copy(1);
                Some(true)
            }
            '&' | '|' if self.rest().starts_with("&&") || self.rest().starts_with("||") => {
                self.copy(2);
                Some(true)
            }
            '&' if self.rest().starts_with("&>") => {
                self.copy(2);
                Some(false)
            }
            '<' | '>' => {
                let is_duplicate = self.rest().starts_with(">&");
                self.copy(if is_duplicate { 2 } else { 1 });
                (!self.rest().starts_with(['?', '|', '('])).then_some(false)
            }
            '&' | '#' => None,
            ')' => {
                (self.blocks.pop()? == FishBlock::Parenthesis).then_some(())?;
                self.heads.pop().filter(|head| matches!(head, Head::None | Head::Blank))?;
                self.copy(1);
                Some(false)
            }
            _ => {
                while self.inside_of_word()? {}
                Some(false)
            }
        }
    }

    /// One step within a word; whether there is more of it.
    fn inside_of_word(&mut self) -> Option<bool> {
        let Some(c) = self.rest().chars().next() else { return Some(false) };
        match c {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => return Some(false),
            '(' => {
                self.put("$(", 1);
                self.open()?;
            }
            '$' if self.rest().starts_with("$(") => {
                self.copy(2);
                self.open()?;
            }
            '$' => self.variable()?,
            '\'' => {
                let end = self.rest()[1..].find('\'')? + 2;
                // The text would hide the quote, or itself.
                let inside = &self.rest()[..end];
                if inside.contains("\\\\") || inside.ends_with("\\'") {
                    return None;
                }
                self.copy(end);
            }
            '"' => self.double_quoted()?,
            '\\' => {
                let two = self.rest().chars().take(2).map(char::len_utf8).sum();
                self.copy(two);
            }
            '`' => return None,
            _ => self.copy(c.len_utf8()),
        }
        Some(true)
    }

    /// Reads the list of a substitution to its end.
    fn open(&mut self) -> Option<()> {
        if self.blocks.len() > MAX_DEPTH {
            return None;
        }
        self.blocks.push(FishBlock::Parenthesis);
        self.heads.push(Head::None);
        let (depth, cases) = (self.blocks.len(), std::mem::take(&mut self.cases));
        let mut begins = true;
        while self.blocks.len() >= depth {
            if begins {
                self.at += self.blanks();
                begins = self.begin()?;
            } else {
                begins = self.inside()?;
            }
        }
        self.cases = cases;
        // A part of its output: the same part of a list.
        self.skip_index()
    }

    /// `[1]`, `[-1]` or `[2..5]` behind a list: some of it.
    fn skip_index(&mut self) -> Option<()> {
        if let Some(rest) = self.rest().strip_prefix('[') {
            let (inside, _) = rest.split_once(']')?;
            let is_index =
                inside.bytes().all(|byte| byte.is_ascii_digit() || b"-. ".contains(&byte)) && !inside.is_empty();
            is_index.then_some(())?;
            self.at += inside.len() + 2;
        }
        Some(())
    }

    fn variable(&mut self) -> Option<()> {
        let rest = &self.rest()[1..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        super::values::is_name(&rest[..end]).then_some(())?;
        // The status of the line's commands: one status, or those of a pipe.
        if matches!(&rest[..end], "status" | "pipestatus") {
            self.put("$?", 1 + end);
            return self.skip_index();
        }
        if rest[..end] == *"argv" {
            self.put("$@", 1 + end);
            return self.skip_index();
        }
        // In bash the following text could belong to the name.
        let start = self.text.len();
        let has_index = rest[end..].starts_with('[');
        // That place of the list may be empty, so the line does not show the value.
        self.text.extend(["${", &rest[..end], if has_index { "[1]}" } else { "}" }]);
        self.add(start, self.at..self.at + 1 + end, false);
        self.at += 1 + end;
        if has_index {
            let (inside, _) = self.rest()[1..].split_once(']')?;
            let is_plain = inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-. _$".contains(&byte));
            (is_plain && !inside.is_empty()).then_some(())?;
            self.at += inside.len() + 2;
        }
        Some(())
    }

    fn double_quoted(&mut self) -> Option<()> {
        self.copy(1);
        loop {
            match self.rest().chars().next()? {
                '"' => break,
                '`' => return None,
                '\\' => {
                    let two = self.rest().chars().take(2).map(char::len_utf8).sum();
                    self.copy(two);
                }
                '$' if self.rest().starts_with("$(") => {
                    self.copy(2);
                    self.open()?;
                }
                '$' => self.variable()?,
                c => self.copy(c.len_utf8()),
            }
        }
        self.copy(1);
        Some(())
    }

    /// Reads a separator of commands; returns whether a command begins behind it.
    fn separator(&mut self) -> Option<bool> {
        let rest = self.rest();
        let bytes = rest.len() - rest.trim_start_matches([' ', '\t', ';', '\n']).len();
        let is_separated = rest[..bytes].contains([';', '\n']);
        let behind = rest[bytes..].split([' ', '\t', '\n', ';', ')']).next().unwrap_or_default();
        let head = std::mem::replace(self.heads.last_mut()?, Head::None);
        let text = match head {
            // A condition continues.
            Head::Then | Head::Do if matches!(behind, "and" | "or") => {
                *self.heads.last_mut()? = head;
                if behind == "and" { " && " } else { " || " }
            }
            Head::None if behind == "and" => " && ",
            Head::None if behind == "or" => " || ",
            Head::Then => "; then ",
            Head::Do => "; do ",
            Head::Blank => " ",
            Head::In => " in ",
            Head::Pattern => ") ",
            Head::None if behind == "case" => " ",
            Head::None if behind.is_empty() => "",
            Head::None => "; ",
        };
        if !is_separated && !matches!(head, Head::Blank) {
            return None;
        }
        self.put(text, bytes);
        Some(true)
    }
}
