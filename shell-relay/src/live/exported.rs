//! The exported variables of a bash, as its builtin `export -p` lists them: no process is started to learn them. Pure.

use std::collections::BTreeMap;

/// Parses the output of bash's `export -p`: lines `declare -x NAME="value"` or `declare -x NAME=$'value'`, where more letters may
/// stand beside the `x`; in posix mode `export NAME="value"`. Names without a value are left out. `None` if the text is anything else, or cut.
pub(super) fn parse(listing: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut variables = BTreeMap::new();
    let mut rest = listing;
    while !rest.is_empty() {
        rest = match rest.strip_prefix(b"export ") {
            Some(posix) => posix,
            None => rest.strip_prefix(b"declare -").and_then(|rest| Some(&rest[memchr::memchr(b' ', rest)? + 1..]))?,
        };
        let name_end = rest.iter().position(|byte| matches!(byte, b'=' | b'\n'))?;
        let name = String::from_utf8_lossy(&rest[..name_end]).into_owned();
        let separator = rest[name_end];
        rest = &rest[name_end + 1..];
        if separator == b'=' {
            let (value, after) = value(rest)?;
            variables.insert(name, String::from_utf8_lossy(&value).into_owned());
            rest = after.strip_prefix(b"\n")?;
        }
    }
    Some(variables)
}

/// A quoted value and what follows it.
fn value(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    match text {
        [b'"', text @ ..] => double_quoted(text),
        [b'$', b'\'', text @ ..] => ansi_quoted(text),
        _ => None,
    }
}

fn double_quoted(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    loop {
        match text {
            [b'"', after @ ..] => return Some((value, after)),
            [b'\\', byte, after @ ..] | [byte, after @ ..] => {
                value.push(*byte);
                text = after;
            }
            [] => return None,
        }
    }
}

fn ansi_quoted(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    loop {
        match text {
            [b'\'', after @ ..] => return Some((value, after)),
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                value.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                text = after;
            }
            [b'\\', letter, after @ ..] => {
                value.push(escaped(*letter)?);
                text = after;
            }
            [byte, after @ ..] => {
                value.push(*byte);
                text = after;
            }
            [] => return None,
        }
    }
}

/// The letters that bash writes after a backslash.
fn escaped(letter: u8) -> Option<u8> {
    Some(match letter {
        b'E' | b'e' => 0x1b,
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' | b'\'' | b'"' | b'?' => letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn listed(variables: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
        let mut bash = Command::new("/bin/bash");
        bash.env_clear().args(["--norc", "--noprofile", "-c", "builtin export -p"]);
        let output = bash.envs(variables.iter().copied()).output().unwrap();
        parse(&output.stdout)
    }

    #[test]
    fn every_form_of_a_value_is_read() {
        let listing = b"declare -x A=\"1\"\ndeclare -irx B=\"a\\\"b\\$c\\`d\\\\e\"\ndeclare -x C\nexport P=\"x\"\ndeclare -x D=$'a\\n\\E[1m\\'\\001\\303\\251'\n";
        let expected = [("A", "1"), ("B", "a\"b$c`d\\e"), ("D", "a\n\u{1b}[1m'\u{1}é"), ("P", "x")];
        let expected = expected.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        assert_eq!(parse(listing), Some(expected));
    }

    #[test]
    fn a_cut_or_foreign_text_is_no_listing() {
        assert_eq!(parse(b""), Some(BTreeMap::new()));
        for text in ["declare -x A=\"1", "declare -x A=\"1\"", "A=1\n", "declare -x A=$'\\z'\n", "declare -x A=1\n"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_a_real_bash_lists_is_what_was_exported(value in "[^\u{0}]{0,40}", plain in "[ -~\n\t]{0,40}") {
            let variables = listed(&[("SOME", &value), ("OTHER", &plain)]).unwrap();
            prop_assert_eq!(&variables["SOME"], &value);
            prop_assert_eq!(&variables["OTHER"], &plain);
        }

        #[test]
        fn any_bytes_are_a_listing_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&[b"declare -x A=$'".as_slice(), &bytes].concat());
            parse(&bytes);
        }
    }
}
