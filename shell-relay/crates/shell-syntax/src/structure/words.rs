//! Reads words with their expansions, redirections, and simple commands.

use std::ops::Range;

use cohab_shell_state::shell::Shell;

use super::{
    commands::Read,
    out::Out,
    reader::{CODE_IN_TEXT, ENDS_WORD, FOLDER_CHANGES, NOT_READ, Reader},
    values::{Source, Written, written},
};
use crate::dialect::only_choose;

/// Builtins that compute with none of their words.
const PRINTERS: &[&str] = &[":", "cd", "echo", "false", "pwd", "true"];

/// A word of the line, and its text among plain commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub raw: Range<usize>,
    pub text: String,
    /// A part of the word expands.
    pub expands: bool,
    pub mark: Option<Source>,
    /// A shell that computes with the text may run a part of it.
    pub holds_code: bool,
}

/// The parts of a simple command.
#[derive(Debug, Default)]
pub(super) struct Simple {
    pub assignments: Vec<(String, usize, Word)>,
    pub words: Vec<Word>,
    /// Redirections as text, with their words.
    pub redirects: Vec<(String, Word)>,
    /// The text of a here-string.
    pub input: Option<Word>,
    /// Variables were given lists.
    pub has_lists: bool,
}

impl<'a> Reader<'a> {
    /// Reads a word that the shell itself may compute with; the sign that ends it stays in the line.
    pub(super) fn word(&mut self, before: &str) -> Read<Word> {
        let word = self.operand(before)?;
        if word.holds_code { Err(Some(CODE_IN_TEXT)) } else { Ok(word) }
    }

