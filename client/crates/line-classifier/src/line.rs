//! Reads a line once from left to right: its words, quoted text as one word each, and the shell signs outside quotes.
//!
//! It is neither a parser nor a lexer of any shell: the classifier only needs to see a line as a human reader does, in linear time for any
//! content.

use super::words::{Class, Lower, class_of};

/// Bytes of a line that are read; later bytes do not change the decision.
pub const MAX_LINE_BYTES: usize = 4096;
/// Words of a line that are read.
pub const MAX_TOKENS: usize = 96;

/// The form of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Letters only, perhaps with an apostrophe or a hyphen inside.
    Plain,
    /// `-x`, `--long`.
    Flag,
    /// Digits.
    Number,
    /// With a slash, a leading tilde, or a file's extension.
    Path,
    /// Quoted, as a whole or in part.
    Quoted,
    /// Anything else: operators, patterns, variables, mixtures.
    Other,
}

/// A word of a line.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// The text as typed, with its quotes.
    pub text: &'a str,
    /// Without punctuation around it: `what,` is `what`.
    pub word: &'a str,
    /// Its form.
    pub shape: Shape,
    /// Its role in a sentence.
    pub class: Class,
}

impl Token<'_> {
    /// Whether it has letters only.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.shape == Shape::Plain
    }

    /// Whether it is a determiner, a pronoun or a form of "be": words that commands rarely have.
    #[must_use]
    pub fn is_strong(&self) -> bool {
        self.class == Class::Strong
    }

    /// Whether it is a function word of any kind.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.class != Class::Content
    }
}

/// The shell signs outside quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a sign by itself")]
pub struct Signs {
    /// `|`
    pub pipe: bool,
    /// `>` or `<` with a file, `<<`, `<(`
    pub redirection: bool,
    /// `;` or `&&`
    pub separator: bool,
    /// `&` at the end
    pub background: bool,
    /// `$(`
    pub substitution: bool,
    /// `$NAME`, `$1`, `${`
    pub variable: bool,
    /// a backtick
    pub backtick: bool,
    /// `*`, `?` inside a word, `[...]`
    pub glob: bool,
    /// `{`
    pub brace: bool,
    /// a backslash
    pub backslash: bool,
    /// `a=b`
    pub equals: bool,
    /// a parenthesis right after a letter
    pub call: bool,
    /// a parenthesis after a space
    pub remark: bool,
    /// `<word>`
    pub placeholder: bool,
    /// `> 5`, `>=`, `->`
    pub comparison: bool,
    /// `!!`, `!$`, `!make` at the start of a word
    pub history: bool,
    /// an unclosed quote
    pub open_quote: bool,
    /// a comma followed by whitespace
    pub comma: bool,
    /// number of quoted parts
    pub quotes: u16,
}

/// A line in the form that the classifier needs.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Its first [`MAX_LINE_BYTES`], without trailing whitespace.
    pub text: &'a str,
    /// Its first [`MAX_TOKENS`] words.
    pub tokens: Vec<Token<'a>>,
    /// The shell signs outside quotes.
    pub signs: Signs,
}

impl<'a> Line<'a> {
    /// Reads a line; never fails.
    #[must_use]
    pub fn read(line: &'a str) -> Self {
        let text = cut(line).trim_end();
        let mut scan = Scan { bytes: text.as_bytes(), at: 0, signs: Signs::default(), no_more: [false; 2] };
        let mut tokens = Vec::with_capacity(16);
        while tokens.len() < MAX_TOKENS
            && let Some((from, to, is_quoted)) = scan.token()
        {
            if !tokens.is_empty() && &text[from..to] == "#" {
                break;
            }
            tokens.push(token(&text[from..to], is_quoted));
        }
        settle(&mut tokens);
        Self { text, tokens, signs: scan.signs }
    }

    /// The first word, if any.
    #[must_use]
    pub fn first(&self) -> Option<&Token<'a>> {
        self.tokens.first()
    }

    /// All words except the first.
    #[must_use]
    pub fn rest(&self) -> &[Token<'a>] {
        self.tokens.get(1..).unwrap_or_default()
    }

    /// Number of determiners, pronouns and the like among the other words.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.rest().iter().filter(|token| token.is_strong()).count()
    }

    /// Whether it ends like a question.
    #[must_use]
    pub fn is_question(&self) -> bool {
        self.text.ends_with(['?', '？', '؟'])
    }
}

