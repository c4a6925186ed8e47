//! Finds the user's real shell and decides when to step aside for it at once.
//!
//! `cohab` may be a login shell or `$SHELL`, so every program that runs `$SHELL -c ...` runs `cohab`. An invocation that is not an
//! interactive shell in a real terminal is handed to the real shell before anything else happens.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::MetadataExt,
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use cohab_system::process::surroundings::Surroundings;

/// Which way the process goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WayIn {
    /// Parse the command line.
    CommandLine,
    /// Replace the process by the real shell with these arguments.
    RealShell(Vec<OsString>),
}

/// Decides from the arguments without the program's name, and from the names that begin a subcommand.
#[must_use]
pub fn way_in(args: &[OsString], subcommands: &[&str], surroundings: &Surroundings) -> WayIn {
    let stays = surroundings.is_terminal && !surroundings.is_dumb && !surroundings.is_inside_cohab;
    let mut rest = args.iter().enumerate();
    while let Some((index, arg)) = rest.next() {
        let Some(text) = arg.to_str() else { return WayIn::RealShell(args.to_vec()) };
        match text {
            "--" => return if stays { WayIn::CommandLine } else { WayIn::RealShell(without_ours(args)) },
            "--shell" => {
                rest.next();
            }
            "--login" | "-l" => {}
            "--help" | "-h" | "--version" | "-V" => return WayIn::CommandLine,
            _ if text.starts_with("--shell=") => {}
            _ if text.starts_with("--") => return WayIn::CommandLine,
            // `-c CMD`, `-ec CMD`, `-i`, `+x`: words of a shell, not of ours.
            _ if text.starts_with('-') || text.starts_with('+') => return WayIn::RealShell(without_ours(args)),
            _ if subcommands.contains(&text) => return WayIn::CommandLine,
            _ if index == 0 && !Path::new(text).exists() => return WayIn::CommandLine,
            _ => return WayIn::RealShell(without_ours(args)),
        }
    }
    if stays { WayIn::CommandLine } else { WayIn::RealShell(without_ours(args)) }
}

/// The arguments that are meant for the shell: `--shell PATH` and a first `--` are ours, `--login` every shell knows as `-l`.
fn without_ours(args: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.to_str() {
            Some("--shell") => {
                rest.next();
            }
            Some(text) if text.starts_with("--shell=") => {}
            Some("--login") => out.push("-l".into()),
            Some("--") => {
                out.extend(rest.cloned());
                break;
            }
            Some("-l") => out.push("-l".into()),
            _ => {
                out.push(arg.clone());
                out.extend(rest.cloned());
                break;
            }
        }
    }
    out
}

/// The candidates for the user's shell, best first: the given one, `$SHELL` unless it is cohab itself, the one of passwd,
/// `/bin/sh`.
#[must_use]
pub fn candidates(given: Option<PathBuf>, shell_variable: Option<OsString>, passwd: Option<PathBuf>) -> Vec<PathBuf> {
    let ourselves = std::env::current_exe().ok();
    let mut shells: Vec<PathBuf> = given.into_iter().collect();
    let others = [shell_variable.map(PathBuf::from), passwd, Some(PathBuf::from("/bin/sh"))];
    for shell in others.into_iter().flatten() {
        let is_ours = ourselves.as_deref().is_some_and(|own| is_same_file(own, &shell));
        if shell.is_absolute() && !is_ours && !shells.contains(&shell) {
            shells.push(shell);
        }
    }
    shells
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

/// The shell that `/etc/passwd` names for our user. Accounts from elsewhere (LDAP) have `$SHELL` set by their login.
#[must_use]
pub fn passwd_shell() -> Option<PathBuf> {
    let passwd = std::fs::read("/etc/passwd").ok()?;
    shell_in_passwd(&passwd, rustix::process::getuid().as_raw())
}

fn shell_in_passwd(passwd: &[u8], uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    passwd.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let shell = fields.get(6).filter(|_| fields[2] == uid.as_bytes())?;
        (!shell.is_empty()).then(|| PathBuf::from(OsString::from_vec(shell.to_vec())))
    })
}

