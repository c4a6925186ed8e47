//! Estimates from the form of a value whether it is a secret. Pure.

/// Pairs of letters that words are made of: for each first letter a bit a second one. The pairs that make up 95 % of the words in
/// the documentation of common libraries.
const PAIRS: [u32; 26] = [
    0x13ebd4e, 0x0164911, 0x01e4d95, 0x0164919, 0x0efb97d, 0x0124931, 0x0166991, 0x00a4111, 0x2aef87f, 0x0000000,
    0x0040110, 0x11c4919, 0x014d113, 0x03c657d, 0x07efd6f, 0x01ec991, 0x0100000, 0x13e7d7d, 0x11cd995, 0x11e4995,
    0x00eb977, 0x0004111, 0x0026191, 0x0088010, 0x0048000, 0x0000010,
];
/// Least number of letters of a run that is a word,
const LEAST_WORD: usize = 4;
/// and the least share of common pairs in it.
const COMMON_SHARE: f32 = 0.75;
/// Longest number that a plain text has as a part, in digits.
const MOST_PLAIN_DIGITS: usize = 8;
/// Longest number behind a word, in digits.
const MOST_SUFFIX_DIGITS: usize = 4;
/// Average length of a name's pieces, in bytes.
const LEAST_CAMEL_PIECE: f32 = 2.75;
/// Shortest value without a digit that may be random, in bytes.
const LEAST_MIXED: usize = 12;
/// Shortest value without a digit behind a name that says what it is, in bytes.
const LEAST_JUMBLE: usize = 10;
/// A value of which so much is plain is plain.
const PLAIN_SHARE: f32 = 0.6;

/// Shannon entropy, bits a byte.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = value.len() as f32;
    let part = |count: u32| {
        let share = count as f32 / length;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(|count| part(*count)).sum()
}

/// The least entropy that a random value of `length` bytes has nearly always, at most `floor`.
pub(super) fn fair_floor(floor: f32, length: usize) -> f32 {
    floor.min((length.max(1) as f32).log2() * 0.8)
}

pub(super) fn is_hex(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_hexdigit)
}

pub(super) fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// The number of classes that occur: lower-case, upper-case, digit, other.
pub(super) fn classes(value: &[u8]) -> usize {
    let tests: [fn(&u8) -> bool; 4] =
        [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit, |byte: &u8| !byte.is_ascii_alphanumeric()];
    tests.iter().filter(|test| value.iter().any(test)).count()
}

/// 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether these letters could be a word.
fn is_word(letters: &[u8]) -> bool {
    let place = |letter: u8| usize::from(letter.to_ascii_lowercase() - b'a');
    let common = letters.windows(2).filter(|pair| PAIRS[place(pair[0])] >> place(pair[1]) & 1 == 1).count();
    letters.len() >= LEAST_WORD && common as f32 >= (letters.len() - 1) as f32 * COMMON_SHARE
}

/// The length of the words and their numbers in a part without separators, in bytes.
fn plain_of_part(part: &[u8]) -> usize {
    if part.iter().all(u8::is_ascii_digit) {
        return if part.len() <= MOST_PLAIN_DIGITS { part.len() } else { 0 };
    }
    if part.len() < LEAST_WORD && part.iter().all(u8::is_ascii_alphabetic) {
        return part.len();
    }
    let is_cut = |pair: (&u8, &u8)| {
        pair.0.is_ascii_digit() != pair.1.is_ascii_digit()
            || (pair.0.is_ascii_lowercase() && pair.1.is_ascii_uppercase())
    };
    let (mut plain, mut was_word) = (0, false);
    for chunk in part.chunk_by(|a, b| !is_cut((a, b))) {
        let is_number = chunk[0].is_ascii_digit();
        was_word = if is_number { was_word && chunk.len() <= MOST_SUFFIX_DIGITS } else { is_word(chunk) };
        plain += if was_word { chunk.len() } else { 0 };
    }
    plain
}

