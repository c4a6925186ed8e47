//! Styled text to rows of a width. Widths are terminal columns of whole graphemes.

use ratatui::{style::Style, text::Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const TAB_COLUMNS: usize = 4;

/// One row.
pub(crate) type Row = Vec<Span<'static>>;

/// The end of the longest start of `text` that has at most `limit` bytes and ends between two characters.
pub(crate) fn char_boundary(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Columns of a row.
pub(crate) fn row_width(row: &[Span<'_>]) -> usize {
    row.iter().map(Span::width).sum()
}

/// Adds `text` to a row, to its last span if the style is the same.
pub(crate) fn push_text(row: &mut Row, text: &str, style: Style) {
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
pub(crate) fn wrap_words(spans: &[Span<'_>], width: usize) -> Vec<Row> {
    let mut wrapper = WordWrapper { width: width.max(1), ..WordWrapper::default() };
    for span in spans {
        for grapheme in span.content.graphemes(true) {
            wrapper.push(grapheme, span.style);
        }
    }
    wrapper.end_word();
    wrapper.rows.push(wrapper.row);
    wrapper.rows
}

/// Breaks only at the width and keeps every character; tabs become blanks. Gives at least one row.
pub(crate) fn wrap_exactly(spans: &[Span<'_>], width: usize) -> Vec<Row> {
    let width = width.max(1);
    let (mut rows, mut row, mut columns, mut tab_column) = (Vec::new(), Row::new(), 0, 0);
    for span in spans {
        for grapheme in span.content.graphemes(true) {
            let blanks = &"    "[..(TAB_COLUMNS - tab_column % TAB_COLUMNS).min(width)];
            let shown = if grapheme == "\t" { blanks } else { grapheme };
            let shown_width = shown.width();
            if columns + shown_width > width && columns > 0 {
                rows.push(std::mem::take(&mut row));
                columns = 0;
            }
            push_text(&mut row, shown, span.style);
            columns += shown_width;
            tab_column += shown_width;
        }
    }
    rows.push(row);
    rows
}

#[derive(Default)]
struct WordWrapper {
    width: usize,
    rows: Vec<Row>,
    row: Row,
    row_columns: usize,
    word: Row,
    word_columns: usize,
    blanks: usize,
    blank_style: Style,
}

impl WordWrapper {
    fn push(&mut self, grapheme: &str, style: Style) {
        match grapheme {
            "\n" | "\r\n" => {
                self.end_word();
                self.end_row();
            }
            " " | "\t" => {
                self.end_word();
                (self.blanks, self.blank_style) = (self.blanks + 1, style);
            }
            _ => {
                let columns = grapheme.width();
                if columns > 1 {
                    self.end_word();
                }
                push_text(&mut self.word, grapheme, style);
                self.word_columns += columns;
                if columns > 1 || self.word_columns > self.width {
                    self.end_word();
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
        if self.row_columns > 0 && self.row_columns + self.blanks + self.word_columns > self.width {
            self.end_row();
        }
        if self.row_columns > 0 {
            push_text(&mut self.row, &" ".repeat(self.blanks), self.blank_style);
            self.row_columns += self.blanks;
        }
        self.blanks = 0;
        for span in std::mem::take(&mut self.word) {
            for grapheme in span.content.graphemes(true) {
                let columns = grapheme.width();
                if self.row_columns + columns > self.width && self.row_columns > 0 {
                    self.end_row();
                }
                push_text(&mut self.row, grapheme, span.style);
                self.row_columns += columns;
            }
        }
        self.word_columns = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(rows: &[Row]) -> Vec<String> {
        rows.iter().map(|row| row.iter().map(|span| span.content.as_ref()).collect()).collect()
    }

    #[test]
    fn words_wrap_and_long_words_break() {
        let rows = wrap_words(&[Span::raw("to be  or not, antidisestablish")], 8);
        assert_eq!(text(&rows), ["to be ", "or not,", "antidise", "stablish"].map(|row| row.trim_end().to_owned()));
    }

    #[test]
    fn wide_letters_break_without_blanks_and_count_twice() {
        assert_eq!(text(&wrap_words(&[Span::raw("日本語テキスト")], 6)), ["日本語", "テキス", "ト"]);
    }

    #[test]
    fn tabs_in_code_reach_the_next_stop() {
        assert_eq!(text(&wrap_exactly(&[Span::raw("a\tb\tc")], 80)), ["a   b   c"]);
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_letter_is_lost(input in "[a-z 日é\u{301}👍\n]{0,80}", width in 2usize..20) {
            let spans = [Span::raw(input.clone())];
            let letters = |text: &str| text.replace([' ', '\n'], "");
            for rows in [wrap_words(&spans, width), wrap_exactly(&[Span::raw(input.replace('\n', ""))], width)] {
                prop_assert!(rows.iter().all(|row| row_width(row) <= width));
                prop_assert_eq!(letters(&text(&rows).concat()), letters(&input));
            }
        }
    }
}
