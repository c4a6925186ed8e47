//! Finds secrets that people chose: any word may be one where a name, an option or an address says so. Pure.
//!
//! [`assigned`] reads the value behind a name in any notation. What the value is not decides: a placeholder (`stand_in.rs`), code, a
//! type, a place, a sentence. Chance does not: `likely.rs` judges values whose names say less.

use std::ops::Range;

use super::{
    likely,
    sense::{Sense, is_in, is_secret_word, sense, words},
    stand_in::is_stand_in,
};

/// Longest value that a person chose, in bytes.
const MOST_VALUE: usize = 256;
/// Largest number of blanks on either side of a value.
const MOST_BLANKS: usize = 40;
/// The part of the line before a name that is examined, in bytes.
pub(super) const MOST_LEAD: usize = 160;
/// Least length of a token, in bytes.
const LEAST_TOKEN: usize = 6;
/// Least number of digits of a password without other characters.
const LEAST_NUMBER: usize = 4;
/// Least number of digits of words with separators that are a token.
const LEAST_DIGITS: usize = 4;
/// Shortest name of a variable with a default value in a text, in bytes.
const LEAST_VARIABLE: usize = 4;
/// Most words of a passphrase in quotes.
const MOST_WORDS: usize = 6;
/// Words of a sentence about a value.
const TELLING: &str = "\
    the and any are can default environment file for from generated has hashed have its may minimum must name not only optional random \
    read required see should string that this used user value variable when will with your";
/// Words before a name that begins a setting.
const LEADS: &str = "\
    export set setx env local declare readonly ** - * # your my our the new old temp temporary initial current guest admin root wifi wlan db \
    zip pdf archive router nas ftp vpn printer email";
/// Begins of tokens of well-known services.
const TOKEN_BEGINS: &[&str] =
    &["ghp_", "gho_", "ghs_", "glpat-", "hf_", "npm_", "pypi-", "sk-", "sk_", "sq0", "squ_", "sqp_", "tok_", "xox"];
/// Least length of such a token without a digit, in bytes.
const LEAST_KNOWN_TOKEN: usize = 14;
/// Longest call that a text is wrapped in, in bytes.
const MOST_CALL: usize = 40;
/// Functions that make a secret of a text.
const WRAPPERS: &str = "from some str string new secretstr secretstring secret of b byte bytes text to_secure quote just password pw_hash md5 sha1 sha256 sha2 crypt encrypt hash";
/// Functions whose first argument is a name and whose second is its value.
const SETTERS: &str = "\
    define getenv env get fetch getproperty setproperty setenv putenv setdefault set put pref fill option setting setitem append header addheader setrequestheader setenvironmentvariable set_var";

/// A name and the sign behind it, in a window of a stream.
pub(super) struct Name<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) name: Range<usize>,
    pub(super) sign: &'a [u8],
    pub(super) sign_at: usize,
    /// The end of the sign.
    pub(super) value_from: usize,
}

/// A value as it is written.
struct Value<'a> {
    text: &'a [u8],
    at: usize,
    quote: Option<u8>,
    /// Blanks before the value.
    is_apart: bool,
}

/// The place of the value of a name that says it is secret, if the value may be.
pub(super) fn assigned(name: &Name<'_>) -> Option<Range<usize>> {
    let text = &name.bytes[name.name.clone()];
    let sense = sense(text).filter(|_| !name.is_mark(text))?;
    let value = name.value()?;
    let fits = match value.quote {
        // Between backticks, words are code.
        Some(b'`') if value.text.contains(&b' ') => false,
        Some(_) => is_quoted_secret(value.text, sense) && name.fits_quoted(&value),
        None => name.fits_unquoted(&value, sense),
    };
    let is_secret = fits && !value.text.is_empty() && !is_stand_in(value.text, text);
    is_secret.then(|| value.at..value.at + value.text.len())
}

/// The value that begins in `range`, in a place for secrets such as that of a password in an address. Quotes may hold blanks.
pub(super) fn typed(bytes: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let quote = bytes[..range.start].last().filter(|byte| b"\"'".contains(byte));
    let whole = quote.and_then(|quote| quoted(&bytes[range.start..], *quote, false));
    let end = range.end.max(range.start + whole.map_or(0, <[u8]>::len));
    let value = range.start..end;
    (!bytes[value.clone()].starts_with(b"`") && !is_stand_in(&bytes[value.clone()], b"")).then_some(value)
}

