//! Finds the end of a pattern of `sed` or `awk`.

/// Skips to behind the delimiter that ends a pattern. False if the text ends first, or if versions of these programs may find
/// the end at different places: at a delimiter inside a bracket expression, or at a `]` that may be a member of it.
pub(super) fn skip_pattern(chars: &mut (impl Iterator<Item = char> + Clone), delimiter: char) -> bool {
    let mut in_bracket = false;
    while let Some(c) = chars.next() {
        match c {
            '\n' => return false,
            '\\' if chars.next().is_none_or(|c| c == '\n') => return false,
            '\\' => {}
            c if c == delimiter => return !in_bracket,
            '[' if in_bracket && begins_class(chars) && !skip_class(chars) => return false,
            '[' if in_bracket => {}
            '[' => {
                in_bracket = true;
                let mut ahead = chars.clone();
                let first = ahead.next();
                let first = if first == Some('^') { ahead.next() } else { first };
                if first == Some(']') {
                    return false;
                }
            }
            ']' => in_bracket = false,
            _ => {}
        }
    }
    false
}

fn begins_class(chars: &(impl Iterator<Item = char> + Clone)) -> bool {
    matches!(chars.clone().next(), Some(':' | '.' | '='))
}

/// Skips `:name:]` behind its bracket.
fn skip_class(chars: &mut impl Iterator<Item = char>) -> bool {
    let Some(kind) = chars.next() else { return false };
    let is_named = chars.by_ref().take_while(|c| *c != kind).all(|c| c.is_ascii_alphanumeric());
    is_named && chars.next() == Some(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(text: &str) -> Option<&str> {
        let mut chars = text.chars();
        if skip_pattern(&mut chars, '/') { Some(chars.as_str()) } else { None }
    }

    #[test]
    fn the_end_of_a_pattern_is_found() {
        assert_eq!(rest("a/b"), Some("b"));
        assert_eq!(rest(r"a\/b/c"), Some("c"));
        assert_eq!(rest("[a-z]*/c"), Some("c"));
        assert_eq!(rest("[[:alpha:]_]/c"), Some("c"));
    }

    #[test]
    fn an_end_that_can_be_read_in_two_ways_is_none() {
        for text in ["[/]/c", "[]/]/c", "[^]/]/c", "[[:alpha:]/]/c", "a", "a\n/", r"a\", "[[:a", "[a/c"] {
            assert_eq!(rest(text), None, "{text}");
        }
    }
}
