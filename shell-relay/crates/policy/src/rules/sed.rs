//! Allows `sed` scripts that only change the text that passes. A script that is not understood to its end is refused.

use cohab_shell_syntax::Word;

use super::{
    super::{Context, paths},
    Refusal, ask, check_literal, check_path, danger,
    pattern::skip_pattern,
};

/// Deeper blocks are refused.
const MAX_BLOCK_DEPTH: usize = 8;

pub(super) fn assess(words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let mut scripts = Vec::new();
    let mut operands = Vec::new();
    let mut words = words.iter();
    let mut options_ended = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.has_glob && !options_ended && text.starts_with('-') {
            return ask("a pattern of file names among the options of `sed`");
        }
        match text {
            _ if options_ended || text == "-" || !text.starts_with('-') => operands.push(word),
            "--" => options_ended = true,
            "--quiet" | "--silent" | "--regexp-extended" | "--separate" | "--null-data" | "--posix" | "--sandbox"
            | "--unbuffered" => {}
            "-e" | "--expression" => match words.next() {
                Some(script) => {
                    check_literal(script)?;
                    scripts.push(script.text.as_str());
                }
                None => return ask("`sed -e` lacks its script"),
            },
            _ => match text.strip_prefix("--expression=") {
                Some(script) => scripts.push(script),
                None => take_flags(text, words.as_slice(), &mut scripts).map(|skipped| {
                    if skipped {
                        words.next();
                    }
                })?,
            },
        }
    }
    if scripts.is_empty() {
        let Some(script) = operands.first() else { return ask("`sed` without a script") };
        check_literal(script)?;
        scripts.push(&script.text);
        operands.remove(0);
    }
    for script in scripts {
        check_script(script)?;
    }
    operands.into_iter().filter(|word| word.text != "-").try_for_each(|word| {
        if word.has_glob && word.text.starts_with(['*', '?']) && !context.confines("sed") {
            return ask("a pattern may match a file that is named like an option; `./` in front avoids it");
        }
        check_path(word, context, paths::read_risk)
    })
}

/// Reads joined flags, the last of which may be `e` with a script. Returns whether the next word was taken.
fn take_flags<'a>(text: &'a str, next: &'a [Word], scripts: &mut Vec<&'a str>) -> Result<bool, Refusal> {
    for (at, flag) in text.char_indices().skip(1) {
        match (flag, &text[at + flag.len_utf8()..], next.first()) {
            ('n' | 'E' | 'r' | 's' | 'u' | 'z', ..) => {}
            ('e', "", Some(script)) => {
                check_literal(script)?;
                scripts.push(&script.text);
                return Ok(true);
            }
            ('e', script, _) if !script.is_empty() => {
                scripts.push(script);
                return Ok(false);
            }
            ('i', ..) => return ask("`sed -i` changes files"),
            _ => return ask(format!("option `-{flag}` of `sed` is not known to be read-only")),
        }
    }
    Ok(false)
}

/// Whether a script runs, reads or writes nothing.
pub(super) fn check_script(script: &str) -> Result<(), Refusal> {
    let mut reader = Script { rest: script, depth: 0 };
    while reader.skip_separators() {
        reader.take_addresses()?;
        reader.take_command()?;
    }
    if reader.depth == 0 { Ok(()) } else { not_understood() }
}

fn not_understood<T>() -> Result<T, Refusal> {
    ask("a sed script that is not understood")
}

struct Script<'a> {
    rest: &'a str,
    depth: usize,
}

impl Script<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip_separators(&mut self) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', ';']);
        !self.rest.is_empty()
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn skip_digits(&mut self) -> bool {
        let before = self.rest.len();
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        self.rest.len() != before
    }

    fn take_addresses(&mut self) -> Result<(), Refusal> {
        if self.take_address()? {
            self.skip_blanks();
            if self.peek() == Some(',') {
                self.next();
                self.skip_blanks();
                if matches!(self.peek(), Some('+' | '~')) {
                    self.next();
                    if !self.skip_digits() {
                        return not_understood();
                    }
                } else if !self.take_address()? {
                    return not_understood();
                }
            }
        }
        self.skip_blanks();
        while self.peek() == Some('!') {
            self.next();
            self.skip_blanks();
        }
        Ok(())
    }

    fn take_address(&mut self) -> Result<bool, Refusal> {
        match self.peek() {
            Some('$') => drop(self.next()),
            Some('0'..='9') => {
                self.skip_digits();
                if self.peek() == Some('~') {
                    self.next();
                    self.skip_digits();
                }
            }
            Some('/') => {
                self.next();
                self.skip_to('/')?;
                self.skip_regex_flags();
            }
            Some('\\') => {
                self.next();
                let Some(delimiter) = self.next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else {
                    return not_understood();
                };
                self.skip_to(delimiter)?;
                self.skip_regex_flags();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn skip_regex_flags(&mut self) {
        self.rest = self.rest.trim_start_matches(['I', 'M']);
    }

    fn skip_to(&mut self, delimiter: char) -> Result<(), Refusal> {
        let mut chars = self.rest.chars();
        let is_found = skip_pattern(&mut chars, delimiter);
        self.rest = chars.as_str();
        if is_found { Ok(()) } else { not_understood() }
    }

    fn take_command(&mut self) -> Result<(), Refusal> {
        match self.next() {
            Some('{') => {
                self.depth += 1;
                if self.depth > MAX_BLOCK_DEPTH { not_understood() } else { Ok(()) }
            }
            Some('}') if self.depth > 0 => {
                self.depth -= 1;
                self.end_of_command()
            }
            Some('p' | 'P' | 'd' | 'D' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x') => self.end_of_command(),
            Some('q' | 'Q' | 'l') => {
                self.skip_blanks();
                self.skip_digits();
                self.end_of_command()
            }
            Some('b' | 't' | 'T' | ':') => {
                self.skip_blanks();
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                self.end_of_command()
            }
            Some('y') => {
                self.take_two_parts()?;
                self.end_of_command()
            }
            Some('s') => {
                self.take_two_parts()?;
                self.take_substitution_flags()
            }
            Some('e') => danger("the sed script runs a command"),
            Some('w' | 'W') => danger("the sed script writes a file"),
            Some('r' | 'R') => danger("the sed script reads another file"),
            _ => not_understood(),
        }
    }

    fn take_two_parts(&mut self) -> Result<(), Refusal> {
        let Some(delimiter) = self.next().filter(|c| c.is_ascii_punctuation() && !matches!(c, '\\' | ';')) else {
            return not_understood();
        };
        self.skip_to(delimiter)?;
        // The replacement knows no bracket expressions.
        while let Some(c) = self.next() {
            match c {
                '\\' if self.next().is_none() => break,
                '\n' => break,
                c if c == delimiter => return Ok(()),
                _ => {}
            }
        }
        not_understood()
    }

    fn take_substitution_flags(&mut self) -> Result<(), Refusal> {
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.next()),
                Some('e') => return danger("the sed script runs a command"),
                Some('w') => return danger("the sed script writes a file"),
                _ => return self.end_of_command(),
            }
        }
    }

    fn end_of_command(&mut self) -> Result<(), Refusal> {
        self.skip_blanks();
        match self.peek() {
            None | Some(';' | '\n' | '}') => Ok(()),
            _ => not_understood(),
        }
    }
}
