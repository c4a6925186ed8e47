//! What differs between the line editors of bash, zsh and fish. Pure.

use crate::shell::Shell;

/// A private key of the integration script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The user's line goes aside.
    Stash,
    /// The stub is put into the buffer and accepted. No byte may follow.
    Load,
    /// The user's line comes back.
    Restore,
    /// The line is told.
    Query,
    /// An empty line is accepted: a new prompt.
    Fresh,
    /// The line is accepted. No byte may follow.
    Accept,
    /// The buffer is emptied.
    Clear,
    /// As `Stash`; the line also goes into the history.
    Take,
}

/// How it is known that the prompt was painted again after `Stash`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repaint {
    /// The prompt's mark comes again.
    Marked,
    /// It was painted before the stash was told.
    Before,
    /// It is painted before the next key is read: the answer to a query tells.
    BeforeNextKey,
}

/// Who finds out what stands in the line when Enter is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enter {
    /// We hold the key and ask.
    Held,
    /// The shell tells by itself at this key, which is sent in place of Enter if there is one, and waits.
    Told { key: Option<&'static [u8]> },
}

/// One line editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    before_digit: &'static [u8],
    after_digit: &'static [u8],
    /// Sent by `Load` after its own key.
    accept_stub: &'static [u8],
    pub repaint: Repaint,
    pub enter: Enter,
    /// The prompt's mark is part of the prompt and comes at each repaint; else once for each line that is read.
    pub mark_in_prompt: bool,
    /// In an incremental search no key of ours works, and one would end it.
    pub search_takes_keys: bool,
    /// The next prompt erases an output's last line that has no line feed; else the shell marks it itself.
    pub prompt_erases_rest: bool,
    /// The shell goes to a row of its own before it tells that a command has finished.
    pub new_row_before_finish: bool,
    /// A pipeline that begins with a builtin runs in the shell's own process group.
    pub shares_group: bool,
    /// Ctrl-O accepts the line.
    pub accepts_by_ctrl_o: bool,
}

static BASH: Dialect = Dialect {
    before_digit: b"\x1b[7391;",
    after_digit: b"~",
    accept_stub: b"\x1b[7391;3~",
    repaint: Repaint::Marked,
    enter: Enter::Held,
    mark_in_prompt: true,
    search_takes_keys: true,
    prompt_erases_rest: true,
    new_row_before_finish: false,
    shares_group: false,
    accepts_by_ctrl_o: true,
};

static ZSH: Dialect = Dialect {
    before_digit: b"\x1b[7391;",
    after_digit: b"~",
    accept_stub: b"",
    repaint: Repaint::Before,
    enter: Enter::Told { key: None },
    mark_in_prompt: false,
    search_takes_keys: false,
    prompt_erases_rest: false,
    new_row_before_finish: true,
    shares_group: false,
    accepts_by_ctrl_o: true,
};

static FISH: Dialect = Dialect {
    // fish 4 drops control sequences that it does not know.
    before_digit: b"\x1er",
    after_digit: b"",
    accept_stub: b"",
    repaint: Repaint::BeforeNextKey,
    enter: Enter::Told { key: Some(b"\x1er0") },
    mark_in_prompt: false,
    search_takes_keys: false,
    prompt_erases_rest: false,
    new_row_before_finish: false,
    shares_group: true,
    accepts_by_ctrl_o: false,
};

impl Dialect {
    /// Of a shell; one without integration gets none of its keys.
    pub fn of(shell: Shell) -> &'static Self {
        match shell {
            Shell::Zsh => &ZSH,
            Shell::Fish => &FISH,
            Shell::Bash | Shell::Other => &BASH,
        }
    }

    /// Appends the bytes of a key.
    pub fn press(&self, key: Key, out: &mut Vec<u8>) {
        let digit = match key {
            Key::Stash => b'1',
            Key::Load => b'2',
            Key::Restore => b'4',
            Key::Query => b'5',
            Key::Fresh => b'6',
            Key::Accept => b'7',
            Key::Clear => b'8',
            Key::Take => b'9',
        };
        out.extend_from_slice(self.before_digit);
        out.push(digit);
        out.extend_from_slice(self.after_digit);
        if key == Key::Load {
            out.extend_from_slice(self.accept_stub);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(shell: Shell, key: Key) -> Vec<u8> {
        let mut out = Vec::new();
        Dialect::of(shell).press(key, &mut out);
        out
    }

    #[test]
    fn keys_are_those_of_the_integration_scripts() {
        let scripts = [
            (Shell::Zsh, include_str!("../../assets/integration.zsh"), "'[7391;{}~' __cohab_"),
            (Shell::Fish, include_str!("../../assets/integration.fish"), r"\x1er{} "),
        ];
        let names = [
            (Key::Stash, 1),
            (Key::Load, 2),
            (Key::Restore, 4),
            (Key::Query, 5),
            (Key::Fresh, 6),
            (Key::Accept, 7),
            (Key::Clear, 8),
            (Key::Take, 9),
        ];
        for (shell, script, form) in scripts {
            for (key, number) in names {
                let bound = form.replace("{}", &number.to_string());
                assert!(script.contains(&bound), "{shell:?} does not bind {bound}");
                assert!(bytes(shell, key).contains(&(b'0' + number)));
            }
        }
    }

    #[test]
    fn bash_accepts_the_stub_in_the_same_write() {
        assert_eq!(bytes(Shell::Bash, Key::Load), b"\x1b[7391;2~\x1b[7391;3~");
        assert_eq!(bytes(Shell::Zsh, Key::Load), b"\x1b[7391;2~");
        assert_eq!(bytes(Shell::Fish, Key::Load), b"\x1er2");
    }
}
