//! Decides whether a value only stands in for a secret: a placeholder, a reference, a type, a description. Pure.

use super::sense::{is_in, is_secret_word, words};

/// Values that are no secrets, in lower case, with `-` between words.
const WORDS: &str = "\
    none null nil undefined true false yes no on off empty na n-a unset required optional default nullable hidden masked \
    redacted filtered secret sensitive changeme changeit changethis change-me change-this replaceme placeholder example \
    sample dummy todo tbd fixme foo bar baz qux foobar credentials user username value here contraseña passwort mot-de-passe \
    senha wachtwoord passord lösenord пароль 密码 string str text varchar char int integer number bool boolean any bytes \
    object array list map dict float double uuid void unknown never buffer secretstr option option-string self this input \
    args data prompt plain bcrypt argon md sha rs hs es ps base utf hmac bearer basic jwt oauth env file keyring vault notset not-set disabled enabled blank deleted changed generated \
    encrypted auto enter";
/// Words that begin an order to put a secret in, or a sentence about it.
const FIRST_WORDS: &str = "\
    your insert replace change enter put fill add some type choose please must should invalid missing wrong incorrect forgot \
    confirm required optional nullable example sample dummy fake placeholder use set here no";
/// Begins of texts that a program replaces, or that lead to the secret.
const REFERENCES: &[&str] = &[
    "$(",
    "${",
    "$[",
    "$_",
    "$env:",
    ".*",
    ".+",
    "[^",
    "{{",
    "{%",
    "%(",
    "%{",
    "%env(",
    "%s",
    "%v",
    "%d",
    "%q",
    "#{",
    "<%",
    "<?",
    "***",
    "...",
    "…",
    "•",
    "ENC[",
    "!ref",
    "arn:",
    "vault:",
    "secret:",
    "secret/",
    "file:",
    "env:",
    "ref:",
    "projects/",
    "op://",
    "/",
    "./",
    "../",
    "~/",
    "<secret:",
    "://",
    "http:",
    "https:",
    "@{",
    "\\",
];

/// Whether a reader replaces the text with something else.
fn is_reference(value: &[u8]) -> bool {
    let begins =
        |start: &&str| value.len() >= start.len() && value[..start.len()].eq_ignore_ascii_case(start.as_bytes());
    let is_variable =
        |rest: &[u8]| !rest.is_empty() && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let holds = [&b"${"[..], b"{{", b"}}", b"$(", b"://", b"****", b"\\s", b"[^", b"(?:", b"<secret:"];
    let is_framed = matches!(value, [b'<', .., b'>'] | [b'{', .., b'}'] | [b'%', .., b'%'] | [b'[', .., b']'])
        && value[1..value.len() - 1].iter().all(|byte| byte.is_ascii_alphabetic() || b"-_ .:".contains(byte));
    REFERENCES.iter().any(begins)
        || matches!(value, [b'$' | b':', rest @ ..] if is_variable(rest) && !rest[0].is_ascii_digit())
        || is_framed
        || holds.iter().any(|part| memchr::memmem::find(value, part).is_some())
}

/// Whether `value` stands in for the secret of that name.
pub(super) fn is_stand_in(value: &[u8], name: &[u8]) -> bool {
    let core = value.trim_ascii();
    let is_one_byte = core.iter().all(|byte| byte.eq_ignore_ascii_case(&core[0]));
    let is_text = core.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    if core.is_empty() || !is_text || is_one_byte || is_reference(core) {
        return true;
    }
    let words: Vec<Vec<u8>> = words(core).map(<[u8]>::to_ascii_lowercase).collect();
    let Some(first) = words.first() else { return false };
    let has_digit = core.iter().any(u8::is_ascii_digit);
    let has_blank = core.iter().any(u8::is_ascii_whitespace);
    let joined = words.join(&b'-');
    let is_word = |joined: &[u8]| is_in(WORDS, joined);
    let is_signless =
        core.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b" -_.!?[]*<>/:|".contains(byte));
    let is_order = is_in(FIRST_WORDS, first) && words.len() > 1;
    let names_a_secret = words.last().is_some_and(|word| is_secret_word(word)) && !has_digit;
    let is_about_one = has_blank && words.iter().any(|word| is_secret_word(word));
    let is_filler = words.iter().any(|word| word.len() > 2 && word.iter().all(|byte| *byte == b'x')) && !has_digit;
    is_signless
        && (is_word(&joined) && (!has_digit || is_type_with_number(core))
            || is_order
            || names_a_secret
            || is_about_one
            || is_filler)
        || has_words(name, &words) && !has_digit
}

/// `u8`, `sha256`, `base64`: a type and its size.
fn is_type_with_number(core: &[u8]) -> bool {
    let digits = core.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    ["8", "16", "32", "64", "128", "256", "384", "512", "5", "1", "2"]
        .iter()
        .any(|size| size.as_bytes() == &core[core.len() - digits..])
        && core.len() - digits <= 7
        && core[..core.len() - digits].iter().all(|byte| byte.is_ascii_alphabetic() || b"-_".contains(byte))
}

/// Whether a name consists of these words, which are in lower case.
fn has_words(name: &[u8], words: &[Vec<u8>]) -> bool {
    self::words(name).map(<[u8]>::to_ascii_lowercase).eq(words.iter().cloned())
}
