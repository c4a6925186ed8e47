//! Tells the user on standard error what went wrong.

use std::io::{self, Write};

use cohab_text::terminal_safe_writer::HarmlessWriter;

/// Tells the user of a failure, as far as standard error is there.
pub fn complain(message: &str) {
    // With standard error gone, the exit status is all that is left.
    let _ = writeln!(HarmlessWriter::new(io::stderr()), "cohab: {message}");
}
