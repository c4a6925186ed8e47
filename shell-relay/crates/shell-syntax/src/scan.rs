//! Finds all commands that a text may run, also nested, broken or hidden ones, for the warning only. It reads text that the plain
//! parsers refuse, never fails, and prefers to report one command too many.

use cohab_text::cut::head;

use super::bytes::MAX_LINE_BYTES;

/// Deepest nesting that is followed; deeper nesting is alarming by itself.
const MAX_DEPTH: usize = 8;
/// A longer text is not scanned to its end.
pub const MAX_SCAN_BYTES: usize = 4 * MAX_LINE_BYTES;
/// More here-documents are not followed.
const MAX_HEREDOCS: usize = 32;

/// A word with its quotes removed and its expansions as written.
#[derive(Clone, Debug, Default)]
pub struct LooseWord {
    /// The word without its quotes.
    pub text: String,
    /// The word has a `$` or backtick expansion or a process substitution.
    pub expands: bool,
    /// The word was written with quotes or escapes in or around it.
    pub is_quoted: bool,
    /// A command substitution or process substitution is in it.
    pub runs_code: bool,
}

/// The source of a command's input or the target of its output.
#[derive(Clone, Debug)]
pub struct LooseRedirect {
    /// It changes its target.
    pub writes: bool,
    /// The file or descriptor.
    pub target: LooseWord,
}

/// One command, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct LooseCommand {
    /// Names and values in front of the words.
    pub assignments: Vec<(String, String)>,
    /// The words, the name first; they may be missing.
    pub words: Vec<LooseWord>,
    /// The redirections, in order, without those from texts.
    pub redirects: Vec<LooseRedirect>,
    /// Text of here-documents and here-strings.
    pub input: Option<String>,
    /// The place of the command whose output it reads.
    pub piped_from: Option<usize>,
    /// The body of a function.
    pub defines_function: bool,
}

/// The commands that a text may run.
#[derive(Debug, Default)]
pub struct Scan {
    /// The commands, those of a substitution in front of the one that holds it.
    pub commands: Vec<LooseCommand>,
    /// Something was too deep or too long to be followed.
    pub is_incomplete: bool,
}

/// Finds the commands of `text`.
#[must_use]
pub fn scan(text: &str) -> Scan {
    let head = head(text, MAX_SCAN_BYTES);
    let mut scanner =
        Scanner { chars: head.chars().collect(), at: 0, scan: Scan::default(), heredocs: Vec::new(), heredoc_count: 0 };
    scanner.scan.is_incomplete = head.len() < text.len();
    scanner.list(0, None);
    scanner.scan
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    scan: Scan,
    heredoc_count: usize,
    /// Delimiters of here-documents whose bodies come after the line, with whether the body expands.
    heredocs: Vec<(String, bool)>,
}

