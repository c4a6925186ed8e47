//! Finds secrets behind a name without a sign of assignment: options, SQL, directives of settings. Pure.

use std::ops::Range;

use super::{
    chosen::{MOST_LEAD, has_form, is_quoted_secret, prefix, quoted},
    likely,
    sense::{Sense, is_in, sense},
    stand_in::is_stand_in,
};

/// Words that follow an option in a sentence.
const PROSE: &str = "\
    a an and are argument as at be but can flag for from has if in instead into is may must not of on option options or \
    parameter should switch the then to via was when which will with without";
/// Words between a name and its value in a sentence.
const LINKS: &str = "is was are now set to as changed ist lautet war est es";
/// Words before a name whose value somebody uses.
const USING: &str = "using with use used try";
/// Shortest password that a program made, in bytes.
const LEAST_MADE: usize = 12;
/// Verbs before a value, a few words behind its name.
const VERBS_OF_BEING: &str = "is ist lautet est es";
/// Most words between a name and the sign in front of its value.
const MOST_WORDS_BEFORE_SIGN: usize = 8;
/// Most words between a name and such a verb.
const MOST_WORDS: usize = 6;
/// Directives directly before a name: `SetEnv DB_PASSWORD word`.
const DIRECTIVES: &str = "\
    setx setenv env";
/// The same, where an ordinary word may follow: `enable password authentication`.
const VERBS: &str = "set enable";
/// Words that begin a line of settings with a password at its end.
const HEADS: &str = "d-i set enable username user neighbor login default machine account line tacacs-server radius-server snmp-server consul etcdctl nmcli npm";
/// Words before the name of a user, with a password at the end.
const USERS: &str = "\
    login user username";

/// Words for the user of a password in a sentence.
const USER_WORDS: &str = "user username login account benutzer nutzer utilisateur usuario utente";

/// A name and the text around it.
struct Place<'a> {
    name: &'a [u8],
    bytes: &'a [u8],
    /// The begin of the value, or of its quote.
    at: usize,
    /// Blanks before it.
    gap: usize,
    /// The line before the name.
    lead: &'a [u8],
    sense: Sense,
    is_option: bool,
}

/// The place of the value behind the name `name` of `bytes` and a blank or a bracket.
pub(super) fn behind(bytes: &[u8], name: Range<usize>) -> Option<Range<usize>> {
    if !matches!(bytes.get(name.end), Some(b' ' | b'\t' | b'(')) {
        return None;
    }
    let text = &bytes[name.clone()];
    let sense = sense(text).filter(|_| !matches!(text, b"pwd"))?;
    let area = &bytes[name.start.saturating_sub(MOST_LEAD)..name.start];
    let lead = area.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_option = text.starts_with(b"-") && lead.last().is_none_or(|byte| b" \t\"'(".contains(byte));
    let gap = bytes[name.end..].iter().take(MOST_LEAD).take_while(|byte| b" \t".contains(byte)).count();
    // The name is itself the value of an option: `-p password host`.
    let before = lead.split(u8::is_ascii_whitespace).rfind(|word| !word.is_empty()).unwrap_or_default();
    if before.starts_with(b"-")
        && !matches!(before, b"-" | b"--")
        && !is_option
        && !lead.trim_ascii_start().starts_with(b"set ")
    {
        return None;
    }
    let place = Place { name: text, bytes, at: name.end + gap, gap, lead, sense, is_option };
    let range = match bytes[name.end] {
        b'(' => place.argument(name.end + 1),
        _ => place.quoted().or_else(|| place.word()).or_else(|| place.sentence()),
    };
    range.filter(|range| !range.is_empty() && !is_stand_in(&bytes[range.clone()], text))
}

