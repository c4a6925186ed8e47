//! Groups, conditions and loops.

use super::{
    reader::{ENDS_WORD, MAX_STEPS, NOT_READ, Read, Reader, Until},
    values::{Source, Value, is_own_name},
    words::value_of,
};
use crate::shell::Shell;

const ENDLESS: &str = "may never end by itself";
/// Reserved words that begin what is not followed, or stand where nothing begins.
const REFUSED: &[&str] = &[
    "function",
    "select",
    "coproc",
    "then",
    "elif",
    "else",
    "fi",
    "do",
    "done",
    "esac",
    "in",
    "}",
    "repeat",
    "foreach",
    "end",
    "nocorrect",
    "noglob",
    "always",
    "-",
];
/// Operators of `[[` that compute with the words around them, or look into a variable by its name.
const COMPUTING: &[&str] = &["-v", "-R", "-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Reader<'_> {
    pub(super) fn command(&mut self) -> Read<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Some("runs too many commands to be checked"));
        }
        let word = self.bare_word();
        let (scope, feed) = (self.log.len(), self.feed.clone());
        if !matches!(word, "while" | "until") && self.rest().contains('<') {
            // It may come from elsewhere than from the pipe.
            self.feed = Source::Any;
        }
        match word {
            "{" => {
                self.at += 1;
                self.list(Until::Words(&["}"]))?;
                self.at += 1;
            }
            "if" => self.condition()?,
            "while" | "until" => self.repetition()?,
            "for" => self.for_each()?,
            "case" => self.case()?,
            "[[" => self.test()?,
            _ if REFUSED.contains(&word) => return Err(Some("uses a loop, condition or group")),
            _ if self.eat("((") => {
                self.arithmetic("))")?;
                self.nothing();
            }
            _ if self.eat("(") => {
                let scope = self.log.len();
                self.list(Until::Parenthesis)?;
                self.leave(scope);
                self.at += 1;
            }
            _ => {
                self.feed = feed;
                return self.simple();
            }
        }
        self.feed = feed;
        (self.has_compound, self.has_more, self.has_blocks) = (true, true, true);
        let redirects = self.redirects()?;
        // A redirection that fails leaves all of it out; in fish a block may have variables of its own.
        if !redirects.is_empty() || self.shell == Shell::Fish {
            self.leave(scope);
        }
        self.stand_for_redirects(&redirects);
        Ok(())
    }

    /// What looks and compares runs no command.
    fn nothing(&mut self) {
        self.aside("true".into());
    }

    fn condition(&mut self) -> Read<()> {
        self.at += "if".len();
        self.list(Until::Words(&["then"]))?;
        let scope = self.log.len();
        loop {
            self.expect_word("then")?;
            self.list(Until::Words(&["elif", "else", "fi"]))?;
            self.leave(scope);
            if self.eat_word("elif") {
                self.list(Until::Words(&["then"]))?;
                continue;
            }
            if self.eat_word("else") {
                self.list(Until::Words(&["fi"]))?;
            }
            break;
        }
        self.leave(scope);
        self.expect_word("fi")
    }

    fn repetition(&mut self) -> Read<()> {
        self.at += "while".len();
        let start = self.at;
        if self.line[start..].contains('<') {
            // What the loop is fed stands behind it.
            let mut ahead = self.clone();
            ahead.repeated()?;
            ahead.skip_blanks();
            let (fed, fed_at) = (ahead.rest().starts_with("< <("), ahead.at + "< <(".len());
            let behind = ahead.at;
            ahead.redirects()?;
            if !ahead.text(behind..ahead.at).trim().is_empty() {
                self.feed = Source::Any;
            }
            if fed {
                let mut inner = self.clone();
                inner.at = fed_at;
                let number = inner.substituted()?;
                inner.skip_blanks();
                if inner.at == ahead.at {
                    (self.lists, self.units, self.feed) = (inner.lists, inner.units, Source::List(number));
                }
            }
        }
        self.repeated()
    }

    fn repeated(&mut self) -> Read<()> {
        let scope = self.log.len();
        self.loops += 1;
        self.skip_space();
        let begins = self.at;
        self.list(Until::Words(&["do"]))?;
        let condition = self.text(begins..self.at).trim();
        let first = condition.split_whitespace().next().unwrap_or_default();
        let is_read = condition.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "read");
        let can_end = is_read
            || (matches!(first, "[" | "[[" | "test" | "((") || first.starts_with("(("))
                && condition.contains(|c: char| c.is_alphabetic());
        self.expect_word("do")?;
        let body = self.at;
        self.list(Until::Words(&["done"]))?;
        let has_break = self.text(body..self.at).split(|c: char| !c.is_alphanumeric()).any(|word| word == "break");
        if !can_end && !has_break {
            return Err(Some(ENDLESS));
        }
        self.expect_word("done")?;
        self.loops -= 1;
        self.leave(scope);
        Ok(())
    }

    fn for_each(&mut self) -> Read<()> {
        self.at += "for".len();
        self.skip_blanks();
        if self.eat("((") {
            return self.for_counted();
        }
        let (name, at) = (self.bare_word(), self.at);
        if !is_own_name(name) {
            return Err(Some("sets a variable that may matter"));
        }
        self.at += name.len();
        self.expect_word("in")?;
        let values = self.values()?;
        self.skip_blanks();
        if !(self.eat(";") || self.eat("\n")) {
            return Err(NOT_READ);
        }
        self.expect_word("do")?;
        self.loops += 1;
        let scope = self.log.len();
        let (body, is_piped) = (self.at, self.is_piped);
        for value in values {
            (self.at, self.is_piped) = (body, is_piped);
            self.assign(name, at, value);
            self.list(Until::Words(&["done"]))?;
        }
        self.expect_word("done")?;
        self.loops -= 1;
        self.leave(scope);
        Ok(())
    }

    /// `for ((i = 0; i < 5; i++)); do ...; done`, behind the parentheses that open it.
    fn for_counted(&mut self) -> Read<()> {
        let (head, _) = self.rest().split_once("))").ok_or(NOT_READ)?;
        if head.split(';').count() != 3 || !head.contains(['<', '>', '=']) {
            return Err(Some(ENDLESS));
        }
        self.arithmetic(";")?;
        self.loops += 1;
        let scope = self.log.len();
        self.arithmetic(";")?;
        self.arithmetic("))")?;
        self.skip_blanks();
        let _ = self.eat(";") || self.eat("\n");
        self.expect_word("do")?;
        self.list(Until::Words(&["done"]))?;
        self.expect_word("done")?;
        self.loops -= 1;
        self.leave(scope);
        Ok(())
    }

    /// What a loop goes through, each once; of numbers only one.
    fn values(&mut self) -> Read<Vec<Value>> {
        let mut values: Vec<Value> = Vec::new();
        // Words that are never used are looked at all the same.
        let mut shown = "echo".to_owned();
        loop {
            self.skip_blanks();
            if self.next().is_none_or(|c| ENDS_WORD.contains(c)) && !self.rest().starts_with("<(") {
                break;
            }
            let (text, found) = match range(self.bare_word()) {
                Some(bytes) => {
                    self.at += bytes;
                    ("1".to_owned(), Value::Computed(Source::Digits))
                }
                None => {
                    let word = self.word("")?;
                    let value = match word.mark {
                        _ if word.text.starts_with('~') && !word.text.starts_with("~/") => return Err(NOT_READ),
                        Some(mark) if mark.is_whole => Value::Computed(mark.source),
                        Some(_) => Value::Computed(Source::Any),
                        None if word.expands && (word.text == "." || word.text.ends_with("~/.")) => {
                            Value::Computed(Source::Any)
                        }
                        None => value_of(&word.text),
                    };
                    (word.text, value)
                }
            };
            shown.extend([" ", text.as_str()]);
            if !values.contains(&found) {
                values.push(found);
            }
        }
        self.aside(shown);
        if values.is_empty() { Err(NOT_READ) } else { Ok(values) }
    }

    fn case(&mut self) -> Read<()> {
        self.at += "case".len();
        self.skip_blanks();
        self.word("")?;
        self.expect_word("in")?;
        let scope = self.log.len();
        loop {
            self.skip_space();
            if self.eat_word("esac") {
                break;
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                self.word("")?;
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            self.skip_space();
            if !self.rest().starts_with(";;") {
                self.list(Until::Case)?;
                self.leave(scope);
            }
            self.skip_space();
            if !self.eat(";;") && self.bare_word() != "esac" {
                return Err(NOT_READ);
            }
            if self.rest().starts_with('&') {
                return Err(NOT_READ);
            }
        }
        self.leave(scope);
        self.nothing();
        Ok(())
    }

    /// `[[ ... ]]`, which only looks at files and compares texts.
    fn test(&mut self) -> Read<()> {
        self.at += "[[".len();
        let mut before = None;
        let mut is_number_wanted = false;
        loop {
            self.skip_blanks();
            if self.eat_word("]]") {
                break;
            }
            if ["&&", "||", "(", ")", "<", ">", "|"].into_iter().any(|sign| self.eat(sign)) {
                if self.shell == Shell::Zsh && self.rest().starts_with('#') {
                    return Err(Some("may be a pattern of file names in zsh"));
                }
                before = None;
                continue;
            }
            let word = self.word("")?;
            let source = word.mark.map(|mark| mark.source);
            let is_number = source.is_none_or(|source| source.is_number()) && is_digits(word.text.trim_matches('"'));
            if is_number_wanted && !is_number {
                return Err(Some("computes with what is not known to be a number"));
            }
            is_number_wanted = COMPUTING.contains(&word.text.as_str());
            if is_number_wanted && before != Some(true) {
                return Err(Some("computes with what is not known to be a number"));
            }
            before = Some(is_number);
        }
        self.nothing();
        Ok(())
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The bytes of `{1..9}`.
fn range(word: &str) -> Option<usize> {
    let (from, to) = word.strip_prefix('{')?.strip_suffix('}')?.split_once("..")?;
    // More of them would fill the memory.
    let is_small = |text: &str| is_digits(text) && text.len() <= 5;
    (is_small(from) && to.split("..").all(is_small)).then_some(word.len())
}
