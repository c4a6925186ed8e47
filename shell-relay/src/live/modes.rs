//! Tracks the terminal modes that programs in the shell have set, as far as the proxy must undo or restore them. Pure.

use memchr::memchr;

use super::sequences::{Piece, SequenceScanner};

/// Private modes that are tracked: a stop in the middle of a program leaves them set.
const TRACKED: [u16; 15] = [1, 7, 25, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1047, 1049, 2004, 2026];
/// Modes that are on in a fresh terminal: wrapping at the margin, and the cursor.
const ON_AT_FIRST: [u16; 2] = [7, 25];
/// Largest number of nested pushes of kitty keyboard flags that are counted.
const KITTY_STACK_MAX: u8 = 16;

/// The terminal's modes as the shell and its programs left them.
#[derive(Debug, Default)]
pub struct Modes {
    scanner: SequenceScanner,
    now: Settings,
}

/// All tracked settings at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    /// Bit `i` is set if mode `TRACKED[i]` differs from a fresh terminal.
    changed: u16,
    kitty_pushed: u8,
    kitty_set: bool,
    /// xterm's other reports of keys, which vim and fish ask for.
    modify_other_keys: bool,
    keypad_application: bool,
    scroll_region: bool,
}

impl Modes {
    /// Takes output to the terminal, in pieces of any size.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.scanner.is_in_text() && memchr(0x1b, bytes).is_none() {
            return;
        }
        let mut scanner = std::mem::take(&mut self.scanner);
        let mut rest = bytes;
        while let Some(piece) = scanner.next(&mut rest) {
            if let Piece::Sequence(sequence) = piece {
                self.now.obey(sequence);
            }
        }
        self.scanner = scanner;
    }

    /// Whether a full-screen program has the alternate screen.
    #[must_use]
    pub fn alternate_screen(&self) -> bool {
        [1049, 1047, 47].into_iter().any(|mode| self.now.is_changed(mode))
    }

    /// Whether pastes are to be bracketed.
    #[must_use]
    pub fn bracketed_paste(&self) -> bool {
        self.now.is_changed(2004)
    }

    /// Whether reports of the focus are asked for.
    #[must_use]
    pub fn focus_reporting(&self) -> bool {
        self.now.is_changed(1004)
    }

    /// Whether kitty keyboard flags are in force.
    #[must_use]
    pub fn kitty_keyboard(&self) -> bool {
        self.now.kitty_pushed > 0 || self.now.kitty_set
    }

    /// Sequences that undo all modes seen set, for the end of the proxy.
    #[must_use]
    pub fn reset_all(&self) -> Vec<u8> {
        self.now.undo(|_| true)
    }

    /// Sequences that undo everything that can be tracked, for a terminal of unknown state. They also end a sequence that was cut, and
    /// move nothing on a terminal that needs no reset.
    #[must_use]
    pub fn reset_unknown() -> Vec<u8> {
        // On the first screen the cursor must not go to the place that was saved last, so that place is set to the current one. The older
        // switches to the second screen are undone by this one, too.
        let mut reset = String::from("\x1b\\\x1b7\x1b[?1049l");
        let others = TRACKED.into_iter().filter(|mode| ![47, 1047, 1049].contains(mode));
        others.for_each(|mode| reset += &undo_mode(mode));
        reset += &format!("\x1b>\x1b[<{KITTY_STACK_MAX}u\x1b[=0u\x1b[>4;0m\x1b7\x1b[r\x1b8\x1b[m\x1b(B");
        reset.into_bytes()
    }

    /// The first sequence in `bytes` that switches on something which is not tracked, and so would never be undone.
    #[must_use]
    pub fn first_untracked(bytes: &[u8]) -> Option<Vec<u8>> {
        let (mut scanner, mut rest) = (SequenceScanner::default(), bytes);
        while let Some(piece) = scanner.next(&mut rest) {
            if let Piece::Sequence(sequence) = piece
                && switches_on_untracked(sequence)
            {
                return Some(sequence.to_vec());
            }
        }
        None
    }

    /// Sequences that undo the modes left by a program that was killed; the line editor's own modes stay.
    pub(super) fn reset_leftovers(&mut self) -> Vec<u8> {
        let undo = self.now.undo(|mode| !matches!(mode, 1 | 2004));
        self.feed(&undo);
        undo
    }

    /// The modes as they are, for [`reset_since`](Self::reset_since).
    pub(super) fn settings(&self) -> Settings {
        self.now
    }

    /// Sequences that undo the modes that were set since then.
    pub(super) fn reset_since(&mut self, before: Settings) -> Vec<u8> {
        let undo = self.now.beyond(before).undo(|_| true);
        self.feed(&undo);
        undo
    }

    /// Whether `sequence` only takes back tracked modes that are set.
    pub(super) fn are_taken_back_by(&self, sequence: &[u8]) -> bool {
        let now = &self.now;
        match sequence {
            b"\x1b>" => now.keypad_application,
            b"\x1b[?25h" => true,
            [0x1b, b'[', b'?', numbers @ .., b'l'] => numbers
                .split(|&byte| byte == b';')
                .all(|mode| number_of(mode).is_some_and(|mode| mode != 25 && now.is_changed(mode))),
            [0x1b, b'[', b'<', number @ .., b'u'] => number_of_pops(number) <= now.kitty_pushed,
            b"\x1b[=0u" | b"\x1b[=0;1u" => now.kitty_set,
            _ => false,
        }
    }

    /// A sequence that the terminal gets.
    pub(super) fn obey(&mut self, sequence: &[u8]) {
        self.now.obey(sequence);
    }
}

