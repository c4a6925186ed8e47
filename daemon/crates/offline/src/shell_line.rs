//! Quotes words of a shell line. All text from the user or from output passes through here before it becomes part of a command.

pub(super) use cohab_shell_state::quote::word;

/// Quotes a path operand; `~/` is left for the shell, and the result is never an option.
pub(super) fn path(text: &str) -> String {
    if text == "~" || text == "~/" {
        return "~".to_owned();
    }
    if let Some(below) = text.strip_prefix("~/") {
        return format!("~/{}", word(below));
    }
    // A pattern or assignment stays text because it is quoted; only the dash needs more.
    if text.starts_with('-') { word(&format!("./{text}")) } else { word(text) }
}

/// Quotes several path operands.
pub(super) fn paths<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| path(name.as_ref())).collect::<Vec<_>>().join(" ")
}

/// Whether the text can name a shell variable.
pub(super) fn is_variable_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether the text can name a program, a package or a unit: no part is special to a shell or reads as an option.
pub(super) fn is_plain_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric() || first == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-@:".contains(&byte))
}

/// Whether the text can name a host: letters, digits, dots, dashes, or an IPv6 address.
pub(super) fn is_host(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric() || first == b':')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte))
}

/// Makes text literal in a `find -name` pattern.
pub(super) fn escape_pattern(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_leading_dash_never_makes_an_option() {
        assert_eq!(path("-rf"), "./-rf");
        assert_eq!(path("~/a b"), "~/'a b'");
        assert_eq!(path("~"), "~");
    }

    #[test]
    fn names_with_shell_meaning_are_not_plain() {
        for text in ["", "-x", "a b", "$(x)", "a;b", "a\nb", "`x`"] {
            assert!(!is_plain_name(text) && !is_host(text), "{text:?}");
        }
        assert!(is_plain_name("g++") && is_plain_name("python3.11") && is_host("example.org") && is_host("::1"));
    }

    proptest! {
        #[test]
        fn every_quoted_text_reads_back_as_one_word(text in "[^\0]{0,40}") {
            prop_assert_eq!(shlex::split(&word(&text)), Some(vec![text.clone()]));
            if !text.starts_with('~') {
                let read = shlex::split(&path(&text)).unwrap();
                prop_assert_eq!(read.len(), 1);
                prop_assert!(!read[0].starts_with('-'));
            }
        }
    }
}