/// The length of what stands before the quote of a text: `N'...'`, `@"..."`, `String::from("...")`, `<![CDATA[`.
pub(super) fn prefix(rest: &[u8]) -> usize {
    if matches!(rest, [b'[' | b'N' | b'L' | b'r' | b'b' | b'u' | b'f' | b'@', b'"' | b'\'', ..]) {
        return 1;
    }
    let is_of_call = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.: &[]".contains(byte);
    let call = rest.iter().take(MOST_CALL).take_while(|byte| is_of_call(byte)).count();
    let last = rest[..call].rsplit(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').next().unwrap_or_default();
    let is_wrapped = matches!(&rest[call..], [b'(', b'"' | b'\'', ..]) && is_in(WRAPPERS, last);
    if is_wrapped { call + 1 } else { 0 }
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take(MOST_BLANKS).take_while(|byte| b" \t".contains(byte)).count()
}

/// Whether the value reads as a name in code: `self.secret`, `user_input`.
fn is_identifier(value: &[u8]) -> bool {
    value.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte))
}

fn is_letters(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_alphabetic)
}

fn is_number(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Names of objects: words with separators, a path.
fn is_label(value: &[u8]) -> bool {
    let has_separator = value.iter().any(|byte| b"-_./:".contains(byte));
    has_separator
        && likely::is_plain(value)
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:".contains(byte))
}

/// Whether the value of a token is rather the name of an object: `web-tls`, `release-2`.
fn is_name_of_object(value: &[u8], is_object: bool) -> bool {
    let begins = TOKEN_BEGINS.iter().any(|begin| value.starts_with(begin.as_bytes()));
    if begins && (value.len() >= LEAST_KNOWN_TOKEN || likely::has_digit(value)) {
        return false;
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    is_label(value) && digits < if is_object { LEAST_DIGITS } else { 1 }
}

/// Whether the form of a value is that of a secret of this sense.
pub(super) fn has_form(value: &[u8], sense: Sense) -> bool {
    match sense {
        Sense::Password => !is_number(value) || value.len() >= LEAST_NUMBER,
        Sense::Secret { is_object } => !is_number(value) && (!is_object || !is_label(value)),
        Sense::Token { is_object } => {
            // A colour of a theme is no token.
            let is_colour = value.strip_prefix(b"#").is_some_and(likely::is_hex);
            !is_colour
                && value.len() >= LEAST_TOKEN
                && !likely::is_number(value)
                && !is_name_of_object(value, is_object)
                && !likely::is_public(value)
                && !value.iter().any(u8::is_ascii_whitespace)
                && (!is_object || likely::has_digit(value) || likely::is_mixed(value) || likely::is_jumble(value))
        }
    }
}

pub(super) fn is_quoted_secret(value: &[u8], sense: Sense) -> bool {
    let count = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let is_sentence = count > 1 && value.last().is_some_and(|last| b".:?,)".contains(last));
    has_form(value, sense) && count <= MOST_WORDS && !is_sentence && value.trim_ascii().len() == value.len()
}

impl<'a> Name<'a> {
    /// The line before the name.
    fn lead(&self) -> &'a [u8] {
        let area = &self.bytes[self.name.start.saturating_sub(MOST_LEAD)..self.name.start];
        area.rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
    }

    fn value(&self) -> Option<Value<'a>> {
        let mut at = self.value_from;
        if self.sign == b"=" && self.bytes[at..].starts_with(b"=") {
            at += 1;
        }
        let gap = blanks(&self.bytes[at..]);
        at += gap;
        // `**Password:** ...` of a text, `userPassword:: ...` of a directory.
        let more = [&b"**"[..], b": "].into_iter().find(|more| self.sign == b":" && self.bytes[at..].starts_with(more));
        if let Some(more) = more {
            at += more.len() + blanks(&self.bytes[at + more.len()..]);
        }
        let rest = &self.bytes[at..];
        let prefix = prefix(rest);
        let escape = usize::from(matches!(&rest[prefix..], [b'\\', b'"' | b'\'', ..]));
        let begin = prefix + escape;
        let is_apart = gap > 0 || more.is_some();
        if let Some(quote) = rest.get(begin).copied().filter(|byte| b"\"'`".contains(byte)) {
            let text = quoted(&rest[begin + 1..], quote, escape > 0)?;
            return Some(Value { text, at: at + begin + 1, quote: Some(quote), is_apart });
        }
        // `${PWD:h}` is a part of a path.
        let is_default = self.sign.starts_with(b":") && self.lead().ends_with(b"{");
        if is_default && self.name.len() < LEAST_VARIABLE {
            return None;
        }
        let text = match self.sign {
            _ if is_default => {
                let rest = rest.strip_prefix(b"-").unwrap_or(rest);
                let length = rest.iter().take(MOST_VALUE).position(|byte| b"}\n".contains(byte))?;
                let start = at + (self.bytes.len() - at - rest.len());
                return Some(Value { text: &rest[..length], at: start, quote: None, is_apart: false });
            }
            b">" => {
                let line = &rest[..rest.len().min(MOST_VALUE)];
                &line[..memchr::memmem::find(line, b"</").filter(|end| !line[..*end].contains(&b'\n'))?]
            }
            b"," | b"||" | b"??" | b"or " | b"?:" => return None,
            _ => self.phrase(rest).filter(|_| is_apart).unwrap_or_else(|| self.unquoted(rest)),
        };
        Some(Value { text, at, quote: None, is_apart })
    }

    /// The quote that was opened right before the name, or the name's line.
    fn open_quote(&self) -> Option<u8> {
        let lead = self.lead();
        let is_open = |quote: &u8| lead.iter().filter(|byte| *byte == quote).count() % 2 == 1;
        b"\"'`".iter().copied().find(is_open)
    }

    fn byte_before(&self) -> Option<u8> {
        self.lead().last().copied()
    }

    fn unquoted(&self, rest: &'a [u8]) -> &'a [u8] {
        let open = self.open_quote();
        let before = self.byte_before();
        // A quote around name and value holds blanks, too.
        let holds_blanks = self.sign == b"=" && open.is_some() && open == before;
        let ends = |at: usize| match rest[at] {
            b' ' => !holds_blanks,
            byte if byte.is_ascii_control() => true,
            b';' | b'\\' | b'\x7f' => true,
            b'&' => matches!(before, Some(b'?' | b'&')) || self.name.start == 0 || self.is_form(),
            b',' => before == Some(b',') || rest.get(at + 1).is_none_or(u8::is_ascii_whitespace),
            b'<' => rest[at + 1..].starts_with(b"/"),
            byte => open == Some(byte),
        };
        let most = rest.len().min(MOST_VALUE);
        let length = (0..most).find(|at| ends(*at)).unwrap_or(most);
        if holds_blanks && rest.get(length) != open.as_ref() {
            let word = rest.iter().take(length).position(|byte| *byte == b' ').unwrap_or(length);
            return &rest[..word];
        }
        without_closers(&rest[..length])
    }

    /// The rest of a line of settings that is a passphrase: `session_secret: keyboard cat`. A name of one word begins sentences.
    fn phrase(&self, rest: &'a [u8]) -> Option<&'a [u8]> {
        let name = &self.bytes[self.name.clone()];
        let is_setting = self.sign == b":" && self.begins_line() && name.iter().any(|byte| b"_-".contains(byte));
        if !is_setting || sense(name).is_none_or(Sense::is_of_object) {
            return None;
        }
        let line = rest.split(|byte| b"\r\n".contains(byte)).next().filter(|line| line.len() <= MOST_VALUE)?;
        let is_word = |word: &[u8]| {
            (3..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase) && !is_in(TELLING, word)
        };
        let count = line.split(|byte| *byte == b' ').count();
        ((2..=MOST_WORDS).contains(&count) && line.split(|byte| *byte == b' ').all(is_word)).then_some(line)
    }

    /// Whether the name is no name of a value: the result of a test (`PASS: ...`), a type (`Kind::Secret => ...`), a reference
    /// of a template (`#pw="..."`).
    fn is_mark(&self, text: &[u8]) -> bool {
        let is_result =
            text.ends_with(b"PASS") && text.iter().all(|byte| !byte.is_ascii_alphabetic() || b"PASS".contains(byte));
        is_result && self.sign == b":"
            || self.lead().ends_with(b"::")
            || self.byte_before() == Some(b'#') && !self.begins_line() && self.sign != b","
    }

    /// Whether the name stands in the text of a form: `user=me&password=...`.
    fn is_form(&self) -> bool {
        self.lead().contains(&b'&')
    }

    fn fits_quoted(&self, value: &Value<'_>) -> bool {
        // The quote around name and value closed before the end of the value.
        if self.open_quote().is_some_and(|open| Some(open) != value.quote && value.text.contains(&open)) {
            return false;
        }
        if self.sign != b"," {
            return true;
        }
        let lead = self.lead();
        let is_option = lead.ends_with(b"\"--") || self.bytes[self.name.start..].starts_with(b"--");
        let after = &self.bytes[(value.at + value.text.len() + 1).min(self.bytes.len())..];
        // Erlang's `{password, "..."}`, and selectors: `fill('#password', '...')`.
        if lead.ends_with(b"{") {
            return after.starts_with(b"}");
        }
        let lead = lead.strip_suffix(b"#").unwrap_or(lead);
        let Some(call) = lead.strip_suffix(b"\"").or_else(|| lead.strip_suffix(b"'")) else { return is_option };
        let call = call.trim_ascii_end();
        let function = call.strip_suffix(b"(").map(<[u8]>::trim_ascii_end).unwrap_or_default();
        let start = function.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let is_setter = is_in(SETTERS, &function[start..]);
        is_option || (is_setter && after.trim_ascii_start().starts_with(b")"))
    }

    /// Whether nothing but an indent, a mark of a list or a word such as `export` is before the name.
    fn begins_line(&self) -> bool {
        let lead = self.lead().trim_ascii();
        let lead = lead.strip_suffix(b"\"").or_else(|| lead.strip_suffix(b"'")).unwrap_or(lead);
        lead.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).all(|word| is_in(LEADS, word))
    }

    fn fits_unquoted(&self, value: &Value<'_>, sense: Sense) -> bool {
        let text = value.text;
        if self.sign.starts_with(b":") && self.lead().ends_with(b"${") && !value.is_apart {
            let is_operator = text.first().is_none_or(|first| b"?+%#/0123456789".contains(first));
            return !is_operator && text.len() > 2 && has_form(text, sense);
        }
        if self.sign == b">" {
            return has_form(text, sense) && is_quoted_secret(text, sense);
        }
        // `getenv("X")`, `os.environ["X"]`.
        let is_call = memchr::memchr2(b'(', b'[', text)
            .is_some_and(|at| at > 0 && is_identifier(&text[..at]) && (text[at] == b'(' || text.ends_with(b"]")));
        let is_code = text.first().is_none_or(|first| b"([{&*<|!\"'`".contains(first))
            || is_call
            || is_place(text)
            || text.starts_with(self.sign);
        let is_tight = self.sign == b"=" && !value.is_apart && self.sign_at == self.name.end;
        if (is_code && !(is_tight && self.is_literal(text))) || !has_form(text, sense) {
            return false;
        }
        if is_tight { self.fits_tight(text, sense) } else { self.fits_spaced(value, sense) }
    }

    /// Whether the value cannot be code, as it is that of a variable of the environment.
    fn is_literal(&self, text: &[u8]) -> bool {
        let name = &self.bytes[self.name.clone()];
        !name.iter().any(u8::is_ascii_lowercase) && text.first().is_some_and(|first| b"*!".contains(first))
    }

    /// `name=value`.
    fn fits_tight(&self, text: &[u8], sense: Sense) -> bool {
        let name = &self.bytes[self.name.clone()];
        let after = self.bytes.get(text.as_ptr() as usize - self.bytes.as_ptr() as usize + text.len());
        let before = self.byte_before();
        let is_variable = !name.iter().any(u8::is_ascii_lowercase);
        let is_in_braces = self.lead().iter().rfind(|byte| b"{([".contains(byte)) == Some(&b'{');
        let is_argument = matches!(before, Some(b'(' | b'[' | b'{'))
            || self.lead().trim_ascii_end().last().is_some_and(|last| b",(".contains(last)) && before != Some(b',')
            || (after.is_some_and(|byte| b",);".contains(byte)) && !matches!(before, Some(b',' | b';')))
            || text.ends_with(b")");
        let bare = text.strip_suffix(b")").unwrap_or(text);
        // `{user=ann, password=...}`: a program prints what it has.
        let is_printed = is_in_braces && likely::has_digit(text) && sense == Sense::Password;
        if is_argument && !is_variable && !is_printed && (is_identifier(bare) || bare.contains(&b'[')) {
            return false;
        }
        sense == Sense::Password || is_variable || !sense.is_of_object() || likely::has_digit(text) || !is_letters(text)
    }

    /// `name = value`, `name: value`.
    fn fits_spaced(&self, value: &Value<'_>, sense: Sense) -> bool {
        let text = value.text;
        let end = value.at + text.len();
        let line = &self.bytes[end..self.bytes.len().min(end + MOST_LEAD)];
        let rest = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
        let closed =
            rest.iter().position(|byte| !b"\"'}),;".contains(byte)).map_or(&rest[rest.len()..], |at| &rest[at..]);
        let is_comment = [&b"#"[..], b"//", b"--", b"<!--", b"/*", b"\\"].iter().any(|sign| closed.starts_with(sign));
        // The next field of a line: `password: {}, host: ...`.
        let next = closed.trim_ascii_start().split(|byte| *byte == b' ').next().unwrap_or_default();
        let is_property = self.sign == b"=" && sense == Sense::Password && self.begins_line() && {
            let name = &self.bytes[self.name.clone()];
            name.contains(&b'.')
                && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b" -".contains(byte))
        };
        if is_property && rest.iter().any(u8::is_ascii_alphabetic) {
            return likely::classes(rest) > 0 && !text.contains(&b'.');
        }
        let is_variable = !self.bytes[self.name.clone()].iter().any(u8::is_ascii_lowercase);
        let is_field = next.len() > 1
            && next.iter().any(|byte| b":=".contains(byte))
            && (likely::has_digit(text) || is_variable && self.lead().contains(&b'{'));
        if !(closed.is_empty() || is_comment || is_field) {
            return false;
        }
        let is_expression =
            text.iter().any(|byte| b"()[]{}|".contains(byte)) || memchr::memmem::find(text, b"->").is_some();
        let is_option = matches!(self.byte_before(), Some(b'/')) || self.bytes[self.name.start..].starts_with(b"-");
        if !value.is_apart && self.sign == b":" && is_option {
            return true;
        }
        if !value.is_apart && self.sign == b":" && (!likely::has_digit(text) || !self.begins_line()) {
            return false;
        }
        if !is_identifier(text) {
            return !is_expression && (self.sign != b":" || !text.iter().all(u8::is_ascii_punctuation));
        }
        let is_in_flow = is_field && self.lead().contains(&b'{');
        let ends_statement = !is_in_flow && matches!(line.first(), Some(b',' | b';' | b')'));
        let has_digit = likely::has_digit(text);
        if ends_statement || text.contains(&b'.') || !has_digit && words(text).any(is_secret_word) {
            return false;
        }
        let is_plain = is_letters(text) || !has_digit;
        !is_plain
            || ((self.begins_line() || is_in_flow && is_variable)
                && !matches!(sense, Sense::Token { .. })
                && (self.sign != b"=" || !text.contains(&b'_')))
    }
}

