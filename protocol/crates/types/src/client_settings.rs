//! The `[client]` table of the settings. The client reads it leniently; `cohab-config` checks it with the rest of the file.

use std::{path::PathBuf, str::FromStr};

use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error},
};

use crate::{section, settings::Kind};

section! {
    /// The `[client]` table.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(default)]
    pub struct ClientSettings in "client." {
        /// Shell to start; if unset, your login shell
        shell: Option<PathBuf>, Kind::Path;
        /// Key that sends the line at the prompt as a question
        hotkey: Hotkey = "alt-enter",
            Kind::Word(&["alt-enter", "alt-space", "ctrl-space", "ctrl-g", "ctrl-o", "none"]);
        /// Key that undoes the changes of a turn, right after a turn that changed the shell
        undo_key: UndoKey = "ctrl-underscore", Kind::Word(&["ctrl-underscore", "none"]);
        /// Prefix that makes a line a question; empty for none
        question_prefix: String = "?", Kind::Prefix;
        /// Whether lines in natural language are questions without a prefix
        gate: bool = "true", Kind::Flag;
        /// Key that turns the line at the prompt from a question into a command, or back
        flip_key: FlipKey = "alt-g", Kind::Word(&["alt-g", "ctrl-bracket", "none"]);
        /// Whether a hint after the first failed command names the key that asks about it
        failure_hint: bool = "true", Kind::Flag;
        /// Whether the bell rings when a long turn ends while the terminal is unfocused
        notify: bool = "true", Kind::Flag;
        /// Whether programs that run in your shell without a question can only read, as far as the kernel enforces it
        lock: bool = "true", Kind::Flag;
        /// Whether the shell is started as a login shell
        login: bool = "false", Kind::Flag;
    }
}

/// Lets these types be read from their word in the settings.
macro_rules! read_from_word {
    ($($type:ty),+) => {$(
        impl FromStr for $type {
            type Err = Error;

            fn from_str(word: &str) -> Result<Self, Error> {
                Self::deserialize(word.into_deserializer())
            }
        }
    )+};
}

read_from_word!(Hotkey, UndoKey, FlipKey);

/// Keys that can be the hotkey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hotkey {
    /// Alt-Enter.
    #[default]
    AltEnter,
    /// Ctrl-Space.
    CtrlSpace,
    /// None.
    None,
}

impl Hotkey {
    /// What the terminal sends for it; empty for none.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::AltEnter => b"\x1b\r",
            Self::CtrlSpace => b"\0",
            Self::None => b"",
        }
    }

    /// As it is shown; nothing for none.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::AltEnter => Some("Alt-Enter"),
            Self::CtrlSpace => Some("Ctrl-Space"),
            Self::None => None,
        }
    }
}

/// Keys that can flip the gate's decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlipKey {
    /// Alt-g.
    #[default]
    AltG,
    /// Ctrl-].
    CtrlBracket,
    /// None.
    None,
}

impl FlipKey {
    /// As it is shown; empty for none.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AltG => "Alt-G",
            Self::CtrlBracket => "Ctrl-]",
            Self::None => "",
        }
    }

    /// Whether these bytes are this key and nothing else, also as the kitty keyboard protocol says it.
    #[must_use]
    pub fn is(self, bytes: &[u8]) -> bool {
        match self {
            Self::AltG => matches!(bytes, b"\x1bg" | b"\x1b[103;3u"),
            Self::CtrlBracket => matches!(bytes, b"\x1d" | b"\x1b[93;5u"),
            Self::None => false,
        }
    }
}

/// Keys that can undo right after a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoKey {
    /// Ctrl-_, on many keyboards also Ctrl-/ and Ctrl-7: the line editors' own key for undo, which does nothing on an empty line.
    #[default]
    CtrlUnderscore,
    /// None.
    None,
}

impl UndoKey {
    /// Whether these bytes are this key and nothing else, also as the kitty keyboard protocol says it.
    #[must_use]
    pub fn is(self, bytes: &[u8]) -> bool {
        self == Self::CtrlUnderscore
            && matches!(bytes, b"\x1f" | b"\x1b[95;5u" | b"\x1b[95;6u" | b"\x1b[45;6u" | b"\x1b[47;5u")
    }
}
