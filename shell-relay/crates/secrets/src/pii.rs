//! Finds personal data, if the settings ask for it. Pure.

use std::{net::Ipv6Addr, str::FromStr, sync::OnceLock};

use regex::bytes::{Regex, RegexBuilder};

/// The personal data to take out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PersonalData {
    /// Addresses of electronic mail.
    pub email: bool,
    /// Telephone numbers in international form, or with separators.
    pub phone: bool,
    /// Numbers of payment cards, by their check digit.
    pub card: bool,
    /// International bank account numbers, by their check digits.
    pub iban: bool,
    /// National identity and tax numbers that differ recognizably from other numbers.
    pub national_id: bool,
    /// Addresses of the internet protocol, except those of the machine itself.
    pub ip: bool,
}

/// The switch of a kind.
type Field = fn(&mut PersonalData) -> &mut bool;

/// Names of the kinds in settings and command lines.
const KINDS: &[(&str, Field)] = &[
    ("email", |data| &mut data.email),
    ("phone", |data| &mut data.phone),
    ("card", |data| &mut data.card),
    ("iban", |data| &mut data.iban),
    ("national-id", |data| &mut data.national_id),
    ("ip", |data| &mut data.ip),
];

impl PersonalData {
    /// All kinds.
    pub const ALL: Self = Self { email: true, phone: true, card: true, iban: true, national_id: true, ip: true };
    /// The kinds that may be asked for by name.
    pub const NAMES: [&'static str; 6] = ["email", "phone", "card", "iban", "national-id", "ip"];

    /// Whether there is anything to look for.
    #[must_use]
    pub fn is_any(self) -> bool {
        self != Self::default()
    }

    /// Whether the kind of that name is among them.
    #[must_use]
    pub fn contains(mut self, name: &str) -> bool {
        KINDS.iter().any(|(known, field)| *known == name && *field(&mut self))
    }

    /// Adds the kind of that name.
    ///
    /// # Errors
    /// If there is no such kind; the text lists the known kinds.
    pub fn with(mut self, name: &str) -> Result<Self, String> {
        match KINDS.iter().find(|(known, _)| *known == name) {
            Some((_, field)) => {
                *field(&mut self) = true;
                Ok(self)
            }
            None => Err(format!("'{name}' is no kind of personal data; there are {}", Self::NAMES.join(", "))),
        }
    }
}

/// A kind of personal data: the setting that enables it, its form, and the check that separates it from other numbers.
struct Form {
    kind: &'static str,
    is_on: fn(PersonalData) -> bool,
    pattern: &'static str,
    holds: fn(&[u8]) -> bool,
}

/// Longest of them, in bytes.
const MOST_BYTES: usize = 256;

/// The first that matches counts.
const FORMS: &[Form] = &[
    Form {
        kind: "email",
        is_on: |data| data.email,
        pattern: r"[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}",
        holds: |_| true,
    },
    Form {
        kind: "iban",
        is_on: |data| data.iban,
        pattern: r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?",
        holds: is_iban,
    },
    Form {
        kind: "card",
        is_on: |data| data.card,
        pattern: r"[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}",
        holds: is_card,
    },
    Form { kind: "national-id", is_on: |data| data.national_id, pattern: r"\d{3}-\d{2}-\d{4}", holds: is_us_number },
    Form {
        kind: "national-id",
        is_on: |data| data.national_id,
        pattern: r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]",
        holds: |_| true,
    },
    Form { kind: "national-id", is_on: |data| data.national_id, pattern: r"[XYZ0-9]\d{7}-?[A-Z]", holds: is_spanish },
    Form { kind: "national-id", is_on: |data| data.national_id, pattern: r"[12]\d{14}", holds: is_french },
    Form {
        kind: "national-id",
        is_on: |data| data.national_id,
        pattern: r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]",
        holds: |_| true,
    },
    Form {
        kind: "national-id",
        is_on: |data| data.national_id,
        pattern: r"\d{3}\.\d{3}\.\d{3}-\d{2}",
        holds: is_brazilian,
    },
    Form {
        kind: "ip",
        is_on: |data| data.ip,
        pattern: r"(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{1,4}(?:::?[0-9A-Fa-f]{1,4}){2,7}(?:::)?|[0-9A-Fa-f]{1,4}::[0-9A-Fa-f]{1,4}",
        holds: is_address,
    },
    Form {
        kind: "phone",
        is_on: |data| data.phone,
        pattern: r"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){5,12}|\(\d{3}\) ?\d{3}[ -]\d{4}|\d{3}[-.]\d{3}[-.]\d{4}",
        holds: |text| digits(text).count() <= 15,
    },
];