/// A place in a tree of folders, or an address.
fn is_place(text: &[u8]) -> bool {
    [&b"/"[..], b"./", b"../", b"~", b"@/"].iter().any(|start| text.starts_with(start))
        || (text.contains(&b'/') && is_label(text) && !likely::has_digit(text))
        || memchr::memmem::find(text, b"://").is_some()
        || memchr::memmem::find(text, b"::").is_some()
}

/// The text without the brackets and signs that close the code around it.
fn without_closers(text: &[u8]) -> &[u8] {
    let closers = text.iter().rev().take_while(|byte| b")]}:,".contains(byte)).count();
    let (inner, closed) = text.split_at(text.len() - closers);
    let is_open = inner.iter().any(|byte| b"([{".contains(byte));
    if is_open || !closed.iter().any(|byte| b")]}".contains(byte)) { text } else { inner }
}

/// The text to the closing quote on the same line.
pub(super) fn quoted(rest: &[u8], quote: u8, is_escaped: bool) -> Option<&[u8]> {
    let most = rest.len().min(MOST_VALUE);
    let mut at = 0;
    while at < most && rest[at] != b'\n' {
        match rest[at] {
            b'\\' if is_escaped && rest.get(at + 1) == Some(&quote) => return Some(&rest[..at]),
            b'\\' => at += 1,
            byte if byte == quote => return (!is_escaped).then_some(&rest[..at]),
            _ => {}
        }
        at += 1;
    }
    None
}