impl Place<'_> {
    /// A call with nothing but the value: `password("...")`.
    fn argument(&self, at: usize) -> Option<Range<usize>> {
        let quote = self.bytes.get(at).filter(|byte| b"\"'".contains(byte))?;
        let value = quoted(&self.bytes[at + 1..], *quote, false)?;
        let is_only = self.name != b"pass" && self.bytes.get(at + 2 + value.len()) == Some(&b')');
        (is_only && is_quoted_secret(value, self.sense)).then_some(at + 1..at + 1 + value.len())
    }

    fn quoted(&self) -> Option<Range<usize>> {
        let at = self.at + prefix(&self.bytes[self.at..]);
        let quote = self.bytes.get(at).filter(|byte| b"\"'".contains(byte))?;
        let value = quoted(&self.bytes[at + 1..], *quote, false)?;
        let is_user_before = self.name != b"pass" || self.lead.windows(4).any(|part| part == b"user");
        let is_bound = is_user_before
            && self.lead.last().is_none_or(|byte| b" \t(:{".contains(byte))
            && self.sense == Sense::Password;
        // `password "web-dev" deleted`: the name of an object.
        let after = &self.bytes[(at + 2 + value.len()).min(self.bytes.len())..];
        let is_name = !self.is_option
            && value.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
            && matches!(after, [b' ', b'a'..=b'z', ..]);
        (!is_name && (self.is_option || is_bound) && is_quoted_secret(value, self.sense))
            .then_some(at + 1..at + 1 + value.len())
    }

    fn word_at(&self, at: usize) -> &[u8] {
        let rest = &self.bytes[at..];
        let end = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`;|".contains(byte);
        &rest[..rest.iter().take(MOST_LEAD).position(end).unwrap_or(rest.len().min(MOST_LEAD))]
    }

    fn word(&self) -> Option<Range<usize>> {
        let first = self.word_at(self.at);
        // `password 7 ...`: the kind of a password of a router.
        let kind = matches!(first, [b'0'..=b'9']) && self.bytes.get(self.at + 1) == Some(&b' ') && !self.is_option;
        let at = self.at + if kind { 2 } else { 0 };
        let value = self.word_at(at);
        let after = &self.bytes[at + value.len()..];
        let fits = if self.is_option {
            is_of_option(value, after, self.gap)
        } else {
            is_of_directive(value, after, self.lead)
        };
        (fits && has_form(value, self.sense) && (self.sense == Sense::Password || likely::has_digit(value)))
            .then_some(at..at + value.len())
    }

    /// `the password is ...`: a sentence that ends in a value that is no word.
    fn sentence(&self) -> Option<Range<usize>> {
        let places = [self.behind_links(), self.behind_words(), self.behind_link()];
        let found = places.into_iter().flatten().find_map(|at| self.told(at, true));
        found.or_else(|| self.told(self.at, false))
    }

    /// The place behind the first words of `password is now ...`.
    fn behind_links(&self) -> Option<usize> {
        let (mut at, mut links) = (self.at, 0);
        while links < 3 && is_in(LINKS, self.word_at(at).strip_suffix(b":").unwrap_or(self.word_at(at))) {
            at += self.word_at(at).len();
            at += self.bytes[at..].iter().take(2).take_while(|byte| **byte == b' ').count();
            links += 1;
        }
        (links > 0).then_some(at)
    }

    /// The value at `at`, which a word or sign leads to if it `is_linked`.
    fn told(&self, at: usize, is_linked: bool) -> Option<Range<usize>> {
        let quote = self.bytes.get(at).filter(|byte| b"\"'".contains(byte)).filter(|_| is_linked);
        if let Some(value) = quote.and_then(|quote| quoted(&self.bytes[at + 1..], *quote, false)) {
            let is_word = !value.contains(&b' ') && has_form(value, self.sense) && !self.sense.is_of_object();
            return is_word.then_some(at + 1..at + 1 + value.len());
        }
        let value = self.word_at(at);
        let value = value.strip_suffix(b".").or_else(|| value.strip_suffix(b",")).unwrap_or(value);
        let rest = self.bytes[at + value.len()..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_used = self.is_used() && likely::classes(value) > 2;
        let begins_line = self.sense == Sense::Password && (self.lead.trim_ascii().is_empty() || self.is_of_user());
        // Words behind `token` often name an object.
        let is_made = !self.sense.is_of_object() || value.len() >= LEAST_MADE && likely::is_guess(value);
        let is_secret = is_made
            && likely::has_digit(value)
            && value.iter().any(u8::is_ascii_alphabetic)
            && has_form(value, self.sense);
        let is_last = matches!(rest, [b',' | b';', b' ', ..]) && is_linked
            || is_used
            || rest.iter().all(|byte| b" .,!\"')\r".contains(byte));
        ((is_linked || begins_line || is_used) && is_last && is_secret && !is_code(value))
            .then_some(at..at + value.len())
    }

    /// Whether somebody uses the password, as in `logged in with password ...`.
    fn is_used(&self) -> bool {
        let last = self.lead.rsplit(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or_default();
        self.sense == Sense::Password && self.gap == 1 && is_in(USING, last)
    }
}

impl Place<'_> {
    /// Whether the name of a user is told before, as in `user ann and pass ...`.
    fn is_of_user(&self) -> bool {
        self.gap == 1 && self.lead.split(|byte| !byte.is_ascii_alphabetic()).any(|word| is_in(USER_WORDS, word))
    }

    /// The place behind the sign of `password for the printer: ...`.
    fn behind_words(&self) -> Option<usize> {
        let area = &self.bytes[self.at..self.bytes.len().min(self.at + MOST_LEAD)];
        let line = area.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let colon = [&b": "[..], b"= ", b"> "].iter().filter_map(|sign| memchr::memmem::find(line, sign)).min()?;
        let is_arrow = line[colon] == b'>' && line[..colon].ends_with(b"-");
        let (colon, sign) = if is_arrow { (colon - 1, 2) } else { (colon, 1) };
        let words = line[..colon].split(|byte| *byte == b' ').count();
        let is_phrase = line[..colon]
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b" @._()/-".contains(byte));
        let gap = line[colon + sign..].iter().take_while(|byte| **byte == b' ').count();
        (words <= MOST_WORDS_BEFORE_SIGN && is_phrase).then_some(self.at + colon + sign + gap)
    }
}

impl Place<'_> {
    /// The place behind the verb of `password of the printer is ...`.
    fn behind_link(&self) -> Option<usize> {
        let mut at = self.at;
        for _ in 0..MOST_WORDS {
            let word = self.word_at(at);
            if word.is_empty() || !word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80 || *byte == b'-')
            {
                return None;
            }
            at += word.len();
            at += self.bytes[at..].iter().take(2).take_while(|byte| **byte == b' ').count();
            if is_in(VERBS_OF_BEING, word) {
                return Some(at);
            }
        }
        None
    }
}

/// A call, an index, a path, a version; not one of the passwords that programs make of all signs.
fn is_code(value: &[u8]) -> bool {
    let is_made = value.len() >= LEAST_MADE && likely::classes(value) == 4 && !likely::is_plain(value);
    value.iter().any(|byte| b"()[]{}<>=/:".contains(byte)) && !is_made || value.starts_with(b"-")
}

/// Whether a word behind an option is its value, and not a sentence about it, another option or the name of the value.
fn is_of_option(value: &[u8], after: &[u8], gap: usize) -> bool {
    let is_other = value.first().is_none_or(|first| b"-([{<|>=&*,:.".contains(first));
    let is_name = value.iter().all(|byte| byte.is_ascii_uppercase() || b"_-]".contains(byte));
    let is_help = gap > 1 || after.starts_with(b"  ") || after.starts_with(b"\t");
    !is_other && !is_name && !is_help && !is_in(PROSE, value) && !value.ends_with(b")") && !value.ends_with(b",")
}

/// Whether the last word of a line is the value of a setting.
fn is_of_directive(value: &[u8], after: &[u8], lead: &[u8]) -> bool {
    let words: Vec<&[u8]> = lead.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let is_last = after.split(|byte| *byte == b'\n').next().is_none_or(|rest| rest.trim_ascii().is_empty());
    let last = words.last().copied().unwrap_or_default();
    let user = words.len().checked_sub(2).and_then(|at| words.get(at)).copied().unwrap_or_default();
    let first = words.first().copied().unwrap_or_default();
    let has_sign = likely::has_digit(value) || value.iter().any(|byte| b"!@#$%^*+=~".contains(byte));
    let is_setting = is_in(DIRECTIVES, last)
        || first == b"set" && last.starts_with(b"-") && words.len() == 2
        || is_in(USERS, user) && !is_in(PROSE, value) && !is_in(PROSE, last)
        || (is_in(VERBS, last) || is_in(HEADS, first)) && has_sign;
    is_last && is_setting
}
