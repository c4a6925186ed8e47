//! Reads the size of a terminal.

use std::os::fd::BorrowedFd;

use rustix::termios;

/// The size of the terminal `fd` as `(columns, rows)`, at least 2 by 2; 80 by 24 if it does not know.
#[must_use]
pub fn size_of(fd: BorrowedFd<'_>) -> (u16, u16) {
    match termios::tcgetwinsize(fd) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.max(2), size.ws_row.max(2)),
        _ => (80, 24),
    }
}
