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
        hotkey: Hotkey = "alt-enter", Kind::Word(Hotkey::WORDS);
        /// Key that undoes the changes of a turn, right after a turn that changed the shell
        undo_key: UndoKey = "ctrl-underscore", Kind::Word(UndoKey::WORDS);
        /// Prefix that makes a line a question; empty for none
        question_prefix: String = "?", Kind::Prefix;
        /// Whether lines in natural language are questions without a prefix
        gate: bool = "true", Kind::Flag;
        /// Key that turns the line at the prompt from a question into a command, or back
        flip_key: FlipKey = "alt-g", Kind::Word(FlipKey::WORDS);
        /// Whether a hint after the first failed command names the key that asks about it
        failure_hint: bool = "true", Kind::Flag;
        /// Whether a notification and the bell call you when a long turn ends or a card waits while the terminal is unfocused
        notify: bool = "true", Kind::Flag;
        /// Shortest turn whose end rings, in seconds
        notify_after_s: u64 = "10", Kind::Integer(0, 86_400);
        /// Whether the terminal is told if cohab works, waits for you or is done (program status, OSC 7501)
        status: bool = "true", Kind::Flag;
        /// Background of the terminal; `auto` asks it
        theme: Theme = "auto", Kind::Word(Theme::WORDS);
        /// Whether a thin bar stands left of answers
        gutter: bool = "false", Kind::Flag;
        /// Whether a turn of several steps, or of more than 10 s, ends with a line of its steps, time, tokens and cost
        footer: bool = "true", Kind::Flag;
        /// How the model's thoughts are shown: three lines while it thinks, then `folded` into one line, or all of them kept (`live`)
        reasoning: Reasoning = "folded", Kind::Word(Reasoning::WORDS);
        /// Whether programs that run in your shell without a question can only read, as far as the kernel enforces it
        lock: bool = "true", Kind::Flag;
        /// Whether the shell is started as a login shell
        login: bool = "false", Kind::Flag;
    }
}

/// Declares an enum, each variant with its word in the settings. The words that the check of the file allows and those that the client
/// reads come from the same rows.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident { $( $(#[$variant_attribute:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
        pub enum $name {
            $( $(#[$variant_attribute])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// The words that the settings may have, in the order in which they are shown.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(word: &str) -> Result<Self, Error> {
                Self::deserialize(word.into_deserializer())
            }
        }
    };
}

words! {
    /// Keys that can be the hotkey.
    pub enum Hotkey {
        /// Alt-Enter.
        #[default]
        AltEnter = "alt-enter",
        /// Ctrl-Space.
        CtrlSpace = "ctrl-space",
        /// None.
        None = "none",
    }
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

words! {
    /// Keys that can flip the gate's decision.
    pub enum FlipKey {
        /// Alt-g.
        #[default]
        AltG = "alt-g",
        /// Ctrl-].
        CtrlBracket = "ctrl-bracket",
        /// None.
        None = "none",
    }
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

words! {
    /// Keys that can undo right after a turn.
    pub enum UndoKey {
        /// Ctrl-_, on many keyboards also Ctrl-/ and Ctrl-7: the line editors' own key for undo, which does nothing on an empty line.
        #[default]
        CtrlUnderscore = "ctrl-underscore",
        /// None.
        None = "none",
    }
}

impl UndoKey {
    /// Whether these bytes are this key and nothing else, also as the kitty keyboard protocol says it.
    #[must_use]
    pub fn is(self, bytes: &[u8]) -> bool {
        self == Self::CtrlUnderscore
            && matches!(bytes, b"\x1f" | b"\x1b[95;5u" | b"\x1b[95;6u" | b"\x1b[45;6u" | b"\x1b[47;5u")
    }
}

words! {
    /// For which background colours are chosen.
    pub enum Theme {
        /// That of the terminal, as far as it says.
        #[default]
        Auto = "auto",
        /// A dark one.
        Dark = "dark",
        /// A light one.
        Light = "light",
    }
}

words! {
    /// What is shown of a model's reasoning.
    pub enum Reasoning {
        /// Its last rows while it thinks, all of it afterwards.
        Live = "live",
        /// Its last rows while it thinks, one line afterwards.
        #[default]
        Folded = "folded",
        /// Nothing.
        Off = "off",
    }
}
