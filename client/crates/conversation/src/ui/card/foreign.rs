//! The rows of a card about an action of another program.

use cohab_term::wrap::wrap_exactly;
use ratatui::text::Span;

use super::{Card, Ends, HANG, WHOLE_BYTES, ends, theme, visible};

/// The short card shows so many letters of the details.
const SHORT_CHARS: usize = 64;

impl Card {
    /// Who acts and how. The program's own name is in front: the name of the action cannot stand in its place.
    pub(super) fn foreign(&mut self, by: &str, action: &str, details: &str, is_whole: bool) {
        let between = self.output_style.choose(" · ", ", ");
        self.exactly(&[
            self.label("by"),
            Span::styled(visible(by), theme::STRONG),
            Span::styled(between, theme::DIM),
            Span::raw(visible(action)),
        ]);
        if details.is_empty() {
            return;
        }
        if !is_whole && is_long(details) {
            let words = details.split_whitespace().flat_map(|word| [" ", word]).skip(1);
            let start: String = words.flat_map(str::chars).take(SHORT_CHARS).collect();
            let more = format!("… ({} characters in all)", details.chars().count());
            return self.exactly(&[self.label("with"), Span::raw(visible(&start)), Span::styled(more, theme::DIM)]);
        }
        let Some(Ends { head, left_out, tail }) = ends(details, WHOLE_BYTES) else { return self.details(details) };
        self.details(head);
        let told = format!("{left_out} of {} bytes in the middle are not shown", details.len());
        self.words(&[self.label("cut"), Span::styled(told, theme::DANGER)]);
        self.details(tail);
    }

    /// What a program wants to know: its words are marked as its own, and the value that a yes would send.
    pub(super) fn input(&mut self, by: &str, message: &str, label: &str, value: Option<&str>) {
        self.field("by", &visible(by));
        for line in message.lines() {
            self.words(&[self.label("says"), Span::raw(visible(line))]);
        }
        self.words(&[self.label("wants"), Span::raw(visible(label))]);
        if let Some(value) = value {
            self.field("value", &if value.is_empty() { "(none)".to_owned() } else { visible(value) });
        }
    }

    /// The first line stands behind a label, the others are indented as rows that continue.
    fn details(&mut self, details: &str) {
        for (index, line) in details.lines().enumerate() {
            let text = Span::raw(visible(line));
            match index {
                0 => self.exactly(&[self.label("with"), text]),
                _ => self.wrapped(HANG.len(), |columns| wrap_exactly(&[Span::raw(HANG), text.clone()], columns)),
            }
        }
    }
}

/// Whether the short card cannot show all of it.
pub(super) fn is_long(details: &str) -> bool {
    details.trim_end().contains('\n') || details.chars().count() > SHORT_CHARS
}
