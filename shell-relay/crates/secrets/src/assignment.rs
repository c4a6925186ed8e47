//! Finds `NAME=value` in all the notations of files and commands. Pure.

use std::ops::Range;

use super::{chosen::Name, likely, sense::is_before_key};

/// Largest number of letters, digits and the like between the word that sounds secret and the sign of assignment.
const MOST_NAME_TAIL: usize = 20;
/// Largest distance from the begin of a name to its secret-sounding word, in bytes.
const MOST_NAME_HEAD: usize = 60;
/// Largest number of blanks and quotes before and behind the sign. Signs in a column are further from their names.
const MOST_FILLERS_BEFORE: usize = 24;
const MOST_FILLERS: usize = 6;
/// Longest type between a name and its value, as in `key: &str = "..."`.
const MOST_TYPE: usize = 32;
/// Shortest and longest value of an assignment to a name that only sounds secret.
const LEAST_VALUE: usize = 8;
const MOST_VALUE: usize = 512;
/// Shorter values must look machine-made, or be passwords.
const SHORT_VALUE: usize = 16;
/// Shortest digest at the end of a name, in bytes.
const LEAST_DIGEST: usize = 32;
/// Floor for values of hexadecimal digits, bits a byte.
const HEX_FLOOR: f32 = 2.75;

/// Signs between a name and its value; of two that begin alike the longer one comes first.
const SIGNS: &[&[u8]] = &[
    b"::=",
    b"||=",
    b"??=",
    b":=",
    b"=>",
    b"?=",
    b"||",
    b"??",
    b"or ",
    b"?:",
    b"<-",
    b"\xe2\x86\x92",
    b"\xef\xbc\x9a",
    b"=",
    b":",
    b">",
    b",",
];

/// Words that sound secret only as a separate part: not in `monkey`, `author` or `rapid`.
const WEAK_WORDS: &[&str] = &["key", "api", "auth", "access", "creds", "pass", "psk", "pwd"];
/// Texts that may stand directly before a weak word, other than the begin of a part.
const BEFORE_WEAK: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "account",
    "encryption",
    "signing",
    "master",
    "service",
    "client",
    "license",
    "shared",
    "storage",
    "admin",
    "app",
    "user",
    "db",
    "session",
    "smtp",
    "mail",
    "root",
    "ssh",
];
/// Parts of names whose values are no secrets.
const HARMLESS_NAMES: &[&str] = &[
    "public",
    "pub_key",
    "pubkey",
    "fingerprint",
    "thumbprint",
    "keyid",
    "key_id",
    "checksum",
    "hash",
    "digest",
    "sha1",
    "sha256",
    "md5",
    "commit",
    "etag",
    "cache",
    "integrity",
    "keyboard",
    "keyword",
    "tokenizer",
    "author",
    "primary",
    "foreign",
    "expir",
    "lifetime",
    "length",
    "version",
    "path",
    "file",
    "url",
    "uri",
    "endpoint",
    "_type",
    "keys.",
    "keyserver",
];
/// Only a name with one of these words makes hexadecimal digits or a uuid secret.
const STRONG_NAMES: &[&str] =
    &["secret", "passw", "pwd", "token", "api_key", "apikey", "api-key", "credential", "private", "access_key"];

/// An assignment that was found around a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assignment<'a> {
    /// The whole left side: letters, digits, `_`, `.`, `-`.
    name: &'a [u8],
    /// The place of the word in the name.
    word: (usize, usize),
    sign: &'static [u8],
    /// The begin of the sign.
    sign_at: usize,
    /// The end of the sign, and of a type before it.
    sign_end: usize,
    /// The begin of the name.
    name_at: usize,
    /// The begin of the value.
    pub(super) value_at: usize,
    quote: Option<u8>,
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
}

fn count(bytes: &[u8], most: usize, test: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take(most).take_while(|byte| test(**byte)).count()
}

/// The whole name that holds the word at `word`.
pub(super) fn name_around(bytes: &[u8], word: (usize, usize)) -> Range<usize> {
    let head = bytes[..word.0].iter().rev().take(MOST_NAME_HEAD).take_while(|byte| is_name_byte(**byte)).count();
    let start = word.0 - head;
    // `API key` is a name, too.
    let start =
        if bytes[word.0..word.1].eq_ignore_ascii_case(b"key") && head == 0 { before_key(bytes, start) } else { start };
    start..word.1 + count(&bytes[word.1..], MOST_NAME_TAIL, is_name_byte)
}

