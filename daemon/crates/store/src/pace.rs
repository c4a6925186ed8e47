//! Pace inserts steps between the system calls of a writer: a test can end the writer at any of them, as a kill would.

use std::{
    fs::File,
    io::{self, Write as _},
};

/// Counts the steps of a writer in tests; does nothing otherwise.
#[derive(Default)]
pub(super) struct Pace {
    #[cfg(test)]
    left: Option<std::cell::Cell<u32>>,
}

impl Pace {
    /// Called before every system call that changes something.
    pub fn step(&self) {
        #[cfg(test)]
        if let Some(left) = &self.left {
            left.set(left.get().checked_sub(1).unwrap_or_else(|| std::panic::resume_unwind(Box::new(Killed))));
        }
    }

    /// Writes all of `bytes`; a test may end the writer in the middle.
    pub fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.step();
        #[cfg(test)]
        if self.left.is_some() {
            let (start, rest) = bytes.split_at(bytes.len() * 2 / 3);
            file.write_all(start)?;
            self.step();
            file.write_all(rest)?;
            self.step();
            return Ok(());
        }
        file.write_all(bytes)
    }
}

/// The panic of a writer that was ended on purpose.
#[cfg(test)]
pub(super) struct Killed;

#[cfg(test)]
impl Pace {
    /// Ends the writer before step `steps`, from 0.
    pub fn killed_at(steps: u32) -> Self {
        Self { left: Some(std::cell::Cell::new(steps)) }
    }
}
