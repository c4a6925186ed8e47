//! How an answer is shown, and what the ways to show it share.

use std::{
    io::{self, Write},
    time::Instant,
};

use cohab_conversation::approval::OpenQuestion;
use cohab_protocol::DaemonMessage;

/// How an answer is shown.
pub(super) trait View {
    /// Shows one message of the daemon.
    fn show(&mut self, message: &DaemonMessage) -> io::Result<()>;
    /// Opens, redraws (after keys) or closes the question for consent.
    fn show_question(&mut self, question: Option<&OpenQuestion>) -> io::Result<()>;
    /// The answer is complete: shows what is left.
    fn finish(&mut self) -> io::Result<()>;
    /// When something waits to be drawn.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// The last message of the model, where it is kept.
    fn answer(&self) -> &str {
        ""
    }
    /// Draws what waits, if it is time.
    fn draw_if_due(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a line that may fail only because the reader is gone.
pub(super) fn write_line(out: &mut impl Write, line: &str) -> io::Result<()> {
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