/// Words behind which a command begins.
const OPENERS: &[&str] =
    &["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time", "coproc", "fi", "done", "esac"];

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Never beyond the end of the text.
    fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.chars.len());
    }

    fn eat(&mut self, c: char) -> bool {
        let is_next = self.peek(0) == Some(c);
        self.advance(usize::from(is_next));
        is_next
    }

    /// Reads commands up to `end` or the end of the text.
    fn list(&mut self, depth: usize, end: Option<char>) {
        let mut command = LooseCommand::default();
        while let Some(c) = self.peek(0) {
            if Some(c) == end {
                self.advance(1);
                break;
            }
            match c {
                ' ' | '\t' => self.advance(1),
                '\\' if self.peek(1) == Some('\n') => self.advance(2),
                '#' => self.skip_line(),
                '\n' => {
                    self.advance(1);
                    self.close(&mut command, false);
                    self.heredoc_bodies(depth);
                }
                '|' if self.peek(1) == Some('|') => {
                    self.advance(2);
                    self.close(&mut command, false);
                }
                '|' => {
                    self.advance(1);
                    self.eat('&');
                    self.close(&mut command, true);
                }
                '&' if self.peek(1) == Some('>') => self.advance(1),
                ';' | '&' => {
                    self.advance(1);
                    self.close(&mut command, false);
                }
                '(' | ')' => {
                    self.advance(1);
                    command.defines_function |= c == '(' && self.peek(0) == Some(')') && command.words.len() == 1;
                    self.close(&mut command, false);
                }
                '<' | '>' if self.peek(1) != Some('(') => self.redirect(depth, &mut command),
                _ => self.command_word(depth, &mut command, end),
            }
        }
        self.close(&mut command, false);
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.advance(1);
        }
    }

    /// Ends a command. `pipes` says whether the next one reads its output.
    fn close(&mut self, command: &mut LooseCommand, pipes: bool) {
        let is_empty = command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty();
        let done = std::mem::take(command);
        if !is_empty {
            self.scan.commands.push(done);
        }
        if pipes && !self.scan.commands.is_empty() {
            command.piped_from = Some(self.scan.commands.len() - 1);
        }
    }

    fn command_word(&mut self, depth: usize, command: &mut LooseCommand, end: Option<char>) {
        let before = self.at;
        let word = self.word(depth, end);
        if self.at == before {
            // A character that begins nothing.
            self.advance(1);
            return;
        }
        if word.text == "{" && command.words.len() == 2 && command.words[0].text == "function" {
            command.defines_function = true;
            return self.close(command, false);
        }
        if command.words.is_empty() && !word.is_quoted && OPENERS.contains(&word.text.as_str()) {
            return;
        }
        match command.words.is_empty().then(|| split_assignment(&word.text)).flatten() {
            Some((name, value)) => command.assignments.push((name.to_owned(), value.to_owned())),
            None => command.words.push(word),
        }
    }

    fn word(&mut self, depth: usize, end: Option<char>) -> LooseWord {
        let mut word = LooseWord::default();
        while let Some(c) = self.peek(0).filter(|c| Some(*c) != end) {
            match c {
                '\'' => {
                    self.advance(1);
                    self.single_quoted(&mut word);
                }
                '"' => {
                    self.advance(1);
                    self.double_quoted(depth, &mut word);
                }
                '\\' => {
                    self.advance(1);
                    word.is_quoted = true;
                    match self.peek(0) {
                        Some('\n') | None => {}
                        Some(c) => word.text.push(c),
                    }
                    self.advance(1);
                }
                '$' | '`' => self.expansion(depth, &mut word),
                '<' | '>' if self.peek(1) == Some('(') => {
                    self.advance(2);
                    self.nested(depth, ')', &mut word, if c == '<' { "<(" } else { ">(" });
                }
                c if c.is_whitespace() || ";|&()<>".contains(c) => break,
                c => {
                    self.advance(1);
                    word.text.push(c);
                }
            }
        }
        word
    }

    fn single_quoted(&mut self, word: &mut LooseWord) {
        word.is_quoted = true;
        while let Some(c) = self.peek(0) {
            self.advance(1);
            if c == '\'' {
                break;
            }
            word.text.push(c);
        }
    }

    fn double_quoted(&mut self, depth: usize, word: &mut LooseWord) {
        word.is_quoted = true;
        while let Some(c) = self.peek(0) {
            match c {
                '"' => {
                    self.advance(1);
                    break;
                }
                '\\' => {
                    if !matches!(self.peek(1), Some('"' | '\\' | '$' | '`')) {
                        word.text.push('\\');
                    }
                    word.text.extend(self.peek(1));
                    self.advance(2);
                }
                '$' | '`' => self.expansion(depth, word),
                c => {
                    self.advance(1);
                    word.text.push(c);
                }
            }
        }
    }

    /// Reads what begins with `$` or a backtick.
    fn expansion(&mut self, depth: usize, word: &mut LooseWord) {
        word.expands = true;
        match (self.peek(0), self.peek(1)) {
            (Some('`'), _) => {
                self.advance(1);
                self.nested(depth, '`', word, "`");
            }
            (_, Some('(')) => {
                self.advance(2);
                self.nested(depth, ')', word, "$(");
            }
            (_, Some('{')) => {
                self.advance(2);
                word.text.push_str("${");
                self.braced(depth, word);
            }
            (_, Some('\'')) => {
                self.advance(2);
                self.escaped_text(word);
            }
            _ => {
                self.advance(1);
                word.text.push('$');
            }
        }
    }

    /// Reads `$'...'`, whose escapes hide the meaning.
    fn escaped_text(&mut self, word: &mut LooseWord) {
        word.is_quoted = true;
        while let Some(c) = self.peek(0) {
            self.advance(1);
            match c {
                '\'' => break,
                '\\' => self.escape(word),
                c => word.text.push(c),
            }
        }
    }

    fn escape(&mut self, word: &mut LooseWord) {
        let Some(kind) = self.peek(0) else { return };
        self.advance(1);
        let (radix, digits) = match kind {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                self.at -= 1;
                (8, 3)
            }
            'n' => return word.text.push('\n'),
            't' => return word.text.push('\t'),
            c => return word.text.push(c),
        };
        let start = self.at;
        while self.at < start + digits && self.peek(0).is_some_and(|c| c.is_digit(radix)) {
            self.advance(1);
        }
        let number: String = self.chars[start..self.at].iter().collect();
        word.text.extend(u32::from_str_radix(&number, radix).ok().and_then(char::from_u32));
    }

    /// Reads commands inside a substitution that ends with `end`.
    fn nested(&mut self, depth: usize, end: char, word: &mut LooseWord, opening: &str) {
        word.expands = true;
        word.runs_code = true;
        word.text.push_str(opening);
        let start = self.at;
        if depth >= MAX_DEPTH {
            self.scan.is_incomplete = true;
            self.at = self.chars.len();
        } else {
            self.list(depth + 1, Some(end));
        }
        let inside = &self.chars[start.min(self.at)..self.at];
        word.text.extend(inside.iter().copied().filter(|c| *c != end));
        word.text.push(end);
    }

    /// Reads `${...}`.
    fn braced(&mut self, depth: usize, word: &mut LooseWord) {
        let mut open = 1;
        while let Some(c) = self.peek(0) {
            match c {
                '`' => self.expansion(depth, word),
                '$' if self.peek(1) == Some('(') => self.expansion(depth, word),
                '\'' => {
                    self.advance(1);
                    self.single_quoted(word);
                }
                _ => {
                    self.advance(1);
                    word.text.push(c);
                    open += i32::from(c == '{');
                    open -= i32::from(c == '}');
                    if open == 0 {
                        break;
                    }
                }
            }
        }
    }

    fn redirect(&mut self, depth: usize, command: &mut LooseCommand) {
        // A number right in front belongs to the redirection.
        let has_number = self.at > 0 && self.chars[self.at - 1].is_ascii_digit();
        if has_number
            && command
                .words
                .last()
                .is_some_and(|word| !word.is_quoted && word.text.bytes().all(|byte| byte.is_ascii_digit()))
        {
            command.words.pop();
        }
        let first = self.chars[self.at];
        let mut operator = String::new();
        while let Some(c) = self.peek(0).filter(|c| "<>&|".contains(*c)) {
            if operator.len() == 3 || (operator.ends_with('&') && operator.len() > 1) {
                break;
            }
            operator.push(c);
            self.advance(1);
        }
        if operator == "<<" {
            self.eat('-');
        }
        while self.peek(0).is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.advance(1);
        }
        let target = self.word(depth, None);
        match operator.as_str() {
            "<<" => {
                command.input.get_or_insert_default();
                self.take_heredoc(command, target);
            }
            "<<<" => command.input.get_or_insert_default().push_str(&target.text),
            _ => command.redirects.push(LooseRedirect { writes: first == '>' || operator.contains('>'), target }),
        }
    }

    /// Reads the body at once, regardless of the end of the line, and leaves it out of the rest.
    fn take_heredoc(&mut self, command: &mut LooseCommand, delimiter: LooseWord) {
        self.heredoc_count += 1;
        if self.heredoc_count > MAX_HEREDOCS {
            self.scan.is_incomplete = true;
            return;
        }
        let Some(line_end) = self.chars[self.at..].iter().position(|c| *c == '\n').map(|offset| self.at + offset + 1)
        else {
            return;
        };
        let body: String = self.chars[line_end..].iter().collect();
        let mut text = String::new();
        for line in body.split_inclusive('\n') {
            if line.trim_end_matches('\n').trim_start_matches('\t') == delimiter.text {
                break;
            }
            text.push_str(line);
        }
        command.input.get_or_insert_default().push_str(&text);
        self.heredocs.push((delimiter.text, !delimiter.is_quoted));
    }

    /// Skips the bodies behind the line that announced them; their expansions are scanned.
    fn heredoc_bodies(&mut self, depth: usize) {
        for (delimiter, expands) in std::mem::take(&mut self.heredocs) {
            let mut word = LooseWord::default();
            let mut line = String::new();
            while let Some(c) = self.peek(0) {
                if expands && matches!(c, '$' | '`') {
                    self.expansion(depth, &mut word);
                    continue;
                }
                self.advance(1);
                if c != '\n' {
                    line.push(c);
                } else if line.trim_start_matches('\t') == delimiter {
                    break;
                } else {
                    line.clear();
                }
            }
        }
    }
}

