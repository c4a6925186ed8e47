//! Determines the state of the shell at the moment a command's outcome is reported.

use cohab_text::sanitize::sanitize;
use cohab_types::command::{Ending, StateAfter};

use super::{api::Probe, modes::Modes};

/// Longest shown name of a program; the kernel keeps 15 bytes of it.
const NAME_MAX_CHARS: usize = 32;

/// The state after a command that ended, with or without the shell.
pub(super) fn at_end(ending: Ending) -> StateAfter {
    match ending {
        Ending::ShellExited => StateAfter::Ended,
        Ending::Exited | Ending::Interrupted { .. } | Ending::Stopped | Ending::StillRunning => StateAfter::Prompt,
    }
}

/// While a command is still running: the program that has the terminal.
pub(super) fn in_front(modes: &Modes, probe: &dyn Probe) -> StateAfter {
    let name = probe.foreground_name().map(|name| sanitize(&name).chars().take(NAME_MAX_CHARS).collect::<String>());
    let program = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "a program".into());
    let program = program.replace(['\n', '\t'], " ");
    StateAfter::InFront { program, is_full_screen: modes.alternate_screen() }
}

#[cfg(test)]
mod tests {
    use super::super::TerminalModes;
    use super::*;

    struct Named(Option<&'static str>);

    impl Probe for Named {
        fn foreground_pgid(&self) -> Option<i32> {
            None
        }
        fn terminal_modes(&self) -> Option<TerminalModes> {
            None
        }
        fn foreground_name(&self) -> Option<String> {
            self.0.map(str::to_owned)
        }
        fn shell_replaced(&self) -> bool {
            false
        }
    }

    #[test]
    fn the_program_in_front_is_named_in_one_harmless_line() {
        let mut modes = Modes::default();
        for (name, shown) in [
            (Some("python3"), "python3"),
            (Some("a\u{1b}[2Jb\nc"), "ab c"),
            (Some(" \u{7}"), "a program"),
            (None, "a program"),
        ] {
            let expected = StateAfter::InFront { program: shown.into(), is_full_screen: false };
            assert_eq!(in_front(&modes, &Named(name)), expected, "{name:?}");
        }
        modes.feed(b"\x1b[?1049h");
        let expected = StateAfter::InFront { program: "vim".into(), is_full_screen: true };
        assert_eq!(in_front(&modes, &Named(Some("vim"))), expected);
    }
}
