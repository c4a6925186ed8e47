//! Kinds of shells: which one is this, and how is it started with the integration?

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use crate::state;

/// A kind of shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash: commands can run in it.
    Bash,
    /// zsh: plain pass-through so far.
    Zsh,
    /// fish: plain pass-through so far.
    Fish,
    /// Anything else: plain pass-through.
    Other,
}

impl Shell {
    /// By the name of its program.
    #[must_use]
    pub fn of(program: &Path) -> Self {
        match program.file_name().and_then(OsStr::to_str).map(|name| name.trim_start_matches('-')) {
            Some("bash") => Self::Bash,
            Some("zsh") => Self::Zsh,
            Some("fish") => Self::Fish,
            _ => Self::Other,
        }
    }

    /// Its name, for people and the model.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Other => "sh",
        }
    }
}

/// How a shell is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Arguments without the program's name.
    pub arguments: Vec<OsString>,
    /// Variables to set.
    pub environment: Vec<(OsString, OsString)>,
}

/// Starts an interactive shell. With `integration`, the path of our start-up file, bash reads its own files and then ours; without,
/// or in another shell, it starts as ever.
#[must_use]
pub fn start(shell: Shell, login: bool, integration: Option<&Path>, home: &Path) -> Start {
    let mut start = Start::default();
    match (shell, login, integration) {
        (Shell::Bash, false, Some(file)) => {
            start.arguments = vec!["--rcfile".into(), file.into(), "-i".into()];
        }
        (Shell::Bash, true, Some(file)) => {
            // A login shell reads no rcfile; a posix one reads $ENV, and our file undoes posix mode.
            start.arguments = vec!["--posix".into(), "-l".into(), "-i".into()];
            start.environment.push(("ENV".into(), file.into()));
            if std::env::var_os("HISTFILE").is_none() {
                start.environment.push(("HISTFILE".into(), home.join(".bash_history").into()));
            }
        }
        (_, true, _) => start.arguments = vec!["-l".into(), "-i".into()],
        (_, false, _) => start.arguments = vec!["-i".into()],
    }
    start
}

/// The whole start-up file for bash: the user's own files first, then the integration.
#[must_use]
pub fn bash_startup_file(login: bool, nonce: &str, directory: &Path) -> Vec<u8> {
    let users: &str = if login { BASH_LOGIN_FILES } else { "[[ ! -r ~/.bashrc ]] || . ~/.bashrc\n" };
    let script = include_str!("../assets/integration.bash").replace("@NONCE@", nonce);
    let (before, after) = script.split_once("@DIR@").expect("the script names its directory once");
    let mut file = [users, state::script(Shell::Bash), before].concat().into_bytes();
    file.extend(quoted(directory.as_os_str()));
    file.extend_from_slice(after.as_bytes());
    file
}

const BASH_LOGIN_FILES: &str = "set +o posix; shopt -u inherit_errexit; unset ENV; export -n HISTFILE
[[ ! -r /etc/profile ]] || . /etc/profile
for __cohab_k in ~/.bash_profile ~/.bash_login ~/.profile; do
  [[ ! -r $__cohab_k ]] || { . \"$__cohab_k\"; break; }
done
";

/// One shell word, any bytes, for every POSIX shell.
#[must_use]
pub fn quoted(word: &OsStr) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut quoted = vec![b'\''];
    for &byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_known_by_their_names() {
        for (program, shell) in [
            ("/bin/bash", Shell::Bash),
            ("-bash", Shell::Bash),
            ("/usr/bin/zsh", Shell::Zsh),
            ("fish", Shell::Fish),
            ("dash", Shell::Other),
        ] {
            assert_eq!(Shell::of(Path::new(program)), shell, "{program}");
        }
    }

    #[test]
    fn an_interactive_bash_reads_our_file_and_others_start_as_ever() {
        let home = Path::new("/home/u");
        let file = Path::new("/run/x/rc");
        let arguments = |shell, login, file| start(shell, login, file, home).arguments;
        assert_eq!(arguments(Shell::Bash, false, Some(file)), ["--rcfile", "/run/x/rc", "-i"]);
        assert_eq!(arguments(Shell::Bash, true, Some(file)), ["--posix", "-l", "-i"]);
        assert_eq!(arguments(Shell::Bash, false, None), ["-i"]);
        assert_eq!(arguments(Shell::Zsh, true, Some(file)), ["-l", "-i"]);
    }

    #[test]
    fn the_startup_file_holds_nonce_and_directory() {
        let file = String::from_utf8(bash_startup_file(false, "00ff", Path::new("/run/it's"))).unwrap();
        assert!(file.contains("__cohab_nonce=00ff __cohab_dir='/run/it'\\''s' "), "{file}");
        assert!(!file.contains("@DIR@") && !file.contains("@NONCE@"));
    }
}
