//! The launcher as the policy knows it.

use std::path::Path;

use cohab_shell_state::state::Snapshot;

/// The launcher, which starts programs that can only read.
#[derive(Clone, Copy, Debug)]
pub struct Lock<'a> {
    pub(crate) launcher: &'a str,
    pub(crate) shell: Option<&'a Snapshot>,
    pub(crate) takes_unknown: bool,
}

impl<'a> Lock<'a> {
    /// A lock that another part of cohab will insert: for judging, not for typing.
    pub const UNNAMED: Self = Self { launcher: "/cohab-confine", shell: None, takes_unknown: false };

    /// Takes the launcher's file. `shell` is the live one, whose aliases add options to programs: behind the launcher they are not looked
    /// up. `None` if a shell may read the file's path otherwise than it stands.
    #[must_use]
    pub fn new(launcher: &'a Path, shell: Option<&'a Snapshot>) -> Option<Self> {
        let launcher = launcher.to_str().filter(|path| path.starts_with('/') && path.bytes().all(is_plain))?;
        Some(Self { launcher, shell, takes_unknown: false })
    }

    /// The same lock; if it `takes_unknown` programs, those in no table run unasked behind it, too.
    #[must_use]
    pub const fn with_unknown_programs(self, takes_unknown: bool) -> Self {
        Self { takes_unknown, ..self }
    }

    /// Whether programs that are in no table run unasked behind it.
    pub(crate) fn takes_unknown(self) -> bool {
        self.takes_unknown
    }
}

/// Whether all shells read the byte as itself.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+')
}
