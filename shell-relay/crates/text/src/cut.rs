//! Cuts text to size, in whole characters.

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

/// Keeps the head and the tail of `text` if it is longer than `max_bytes`, and states the missing length between them.
#[must_use]
pub fn cut_middle(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let (head, tail) = (head(text, max_bytes / 2), tail(text, max_bytes / 2));
    let omitted_bytes = text.len() - head.len() - tail.len();
    format!("{head}\n[{omitted_bytes} bytes left out]\n{tail}")
}

/// `text`, or its head and tail, cut at ends of lines if possible, with a note between them. The result is at most `max_bytes` and that
/// note.
#[must_use]
pub fn cut_lines(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let (mut start, mut end) = (head(text, max_bytes / 2), tail(text, max_bytes / 2));
    start = start.rfind('\n').map_or(start, |newline| &start[..=newline]);
    end = end.split_once('\n').map_or(end, |(_, lines)| if lines.is_empty() { end } else { lines });
    let gap = if start.ends_with('\n') { "" } else { "\n" };
    format!("{start}{gap}[{} bytes left out]\n{end}", text.len() - start.len() - end.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_text_keeps_whole_lines_of_head_and_tail() {
        assert_eq!(cut_lines("aa\nbb\ncc\ndd\n", 8), "aa\n[6 bytes left out]\ndd\n");
        assert_eq!(cut_lines("short", 8), "short");
    }

    proptest! {
        #[test]
        fn a_cut_text_is_bounded_and_counts_what_it_leaves_out(text in "[a-zäö\n]{0,300}", max in 0_usize..200) {
            let cut = cut_lines(&text, max);
            prop_assert!(cut.len() <= max + 40);
            if let Some((_, rest)) = cut.split_once('[') {
                let left_out: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
                let note = format!("[{left_out} bytes left out]\n").len();
                let kept = cut.len() - note;
                prop_assert!(kept + left_out == text.len() || kept + left_out == text.len() + 1);
            }
        }
    }

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
