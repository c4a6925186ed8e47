//! Refusals: why a command did not run, and the user's "no" to an action.
//!
//! Each has a text that leaves the program: a code on the wire, a sentence in results of tools and in stored records. The text is written
//! and read here, so that no other code compares it.

use std::fmt;

/// Declares the reasons, each with its stable word for programs.
macro_rules! refusals {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident { $( $(#[$variant_attribute:meta])* $variant:ident = $code:literal, )+ }
    ) => {
        $(#[$attribute])*
        pub enum $name { $( $(#[$variant_attribute])* $variant, )+ }

        impl $name {
            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable word for programs, as it is on the wire.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $( Self::$variant => $code, )+
                }
            }
        }
    };
}

refusals! {
    /// The reason why a command did not run, or why its fate is unknown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Refusal {
        /// Another command or program runs in the shell.
        ShellBusy = "shell_busy",
        /// A program has the whole screen.
        FullscreenApp = "fullscreen_app",
        /// The shell waits for the rest of a line.
        ContinuationLine = "continuation_line",
        /// A program in the foreground reads the input itself.
        Nested = "nested",
        /// The shell or its line editor is not ready.
        NotReady = "not_ready",
        /// The shell gives no marks.
        NotIntegrated = "not_integrated",
        /// Another program has replaced the shell.
        ShellReplaced = "shell_replaced",
        /// The kind of shell is not supported.
        UnsupportedShell = "unsupported_shell",
        /// The text cannot be a command.
        BadText = "bad_text",
        /// The command would end the shell.
        EndsShell = "ends_shell",
        /// The command could not be written to the shell.
        NotWritten = "not_written",
        /// The user or the policy did not agree.
        NotApproved = "not_approved",
        /// The turn of the command is over.
        TurnOver = "turn_over",
        /// The turn of the command belongs to another terminal.
        UnknownTurn = "unknown_turn",
        /// The command ran before, and its result is not kept.
        Repeated = "repeated",
        /// The command was withdrawn before it started.
        Cancelled = "cancelled",
        /// No client with a live shell is connected.
        NoClient = "no_client",
        /// The shell did not answer in time.
        TimedOut = "timed_out",
        /// The shell has ended.
        ShellGone = "shell_gone",
        /// The operating system refused.
        Pty = "pty",
        /// The connection broke before the result came.
        Unknown = "unknown",
        /// A reason that this build does not know.
        Other = "refused",
    }
}

impl Refusal {
    /// The reason with this code; [`Refusal::Other`] for an unknown one.
    #[must_use]
    pub fn of_code(code: &str) -> Self {
        Self::ALL.iter().copied().find(|one| one.code() == code).unwrap_or(Self::Other)
    }

    /// Whether the shell is only occupied, so that the command may run later.
    #[must_use]
    pub fn is_busy(self) -> bool {
        matches!(self, Self::ShellBusy | Self::FullscreenApp)
    }
}

/// The user's refusal of an action, with a note to the model. `Display` is the sentence for the model and for records:
/// `the user refused: too slow`, without a note `the user refused`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserRefusal {
    note: String,
}

/// The sentence of a refusal without a note.
const USER_REFUSED: &str = "the user refused";
/// Separates a sentence from the note behind it, and from what is said before it.
const SEPARATOR: &str = ": ";

impl UserRefusal {
    /// A refusal with this note, which may be blank.
    #[must_use]
    pub fn new(note: &str) -> Self {
        Self { note: note.trim().to_owned() }
    }

    /// The note; empty if there is none.
    #[must_use]
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Whether a recorded reason is a refusal without a note, and nothing more.
    #[must_use]
    pub fn is_bare(reason: &str) -> bool {
        reason == USER_REFUSED
    }

    /// Reads the refusal in a reason, which may introduce it: `not run: the user refused`. `None` if the reason is another one.
    #[must_use]
    pub fn read(reason: &str) -> Option<Self> {
        let reason = reason.trim();
        reason.match_indices(USER_REFUSED).find_map(|(at, sentence)| {
            let (before, after) = (&reason[..at], &reason[at + sentence.len()..]);
            let is_begin = before.is_empty() || before.ends_with(SEPARATOR);
            match after.strip_prefix(SEPARATOR) {
                Some(note) if is_begin => Some(Self::new(note)),
                None if is_begin && after.is_empty() => Some(Self::default()),
                _ => None,
            }
        })
    }
}

impl fmt::Display for UserRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(USER_REFUSED)?;
        if self.note.is_empty() { Ok(()) } else { write!(f, "{SEPARATOR}{}", self.note) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_read_back() {
        for &refusal in Refusal::ALL {
            assert_eq!(Refusal::of_code(refusal.code()), refusal);
        }
        assert_eq!(Refusal::of_code("of a later version"), Refusal::Other);
    }

    #[test]
    fn a_refusal_of_the_user_is_read_back() {
        for note in ["", "too slow", "no: the user refused"] {
            let refusal = UserRefusal::new(note);
            assert_eq!(UserRefusal::read(&refusal.to_string()).as_ref(), Some(&refusal));
            assert_eq!(UserRefusal::read(&format!("not run again: {refusal}\n")).as_ref(), Some(&refusal));
        }
        assert_eq!(UserRefusal::new(" no ").to_string(), "the user refused: no");
        assert!(UserRefusal::is_bare(&UserRefusal::default().to_string()));
        for more in ["no: the user refused", "the user refused: no", ""] {
            assert!(!UserRefusal::is_bare(more), "{more}");
        }
    }

    #[test]
    fn other_reasons_are_no_refusal_of_the_user() {
        for reason in ["", "the user is gone", "the user refused exactly this", "cat: say the user refused"] {
            assert_eq!(UserRefusal::read(reason), None, "{reason}");
        }
    }
}