impl Settings {
    /// The settings that differ from `before`.
    fn beyond(self, before: Self) -> Self {
        Self {
            changed: self.changed & !before.changed,
            kitty_pushed: self.kitty_pushed.saturating_sub(before.kitty_pushed),
            kitty_set: self.kitty_set && !before.kitty_set,
            modify_other_keys: self.modify_other_keys && !before.modify_other_keys,
            keypad_application: self.keypad_application && !before.keypad_application,
            scroll_region: self.scroll_region && !before.scroll_region,
        }
    }

    fn undo(&self, wanted: impl Fn(u16) -> bool) -> Vec<u8> {
        let mut undo = String::new();
        for mode in TRACKED.into_iter().filter(|&mode| wanted(mode) && self.is_changed(mode)) {
            undo += &undo_mode(mode);
        }
        if wanted(1) && self.keypad_application {
            undo += "\x1b>";
        }
        if wanted(1) && self.modify_other_keys {
            undo += "\x1b[>4;0m";
        }
        if self.kitty_pushed > 0 {
            undo += &format!("\x1b[<{}u", self.kitty_pushed);
        }
        if self.kitty_set {
            undo += "\x1b[=0u";
        }
        if self.scroll_region {
            // Resetting the region moves the cursor home.
            undo += "\x1b7\x1b[r\x1b8";
        }
        undo.into_bytes()
    }

    fn is_changed(&self, mode: u16) -> bool {
        TRACKED.iter().position(|&tracked| tracked == mode).is_some_and(|bit| self.changed & (1 << bit) != 0)
    }

    fn obey(&mut self, sequence: &[u8]) {
        match sequence {
            b"\x1b=" => self.keypad_application = true,
            b"\x1b>" => self.keypad_application = false,
            b"\x1bc" => *self = Self::default(),
            [0x1b, b'[', b'?', numbers @ .., action @ (b'h' | b'l')] => self.set_private(numbers, *action == b'h'),
            [0x1b, b'[', b'>', .., b'u'] => self.kitty_pushed = (self.kitty_pushed + 1).min(KITTY_STACK_MAX),
            [0x1b, b'[', b'<', number @ .., b'u'] => {
                self.kitty_pushed = self.kitty_pushed.saturating_sub(number_of_pops(number));
            }
            [0x1b, b'[', b'>', b'4', level @ .., b'm'] => {
                self.modify_other_keys = level.strip_prefix(b";").and_then(number_of).unwrap_or(0) != 0;
            }
            [0x1b, b'[', b'=', number @ .., b'u'] => self.kitty_set = number_of(number).unwrap_or(0) != 0,
            b"\x1b[r" => self.scroll_region = false,
            [0x1b, b'[', first, .., b'r'] if first.is_ascii_digit() || *first == b';' => self.scroll_region = true,
            _ => {}
        }
    }

    fn set_private(&mut self, numbers: &[u8], on: bool) {
        for mode in numbers.split(|&byte| byte == b';').filter_map(number_of) {
            if let Some(bit) = TRACKED.iter().position(|&tracked| tracked == mode) {
                let changed = on != ON_AT_FIRST.contains(&mode);
                self.changed = self.changed & !(1 << bit) | u16::from(changed) << bit;
            }
        }
    }
}

fn undo_mode(mode: u16) -> String {
    format!("\x1b[?{mode}{}", if ON_AT_FIRST.contains(&mode) { 'h' } else { 'l' })
}