/// A name of words that begin in capitals, such as `Pkcs8PrivateKeyDer`: on average the pieces of a random value are shorter.
fn is_camel(value: &[u8]) -> bool {
    let is_joined = |a: &u8, b: &u8| {
        (a.is_ascii_alphabetic() && b.is_ascii_lowercase()) || (a.is_ascii_digit() && b.is_ascii_digit())
    };
    let is_name = value.iter().all(u8::is_ascii_alphanumeric) && value.iter().any(u8::is_ascii_uppercase);
    is_name && value.len() as f32 >= value.chunk_by(is_joined).count() as f32 * LEAST_CAMEL_PIECE
}

/// Letters in both cases that are no words, even if their pieces are as long as those of a name.
pub(super) fn is_jumble(value: &[u8]) -> bool {
    let is_letters = value.iter().all(u8::is_ascii_alphabetic);
    is_letters
        && value.len() >= LEAST_JUMBLE
        && classes(value) == 2
        && (plain_of_part(value) as f32) < value.len() as f32 * PLAIN_SHARE
}

/// Words, names and numbers, with separators between them: `Base64Url-encoder_2`, `config.api_key`, `2024-01-02`.
pub(super) fn is_plain(value: &[u8]) -> bool {
    let parts = value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let (plain, all) = parts.fold((0, 0), |(plain, all), part| (plain + plain_of_part(part), all + part.len()));
    plain as f32 >= all as f32 * PLAIN_SHARE || is_camel(value)
}

/// A date, a version, an address, an amount: digits with hardly any letters.
pub(super) fn is_number(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    letters <= 2 && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b".:-+_/,%".contains(byte))
}

/// Whether a value is a stand-in for a secret: variables, templates, stars, and words such as `password`.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    let begins = [&b"$"[..], b"<", b"{", b"[", b"(", b"%", b"...", b"***", b"\\", b"&", b"@"];
    let holds = [&b"${"[..], b"$(", b"{{", b"}}", b"****", b"xxxx", b"XXXX", b"...", b"::", b"->", b"(", b"://"];
    let holds_at =
        |at: usize| b"$({}*xX.:-".contains(&value[at]) && holds.iter().any(|part| value[at..].starts_with(part));
    begins.iter().any(|start| value.starts_with(start)) || (0..value.len()).any(holds_at)
}

/// Whether a value is a public key, or a digest that names its kind.
pub(super) fn is_public(value: &[u8]) -> bool {
    let starts = [
        &b"AAAAB3NzaC1"[..],
        b"AAAAC3NzaC1",
        b"AAAAE2VjZHNh",
        b"AAAAGnNrLX",
        b"MIIBIjAN",
        b"MIICIjAN",
        b"MFkwEwYH",
        b"MCowBQYDK2Vw",
        b"sha1-",
        b"sha256-",
        b"sha384-",
        b"sha512-",
        b"sha1:",
        b"sha256:",
        b"sha512:",
        b"md5:",
        b"SHA256:",
        b"ssh-",
    ];
    starts.iter().any(|start| value.starts_with(start)) || value.strip_prefix(b"0x").is_some_and(is_hex)
}

/// Letters in both cases, more than a name has: random, though without a digit.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    value.len() >= LEAST_MIXED && classes(value) >= 2 && !is_plain(value)
}

/// Names of the fields of `--secret id=npmrc,src=$HOME/.npmrc`, which says where a secret is.
const FIELDS: &[&str] = &["env=", "id=", "source=", "src=", "type="];

/// Whether a value is more than a word, for places where any word is possible, such as after `--password`.
pub(super) fn is_guess(value: &[u8]) -> bool {
    if FIELDS.iter().any(|field| value.starts_with(field.as_bytes())) {
        return false;
    }
    let has_sign = value.iter().any(|byte| byte.is_ascii_punctuation() && !b"-_.,:;/'\"`)]}>".contains(byte));
    !is_stand_in(value) && !is_number(value) && !is_plain(value) && (has_digit(value) || has_sign || is_mixed(value))
}