/// `NAME=value`, `NAME+=value` or `NAME[index]=value`.
#[must_use]
pub fn split_assignment(text: &str) -> Option<(&str, &str)> {
    let (left, value) = text.split_once('=')?;
    let left = left.strip_suffix('+').unwrap_or(left);
    let name = left.split_once('[').map_or(left, |(name, _)| name);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && (name.len() == left.len() || left.ends_with(']'));
    is_name.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        scan(text).commands.iter().filter_map(|command| command.words.first().map(|word| word.text.clone())).collect()
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        assert_eq!(names("a; b && c || d | e & f\ng"), ["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(names("echo $(a \"$(b)\") `c` <(d)"), ["b", "a", "c", "d", "echo"]);
        assert_eq!(names("echo \"${x:-$(a)}\" $((1 + $(b)))")[..2], ["a", "b"]);
        assert_eq!(names("if a; then b; fi; { c; }; (d); f() { e; }"), ["a", "b", "c", "d", "f", "e"]);
        assert_eq!(names("cat <<E\n$(a)\nx\nE\nb"), ["cat", "a", "b"]);
        assert_eq!(names("cat <<'E'\n$(a)\nE\nb"), ["cat", "b"]);
        assert_eq!(names("x 'open quote; a"), ["x"]);
        assert_eq!(names("# comment\na"), ["a"]);
        assert_eq!(names("r\\m x; 'r'm y; $'\\x72m' z"), ["rm", "rm", "rm"]);
    }

    #[test]
    fn pipes_inputs_and_assignments_are_kept() {
        let found = scan("A=1 B+=2 cat <<< text | sh > out 2>&1");
        let [cat, sh] = &found.commands[..] else { panic!("{found:?}") };
        assert_eq!(cat.assignments, [("A".into(), "1".into()), ("B".into(), "2".into())]);
        assert_eq!(cat.input.as_deref(), Some("text"));
        assert_eq!(sh.piped_from, Some(0));
        assert!(sh.redirects[0].writes);
        assert_eq!(sh.words.len(), 1);
        assert_eq!(scan("sh <<E\nbody\nE").commands[0].input.as_deref(), Some("body\n"));
    }

    #[test]
    fn hostile_nesting_is_given_up_not_followed() {
        assert!(scan(&"$(".repeat(100_000)).is_incomplete);
        assert!(scan(&"`a ".repeat(1000)).commands.len() < 2000);
        assert!(!scan(&"(".repeat(100_000)).is_incomplete);
        assert!(scan(&"x".repeat(MAX_SCAN_BYTES + 1)).is_incomplete);
        for cut in ["<<\\", "<< <(\\", "$'\\", "`\\", "\"\\", "$("] {
            assert!(scan(cut).commands.len() <= 2, "{cut}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(text in "[a-z$`'\"\\\\(){}<>|&;=# \n]{0,80}") {
            let found = scan(&text);
            prop_assert!(found.commands.len() <= text.len());
        }
    }
}
