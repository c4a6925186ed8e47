//! Quotes any bytes as one word of a shell, in ASCII. Pure.

use std::fmt::Write;

use crate::shell::Shell;

/// The word. It must not contain NUL, which no variable and no path can.
pub(super) fn quoted(shell: Shell, text: &[u8]) -> String {
    if shell == Shell::Fish { fish_quoted(text) } else { ansi_quoted(text) }
}

/// Quotes as `'...'`, or as `$'...'` if necessary.
fn ansi_quoted(text: &[u8]) -> String {
    if text.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\'') {
        return format!("'{}'", String::from_utf8_lossy(text));
    }
    let mut out = String::from("$'");
    for byte in text {
        match byte {
            b'\'' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            // Never fails: it is memory.
            _ => drop(write!(out, "\\{byte:03o}")),
        }
    }
    out.push('\'');
    out
}

/// Quotes plain text, with special characters between the quotes: inside quotes fish knows no escapes for bytes.
fn fish_quoted(text: &[u8]) -> String {
    let mut out = String::from("'");
    for byte in text {
        match byte {
            b'\'' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => drop(write!(out, "'\\X{byte:02x}'")),
        }
    }
    out.push('\'');
    out
}
