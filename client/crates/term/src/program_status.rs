//! Program status (OSC 7501): writes that of this program, and reads that of programs inside. Pure.

/// Longest sequence, in bytes; a longer one is ignored.
const MAX_BYTES: usize = 4096;
const ESC: u8 = 0x1b;
const BEGIN: &[u8] = b"\x1b]7501;";

/// What a program waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A permission.
    Permission,
    /// An answer.
    Question,
    /// A password or the like.
    Auth,
}

/// What a program does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramStatus {
    /// Nothing.
    #[default]
    Idle,
    /// It works.
    Working,
    /// It waits for the user.
    Blocked(Need),
    /// It is done.
    Done,
    /// It failed.
    Error,
}

const KINDS: [(Need, &str); 3] = [(Need::Permission, "permission"), (Need::Question, "question"), (Need::Auth, "auth")];
const STATES: [(ProgramStatus, &str); 4] = [
    (ProgramStatus::Idle, "idle"),
    (ProgramStatus::Working, "working"),
    (ProgramStatus::Done, "done"),
    (ProgramStatus::Error, "error"),
];

impl ProgramStatus {
    /// The sequence that tells the terminal that cohab does this.
    ///
    /// ```
    /// use cohab_term::program_status::{Need, ProgramStatus};
    ///
    /// assert_eq!(ProgramStatus::Done.sequence(), "\x1b]7501;state=done:app=cohab\x1b\\");
    /// let blocked = ProgramStatus::Blocked(Need::Permission);
    /// assert_eq!(blocked.sequence(), "\x1b]7501;state=blocked:app=cohab:kind=permission\x1b\\");
    /// ```
    #[must_use]
    pub fn sequence(self) -> String {
        let state = STATES.iter().find(|(status, _)| *status == self).map_or("blocked", |(_, word)| word);
        let kind = KINDS.iter().find(|(need, _)| self == Self::Blocked(*need));
        let kind = kind.map(|(_, word)| format!(":kind={word}")).unwrap_or_default();
        format!("\x1b]7501;state={state}:app=cohab{kind}\x1b\\")
    }

    /// What the fields of a sequence say. A program that is blocked without a known kind waits for an answer.
    fn of_fields(fields: &str) -> Option<Self> {
        let field = |name: &str| {
            fields.split(':').filter_map(|field| field.trim().split_once('=')).find(|(key, _)| *key == name)
        };
        let (_, state) = field("state")?;
        if state == "blocked" {
            let kind = field("kind").and_then(|(_, kind)| KINDS.iter().find(|(_, word)| *word == kind));
            return Some(Self::Blocked(kind.map_or(Need::Question, |(need, _)| *need)));
        }
        STATES.iter().find(|(_, word)| *word == state).map(|(status, _)| *status)
    }
}

/// Reads the status of a program out of its output, however that is cut.
#[derive(Debug, Default)]
pub struct StatusReader {
    /// The sequence so far, or the start of one.
    begun: Vec<u8>,
}

impl StatusReader {
    /// The last status in this output, if there is one.
    pub fn push(&mut self, mut output: &[u8]) -> Option<ProgramStatus> {
        let mut last = None;
        loop {
            if self.begun.is_empty() {
                let Some(start) = output.iter().position(|byte| *byte == ESC) else { return last };
                output = &output[start..];
            }
            let Some((&byte, rest)) = output.split_first() else { return last };
            self.begun.push(byte);
            output = rest;
            if let Some(fields) = self.begun.strip_prefix(BEGIN) {
                let ended = fields.strip_suffix(b"\x07").or_else(|| fields.strip_suffix(b"\x1b\\"));
                if let Some(fields) = ended {
                    last = std::str::from_utf8(fields).ok().and_then(ProgramStatus::of_fields).or(last);
                    self.begun.clear();
                } else if self.begun.len() >= MAX_BYTES {
                    self.begun.clear();
                }
            } else if !BEGIN.starts_with(&self.begun) {
                self.begun.clear();
                // This byte may begin another one.
                self.begun.extend((byte == ESC).then_some(ESC));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(output: &[u8], cut: usize) -> Option<ProgramStatus> {
        let mut reader = StatusReader::default();
        output.chunks(cut).fold(None, |last, chunk| reader.push(chunk).or(last))
    }

    #[test]
    fn what_is_written_is_read() {
        let blocked = KINDS.map(|(need, _)| ProgramStatus::Blocked(need));
        for status in STATES.map(|(status, _)| status).into_iter().chain(blocked) {
            assert_eq!(read(status.sequence().as_bytes(), 3), Some(status));
        }
    }

    #[test]
    fn other_programs_are_read_wherever_they_are_cut() {
        for (output, expected) in [
            (&b"a\x1b]7501;state=working:app=make:progress=40\x07b"[..], Some(ProgramStatus::Working)),
            (b"\x1b\x1b]7501;app=x:state=blocked\x1b\\", Some(ProgramStatus::Blocked(Need::Question))),
            (b"\x1b]7501;state=done\x07\x1b]7501;state=error\x07", Some(ProgramStatus::Error)),
            (b"\x1b]7501;state=done\x07\x1b]7501;state=new\x07", Some(ProgramStatus::Done)),
            (b"\x1b]7501;?\x1b\\", None),
            (b"\x1b]750;state=done\x07", None),
            (b"state=done\x07", None),
        ] {
            for cut in 1..9 {
                assert_eq!(read(output, cut), expected, "{cut}");
            }
        }
    }

    proptest! {
        #[test]
        fn little_is_kept_of_any_output(chunks in proptest::collection::vec("\\PC{0,2000}", 0..6)) {
            let mut reader = StatusReader::default();
            reader.push(BEGIN);
            for chunk in chunks {
                reader.push(chunk.as_bytes());
                prop_assert!(reader.begun.len() < MAX_BYTES);
            }
        }
    }
}
