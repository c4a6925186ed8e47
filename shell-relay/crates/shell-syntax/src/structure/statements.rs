//! Reads groups, conditions and loops.

use cohab_shell_state::shell::Shell;

use super::{
    assignments::value_of,
    commands::Read,
    reader::{ENDS_WORD, MAX_STEPS, NOT_READ, Reader, Until},
    values::{Source, Value, is_name},
};

const ENDLESS: &str = "may never end by itself";
/// Reserved words that begin constructs that are not followed, or that cannot begin a command.
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
impl Reader<'_> {
    pub(super) fn command(&mut self) -> Read<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Some("runs too many commands to be checked"));
        }
        let word = self.bare_word();
        let scope = self.log.len();
        match word {
            "{" => {
                self.at += 1;
                self.list(Until::Words(&["}"]))?;
                self.at += 1;
            }
            "if" => self.condition()?,
            "while" | "until" => self.repeated()?,
            "for" => self.for_each()?,
            "foreach" if self.shell == Shell::Zsh => self.for_each()?,
            "repeat" if self.shell == Shell::Zsh => self.repeat()?,
            "case" => self.case()?,
            "[[" => self.test()?,
            _ if REFUSED.contains(&word) => return Err(Some("uses a loop, condition or group")),
            "" if self.shell == Shell::Zsh && self.eat("()") => {
                self.function("", self.at)?;
                return self.simple();
            }
            _ if is_name(word) && self.rest()[word.len()..].starts_with("()") => {
                let start = self.at;
                self.at += word.len() + "()".len();
                self.function(word, start)?;
            }
            _ if self.eat("((") => {
                self.arithmetic("))")?;
                self.nothing();
            }
            _ if self.eat("(") => {
                let scope = self.log.len();
                self.around.subshells += 1;
                self.list(Until::Parenthesis)?;
                self.around.subshells -= 1;
                self.leave(scope);
                self.at += 1;
            }
            _ => return self.simple(),
        }
        (self.pipe.has_compound, self.has_more, self.has_blocks) = (true, true, true);
        let redirects = self.redirects()?;
        // A redirection that fails leaves all of it out; in fish a block may have local variables.
        if !redirects.is_empty() || self.shell == Shell::Fish {
            self.leave(scope);
        }
        self.stand_for_redirects(&redirects);
        Ok(())
    }

    /// Records a statement that only looks and compares, and runs no command.
    fn nothing(&mut self) {
        self.aside("true".into());
    }

    fn condition(&mut self) -> Read<()> {
        self.at += "if".len();
        if self.test_before_brace()? {
            return self.condition_in_braces();
        }
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

    /// zsh's `if [[ ... ]] { ... } elif [[ ... ]] { ... } else { ... }`, behind the first test.
    fn condition_in_braces(&mut self) -> Read<()> {
        let scope = self.log.len();
        loop {
            self.expect_word("{")?;
            self.list(Until::Words(&["}"]))?;
            self.expect("}")?;
            self.leave(scope);
            self.skip_blanks();
            if self.eat_word("elif") {
                if !self.test_before_brace()? {
                    return Err(NOT_READ);
                }
            } else if !self.eat_word("else") {
                return Ok(());
            }
        }
    }

    /// Reads zsh's `[[ ... ]] {` and `(( ... )) {`; returns whether they were there. Only tests and comparisons may stand in front of a
    /// brace.
    fn test_before_brace(&mut self) -> Read<bool> {
        self.skip_space();
        let rest = self.rest();
        let close = if rest.starts_with("[[") { "]]" } else { "))" };
        let is_one = rest.split_once(close).is_some_and(|(_, behind)| behind.trim_start().starts_with('{'));
        let is_test = rest.starts_with("[[") || rest.starts_with("((");
        if self.shell != Shell::Zsh || !is_test || !is_one {
            return Ok(false);
        }
        self.command()?;
        self.skip_blanks();
        Ok(true)
    }

    /// Reads the body of a loop: between `do` and `done`; in zsh also in braces, or one command.
    fn body(&mut self) -> Read<()> {
        self.skip_space();
        if self.eat_word("do") {
            self.list(Until::Words(&["done"]))?;
            self.expect_word("done")
        } else if self.shell == Shell::Zsh && self.eat_word("{") {
            self.list(Until::Words(&["}"]))?;
            self.expect_word("}")
        } else if self.shell == Shell::Zsh {
            self.joined()
        } else {
            Err(NOT_READ)
        }
    }

    /// zsh's `repeat 3 { ... }`.
    fn repeat(&mut self) -> Read<()> {
        self.at += "repeat".len();
        self.skip_blanks();
        let times = self.word("")?;
        if !is_digits(&times.text) {
            return Err(Some(ENDLESS));
        }
        self.around.loops += 1;
        let scope = self.log.len();
        self.body()?;
        self.leave(scope);
        self.around.loops -= 1;
        Ok(())
    }

    /// Reads `name() { ... }` at the byte `start`, or in zsh `() { ... } word`. The body is read once, at its definition. It must be sure
    /// that the name means the function behind it and nothing before it, and that the function does not call itself.
    fn function(&mut self, name: &str, start: usize) -> Read<()> {
        let before = self.text(0..start).trim_end();
        let is_of_the_line = self.around.depth == 1 && self.around.loops == 0 && self.around.subshells == 0;
        let is_sure = is_of_the_line && (before.is_empty() || before.ends_with([';', '\n', '}']));
        let is_new = !self.called.contains(name) && self.functions.insert(name.to_owned());
        // A function without a name is called where it stands.
        let is_known = name.is_empty() || (is_sure && is_new);
        if self.open_functions > 0 || !is_known {
            return Err(Some("a function that may call itself"));
        }
        self.skip_space();
        let scope = self.log.len();
        self.open_functions += 1;
        self.expect_word("{")?;
        self.list(Until::Words(&["}"]))?;
        self.open_functions -= 1;
        self.expect("}")?;
        self.leave(scope);
        let rest = self.rest().trim_start_matches([' ', '\t']);
        if name.is_empty() || rest.starts_with([';', '\n']) { Ok(()) } else { Err(NOT_READ) }
    }

    fn repeated(&mut self) -> Read<()> {
        self.at += "while".len();
        let scope = self.log.len();
        self.around.loops += 1;
        self.skip_space();
        let begins = self.at;
        if !self.test_before_brace()? {
            self.list(Until::Words(&["do"]))?;
        }
        let condition = self.text(begins..self.at).trim();
        let first = condition.split_whitespace().next().unwrap_or_default();
        let is_read = condition.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "read");
        let can_end = is_read
            || (matches!(first, "[" | "[[" | "test" | "((") || first.starts_with("(("))
                && condition.contains(|c: char| c.is_alphabetic());
        let body = self.at;
        self.body()?;
        let has_break = self.text(body..self.at).split(|c: char| !c.is_alphanumeric()).any(|word| word == "break");
        if !can_end && !has_break {
            return Err(Some(ENDLESS));
        }
        self.around.loops -= 1;
        self.leave(scope);
        Ok(())
    }

    fn for_each(&mut self) -> Read<()> {
        let is_foreach = self.bare_word() == "foreach";
        self.at += self.bare_word().len();
        self.skip_blanks();
        if self.eat("((") {
            return self.for_counted();
        }
        let mut names = Vec::new();
        while self.is_own_name(self.bare_word()) && self.bare_word() != "in" {
            names.push((self.bare_word(), self.at));
            self.at += self.bare_word().len();
            self.skip_blanks();
        }
        if names.is_empty() {
            return Err(Some("sets a variable that may matter"));
        }
        let values = if self.shell == Shell::Zsh && self.eat("(") {
            let values = self.values()?;
            self.skip_blanks();
            self.expect(")")?;
            self.skip_blanks();
            let _ = self.eat(";");
            values
        } else {
            self.expect_word("in")?;
            let values = self.values()?;
            self.skip_blanks();
            if !(self.eat(";") || self.eat("\n")) {
                return Err(NOT_READ);
            }
            values
        };
        // With more than one name, the value of each is not followed.
        let values = if names.len() > 1 { vec![Value::Computed(Source::Any)] } else { values };
        self.around.loops += 1;
        let scope = self.log.len();
        let (body, is_piped) = (self.at, self.pipe.is_piped);
        for value in values {
            (self.at, self.pipe.is_piped) = (body, is_piped);
            names.iter().for_each(|(name, at)| self.assign(name, *at, value.clone()));
            if is_foreach {
                self.list(Until::Words(&["end"]))?;
                self.expect_word("end")?;
            } else {
                self.body()?;
            }
        }
        self.around.loops -= 1;
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
        self.around.loops += 1;
        let scope = self.log.len();
        self.arithmetic(";")?;
        self.arithmetic("))")?;
        self.skip_blanks();
        let _ = self.eat(";") || self.eat("\n");
        self.body()?;
        self.around.loops -= 1;
        self.leave(scope);
        Ok(())
    }

    /// The values of a loop, each once; of numbers only one.
    fn values(&mut self) -> Read<Vec<Value>> {
        let mut values: Vec<Value> = Vec::new();
        // Words that are never used are judged all the same.
        let mut shown = "echo".to_owned();
        loop {
            self.skip_blanks();
            if self.next().is_none_or(|c| ENDS_WORD.contains(c)) && !self.rest().starts_with("<(") {
                break;
            }
            if range(self.bare_word()).is_none()
                && let Some(words) = self.words_of_braces()?
            {
                for word in words {
                    shown.extend([" ", word.text.as_str()]);
                    let found = value_of(&word.text);
                    if !values.contains(&found) {
                        values.push(found);
                    }
                }
                continue;
            }
            let (text, found) = match range(self.bare_word()) {
                Some(bytes) => {
                    self.at += bytes;
                    ("1".to_owned(), Value::Computed(Source::Number))
                }
                None => {
                    let word = self.word("")?;
                    let value = match word.mark {
                        _ if word.text.starts_with('~') && !word.text.starts_with("~/") => return Err(NOT_READ),
                        Some(source) => Value::Computed(source),
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
        self.code.computes = true;
        loop {
            self.skip_blanks();
            if self.eat_word("]]") {
                break;
            }
            if !["&&", "||", "(", ")", "<", ">", "|"].into_iter().any(|sign| self.eat(sign)) {
                self.word("")?;
            }
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
