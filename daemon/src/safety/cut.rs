//! Cutting text to size, in whole characters.

/// The longest start of `text` that has at most `max_bytes`.
#[must_use]
pub fn head(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The longest end of `text` that has at most `max_bytes`.
#[must_use]
pub fn tail(text: &str, max_bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(max_bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Keeps the head and the tail of `text` if it is longer than `max_bytes`, and says how much is missing between them.
#[must_use]
pub fn cut_middle(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let (head, tail) = (head(text, max_bytes / 2), tail(text, max_bytes / 2));
    let omitted_bytes = text.len() - head.len() - tail.len();
    format!("{head}\n[{omitted_bytes} bytes left out]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_left_alone() {
        assert_eq!(cut_middle("äbc", 4), "äbc");
    }

    #[test]
    fn a_long_text_keeps_head_and_tail_in_whole_characters() {
        let text = format!("head{}tail", "ä".repeat(100));
        assert_eq!(cut_middle(&text, 11), "head\n[200 bytes left out]\ntail");
    }

    #[test]
    fn no_character_is_split() {
        for (max_bytes, start, end) in [(0, "", ""), (1, "", ""), (2, "ä", "ö"), (3, "ä", "ö"), (9, "äö", "äö")]
        {
            assert_eq!((head("äö", max_bytes), tail("äö", max_bytes)), (start, end), "{max_bytes}");
        }
    }
}