/// The kind and length of the data that begins at `at`. `bytes` reaches far enough behind it, or to the end of the stream.
pub(super) fn at(data: PersonalData, bytes: &[u8], at: usize) -> Option<(&'static str, usize)> {
    static REGEXES: OnceLock<Vec<Option<Regex>>> = OnceLock::new();
    let made =
        |form: &Form| RegexBuilder::new(&format!(r"\A({})(?:[^\w]|\z)", form.pattern)).unicode(false).build().ok();
    let regexes = REGEXES.get_or_init(|| FORMS.iter().map(made).collect());
    let area = &bytes[at..bytes.len().min(at + MOST_BYTES)];
    let matched = |(form, regex): (&Form, &Option<Regex>)| {
        let length = (form.is_on)(data).then(|| regex.as_ref()?.captures(area)?.get(1))??.len();
        (form.holds)(&area[..length]).then_some((form.kind, length))
    };
    FORMS.iter().zip(regexes).find_map(matched)
}

/// Whether data may begin at `at`, by two bytes; called for every byte.
pub(super) fn may_begin(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-+".contains(&byte) || byte >= 0x80;
    let byte = bytes[at];
    (byte.is_ascii_alphanumeric() || b"+(".contains(&byte)) && (at == 0 || !is_word(bytes[at - 1]))
}

fn digits(text: &[u8]) -> impl Iterator<Item = u32> + '_ {
    text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
}

fn is_card(text: &[u8]) -> bool {
    let all: Vec<u32> = digits(text).collect();
    let doubled = |(at, digit): (usize, &u32)| if at % 2 == 0 { *digit } else { digit * 2 / 10 + digit * 2 % 10 };
    let sum: u32 = all.iter().rev().enumerate().map(doubled).sum();
    (13..=19).contains(&all.len()) && sum.is_multiple_of(10) && all.iter().any(|digit| *digit != all[0])
}

fn is_iban(text: &[u8]) -> bool {
    let all: Vec<u8> = text.iter().copied().filter(|byte| *byte != b' ').collect();
    let value = |byte: u8| if byte.is_ascii_digit() { u32::from(byte - b'0') } else { u32::from(byte - b'A') + 10 };
    let step = |rest: u32, byte: &u8| {
        let value = value(*byte);
        (rest * if value > 9 { 100 } else { 10 } + value) % 97
    };
    (15..=34).contains(&all.len()) && all[4..].iter().chain(&all[..4]).fold(0, step) == 1
}

fn is_us_number(text: &[u8]) -> bool {
    let (area, group, serial) = (&text[..3], &text[4..6], &text[7..]);
    area != b"000" && area != b"666" && area[0] != b'9' && group != b"00" && serial != b"0000"
}

fn is_spanish(text: &[u8]) -> bool {
    let first = match text[0] {
        b'X' => 0,
        b'Y' => 1,
        b'Z' => 2,
        digit => u32::from(digit - b'0'),
    };
    let number = digits(&text[1..]).fold(first, |sum, digit| sum * 10 + digit);
    text.last() == b"TRWAGMYFPDXBNJZSQVHLCKE".get(number as usize % 23)
}

fn is_french(text: &[u8]) -> bool {
    let number = |range: &[u8]| digits(range).fold(0_u64, |sum, digit| sum * 10 + u64::from(digit));
    (1..=12).contains(&number(&text[3..5])) && 97 - number(&text[..13]) % 97 == number(&text[13..])
}

fn is_brazilian(text: &[u8]) -> bool {
    let all: Vec<u32> = digits(text).collect();
    let check = |count: usize| {
        let sum: u32 = (2..).zip(all[..count].iter().rev()).map(|(weight, digit): (u32, &u32)| weight * digit).sum();
        sum * 10 % 11 % 10 == all[count]
    };
    all.iter().any(|digit| *digit != all[0]) && check(9) && check(10)
}

/// Whether a text is an address, but not one of the machine's own addresses, a version or a time.
fn is_address(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    if text.contains(':') {
        return Ipv6Addr::from_str(&text).is_ok_and(|address| !address.is_loopback() && !address.is_unspecified());
    }
    let parts: Vec<Option<u8>> = text.split('.').map(|part| part.parse().ok()).collect();
    parts.iter().all(Option::is_some) && !matches!(parts[0], Some(0 | 127)) && parts != [Some(255); 4]
}