/// The begin of a word such as `API` before ` key`, else that of `key`.
fn before_key(bytes: &[u8], key: usize) -> usize {
    let Some(head) = bytes[..key].strip_suffix(b" ") else { return key };
    let length = head.iter().rev().take(MOST_NAME_HEAD).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let begin = head.len() - length;
    if is_before_key(&head[begin..]) { begin } else { key }
}

/// The assignment to a name that holds the word at `word`, if there is one.
pub(super) fn around(bytes: &[u8], word: (usize, usize)) -> Option<Assignment<'_>> {
    let Range { start: name_at, end: name_end } = name_around(bytes, word);
    let mut at = name_end + count(&bytes[name_end..], MOST_FILLERS_BEFORE, |byte| b" \t\"'`\\]}".contains(&byte));
    at += type_before_sign(&bytes[at..]) + end_of_call(&bytes[at..]);
    let sign = SIGNS.iter().find(|sign| bytes[at..].starts_with(sign))?;
    let (sign_at, mut sign) = (at, *sign);
    at += sign.len();
    if sign == b":"
        && let Some(typed) = type_before_value(&bytes[at..])
    {
        at += typed;
        sign = b"=";
    }
    let sign_end = at;
    let fillers = count(&bytes[at..], MOST_FILLERS, |byte| b" \t\"'`\\=".contains(&byte));
    let quote = bytes[at..at + fillers].last().copied().filter(|byte| b"\"'`".contains(byte));
    at += fillers;
    let (name, head) = (&bytes[name_at..name_end], word.0 - name_at);
    (at < bytes.len()).then_some(Assignment {
        name,
        word: (head, head + word.1 - word.0),
        sign,
        sign_at,
        sign_end,
        name_at,
        value_at: at,
        quote,
    })
}

/// The length of `) ` before an operator that gives another value: `getenv("PASSWORD") ?: "..."`.
fn end_of_call(rest: &[u8]) -> usize {
    let operators = [&b") ||"[..], b") ??", b") or ", b") ?:"];
    if operators.iter().any(|operator| rest.starts_with(operator)) { 2 } else { 0 }
}

/// The length of what says the type between a name and its sign: `[]`, `[32]`, `As String`.
fn type_before_sign(rest: &[u8]) -> usize {
    let length = match rest {
        [b'[', after @ ..] => 1 + count(after, MOST_FILLERS, |byte| byte.is_ascii_digit() || byte == b']'),
        [b'A' | b'a', b's', b' ', after @ ..] => 3 + count(after, MOST_TYPE, |byte| byte.is_ascii_alphanumeric()),
        _ => return 0,
    };
    length + count(&rest[length..], MOST_FILLERS, |byte| byte == b' ')
}

/// The length of a type and the sign behind it.
fn type_before_value(rest: &[u8]) -> Option<usize> {
    let is_type = |byte: u8| byte.is_ascii_alphabetic() || b" &'<>[]".contains(&byte);
    let length = count(rest, MOST_TYPE, is_type);
    (length > 2 && rest.get(length) == Some(&b'=')).then_some(length + 1)
}

/// Whether a value may end before `byte`.
pub(super) fn ends_value(rest: &[u8]) -> bool {
    match rest {
        [] => true,
        [b'.', after @ ..] => after.first().is_none_or(u8::is_ascii_whitespace),
        [byte, ..] => byte.is_ascii_whitespace() || b"\"'`;,<>&(){}[]\\|#\x1b\0".contains(byte),
    }
}

