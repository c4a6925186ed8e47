//! Rewrites a fish text in bash syntax, as far as the search for known harm needs it.

/// Quotes end where they end in fish, and command substitutions are recognized. Any text gives one; a broken text gives a broken one.
pub(super) fn as_bash(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\\') => match chars.next_if(|c| matches!(c, '\'' | '\\')) {
                Some('\'') => out.push_str("'\\''"),
                Some(escaped) => out.push(escaped),
                None => out.push('\\'),
            },
            (_, '\\') => match chars.next() {
                // The character that it stands for is hidden from a reader as well.
                Some('x' | 'X') if quote.is_none() => {
                    let digits: String = (0..2).map_while(|_| chars.next_if(char::is_ascii_hexdigit)).collect();
                    out.push_str(&format!("$'\\x{digits}'"));
                }
                escaped => {
                    out.push(c);
                    out.extend(escaped);
                }
            },
            (None, '\'' | '"') => {
                quote = Some(c);
                out.push(c);
            }
            (Some(open), _) if open == c => {
                quote = None;
                out.push(c);
            }
            (None, '(') if !out.ends_with('$') => out.push_str("$("),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_end_where_they_end_in_fish() {
        for (fish, bash) in [
            ("echo 'x\\' '; rm y", "echo 'x'\\'' '; rm y"),
            ("echo 'a\\\\'; b", "echo 'a\\'; b"),
            ("echo '\\d' \"\\\"(\" \\(", "echo '\\d' \"\\\"(\" \\("),
            ("ls (rm x) $(rm y)", "ls $(rm x) $(rm y)"),
            ("r\\x6d x", "r$'\\x6d' x"),
        ] {
            assert_eq!(as_bash(fish), bash);
        }
    }
}
