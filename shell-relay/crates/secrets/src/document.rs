//! Finds secrets in formats of more than one line or pattern: manifests, cookies, netrc, files that are secret by their name. Pure.

use std::ops::Range;

use super::likely;

/// Largest distance between `data:` and the kind of its document, in bytes.
const MOST_DOCUMENT: usize = 3 * 1024;
/// Largest distance from the name of a machine to its password, in bytes.
const MOST_NETRC_ENTRY: usize = 200;
const LEAST_COOKIE: usize = 16;
const LEAST_MANIFEST_VALUE: usize = 10;
/// Longest line that is examined, in bytes.
const MOST_LINE: usize = 2 * 1024;
const COOKIE_FLOOR: f32 = 3.0;

fn line_end(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..bytes.len().min(from + MOST_LINE)];
    from + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
}

fn trim(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let text = &bytes[range.clone()];
    let start = range.start + (text.len() - text.trim_ascii_start().len());
    start..start.max(range.start + text.trim_ascii_end().len())
}

/// The values below `data:` at `hit` in a manifest whose kind is Secret.
pub(super) fn manifest(bytes: &[u8], hit: usize) -> Vec<Range<usize>> {
    let line_start = bytes[..hit].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let is_bound = |range: &Range<usize>| memchr::memmem::find(&bytes[range.clone()], b"\n---").is_none();
    let says_secret = |range: Range<usize>| {
        let found = memchr::memmem::find(&bytes[range.clone()], b"kind: Secret").map(|at| range.start + at);
        found.is_some_and(|at| {
            let between = if at < hit { at..hit } else { hit..at };
            let rest = &bytes[at + b"kind: Secret".len()..];
            is_bound(&between) && rest.first().is_none_or(u8::is_ascii_whitespace)
        })
    };
    let before = line_start.saturating_sub(MOST_DOCUMENT)..line_start;
    let after = hit..bytes.len().min(hit + MOST_DOCUMENT);
    // `stringData:` ends in the literal, too, and holds the values as they are.
    let lead = bytes[line_start..hit].trim_ascii_start();
    if !(lead.is_empty() || lead == b"string") || !(says_secret(before) || says_secret(after)) {
        return Vec::new();
    }
    let own_indent = bytes[line_start..hit].len() - lead.len();
    let mut values = Vec::new();
    let mut at = line_end(bytes, hit) + 1;
    while at < bytes.len() {
        let end = line_end(bytes, at);
        let line = &bytes[at..end];
        let indent = line.len() - line.trim_ascii_start().len();
        if indent <= own_indent || line.trim_ascii().is_empty() {
            break;
        }
        if let Some(colon) = memchr::memchr(b':', line) {
            let value = trim(bytes, at + colon + 1..end);
            let value = unquoted(bytes, value);
            if value.len() >= LEAST_MANIFEST_VALUE && !likely::is_stand_in(&bytes[value.clone()]) {
                values.push(value);
            }
        }
        at = end + 1;
    }
    values
}

fn unquoted(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let text = &bytes[range.clone()];
    match text {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => range.start + 1..range.end - 1,
        _ => range,
    }
}

/// The values of the cookies that stand for a session, in the header at `hit`.
pub(super) fn cookies(bytes: &[u8], hit: usize) -> Vec<Range<usize>> {
    let start = hit + b"cookie:".len();
    if start >= bytes.len() {
        return Vec::new();
    }
    let (mut values, mut at) = (Vec::new(), start);
    let is_end = |byte: &u8| b";\r\n\"'".contains(byte);
    let line = line_end(bytes, start);
    while at < line {
        let end = bytes[at..line].iter().position(is_end).map_or(line, |length| at + length);
        if let Some(sign) = memchr::memchr(b'=', &bytes[at..end]) {
            let name = bytes[at..at + sign].to_ascii_lowercase();
            let value = trim(bytes, at + sign + 1..end);
            let says = |word: &&str| memchr::memmem::find(&name, word.as_bytes()).is_some();
            let text = &bytes[value.clone()];
            let is_secret = ["sess", "sid", "auth", "token", "jwt"].iter().any(says)
                && text.len() >= LEAST_COOKIE
                && likely::entropy(text) >= COOKIE_FLOOR
                && !likely::is_stand_in(text);
            if is_secret {
                values.push(value);
            }
        }
        at = end + 1;
    }
    values
}

/// The word after `password` at `hit`, in an entry of a netrc file.
pub(super) fn netrc(bytes: &[u8], hit: usize) -> Option<Range<usize>> {
    let is_word = |at: usize| at == 0 || bytes[at - 1].is_ascii_whitespace();
    let entry = &bytes[hit.saturating_sub(MOST_NETRC_ENTRY)..hit];
    let machine = memchr::memmem::rfind(entry, b"machine ").map(|at| hit - entry.len() + at)?;
    let has_login = memchr::memmem::find(&bytes[machine..hit], b"login").is_some();
    let after = hit + b"password".len();
    let blank = bytes.get(after).filter(|byte| byte.is_ascii_whitespace());
    if !is_word(hit) || !is_word(machine) || !has_login || blank.is_none() {
        return None;
    }
    let start = after + bytes[after..].iter().take(MOST_LINE).position(|byte| !byte.is_ascii_whitespace())?;
    let length = bytes[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len() - start);
    // Elsewhere it is a variable of that name.
    (!bytes[start..].starts_with(b"=")).then_some(start..start + length)
}

/// The kind of a file by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FileKind {
    #[default]
    Plain,
    /// A store of keys: none of its bytes leave.
    KeyStore,
    /// Lines whose fifth field is a password.
    Pgpass,
}

impl FileKind {
    /// The kind of a file with this name or path.
    pub(super) fn of(name: &str) -> Self {
        let base = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let is_store = [".p12", ".pfx", ".jks", ".kdbx"].iter().any(|end| base.ends_with(end));
        match base.as_str() {
            ".pgpass" | "pgpass" | "pgpass.conf" => Self::Pgpass,
            _ if is_store => Self::KeyStore,
            _ => Self::Plain,
        }
    }
}

/// The begin of the password in a line of a pgpass file, in bytes; a backslash escapes the next byte.
pub(super) fn fifth_field(line: &[u8]) -> Option<usize> {
    let (mut fields, mut is_escaped) = (0, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b':' => fields += 1,
            _ => {}
        }
        if fields == 4 {
            return (!line.starts_with(b"#") && at + 1 < line.len()).then_some(at + 1);
        }
    }
    None
}