impl Assignment<'_> {
    /// The assignment for rules that judge the name as a whole.
    pub(super) fn whole<'a>(&self, bytes: &'a [u8]) -> Name<'a> {
        let name = self.name_at..self.name_at + self.name.len();
        Name { bytes, name, sign: self.sign, sign_at: self.sign_at, value_from: self.sign_end }
    }

    /// Whether the value has the service's own format: not a word, not a number that happens to stand next to the name of a service.
    pub(super) fn takes(&self, value: &[u8], floor: f32) -> bool {
        let has_signs = value.iter().any(|byte| b":.-".contains(byte));
        let is_random = likely::has_digit(value) || has_signs || likely::is_mixed(value);
        is_random
            && (has_signs || !likely::is_plain(value))
            && likely::entropy(value) >= likely::fair_floor(floor, value.len())
    }

    /// The place of the value, if the name sounds secret and the value looks so.
    pub(super) fn generic(&self, bytes: &[u8], floor: f32) -> Option<Range<usize>> {
        let name = self.name.to_ascii_lowercase();
        let says =
            |words: &[&str]| words.iter().any(|word| name.windows(word.len()).any(|part| part == word.as_bytes()));
        if says(HARMLESS_NAMES) || !self.sounds_secret(&name) {
            return None;
        }
        let is_password = says(&["pass", "pwd", "psk"]);
        let rest = &bytes[self.value_at..];
        let is_value = |byte: u8| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'=' | b'_' | b'-' | b'+' | b'/' | b'~' => true,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'?' | b':' => is_password,
            _ => false,
        };
        let length = count(rest, MOST_VALUE, is_value);
        let (value, after) = rest.split_at(length);
        let value = value.strip_suffix(b".").unwrap_or(value);
        let is_closed = match self.quote {
            Some(quote) => after.first() == Some(&quote) || after.starts_with(&[b'\\', quote]),
            None => ends_value(after) && !matches!(after, [b'(' | b'[' | b'{', ..]),
        };
        let fits_sign = match self.sign {
            b">" => after.starts_with(b"</"),
            b"," => self.quote.is_some(),
            _ => true,
        };
        let looks_secret = is_secret(value, is_password, says(STRONG_NAMES), floor);
        (is_closed && fits_sign && looks_secret).then_some(self.value_at..self.value_at + value.len())
    }

    /// Whether the word sounds secret: not when it is only a piece of another word.
    fn sounds_secret(&self, lower: &[u8]) -> bool {
        let (start, end) = self.word;
        let word = &lower[start..end];
        if !WEAK_WORDS.iter().any(|weak| weak.as_bytes() == word) {
            return true;
        }
        let begins = start == 0
            || !self.name[start - 1].is_ascii_alphabetic()
            || (self.name[start].is_ascii_uppercase() && self.name[start - 1].is_ascii_lowercase())
            || BEFORE_WEAK.iter().any(|before| lower[..start].ends_with(before.as_bytes()));
        let rest = &self.name[end..];
        let rest = rest.strip_prefix(b"s").unwrap_or(rest);
        let ends =
            rest.first().is_none_or(|byte| !byte.is_ascii_lowercase() || self.name[end - 1].is_ascii_uppercase())
                || rest.to_ascii_lowercase().starts_with(b"key")
                || rest.to_ascii_lowercase().starts_with(b"token");
        begins && ends
    }
}

/// Whether a value looks like a secret, given the meaning of its name.
fn is_secret(value: &[u8], is_password: bool, is_strong: bool, floor: f32) -> bool {
    let refused = likely::is_stand_in(value)
        || likely::is_public(value)
        || likely::is_number(value)
        || likely::is_plain(value)
        || !likely::has_digit(value)
        || is_path(value);
    if refused || value.len() < LEAST_VALUE {
        return false;
    }
    // `key: linux-18b7559b...`: a digest, perhaps behind the name of what it is of.
    let digest = value.rsplit(|byte| *byte == b'-').next().filter(|tail| tail.len() >= LEAST_DIGEST);
    if likely::is_hex(digest.unwrap_or(value)) || likely::is_uuid(value) {
        return is_strong && value.len() >= SHORT_VALUE && likely::entropy(value) >= HEX_FLOOR;
    }
    let classes = likely::classes(value);
    let is_made = if is_password { classes >= 2 } else { classes >= 3 };
    (value.len() >= SHORT_VALUE || is_made)
        && !is_identifier(value)
        && likely::entropy(value) >= likely::fair_floor(floor, value.len())
}

/// A place in a tree of folders or in a module.
fn is_path(value: &[u8]) -> bool {
    let starts = [&b"/"[..], b"./", b"../", b"~/"];
    let slashes = value.iter().filter(|byte| **byte == b'/').count();
    (starts.iter().any(|start| value.starts_with(start)) && slashes * 20 > value.len()) || slashes * 8 > value.len()
}

/// Whether the value is short parts in one case, with separators between them: a name chosen by a person.
fn is_identifier(value: &[u8]) -> bool {
    let parts: Vec<&[u8]> = value.split(|byte| b"_-./".contains(byte)).filter(|part| !part.is_empty()).collect();
    let is_mixed = |part: &[u8]| part.iter().any(u8::is_ascii_lowercase) && part.iter().any(u8::is_ascii_uppercase);
    parts.len() > 1 && parts.iter().all(|part| part.len() < 12 && !is_mixed(part))
}
