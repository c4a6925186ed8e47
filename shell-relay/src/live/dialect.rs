//! Describes the differences between the line editors of bash, zsh and fish. Pure.

use cohab_shell_state::shell::Shell;

/// A private key of the integration script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WidgetKey {
    /// The user's line goes aside.
    Stash,
    /// The command is read from its file and held; it does not run yet.
    Load,
    /// The command that is held runs, once. No byte may follow.
    Run,
    /// A key that is answered when all keys before it were read.
    Fence,
    /// The user's line comes back.
    Restore,
    /// The shell reports the line.
    Query,
    /// An empty line is accepted: a new prompt.
    Fresh,
    /// The line that was reported is accepted. No byte may follow.
    Accept,
    /// The buffer is emptied.
    Clear,
    /// As `Stash`; the line also goes into the history.
    Take,
}

/// The sign that the prompt was painted again after `Stash`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repaint {
    /// The prompt's mark comes again.
    Marked,
    /// It was painted before the stash was reported.
    Before,
    /// It is painted before the next key is read: the answer to a query shows that.
    BeforeNextKey,
}

/// The side that finds out the contents of the line when Enter is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enter {
    /// The client holds the key and asks, as it belongs to a binding of the user's.
    Held,
    /// The shell reports by itself at this key, which is sent in place of Enter if there is one, and waits.
    Told { key: Option<&'static [u8]> },
}

/// One line editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    before_digit: &'static [u8],
    after_digit: &'static [u8],
    /// The bytes around a percent-encoded command that is typed into the shell because no file could be written for it. They act as
    /// `Load`.
    typed_command: (&'static [u8], &'static [u8]),
    pub repaint: Repaint,
    pub enter: Enter,
    /// The prompt's mark is part of the prompt and comes at each repaint; otherwise once for each line that is read.
    pub mark_in_prompt: bool,
    /// In an incremental search no key of ours works, and one would end it.
    pub search_takes_keys: bool,
    /// The next prompt erases an output's last line that has no line feed; otherwise the shell marks such a line itself.
    pub prompt_erases_rest: bool,
    /// The shell moves to a new row before it reports that a command has finished.
    pub new_row_before_finish: bool,
    /// A pipeline that begins with a builtin runs in the shell's own process group.
    pub shares_group: bool,
    /// Ctrl-O accepts the line.
    pub accepts_by_ctrl_o: bool,
    /// The line is cleared and painted again around the function that reports it at Enter.
    pub repaints_at_enter: bool,
    /// `Fresh` accepts any line, and not only an empty one.
    pub fresh_accepts_any_line: bool,
}

static BASH: Dialect = Dialect {
    before_digit: b"\x1b[7391;",
    after_digit: b"~",
    typed_command: (b"\x1b[7391;p~", b"\x1b[201~\x1b[7391;t~"),
    repaint: Repaint::Marked,
    enter: Enter::Told { key: None },
    mark_in_prompt: true,
    search_takes_keys: true,
    prompt_erases_rest: true,
    new_row_before_finish: false,
    shares_group: false,
    accepts_by_ctrl_o: true,
    repaints_at_enter: true,
    fresh_accepts_any_line: true,
};

static ZSH: Dialect = Dialect {
    before_digit: b"\x1b[7391;",
    after_digit: b"~",
    typed_command: (b"\x1b[7391;p~", b"\x1b[201~"),
    repaint: Repaint::Before,
    enter: Enter::Told { key: None },
    mark_in_prompt: false,
    search_takes_keys: false,
    prompt_erases_rest: false,
    new_row_before_finish: true,
    shares_group: false,
    accepts_by_ctrl_o: true,
    repaints_at_enter: false,
    fresh_accepts_any_line: false,
};

static FISH: Dialect = Dialect {
    // fish 4 drops control sequences that it does not know.
    before_digit: b"\x1er",
    after_digit: b"",
    typed_command: (b"\x1erp", b"\x1ert"),
    repaint: Repaint::BeforeNextKey,
    enter: Enter::Told { key: Some(b"\x1er0") },
    mark_in_prompt: false,
    search_takes_keys: false,
    prompt_erases_rest: false,
    new_row_before_finish: false,
    shares_group: true,
    accepts_by_ctrl_o: false,
    repaints_at_enter: false,
    fresh_accepts_any_line: false,
};

impl Dialect {
    /// The dialect of a shell; a shell without integration gets none of its keys.
    pub fn of(shell: Shell) -> &'static Self {
        match shell {
            Shell::Zsh => &ZSH,
            Shell::Fish => &FISH,
            Shell::Bash | Shell::Other => &BASH,
        }
    }

    /// Appends the bytes of a key.
    pub fn press(&self, key: WidgetKey, out: &mut Vec<u8>) {
        let digit = match key {
            WidgetKey::Stash => b'1',
            WidgetKey::Load => b'2',
            WidgetKey::Run => b'3',
            WidgetKey::Fence => b'n',
            WidgetKey::Restore => b'4',
            WidgetKey::Query => b'5',
            WidgetKey::Fresh => b'6',
            WidgetKey::Accept => b'7',
            WidgetKey::Clear => b'8',
            WidgetKey::Take => b'9',
        };
        out.extend_from_slice(self.before_digit);
        out.push(digit);
        out.extend_from_slice(self.after_digit);
    }

    /// Appends the keys that type a command, in place of `Load`.
    pub fn type_command(&self, command: &[u8], out: &mut Vec<u8>) {
        let (before, after) = self.typed_command;
        out.extend_from_slice(before);
        for &byte in command {
            if byte.is_ascii_alphanumeric() {
                out.push(byte);
            } else {
                out.extend_from_slice(format!("%{byte:02X}").as_bytes());
            }
        }
        out.extend_from_slice(after);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cohab_shell_state::shell::startup_files;

    use super::*;

    fn bytes(shell: Shell, key: WidgetKey) -> Vec<u8> {
        let mut out = Vec::new();
        Dialect::of(shell).press(key, &mut out);
        out
    }

    #[test]
    fn keys_are_those_of_the_integration_scripts() {
        let scripts = [(Shell::Zsh, "'[7391;{}~' __cohab_"), (Shell::Fish, r"\x1er{} ")];
        let names = [
            (WidgetKey::Stash, 1),
            (WidgetKey::Load, 2),
            (WidgetKey::Run, 3),
            (WidgetKey::Restore, 4),
            (WidgetKey::Query, 5),
            (WidgetKey::Fresh, 6),
            (WidgetKey::Accept, 7),
            (WidgetKey::Clear, 8),
            (WidgetKey::Take, 9),
        ];
        for (shell, form) in scripts {
            let files = startup_files(shell, false, "", Path::new("/run"));
            let script: Vec<u8> = files.into_iter().flat_map(|(_, bytes)| bytes).collect();
            let script = String::from_utf8(script).unwrap();
            for (key, number) in names {
                let bound = form.replace("{}", &number.to_string());
                assert!(script.contains(&bound), "{shell:?} does not bind {bound}");
                assert!(bytes(shell, key).contains(&(b'0' + number)));
            }
        }
    }

    #[test]
    fn a_typed_command_holds_letters_digits_and_percent_signs_only() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut out = Vec::new();
            let dialect = Dialect::of(shell);
            dialect.type_command("a1\nls 'é'\x1b[201~\x03".as_bytes(), &mut out);
            let (before, after) = dialect.typed_command;
            let typed = out.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            assert_eq!(typed, Some(&b"a1%0Als%20%27%C3%A9%27%1B%5B201%7E%03"[..]), "{shell:?}");
        }
    }
}
