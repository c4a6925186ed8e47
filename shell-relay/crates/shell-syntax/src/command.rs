//! The parsed form of a plain line: simple commands of literal words.

/// The connection of a command with the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// After `;`, a line break, or first of the line.
    Then,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
    /// After `|`.
    Pipe,
}

/// A word with its quotes removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The word as the command gets it, before globs and `~` are expanded.
    pub text: String,
    /// The word has no quote and no escape.
    pub is_bare: bool,
    /// An unquoted `*` or `?` is in it.
    pub has_glob: bool,
    /// The word begins with an unquoted `~`.
    pub has_tilde: bool,
}

/// The effect of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `&>`
    WriteAll,
    /// `>&`
    Duplicate,
}

/// One redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The number in front, if there is one.
    pub fd: Option<u32>,
    /// Its effect.
    pub kind: RedirectKind,
    /// The file or descriptor.
    pub target: Word,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Its connection with the command before it.
    pub join: Join,
    /// The words, the name first; never empty.
    pub words: Vec<Word>,
    /// The redirections, in order.
    pub redirects: Vec<Redirect>,
}
