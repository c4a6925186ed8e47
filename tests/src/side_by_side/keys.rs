//! Names keys, and gives the bytes that xterm sends for them.

/// A key as the table names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The same bytes in every mode of the terminal.
    Bytes(String),
    /// A cursor key: `ESC [ x`, or `ESC O x` in application mode.
    Cursor(char),
}

impl Key {
    /// The key of this name: `Enter`, `C-r`, `M-p`, `C-M-e`, `Up`, `F5`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let bytes = match name {
            "Enter" => "\r",
            "Tab" => "\t",
            "S-Tab" => "\x1b[Z",
            "Esc" => "\x1b",
            "BS" => "\x7f",
            "Space" => " ",
            "Ins" => "\x1b[2~",
            "Del" => "\x1b[3~",
            "PgUp" => "\x1b[5~",
            "PgDn" => "\x1b[6~",
            "C-Left" => "\x1b[1;5D",
            "C-Right" => "\x1b[1;5C",
            "M-Left" => "\x1b[1;3D",
            "M-Right" => "\x1b[1;3C",
            "M-Up" => "\x1b[1;3A",
            "M-Down" => "\x1b[1;3B",
            "S-Left" => "\x1b[1;2D",
            "S-Right" => "\x1b[1;2C",
            "C-Space" | "C-@" => "\0",
            "C-\\" => "\x1c",
            "C-]" => "\x1d",
            "C-^" => "\x1e",
            "C-_" => "\x1f",
            "M-BS" => "\x1b\x7f",
            "M-C-]" => "\x1b\x1d",
            "F1" => "\x1bOP",
            "F2" => "\x1bOQ",
            "F3" => "\x1bOR",
            "F4" => "\x1bOS",
            "F5" => "\x1b[15~",
            "F10" => "\x1b[21~",
            "Up" => return Some(Self::Cursor('A')),
            "Down" => return Some(Self::Cursor('B')),
            "Right" => return Some(Self::Cursor('C')),
            "Left" => return Some(Self::Cursor('D')),
            "Home" => return Some(Self::Cursor('H')),
            "End" => return Some(Self::Cursor('F')),
            _ => return Self::with_modifier(name),
        };
        Some(Self::Bytes(bytes.into()))
    }

    fn with_modifier(name: &str) -> Option<Self> {
        let (modifier, letter) =
            name.rsplit_once('-').filter(|(_, letter)| letter.chars().count() == 1).or_else(|| {
                // `M--` is Alt with the minus sign.
                name.strip_suffix("--").map(|modifier| (modifier, "-"))
            })?;
        let control = |letter: &str| {
            let byte = letter.bytes().next().filter(u8::is_ascii_lowercase)?;
            Some(char::from(byte & 0x1f).to_string())
        };
        let bytes = match modifier {
            "C" => control(letter)?,
            "M" => format!("\x1b{letter}"),
            "C-M" | "M-C" => format!("\x1b{}", control(letter)?),
            _ => return None,
        };
        Some(Self::Bytes(bytes))
    }

    /// The bytes that the terminal sends for it.
    pub(crate) fn bytes(&self, is_application_mode: bool) -> String {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Cursor(letter) if is_application_mode => format!("\x1bO{letter}"),
            Self::Cursor(letter) => format!("\x1b[{letter}"),
        }
    }
}
