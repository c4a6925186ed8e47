//! Cutting text to size.

/// Keeps the head and the tail of `text` if it is longer than `max_bytes`, and says how much is missing between them.
#[must_use]
pub fn cut_middle(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let head_end = text.floor_char_boundary(max_bytes / 2);
    let tail_start = text.ceil_char_boundary(text.len() - max_bytes / 2);
    let omitted_bytes = tail_start - head_end;
    format!("{}\n[{omitted_bytes} bytes left out]\n{}", &text[..head_end], &text[tail_start..])
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
        assert_eq!(cut_middle(&text, 11), "head\n[200 bytes left out]\ntail".to_owned());
    }
}
