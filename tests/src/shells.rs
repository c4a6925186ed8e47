//! Starts shells in terminals of a home.

use crate::{Home, Session, Size, Terminal, binaries};

impl Home {
    /// The user's own bash, without cohab.
    #[must_use]
    pub fn bash(&self) -> Session<'_> {
        Session::start(Terminal::spawn(self.in_terminal("/bin/bash", &["-i"])), &self.prompt, self)
    }

    /// `cohab` in a terminal of 24 rows and 80 columns, at its first prompt.
    #[must_use]
    pub fn cohab(&self) -> Session<'_> {
        self.cohab_sized(Size::default())
    }

    /// `cohab` in a terminal of another size, at its first prompt.
    #[must_use]
    pub fn cohab_sized(&self, size: Size) -> Session<'_> {
        let command = self.in_terminal(binaries::program("cohab"), &[]);
        Session::start(Terminal::spawn_sized(command, size), &self.prompt, self)
    }

    /// A shell that `cohab` opens with these arguments, at its first prompt.
    #[must_use]
    pub fn cohab_with(&self, arguments: &[&str]) -> Session<'_> {
        Session::start(Terminal::spawn(self.in_terminal(binaries::program("cohab"), arguments)), &self.prompt, self)
    }
}
