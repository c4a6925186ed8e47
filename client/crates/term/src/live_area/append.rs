//! Prints the rows without redrawing: what changed is printed below, once. For screen
//! readers and terminals that cannot move their cursor.

use ratatui::text::Line;

use super::row::{DrawnRow, SharedStart, rows};
use crate::ansi::{ColorSupport, write_lines};

const LINE_END: &[u8] = b"\r\n";

/// What was printed of the area.
#[derive(Debug, Default)]
pub(super) struct Printed {
    rows: Vec<DrawnRow>,
    /// The last row has no end yet: the user types there.
    is_line_open: bool,
}

impl Printed {
    /// Prints `above`, then what of `area` is new. `begin` is written before the first byte, if there is any.
    pub(super) fn draw(
        &mut self,
        above: &[Line<'_>],
        area: &[Line<'_>],
        has_cursor: bool,
        begin: &[u8],
        colors: ColorSupport,
        out: &mut Vec<u8>,
    ) {
        let new = rows(area, usize::MAX, false);
        if above.is_empty() && new == self.rows {
            return;
        }
        out.extend_from_slice(begin);
        if !above.is_empty() {
            if self.is_line_open {
                // What is typed must be seen to its end below the new lines.
                self.end_line(out);
                self.rows.clear();
            }
            write_lines(above, colors, out);
        }
        let same = self.rows.iter().zip(&new).take_while(|(old, new)| old == new).count();
        if let Some(shared) = self.typed_on(&new, same) {
            new[same].write_from(shared, colors, out);
        } else {
            if same < new.len() || new.is_empty() {
                self.end_line(out);
            }
            for (index, row) in new.iter().enumerate().skip(same) {
                row.write_from(SharedStart::NOTHING, colors, out);
                self.is_line_open = has_cursor && index + 1 == new.len();
                if !self.is_line_open {
                    out.extend_from_slice(LINE_END);
                }
            }
        }
        self.rows = new;
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_line_open) {
            out.extend_from_slice(LINE_END);
        }
    }

    /// The part that is there already, if all that happened is that the open line grew.
    fn typed_on(&self, new: &[DrawnRow], same: usize) -> Option<SharedStart> {
        let is_last = self.is_line_open && same + 1 == self.rows.len() && same + 1 == new.len();
        let (old, new) = (self.rows.get(same)?, new.get(same)?);
        let shared = old.shared_with(new);
        (is_last && shared.columns == old.columns && shared != SharedStart::NOTHING).then_some(shared)
    }
}
