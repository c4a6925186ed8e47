//! The two receivers of a line.

/// The receiver of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The shell: the line is a command, or may be one.
    Shell,
    /// The assistant: the line is natural language.
    Assistant,
}

impl Decision {
    /// Its name in files and on standard output: `shell` or `ai`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Assistant => "ai",
        }
    }
}