/// Replaces the process by the first candidate that can be executed. Returns only on failure, with the last error.
///
/// `is_login` makes `argv[0]` begin with a dash, as login shells expect.
pub fn exec(candidates: &[PathBuf], args: &[OsString], is_login: bool) -> io::Error {
    let mut error = io::Error::new(io::ErrorKind::NotFound, "no shell was found");
    for shell in candidates {
        let name = shell.file_name().unwrap_or(OsStr::new("sh"));
        let mut arg0 = OsString::from(if is_login { "-" } else { "" });
        arg0.push(if is_login { name } else { shell.as_os_str() });
        error = Command::new(shell).arg0(arg0).args(args).env("SHELL", shell).exec();
    }
    error
}

/// Whether `argv[0]` begins with a dash: the way `login` starts a login shell.
#[must_use]
pub fn is_login_name(arg0: Option<&OsStr>) -> bool {
    arg0.is_some_and(|name| name.as_bytes().starts_with(b"-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::SUBCOMMANDS;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn in_terminal() -> Surroundings {
        Surroundings { is_terminal: true, ..Surroundings::default() }
    }

    #[test]
    fn an_interactive_start_in_a_terminal_stays() {
        for line in ["", "--login", "-l", "--shell /bin/bash", "--shell=/bin/bash -- -x", "--help", "--nonsense"] {
            assert_eq!(way_in(&words(line), SUBCOMMANDS, &in_terminal()), WayIn::CommandLine, "{line}");
        }
    }

    #[test]
    fn subcommands_stay_also_without_a_terminal() {
        for line in ["ask hello", "daemon status", "config path", "completions bash", "--version", "no-such-command"] {
            assert_eq!(way_in(&words(line), SUBCOMMANDS, &Surroundings::default()), WayIn::CommandLine, "{line}");
        }
    }

    #[test]
    fn what_a_program_asks_of_a_shell_goes_to_the_real_one() {
        for (line, expected) in [
            ("-c true", "-c true"),
            ("-lc true", "-lc true"),
            ("-l -c true", "-l -c true"),
            ("--login -c true", "-l -c true"),
            ("--shell /bin/dash -c true", "-c true"),
            ("/etc/passwd a b", "/etc/passwd a b"),
            ("-s", "-s"),
        ] {
            assert_eq!(way_in(&words(line), SUBCOMMANDS, &in_terminal()), WayIn::RealShell(words(expected)), "{line}");
        }
    }

    #[test]
    fn no_terminal_a_dumb_one_or_our_own_goes_to_the_real_shell() {
        let dumb = Surroundings { is_dumb: true, ..in_terminal() };
        let nested = Surroundings { is_inside_cohab: true, ..in_terminal() };
        for surroundings in [Surroundings::default(), dumb, nested] {
            assert_eq!(way_in(&[], SUBCOMMANDS, &surroundings), WayIn::RealShell(vec![]));
            assert_eq!(way_in(&words("-- -x"), SUBCOMMANDS, &surroundings), WayIn::RealShell(words("-x")));
        }
    }

    #[test]
    fn cohab_itself_is_no_candidate() {
        let own = std::env::current_exe().unwrap();
        let shells = candidates(None, Some(own.clone().into()), Some("/bin/bash".into()));
        assert_eq!(shells, [PathBuf::from("/bin/bash"), PathBuf::from("/bin/sh")]);
    }

    #[test]
    fn the_given_shell_comes_first_and_nothing_twice() {
        let shells = candidates(Some("/bin/sh".into()), Some("/bin/bash".into()), Some("/bin/bash".into()));
        assert_eq!(shells, [PathBuf::from("/bin/sh"), PathBuf::from("/bin/bash")]);
    }

    #[test]
    fn passwd_is_read_by_uid() {
        let passwd =
            b"root:x:0:0:root:/root:/bin/bash\nbroken line\nann:x:1000:1000::/home/ann:/usr/bin/fish\nno:x:7:7::/:\n";
        assert_eq!(shell_in_passwd(passwd, 1000), Some("/usr/bin/fish".into()));
        assert_eq!(shell_in_passwd(passwd, 7), None);
        assert_eq!(shell_in_passwd(passwd, 8), None);
    }
}
