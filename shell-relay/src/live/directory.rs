//! Reads the directory that a shell reports to its terminal (OSC 7), within an agent's command. Pure.

use std::{os::unix::ffi::OsStrExt, path::Path};

/// A longer report is ignored.
const REPORT_MAX_BYTES: usize = 8 * 1024;
const BEGIN: &[u8] = b"\x1b]7;file://";

/// The last report among the strings that the guard has dropped. fish reports a `cd` only once, when it happens, and a terminal
/// opens new windows in the directory it knows; so a true report is passed on at the command's end. A forged one never is.
#[derive(Debug, Default)]
pub(super) struct DirectoryReport {
    /// The string so far, if it can still be a report.
    begun: Vec<u8>,
    last: Vec<u8>,
}

impl DirectoryReport {
    /// Takes a piece of a dropped string.
    pub fn push(&mut self, piece: &[u8]) {
        if piece.starts_with(b"\x1b]") {
            self.begun.clear();
        }
        if self.begun.len() + piece.len() > REPORT_MAX_BYTES {
            return self.begun.clear();
        }
        self.begun.extend_from_slice(piece);
        if self.begun.ends_with(b"\x07") || self.begun.ends_with(b"\x1b\\") {
            let whole = std::mem::take(&mut self.begun);
            if whole.starts_with(BEGIN) {
                self.last = whole;
            }
        }
    }

    /// The last report, if it names this directory and nothing else.
    pub fn of(&mut self, cwd: &Path) -> Option<Vec<u8>> {
        let report = std::mem::take(&mut self.last);
        tells(&report, cwd.as_os_str().as_bytes()).then_some(report)
    }
}

fn tells(report: &[u8], cwd: &[u8]) -> bool {
    let Some(location) = report.strip_prefix(BEGIN) else { return false };
    let Some(location) = location.strip_suffix(b"\x07").or_else(|| location.strip_suffix(b"\x1b\\")) else {
        return false;
    };
    let host_end = location.iter().position(|byte| *byte == b'/').unwrap_or(location.len());
    let (host, path) = location.split_at(host_end);
    host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(byte))
        && path.iter().all(u8::is_ascii_graphic)
        && decoded(path).is_some_and(|path| path == cwd)
}

/// The path without percent encoding.
fn decoded(mut path: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(path.len());
    loop {
        match path {
            [] => return Some(bytes),
            [b'%', high, low, rest @ ..] => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                bytes.push(digit(high)? << 4 | digit(low)?);
                path = rest;
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                path = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(strings: &[&str], cwd: &str) -> Option<String> {
        let mut report = DirectoryReport::default();
        strings.iter().for_each(|string| report.push(string.as_bytes()));
        report.of(Path::new(cwd)).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_true_report_passes_whole() {
        for report in ["\x1b]7;file://host/usr\x07", "\x1b]7;file:///usr\x1b\\", "\x1b]7;file://h/%75sr\x07"] {
            assert_eq!(passed(&[report], "/usr").as_deref(), Some(report));
        }
        assert_eq!(
            passed(&["\x1b]", "7;file://h/", "a%20b", "\x1b", "\\"], "/a b").as_deref(),
            Some("\x1b]7;file://h/a%20b\x1b\\")
        );
        let two = ["\x1b]7;file://h/usr\x07", "\x1b]7;file://h/var\x07", "\x1b]0;title\x07"];
        assert_eq!(passed(&two, "/var").as_deref(), Some(two[1]));
    }

    #[test]
    fn anything_else_does_not() {
        for other in [
            "\x1b]7;file://h/etc\x07",
            "\x1b]7;/usr\x07",
            "\x1b]7;http://h/usr\x07",
            "\x1b]7;file://h;x/usr\x07",
            "\x1b]7;file://h/usr\n\x07",
            "\x1b]7;file://h/us\x18\x1b[6n\x07",
            "\x1b]7;file://h/usr",
            "\x1b]52;c;aGk=\x07",
            "\x1b]7;file://h/%2\x07",
            "",
        ] {
            assert_eq!(passed(&[other], "/usr"), None, "{other:?}");
        }
        let long = "x".repeat(REPORT_MAX_BYTES);
        assert_eq!(passed(&["\x1b]7;file://h/usr", &long, "\x07"], "/usr"), None);
    }

    #[test]
    fn a_report_passes_once() {
        let mut report = DirectoryReport::default();
        report.push(b"\x1b]7;file://h/usr\x07");
        assert!(report.of(Path::new("/usr")).is_some());
        assert_eq!(report.of(Path::new("/usr")), None);
    }
}
