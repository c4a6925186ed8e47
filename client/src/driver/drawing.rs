//! Draws the assistant's frames: turns the client's state into bytes for the terminal.

use std::time::Instant;

use cohab_conversation::event::Event;
use ratatui::text::Line;

use super::Driver;

impl Driver {
    /// A background job wrote while the terminal is ours: its bytes go above the live area, which is drawn again below.
    pub(super) fn show_background_output(&mut self, bytes: &[u8]) {
        let mut out = Vec::new();
        self.area.clear(&mut out);
        self.terminal.write(&out);
        self.terminal.pass(bytes);
        if !bytes.ends_with(b"\n") {
            self.terminal.write(b"\r\n");
        }
        self.handle(Event::Redraw);
    }

    /// The user wants an empty screen: what may still change is drawn again at its top.
    pub(super) fn wipe(&mut self) {
        let mut out = Vec::new();
        self.area.wipe(&mut out);
        self.terminal.write(&out);
        self.handle(Event::Redraw);
    }

    pub(super) fn draw_if_due(&mut self) {
        let now = Instant::now();
        if self.app.wants_to_draw() && self.pace.begin_frame(now) {
            let mut frame = self.app.frame();
            if frame.area.is_empty() && self.app.keeps_a_row() {
                frame.area.push(Line::default());
            }
            let mut bytes = Vec::new();
            self.area.draw(&frame.above, &frame.area, frame.cursor, &mut bytes);
            self.terminal.write(&bytes);
        }
    }

    /// Ends below what is shown, on a row of its own: another program writes next.
    pub(super) fn leave(&mut self) {
        let mut out = Vec::new();
        if self.area.is_drawn() {
            self.area.leave(&mut out);
        } else {
            out.extend_from_slice(b"\r\n");
        }
        self.terminal.write(&out);
    }

    pub(super) fn draw_last(&mut self) {
        self.prompt_line.hint.left(true);
        let frame = self.app.last_frame();
        let mut bytes = Vec::new();
        self.area.draw(&frame.above, &[], None, &mut bytes);
        self.terminal.write(&bytes);
    }
}
