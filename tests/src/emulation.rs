//! Tracks the state that vt100 leaves to its callbacks (title, bells, unknown modes, OSC sequences), and answers a program's queries.

use std::collections::BTreeMap;

use vt100::{Callbacks, Screen};

/// The state of a terminal that is not on its screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// Window title.
    pub title: String,
    /// Number of bells.
    pub bells: usize,
    /// Modes that vt100 does not know: `?1004` for DEC modes, `4` for ANSI modes, `>4` for the keyboard.
    pub modes: BTreeMap<String, String>,
    /// The last sequence of each OSC number that vt100 does not know.
    pub osc: BTreeMap<String, String>,
}

/// The callbacks of a test's terminal.
#[derive(Default)]
pub(crate) struct Emulation {
    pub(crate) reports: Reports,
    /// The terminal's answers; sent only where the terminal of a test must answer.
    pub(crate) answers: Vec<u8>,
}

impl Emulation {
    fn answer(&mut self, answer: &str) {
        self.answers.extend_from_slice(answer.as_bytes());
    }

    fn set_modes(&mut self, prefix: &str, params: &[&[u16]], value: &str) {
        for param in params.iter().filter_map(|param| param.first()) {
            // Programs set the modes of the screen in one sequence with ours; those are compared on the screen.
            if !is_on_the_screen(prefix, *param) {
                self.reports.modes.insert(format!("{prefix}{param}"), value.into());
            }
        }
    }
}

fn is_on_the_screen(prefix: &str, mode: u16) -> bool {
    prefix == "?" && matches!(mode, 1 | 6 | 9 | 25 | 47 | 1000 | 1002 | 1003 | 1005 | 1006 | 1049 | 2004)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Callbacks for Emulation {
    fn audible_bell(&mut self, _: &mut Screen) {
        self.reports.bells += 1;
    }

    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.reports.title = text(title);
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        let fields: Vec<String> = params.iter().map(|param| text(param)).collect();
        if let Some((number, rest)) = fields.split_first() {
            match (number.as_str(), rest.first().map(String::as_str)) {
                ("10", Some("?")) => self.answer("\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
                ("11", Some("?")) => self.answer("\x1b]11;rgb:0000/0000/0000\x1b\\"),
                _ => drop(self.reports.osc.insert(number.clone(), rest.join(";"))),
            }
        }
    }

    fn copy_to_clipboard(&mut self, _: &mut Screen, kind: &[u8], data: &[u8]) {
        self.reports.osc.insert("52".into(), format!("{};{}", text(kind), text(data)));
    }

    fn unhandled_csi(&mut self, screen: &mut Screen, i1: Option<u8>, i2: Option<u8>, params: &[&[u16]], c: char) {
        let first = params.first().and_then(|param| param.first()).copied().unwrap_or(0);
        let prefix = i1.map(|byte| char::from(byte).to_string()).unwrap_or_default();
        match (prefix.as_str(), i2, c, first) {
            ("", None, 'c', 0) => self.answer("\x1b[?62;22c"),
            (">", None, 'c', 0) => self.answer("\x1b[>41;377;0c"),
            ("", None, 'n', 5) => self.answer("\x1b[0n"),
            ("", None, 'n', 6) => {
                let (row, column) = screen.cursor_position();
                self.answer(&format!("\x1b[{};{}R", row + 1, column + 1));
            }
            ("?", Some(b'$'), 'p', mode) => self.answer(&format!("\x1b[?{mode};0$y")),
            ("" | "?", None, 'h', _) => self.set_modes(&prefix, params, "on"),
            ("" | "?", None, 'l', _) => self.set_modes(&prefix, params, "off"),
            // modifyOtherKeys.
            (">", None, 'm', 4) => {
                let value = params.get(1).and_then(|param| param.first()).copied().unwrap_or(0);
                self.reports.modes.insert(">4".into(), value.to_string());
            }
            _ => {}
        }
    }
}