/// The part of a line that is read, cut between two characters.
fn cut(line: &str) -> &str {
    let end = (0..=line.len().min(MAX_LINE_BYTES)).rev().find(|at| line.is_char_boundary(*at));
    &line[..end.unwrap_or_default()]
}

/// The position in a line that is being read.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    signs: Signs,
    /// For `'` and `"`: whether no closing quote follows, so that the search is not repeated.
    no_more: [bool; 2],
}

impl Scan<'_> {
    /// The next word: its start and end, and whether a part of it is quoted.
    fn token(&mut self) -> Option<(usize, usize, bool)> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let start = self.at;
        let mut is_quoted = false;
        while let Some(&byte) = self.bytes.get(self.at).filter(|byte| !byte.is_ascii_whitespace()) {
            match byte {
                b'\\' => {
                    self.signs.backslash = true;
                    self.at += 1;
                    // The other bytes of a multi-byte character count as letters.
                    if self.bytes.get(self.at).is_some_and(u8::is_ascii) {
                        self.at += 1;
                    }
                    continue;
                }
                b'"' | b'\'' if self.quote(byte, start) => {
                    is_quoted = true;
                    continue;
                }
                _ => self.sign(byte, start),
            }
            self.at += 1;
        }
        (self.at > start).then_some((start, self.at, is_quoted))
    }

    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).map(|at| self.bytes[at])
    }

    fn behind(&self, distance: usize) -> Option<u8> {
        self.bytes.get(self.at + distance).copied()
    }

    /// Skips a quoted part that begins here; false if this is not a quote.
    fn quote(&mut self, quote: u8, start: usize) -> bool {
        let is_single = quote == b'\'';
        let follows_letter =
            self.at > start && self.before().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte > 127);
        if is_single && follows_letter {
            return false;
        }
        let slot = usize::from(is_single);
        let end = if self.no_more[slot] { None } else { self.closing(quote) };
        let Some(end) = end else {
            self.no_more[slot] = true;
            self.signs.open_quote = true;
            return false;
        };
        self.signs.quotes = self.signs.quotes.saturating_add(1);
        self.at = end + 1;
        true
    }

    /// The end of the quote that begins here.
    fn closing(&self, quote: u8) -> Option<usize> {
        let mut at = self.at + 1;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' if quote == b'"' => at += 1,
                byte if byte == quote => return Some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Records the meaning of the byte here, outside quotes.
    fn sign(&mut self, byte: u8, start: usize) {
        let is_start = self.at == start;
        let next = self.behind(1);
        let is_last = next.is_none_or(|next| next.is_ascii_whitespace());
        let inside = !is_start && !is_last;
        let signs = &mut self.signs;
        match byte {
            b'|' => signs.pipe = true,
            b';' => signs.separator = true,
            b'&' if next == Some(b'&') => signs.separator = true,
            b'&' if next == Some(b'>') => signs.redirection = true,
            b'&' if next.is_none() => signs.background = true,
            b'>' | b'<' => self.angle(byte, start),
            b'$' => match next {
                Some(b'(') => signs.substitution = true,
                Some(next) if next.is_ascii_alphanumeric() || b"_{@#?*!$".contains(&next) => signs.variable = true,
                _ => {}
            },
            b'`' => signs.backtick = true,
            b'*' | b'[' => signs.glob = true,
            b'?' if inside => signs.glob = true,
            b'{' => signs.brace = true,
            b'=' if inside => signs.equals = true,
            b'(' if is_start => signs.remark = true,
            b'(' => signs.call = true,
            b'!' if is_start && next.is_some_and(|next| next.is_ascii_alphanumeric() || b"!$*^:-?".contains(&next)) => {
                signs.history = true;
            }
            b',' if is_last && next.is_some() => signs.comma = true,
            _ => {}
        }
    }

    /// Classifies a `<` or `>`: a redirection, a comparison, an arrow or a placeholder.
    fn angle(&mut self, byte: u8, start: usize) {
        let before = self.before().filter(|_| self.at > start);
        let next = self.behind(1);
        if before == Some(byte) {
            return;
        }
        if matches!(before, Some(b'-' | b'=')) || next == Some(b'=') || (byte == b'<' && next == Some(b'-')) {
            self.signs.comparison = true;
            return;
        }
        let rest = &self.bytes[self.at + 1..];
        if byte == b'<' && placeholder_len(rest).is_some() {
            self.signs.placeholder = true;
            return;
        }
        if byte == b'>' && self.signs.placeholder && self.closes_placeholder(start) {
            return;
        }
        let skipped = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if is_quantity(&rest[skipped..]) && !before.is_some_and(|byte| byte.is_ascii_digit()) {
            self.signs.comparison = true;
        } else {
            self.signs.redirection = true;
        }
    }

    /// Whether the `>` here closes a `<` of the same word.
    fn closes_placeholder(&self, start: usize) -> bool {
        self.bytes[start..self.at].contains(&b'<')
    }
}

