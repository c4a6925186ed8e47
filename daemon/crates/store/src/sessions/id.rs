//! The short names of sessions, for people. Pure.

/// Digits of an id.
pub const DIGITS: usize = 16;
/// So many are shown, unless more are needed to tell sessions apart.
pub const SHOWN_DIGITS: usize = 6;
/// Means the newest session.
pub const LAST: &str = "last";

/// The id of the session of this name: digits that differ from the first one on, while names begin with a time.
#[must_use]
pub fn of_key(key: &str) -> String {
    // FNV-1a: the same in every release, which `Hash` does not promise.
    let hash = key
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    // Its first digits hardly depend on the last letters; so they do.
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    format!("{:0DIGITS$x}", mixed ^ (mixed >> 33))
}

/// Whether a person may have meant an id by this.
#[must_use]
pub fn is_prefix(text: &str) -> bool {
    (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// So many digits tell all of `ids` apart, and no fewer than are usually shown.
#[must_use]
pub fn shown_digits(ids: &[&str]) -> usize {
    let mut sorted: Vec<&str> = ids.to_vec();
    sorted.sort_unstable();
    let common = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    let needed = sorted.windows(2).map(|pair| common(pair) + 1).max().unwrap_or(0);
    needed.clamp(SHOWN_DIGITS, DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_alike_have_ids_that_do_not() {
        let keys: Vec<String> = (0..500).map(|n| format!("shell:0195d0aa11bb7ccc8ddd{n:012x}")).collect();
        let ids: Vec<String> = keys.iter().map(|key| of_key(key)).collect();
        assert!(ids.iter().all(|id| id.len() == DIGITS && is_prefix(id)));
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        assert!(shown_digits(&ids) <= SHOWN_DIGITS + 1, "{}", shown_digits(&ids));
        assert_eq!(of_key("shell:1"), of_key("shell:1"));
    }

    #[test]
    fn as_many_digits_are_shown_as_tell_them_apart() {
        assert_eq!(shown_digits(&[]), SHOWN_DIGITS);
        assert_eq!(shown_digits(&["0123456789abcdef", "0123456799abcdef"]), 9);
    }

    #[test]
    fn only_hexadecimal_digits_begin_an_id() {
        for (text, expected) in
            [("a", true), ("0AF", true), ("", false), ("g", false), ("last", false), ("ab cd", false)]
        {
            assert_eq!(is_prefix(text), expected, "{text}");
        }
        assert!(!is_prefix(&"a".repeat(DIGITS + 1)));
    }
}
