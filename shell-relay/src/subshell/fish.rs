//! Finds texts that end or stop the fish that runs them. fish runs everything in its own process: parts of a pipe, command
//! substitutions and background commands; only the bodies of functions wait.

/// Deepest nesting of command substitutions and `eval` that is followed.
const MAX_DEPTH: usize = 32;

/// Whether `text` itself runs an `exit`, a `suspend`, an `exec` of a program or an EXIT trap. Never misses one that is written out; a
/// text that is too deeply nested counts.
pub(super) fn ends_shell(text: &str) -> bool {
    ends_at_depth(text, 0)
}

fn ends_at_depth(text: &str, depth: usize) -> bool {
    let bare: String = text.chars().filter(|c| !matches!(c, '\\' | '\'' | '"' | '\n')).collect();
    if !["exit", "exec", "trap", "suspend"].iter().any(|word| bare.contains(word)) {
        return false;
    }
    let mut scanner = Scanner { chars: text.chars().collect(), at: 0, open_functions: 0, depth, found: false };
    scanner.list(None);
    scanner.found
}

#[derive(Default)]
struct FishWord {
    text: String,
    is_quoted: bool,
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    open_functions: usize,
    depth: usize,
    found: bool,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Reads statements up to `end` or the end of the text.
    fn list(&mut self, end: Option<char>) {
        let mut blocks = Vec::new();
        let mut words = Vec::new();
        // The word behind `>` is no argument.
        let mut is_target = false;
        while let Some(c) = self.peek(0).filter(|c| Some(*c) != end) {
            match c {
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '#' => self.skip_comment(),
                '&' if self.peek(1) == Some('>') => self.at += 1,
                ';' | '\n' | '|' | '&' => {
                    self.at += 1;
                    self.statement(&std::mem::take(&mut words), &mut blocks);
                    is_target = false;
                }
                '<' | '>' => {
                    while self.peek(0).is_some_and(|c| "<>&?".contains(c)) {
                        self.at += 1;
                    }
                    is_target = true;
                }
                c if c.is_whitespace() || c == ')' => self.at += 1,
                _ => {
                    let word = self.word(end);
                    let is_stream =
                        word.text.bytes().all(|byte| byte.is_ascii_digit()) && matches!(self.peek(0), Some('<' | '>'));
                    if !is_stream && !std::mem::take(&mut is_target) {
                        words.push(word);
                    }
                }
            }
        }
        self.at += usize::from(end.is_some());
        self.statement(&words, &mut blocks);
        self.open_functions -= blocks.iter().filter(|is_function| **is_function).count();
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn word(&mut self, end: Option<char>) -> FishWord {
        let mut word = FishWord::default();
        while let Some(c) = self.peek(0).filter(|c| Some(*c) != end) {
            match c {
                '\'' | '"' => self.quoted(c, &mut word),
                '\\' => self.escape(&mut word),
                '(' => self.substitution(&mut word),
                c if c.is_whitespace() || ";|&<>)".contains(c) => break,
                c => {
                    self.at += 1;
                    word.text.push(c);
                }
            }
        }
        word
    }

    fn quoted(&mut self, quote: char, word: &mut FishWord) {
        word.is_quoted = true;
        self.at += 1;
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('\\', Some(next)) if next == quote || next == '\\' => {
                    word.text.push(next);
                    self.at += 2;
                }
                ('$', Some('(')) if quote == '"' => {
                    self.at += 1;
                    self.substitution(word);
                }
                _ => {
                    self.at += 1;
                    if c == quote {
                        return;
                    }
                    word.text.push(c);
                }
            }
        }
    }

    /// Escapes for other characters do not form a name of interest.
    fn escape(&mut self, word: &mut FishWord) {
        word.is_quoted = true;
        match self.peek(1) {
            Some('\n') | None => {}
            Some(c) if c.is_ascii_digit() || "abcefnrtvxXuU".contains(c) => word.text.push(char::REPLACEMENT_CHARACTER),
            Some(c) => word.text.push(c),
        }
        self.at += 2;
    }

    fn substitution(&mut self, word: &mut FishWord) {
        word.text.push(char::REPLACEMENT_CHARACTER);
        self.at += 1;
        if self.depth >= MAX_DEPTH {
            self.found = true;
            self.at = self.chars.len();
            return;
        }
        self.depth += 1;
        self.list(Some(')'));
        self.depth -= 1;
    }

    /// Judges one statement and keeps track of the blocks it opens and ends; a block is `true` if it is a function's.
    fn statement(&mut self, words: &[FishWord], blocks: &mut Vec<bool>) {
        let mut is_else = false;
        for (at, word) in words.iter().enumerate() {
            let keyword = if word.is_quoted { "" } else { word.text.as_str() };
            match keyword {
                "and" | "or" | "not" | "!" | "time" | "{" => {}
                "else" => is_else = true,
                "if" if is_else => {}
                "if" | "while" | "begin" => blocks.push(false),
                "for" | "switch" => return blocks.push(false),
                "function" => {
                    self.open_functions += 1;
                    return blocks.push(true);
                }
                "end" => {
                    self.open_functions -= usize::from(blocks.pop() == Some(true));
                    return;
                }
                _ if word.text == "builtin" || is_assignment(keyword) => {}
                _ => {
                    self.found |= self.open_functions == 0 && self.ends(&word.text, &words[at + 1..]);
                    return;
                }
            }
        }
    }

    fn ends(&self, name: &str, arguments: &[FishWord]) -> bool {
        match name {
            "exit" | "suspend" => true,
            // Without a program `exec` is only an error.
            "exec" => arguments.iter().any(|word| !word.text.starts_with('-')),
            "trap" => arguments.iter().skip(1).any(|signal| matches!(signal.text.as_str(), "EXIT" | "0")),
            "eval" if self.depth >= MAX_DEPTH => true,
            "eval" => {
                let code: Vec<_> = arguments.iter().map(|word| word.text.as_str()).collect();
                ends_at_depth(&code.join(" "), self.depth + 1)
            }
            _ => false,
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
