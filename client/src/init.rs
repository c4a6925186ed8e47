//! `cohab init`: the lines that make every interactive shell start inside cohab, and their protocol with the client.
//!
//! The lines run cohab within the outer shell and end that shell only after cohab has said, by a file, that its own shell has ended
//! in order. Any other end (no program, no library, a crash, a signal) leaves the outer shell, which is the user's plain one; its
//! terminal is restored then.

use std::{
    fs::OpenOptions,
    io::{self, IsTerminal, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

use cohab_shell_relay::live::Modes;
use cohab_shell_state::shell::Shell;

use crate::arguments::CompletionShell;

/// Holds the path of the file that makes the outer shell end. `lines.*` sets it; the shells that cohab opens do not get it.
const OUTER_VARIABLE: &str = "COHAB_OUTER";
/// Stands for the path of our program in `lines.*`.
const PROGRAM_PLACE: &str = "@PROGRAM@";
/// Stands for what restores a terminal of which nothing is known, in a format of `printf`.
const RESET_PLACE: &str = "@RESET@";

/// The lines for `shell`; they look for our program at `program` first, then by `$PATH`.
#[must_use]
pub fn lines(shell: CompletionShell, program: &Path) -> String {
    let (shell, text) = match shell {
        CompletionShell::Bash => (Shell::Bash, include_str!("init/lines.bash")),
        CompletionShell::Zsh => (Shell::Zsh, include_str!("init/lines.zsh")),
        CompletionShell::Fish => (Shell::Fish, include_str!("init/lines.fish")),
    };
    let word = shell.quoted(program.as_os_str());
    // A path that is no text cannot stand in a file of text; `$PATH` remains.
    let text = text.replace(PROGRAM_PLACE, std::str::from_utf8(&word).unwrap_or("cohab"));
    text.replace(RESET_PLACE, &printf_format(&Modes::reset_unknown()))
}

/// As the three shells' own `printf` reads it in single quotes. `bytes` is ASCII without quotes and percent signs.
fn printf_format(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\\', r"\134").replace('\x1b', r"\e")
}

/// Prints them.
#[must_use]
pub fn run(shell: CompletionShell) -> ExitCode {
    let program = std::env::current_exe().unwrap_or_else(|_| "cohab".into());
    match io::stdout().write_all(lines(shell, &program).as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Whether the lines of `cohab init` started us: a plain shell of the user's waits for our end.
#[must_use]
pub fn has_outer_shell() -> bool {
    outer_file().is_some()
}

/// Lets the outer shell, if there is one, end, too. Without the file it stays, which does no harm.
pub fn release_outer_shell() {
    // Where the terminal is gone the outer shell ends by itself and would leave the file.
    if let Some(path) = outer_file().filter(|_| io::stdin().is_terminal()) {
        let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    }
}

fn outer_file() -> Option<PathBuf> {
    std::env::var_os(OUTER_VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SHELLS: [CompletionShell; 3] = [CompletionShell::Bash, CompletionShell::Zsh, CompletionShell::Fish];

    #[test]
    fn each_shell_prints_the_reset_byte_by_byte() {
        let format = printf_format(&Modes::reset_unknown());
        assert!(!format.contains(['\'', '%']), "{format}");
        for shell in ["bash", "zsh", "fish"] {
            let Ok(printed) = Command::new(shell).args(["-c", &format!("printf '{format}'")]).output() else {
                continue;
            };
            let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
            assert_eq!(printed, String::from_utf8_lossy(&Modes::reset_unknown()), "{shell}");
        }
        assert!(SHELLS.into_iter().all(|shell| lines(shell, Path::new("/c")).contains(&format)));
    }

    #[test]
    fn the_program_is_quoted_as_the_shell_reads_it() {
        let program = Path::new(r"/opt/it's\here/cohab");
        for (shell, word) in SHELLS.into_iter().zip([
            r"'/opt/it'\''s\here/cohab'",
            r"'/opt/it'\''s\here/cohab'",
            r"set -l __cohab '/opt/it\'s\\here/cohab'",
        ]) {
            assert!(lines(shell, program).contains(word), "{shell:?}");
        }
    }

    #[test]
    fn the_lines_name_the_program_the_way_out_and_both_guards() {
        for shell in SHELLS {
            let text = lines(shell, Path::new("/opt/a b/cohab"));
            for word in ["'/opt/a b/cohab'", "COHAB_OFF", OUTER_VARIABLE, "COHAB_TTY", "dumb", "interactive"] {
                assert!(text.contains(word) && !text.contains(PROGRAM_PLACE), "{shell:?} lacks {word}:\n{text}");
            }
        }
    }
}
