//! Breaks styled text into rows of a width. Widths are terminal columns of whole letters (grapheme clusters).

use ratatui::{style::Style, text::Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

const TAB_COLUMNS: usize = 4;

/// One row.
pub type StyledRow = Vec<Span<'static>>;

/// The end of the longest start of `text` that has at most `limit` bytes and ends between two characters.
pub fn char_boundary(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Columns of a text: the sum of its characters'. Terminals that know of clusters may need less for some emoji, never more.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char_columns).sum() }
}

/// The selector U+FE0F makes the narrow symbol in front of it wide.
fn char_columns(c: char) -> usize {
    if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) }
}

/// The letters of a text, each at most two columns wide: a cluster that is wider (joined emoji) comes in parts, so that nothing can be
/// too wide for a row.
pub fn letters(text: &str) -> impl Iterator<Item = &str> {
    text.graphemes(true).flat_map(|grapheme| {
        let mut rest = grapheme;
        std::iter::from_fn(move || {
            let (part, behind) = rest.split_at(part_bytes(rest));
            rest = behind;
            (!part.is_empty()).then_some(part)
        })
    })
}

/// Bytes of the longest start of at most two columns.
fn part_bytes(text: &str) -> usize {
    let mut width = 0;
    let too_wide = |c: char| {
        width += char_columns(c);
        width > 2
    };
    text.find(too_wide).unwrap_or(text.len())
}

/// Columns of a row.
pub fn row_width(row: &[Span<'_>]) -> usize {
    row.iter().map(|span| columns(&span.content)).sum()
}

/// Adds `text` to a row, to its last span if the style is the same.
pub fn push_text(row: &mut StyledRow, text: &str, style: Style) {
    if text.is_empty() {
        return;
    }
    match row.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        _ => row.push(Span::styled(text.to_owned(), style)),
    }
}