/// The length of a placeholder such as `file>`: it begins with a letter, ends in the same word, and no command follows directly.
fn placeholder_len(rest: &[u8]) -> Option<usize> {
    let len = rest.iter().take(64).position(|byte| byte.is_ascii_whitespace() || b"<>()|;&".contains(byte))?;
    let ends = rest.get(len) == Some(&b'>') && rest.get(len + 1).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (ends && rest.first().is_some_and(u8::is_ascii_alphabetic)).then_some(len)
}

/// Whether the text begins with `5`, `10%`, `1.5GB`, followed by whitespace, punctuation or the end.
fn is_quantity(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let unit = rest[digits..].iter().take_while(|byte| b"kKmMgGtTiIbB%".contains(byte)).count();
    let end = rest.get(digits + unit);
    digits > 0 && unit <= 3 && end.is_none_or(|byte| byte.is_ascii_whitespace() || b",?)".contains(byte))
}

/// Adjusts classes by position. A letter alone is a function word only before a word: `cat a b`. `all` at the end of a line is not a
/// strong word: `make clean all`.
fn settle(tokens: &mut [Token<'_>]) {
    for at in 0..tokens.len() {
        let speaks = tokens.get(at + 1).is_some_and(|next| next.is_plain() && next.word.len() > 1);
        if tokens[at].text.len() == 1 && !speaks {
            tokens[at].class = Class::Content;
        }
    }
    if let [_, .., last] = tokens
        && last.text == "all"
    {
        last.class = Class::Stop;
    }
}

fn token(text: &str, is_quoted: bool) -> Token<'_> {
    let word = text.trim_matches([',', '.', ':', ';', '?', '!', '(', ')', '？', '！', '。', '，', '、']);
    let word = word.trim_matches(['"', '“', '”']);
    let shape = if is_quoted { Shape::Quoted } else { shape_of(text, word) };
    let class = if shape == Shape::Plain { class_of(&Lower::of(word)) } else { Class::Content };
    Token { text, word, shape, class }
}

fn shape_of(text: &str, word: &str) -> Shape {
    let bytes = text.as_bytes();
    if bytes[0] == b'-' && bytes.len() > 1 {
        return Shape::Flag;
    }
    if word.is_empty() {
        return if text.starts_with('.') && text.len() <= 2 { Shape::Path } else { Shape::Other };
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Shape::Number;
    }
    if bytes[0] == b'~' || text.contains('/') || text.starts_with("..") {
        return Shape::Path;
    }
    if is_plain(word) {
        return if bytes[0] == b'.' { Shape::Path } else { Shape::Plain };
    }
    if has_file_ending(word) { Shape::Path } else { Shape::Other }
}

/// Whether a word has letters of any script only, with an apostrophe or a hyphen between two of them.
fn is_plain(word: &str) -> bool {
    let mut was_letter = false;
    for char in word.chars() {
        let is_letter = char.is_alphabetic() || is_mark_of_letter(char);
        let joins = was_letter && matches!(char, '\'' | '’' | '-');
        if !is_letter && !joins {
            return false;
        }
        was_letter = is_letter;
    }
    was_letter
}

/// Vowels and accents that some scripts write as separate characters, and pictures.
fn is_mark_of_letter(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{1fff}' | '\u{3000}'..='\u{fe0f}' | '\u{1f000}'..='\u{1faff}') && !char.is_numeric()
}

/// Whether a word has a file's extension: `main.rs`, `archive.tar.gz`, `*.txt`.
fn has_file_ending(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}