fn switches_on_untracked(sequence: &[u8]) -> bool {
    let is_switch = match sequence {
        [0x1b, b'[', b'?', .., b'h'] | b"\x1b=" | [0x1b, b'[', b'>' | b'=', ..] => true,
        // ANSI modes, the shape of the cursor, the stack of titles.
        [0x1b, b'[', .., b'h'] | [0x1b, b'[', .., b' ', b'q'] | [0x1b, b'[', .., b't'] => true,
        [0x1b, b'[', first, .., b'r'] => first.is_ascii_digit() || *first == b';',
        _ => return false,
    };
    let mut settings = Settings::default();
    settings.obey(sequence);
    let is_usual = |mode: u16| ON_AT_FIRST.contains(&mode);
    match sequence {
        [0x1b, b'[', b'?', numbers @ .., b'h'] => numbers
            .split(|&byte| byte == b';')
            .any(|mode| !number_of(mode).is_some_and(|mode| is_usual(mode) || settings.is_changed(mode))),
        _ => is_switch && settings.undo(|_| true).is_empty(),
    }
}

fn number_of_pops(number: &[u8]) -> u8 {
    number_of(number).unwrap_or(1).clamp(1, 255) as u8
}

fn number_of(digits: &[u8]) -> Option<u16> {
    let first = digits.split(|&byte| byte == b';').next()?;
    std::str::from_utf8(first).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(bytes: &[u8]) -> Modes {
        let mut modes = Modes::default();
        bytes.chunks(3).for_each(|chunk| modes.feed(chunk));
        modes
    }

    #[test]
    fn what_was_set_is_undone_and_no_more() {
        let modes = after(b"\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[?7l\x1b[?2004h\x1b=\x1b[>4;2m\x1b[>1u\x1b[2;10r");
        assert!(modes.alternate_screen() && modes.bracketed_paste() && modes.kitty_keyboard());
        let undo = modes.reset_all();
        let expected =
            "\x1b[?7h\x1b[?25h\x1b[?1000l\x1b[?1006l\x1b[?1049l\x1b[?2004l\x1b>\x1b[>4;0m\x1b[<1u\x1b7\x1b[r\x1b8";
        assert_eq!(String::from_utf8_lossy(&undo), expected);
        assert!(after(b"text \x1b[31m\x1b]0;t\x07").reset_all().is_empty());
    }

    #[test]
    fn what_was_undone_by_the_program_is_forgotten() {
        let modes = after(
            b"\x1b[?1049h\x1b[?25l\x1b[>1u\x1b[<u\x1b[?25h\x1b[?1049l\x1b=\x1b>\x1b[2;3r\x1b[r\x1b[>4;1m\x1b[>4m",
        );
        assert!(modes.reset_all().is_empty());
    }

    #[test]
    fn the_line_editors_own_modes_are_no_leftovers() {
        let mut modes = after(b"\x1b[?2004h\x1b[?1049h");
        assert_eq!(modes.reset_leftovers(), b"\x1b[?1049l");
        assert!(modes.bracketed_paste() && !modes.alternate_screen());
    }

    #[test]
    fn an_unknown_terminal_is_reset_without_a_move() {
        let on = TRACKED.into_iter().filter(|mode| !ON_AT_FIRST.contains(mode)).map(|mode| format!("\x1b[?{mode}h"));
        let on: String = on.chain(ON_AT_FIRST.map(|mode| format!("\x1b[?{mode}l"))).collect();
        for set in
            [&on, "\x1b=", "\x1b[>1u\x1b[>1u", "\x1b[=5u", "\x1b[>4;1m", "\x1b[2;3r", "\x1b[?1049h", "\x1b]0;cut"]
        {
            let mut modes = after(set.as_bytes());
            modes.feed(&Modes::reset_unknown());
            // The reset of the second screen undoes its older forms as well.
            modes.feed(b"\x1b[?47l\x1b[?1047l");
            assert!(modes.reset_all().is_empty(), "{set:?} stays: {:?}", String::from_utf8_lossy(&modes.reset_all()));
        }
    }

    #[test]
    fn what_is_not_tracked_is_found() {
        for text in
            ["", "a\x1b[31mb\x1b(B\x1b[2K", "\x1b[?25;2004h", "\x1b[?7h", "\x1b[?9999l", "\x1b[r\x1b[2;3r", "\x1b[>1u"]
        {
            assert_eq!(Modes::first_untracked(text.as_bytes()), None, "{text:?}");
        }
        for text in ["\x1b[?9999h", "\x1b[?25;12h", "\x1b[4h", "\x1b[2 q", "\x1b[>1;2m", "\x1b[22;2t"] {
            let found = Modes::first_untracked(format!("a\x1b[1m{text}b").as_bytes());
            assert_eq!(found.as_deref(), Some(text.as_bytes()), "{text:?}");
        }
    }
}