/// Breaks between words, and between wide letters, which need no blank. A word wider than a row is broken anywhere. Blanks at a
/// break vanish. Gives at least one row.
pub fn wrap_words(spans: &[Span<'_>], width: usize) -> Vec<StyledRow> {
    let mut wrapper = WordWrapper { width: width.max(1), ..WordWrapper::default() };
    for span in spans {
        if span.content.is_ascii() {
            wrapper.push_ascii(&span.content, span.style);
        } else {
            letters(&span.content).for_each(|letter| wrapper.push(letter, span.style));
        }
    }
    wrapper.end_word();
    wrapper.rows.push(wrapper.row);
    wrapper.rows
}

/// Breaks only at the width and keeps every character; tabs become blanks. Gives at least one row.
pub fn wrap_exactly(spans: &[Span<'_>], width: usize) -> Vec<StyledRow> {
    let width = width.max(1);
    let (mut rows, mut row, mut row_columns, mut tab_column) = (Vec::new(), StyledRow::new(), 0, 0);
    for span in spans {
        for letter in letters(&span.content) {
            let blanks = &"    "[..(TAB_COLUMNS - tab_column % TAB_COLUMNS).min(width)];
            let shown = if letter == "\t" { blanks } else { letter };
            let shown_width = columns(shown);
            if row_columns + shown_width > width && row_columns > 0 {
                rows.push(std::mem::take(&mut row));
                row_columns = 0;
            }
            push_text(&mut row, shown, span.style);
            row_columns += shown_width;
            tab_column += shown_width;
        }
    }
    rows.push(row);
    rows
}

#[derive(Default)]
struct WordWrapper {
    width: usize,
    rows: Vec<StyledRow>,
    row: StyledRow,
    row_columns: usize,
    word: StyledRow,
    word_columns: usize,
    blanks: usize,
    blank_style: Style,
    /// The word is the rest of one that was wider than a row: it continues where that ended.
    is_rest: bool,
}

impl WordWrapper {
    /// The same as letter by letter, and much of most text.
    fn push_ascii(&mut self, text: &str, style: Style) {
        let mut rest = text;
        while !rest.is_empty() {
            let letters = rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len());
            if letters > 0 {
                push_text(&mut self.word, &rest[..letters], style);
                self.word_columns += letters;
                rest = &rest[letters..];
                if self.word_columns > self.width {
                    self.end_word();
                    self.is_rest = true;
                }
            } else {
                let (blank, behind) = rest.split_at(if rest.starts_with("\r\n") { 2 } else { 1 });
                self.push(blank, style);
                rest = behind;
            }
        }
    }

    fn push(&mut self, letter: &str, style: Style) {
        match letter {
            "\n" | "\r\n" => {
                self.end_word();
                self.is_rest = false;
                self.end_row();
            }
            " " | "\t" => {
                self.end_word();
                self.is_rest = false;
                (self.blanks, self.blank_style) = (self.blanks + 1, style);
            }
            _ => {
                let width = columns(letter);
                if width > 1 {
                    self.end_word();
                    self.is_rest = false;
                }
                push_text(&mut self.word, letter, style);
                self.word_columns += width;
                if width > 1 {
                    self.end_word();
                } else if self.word_columns > self.width {
                    self.end_word();
                    self.is_rest = true;
                }
            }
        }
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
        (self.row_columns, self.blanks) = (0, 0);
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let is_rest = std::mem::take(&mut self.is_rest);
        if self.row_columns > 0 && self.row_columns + self.blanks + self.word_columns > self.width && !is_rest {
            self.end_row();
        }
        if self.row_columns > 0 {
            push_text(&mut self.row, &" ".repeat(self.blanks), self.blank_style);
            self.row_columns += self.blanks;
        }
        self.blanks = 0;
        let fits = self.row_columns + self.word_columns <= self.width;
        for span in std::mem::take(&mut self.word) {
            if fits {
                push_text(&mut self.row, &span.content, span.style);
                self.row_columns += columns(&span.content);
                continue;
            }
            for letter in letters(&span.content) {
                let width = columns(letter);
                if self.row_columns + width > self.width && self.row_columns > 0 {
                    self.end_row();
                }
                push_text(&mut self.row, letter, span.style);
                self.row_columns += width;
            }
        }
        self.word_columns = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(rows: &[StyledRow]) -> Vec<String> {
        rows.iter().map(|row| row.iter().map(|span| span.content.as_ref()).collect()).collect()
    }

    #[test]
    fn words_wrap_and_long_words_break() {
        let rows = wrap_words(&[Span::raw("to be  or not, antidisestablish")], 8);
        assert_eq!(text(&rows), ["to be ", "or not,", "antidise", "stablish"].map(|row| row.trim_end().to_owned()));
    }

    #[test]
    fn a_very_long_word_fills_its_rows() {
        for word in ["abcdefghijklmnopqrstuvwxyz", "äbcdefghijklmnopqrstuvwxyz"] {
            let letters: Vec<char> = word.chars().collect();
            let expected: Vec<String> = letters.chunks(5).map(String::from_iter).collect();
            assert_eq!(text(&wrap_words(&[Span::raw(word)], 5)), expected);
        }
    }

    #[test]
    fn wide_letters_break_without_blanks_and_count_twice() {
        assert_eq!(text(&wrap_words(&[Span::raw("日本語テキスト")], 6)), ["日本語", "テキス", "ト"]);
    }

    #[test]
    fn a_symbol_with_its_selector_is_wide_and_joined_emoji_break_behind_a_joiner() {
        assert_eq!(columns("⚠\u{fe0f}"), 2);
        assert_eq!(letters("⚠\u{fe0f}a").collect::<Vec<_>>(), ["⚠\u{fe0f}", "a"]);
        assert_eq!(letters("🏳\u{fe0f}\u{200d}🌈").collect::<Vec<_>>(), ["🏳\u{fe0f}\u{200d}", "🌈"]);
        assert_eq!(text(&wrap_words(&[Span::raw("می\u{200c}خواهم")], 6)), ["می\u{200c}خواه", "م"]);
    }

    #[test]
    fn tabs_in_code_reach_the_next_stop() {
        assert_eq!(text(&wrap_exactly(&[Span::raw("a\tb\tc")], 80)), ["a   b   c"]);
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_letter_is_lost(input in "[a-z 日é\u{301}👍🏽⚠\u{fe0f}\u{200d}م\u{200c}\n]{0,80}", width in 2usize..20) {
            let spans = [Span::raw(input.clone())];
            let letters = |text: &str| text.replace([' ', '\n'], "");
            for rows in [wrap_words(&spans, width), wrap_exactly(&[Span::raw(input.replace('\n', ""))], width)] {
                prop_assert!(rows.iter().all(|row| row_width(row) <= width));
                prop_assert_eq!(letters(&text(&rows).concat()), letters(&input));
            }
        }
    }
}
