//! The model's thoughts, from their first piece to the answer. Pure.

use std::time::Instant;

use cohab_term::{theme, wrap::wrap_words};
use cohab_text::sanitize::Sanitizer;
use ratatui::text::{Line, Span};

/// Rows that are shown while it thinks.
const ROLLING_ROWS: usize = 3;
/// Thoughts that are kept; of longer ones the beginning goes.
const KEPT_BYTES: usize = 64 * 1024;
/// The rolling rows are made of the last one or two of these pieces: the breaks of rows stay where they are while text comes.
const PIECE_BYTES: usize = 1024;
/// In front of each row.
const INDENT: &str = "  ";

/// Thoughts that come, and those of this turn that came last.
#[derive(Debug)]
pub(crate) struct Thinking {
    sanitizer: Sanitizer,
    text: String,
    /// The first and the last piece; `None` while it does not think.
    span: Option<(Instant, Instant)>,
    /// The user wants the other way to show them.
    is_flipped: bool,
}

impl Default for Thinking {
    fn default() -> Self {
        Self { sanitizer: Sanitizer::for_prose(), text: String::new(), span: None, is_flipped: false }
    }
}

impl Thinking {
    /// Another piece.
    pub(crate) fn push(&mut self, text: &str, now: Instant) {
        if self.span.is_none() {
            self.sanitizer = Sanitizer::for_prose();
            self.text.clear();
        }
        self.text.push_str(&self.sanitizer.push(text));
        if self.text.len() > KEPT_BYTES {
            let cut = (self.text.len() - KEPT_BYTES / 2..).find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
            self.text.drain(..cut);
        }
        let since = self.span.map_or(now, |(since, _)| since);
        self.span = Some((since, now));
    }

    /// Whether it thinks now.
    pub(crate) fn is_on(&self) -> bool {
        self.span.is_some()
    }

    /// Whether there are thoughts of this turn.
    pub(crate) fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// The user wants them kept, or folded after all. Returns whether they are kept from now on.
    pub(crate) fn flip(&mut self, by_default: bool) -> bool {
        self.is_flipped = !self.is_flipped;
        self.keeps(by_default)
    }

    /// Whether all of them stay on the screen.
    pub(crate) fn keeps(&self, by_default: bool) -> bool {
        by_default != self.is_flipped
    }

    /// The thoughts are over: how long they took, in milliseconds. The text stays until the next ones.
    pub(crate) fn end(&mut self) -> Option<u64> {
        let (since, last) = self.span.take()?;
        let took = u64::try_from(last.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX);
        self.has_text().then_some(took)
    }

    /// The last rows of what it thinks now.
    pub(crate) fn rolling(&self, width: usize) -> Vec<Line<'static>> {
        if !self.is_on() {
            return Vec::new();
        }
        let piece = (self.text.len() / PIECE_BYTES).saturating_sub(1) * PIECE_BYTES;
        let start = (piece..self.text.len()).find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
        let mut rows = rows(&self.text[start..], width);
        rows.drain(..rows.len().saturating_sub(ROLLING_ROWS));
        rows
    }

    /// All of them.
    pub(crate) fn whole(&self, width: usize) -> Vec<Line<'static>> {
        rows(&self.text, width)
    }
}

fn rows(text: &str, width: usize) -> Vec<Line<'static>> {
    let paragraphs = text.lines().filter(|line| !line.trim().is_empty());
    let wrapped = paragraphs
        .flat_map(|line| wrap_words(&[Span::styled(line.to_owned(), theme::DIM)], width.saturating_sub(INDENT.len())));
    wrapped
        .map(|mut row| {
            row.insert(0, Span::raw(INDENT));
            Line::from(row)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cohab_term::describe::plain;

    use super::*;

    #[test]
    fn three_rows_roll_and_the_whole_stays() {
        let start = Instant::now();
        let mut thinking = Thinking::default();
        assert!(thinking.rolling(40).is_empty());
        for (index, text) in ["one two\n\nthree ", "four\x1b[2J\nfive\nsix"].into_iter().enumerate() {
            thinking.push(text, start + Duration::from_secs(2) * u32::try_from(index).unwrap());
        }
        assert_eq!(plain(&thinking.rolling(40)), "  three four\n  five\n  six\n");
        assert_eq!(thinking.end(), Some(2_000));
        assert_eq!((thinking.end(), thinking.is_on()), (None, false));
        assert!(thinking.rolling(40).is_empty());
        assert_eq!(plain(&thinking.whole(40)), "  one two\n  three four\n  five\n  six\n");
    }

    #[test]
    fn long_thoughts_are_bounded_and_their_rows_stay_while_text_comes() {
        let now = Instant::now();
        let mut thinking = Thinking::default();
        (0..40_000).for_each(|number| thinking.push(&format!("w{number} \u{fc}"), now));
        assert!(thinking.text.len() <= KEPT_BYTES);
        assert_eq!(thinking.rolling(60).len(), ROLLING_ROWS);
        let first = thinking.rolling(60)[0].to_string();
        thinking.push("x", now);
        assert_eq!(thinking.rolling(60)[0].to_string(), first);
    }
}