    /// Reads a word of any command, as [`word`](Self::word) does.
    fn operand(&mut self, before: &str) -> Read<Word> {
        let start = self.at;
        let mut word = Word::default();
        if self.eat("<(") {
            // Nothing waits for it: a loop would start more and more.
            if self.around.loops > 0 {
                return Err(Some("starts commands that nobody waits for from a loop"));
            }
            self.substituted()?;
            word.text.push_str("/dev/null");
            word.expands = true;
        }
        while let Some(c) = self.next().filter(|c| !ENDS_WORD.contains(*c)) {
            match c {
                '\\' => {
                    word.holds_code |= escapes_substitution(self.rest());
                    let two = self.rest().chars().take(2).map(char::len_utf8).sum::<usize>();
                    word.text.push_str(self.text(self.at..self.at + two));
                    self.at += two;
                }
                '\'' => {
                    let end = self.rest()[1..].find('\'').ok_or(Some("has an open quote"))? + 2;
                    word.holds_code |= has_code_in_subscript(&self.rest()[..end]);
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
        Ok(word)
    }

    /// Reads `(.N)` behind a pattern, which only chooses. If nothing matches, the word may be left out.
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
        self.at = end;
        // A word that continues would be another one.
        if self.next().is_none_or(|c| ENDS_WORD.contains(c)) { Ok(()) } else { Err(NOT_READ) }
    }

    /// Reads a text in double quotes that is a part of an expansion.
    pub(super) fn quoted_part(&mut self) -> Read<()> {
        let mut word = Word::default();
        self.double_quoted(&mut word, "")?;
        if word.holds_code { Err(Some(CODE_IN_TEXT)) } else { Ok(()) }
    }

    fn double_quoted(&mut self, word: &mut Word, before: &str) -> Read<()> {
        self.at += 1;
        let mut run = String::new();
        let mut is_empty = true;
        loop {
            match self.next().ok_or(Some("has an open quote"))? {
                '"' => break,
                '\\' => {
                    word.holds_code |= escapes_substitution(self.rest());
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
            } else if let Some((name, sign)) = self.assignment().filter(|_| simple.words.is_empty()) {
                let at = self.at;
                self.at += sign;
                if sign > name.len() + 1 || self.next() == Some('(') {
                    self.list_of_values(name, at)?;
                    simple.has_lists = true;
                    continue;
                }
                let is_empty = self.next().is_none_or(|c| ENDS_WORD.contains(c));
                let value = if is_empty { Word::default() } else { self.word("")? };
                simple.assignments.push((name.to_owned(), at, value));
            } else {
                let name = simple.words.first();
                self.may_lack = name.is_some_and(|name| self.vocabulary.may_lack_operands(&name.text));
                self.is_text = name.is_some_and(|name| self.vocabulary.takes_texts(&name.text));
                if !simple.words.is_empty()
                    && let Some(words) = self.words_of_braces()?
                {
                    simple.words.extend(words);
                    continue;
                }
                let before = simple.words.last().map(|word| word.text.clone()).unwrap_or_default();
                simple.words.push(self.operand(&before)?);
            }
        }
        self.is_text = false;
        self.run(simple)
    }

    fn run(&mut self, simple: Simple) -> Read<()> {
        let Some(name) = simple.words.first() else { return self.run_assignments(simple) };
        if name.expands {
            return Err(Some("which program runs is not known beforehand"));
        }
        let for_program = |(variable, _, value): &(String, usize, Word)| {
            // A path in `TZ` would be read.
            let is_plain = (value.text.is_empty() || value.text.starts_with(|c: char| c.is_ascii_alphanumeric()))
                && !value.text.contains("..")
                && (variable == "TZ" || !value.text.contains('/'));
            let is_known = value.text.is_empty() || written(&value.text) == Some(Written::Plain);
            is_plain && is_known && value.mark.is_none() && self.vocabulary.may_be_set_for_a_program(variable)
        };
        let name = name.text.as_str();
        self.check_texts(&simple, name)?;
        self.called.insert(name.to_owned());
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
            "read" | "mapfile" | "readarray" => return self.run_read(&simple),
            "declare" | "local" | "typeset" => return self.run_declare(&simple),
            "printf" if simple.words.get(1).is_some_and(|word| word.text == "-v") => return self.run_printf(&simple),
            "set" | "shopt" if self.run_setting(&simple)? => return Ok(()),
            _ if self.functions.contains(name) => return self.run_function(&simple),
            "break" | "continue" if self.around.loops > 0 && simple.words.len() == 1 && simple.redirects.is_empty() => {
                return Ok(());
            }
            "cd" if self.around.subshells > 0 && !simple.words.iter().any(|word| word.expands) => {}
            "cd" if self.is_in_front(&simple) => self.change_folder()?,
            "cd" | "pushd" | "popd" => return Err(Some(FOLDER_CHANGES)),
            "xargs" if simple.redirects.iter().any(|(sign, _)| sign.contains('<')) || simple.input.is_some() => {
                return Err(Some("`xargs` runs a command on what is not known"));
            }
            "xargs" if self.pipe.has_compound => return Err(Some("`xargs` runs a command on what is not known")),
            _ => {}
        }
        if let Some(input) = &simple.input {
            if self.pipe.is_piped {
                return Err(Some("uses a here-string"));
            }
            self.out.begin(false)?;
            self.out.made("echo ");
            self.put(input);
            self.pipe.is_piped = true;
        }
        self.out.begin(std::mem::take(&mut self.pipe.is_piped))?;
        for (at, word) in simple.words.iter().enumerate() {
            self.out.made(if at == 0 { "" } else { " " });
            self.put(word);
        }
        self.put_redirects(&simple.redirects);
        Ok(())
    }

    /// Only a program may get a text that is code to a shell, and only if the line's shell computes with nothing: it could get the text from
    /// the program.
    fn check_texts(&mut self, simple: &Simple, name: &str) -> Read<()> {
        let is_program = self.vocabulary.is_program(name, self.shell) && !self.functions.contains(name);
        let holds_code = simple.words.iter().any(|word| word.holds_code);
        self.code.holds_code |= holds_code;
        self.code.computes |= !is_program && !PRINTERS.contains(&name);
        if holds_code && !is_program { Err(Some(CODE_IN_TEXT)) } else { Ok(()) }
    }

    /// Whether a `cd` is the first command, and has nothing but the name of a folder that all shells read as it stands.
    fn is_in_front(&self, simple: &Simple) -> bool {
        let [cd, folder] = &simple.words[..] else { return false };
        let is_alone = simple.assignments.is_empty() && simple.redirects.is_empty() && simple.input.is_none();
        let is_plain = written(&folder.text) == Some(Written::Plain) && !folder.text.starts_with(['-', '+']);
        self.around.depth == 1
            && self.around.loops == 0
            && is_alone
            && is_plain
            && !folder.expands
            && self.text(self.behind_cd..cd.raw.start).trim().is_empty()
    }

    /// The folder of the line's separate shell is lost at its end, so the user's shell changes to the folder first. If that fails,
    /// nothing of the line runs.
    fn change_folder(&mut self) -> Read<()> {
        self.skip_blanks();
        let behind = self.rest();
        let behind =
            behind.strip_prefix("&&").or_else(|| behind.strip_prefix([';', '\n'])).ok_or(Some(FOLDER_CHANGES))?;
        self.behind_cd = self.line.len() - behind.trim_start_matches([' ', '\t', '\n']).len();
        Ok(())
    }

    fn put(&mut self, word: &Word) {
        self.out.word(&word.text);
        self.out.put(&word.text, word.mark);
    }

    fn put_redirects(&mut self, redirects: &[(String, Word)]) {
        for (sign, target) in redirects {
            self.out.made(" ");
            self.out.made(sign);
            self.out.made(&target.text);
        }
    }

    /// Adds a command that stands for redirections without a program, so that they are judged.
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
            // Judged as any shown text.
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
            // The file is one of the matching ones, which are judged by themselves.
            Some(Source::Matches) if sign == "<" => {
                self.aside(format!("true <{}", word.text));
                word.text = "./x".into();
            }
            Some(_) if sign == "<" => {
                // Recorded as if a program showed it.
                self.lists.push(Out::reading(&word.text));
                word.text = "./x".into();
            }
            Some(_) => return Err(Some("redirects to or from what is not known beforehand")),
            None => {}
        }
        simple.redirects.push((sign, word));
        Ok(())
    }
}

/// A sample for an unknown value: a number if an option needs one.
pub(super) fn sample(source: Source, before: &str, text: &str) -> &'static str {
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

/// Whether a text is code to a shell that computes with it: `a[$(command)]` runs the command where the text is taken for a number, which may
/// start processes without end although it can write nothing.
fn has_code_in_subscript(text: &str) -> bool {
    text.find('[').is_some_and(|at| text[at..].contains("$(") || text[at..].contains('`'))
}

/// Whether a text begins with a substitution whose sign is escaped.
fn escapes_substitution(text: &str) -> bool {
    text.starts_with("\\$(") || text.starts_with("\\`")
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
