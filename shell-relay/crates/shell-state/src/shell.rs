//! Recognizes the kind of a shell and prepares its start with the integration.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStringExt,
    path::Path,
};

use crate::state;

/// A kind of shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash: commands can run in it.
    Bash,
    /// zsh: commands can run in it.
    Zsh,
    /// fish: commands can run in it.
    Fish,
    /// Any other shell: plain pass-through.
    Other,
}

impl Shell {
    /// The kind of a shell, by the name of its program.
    #[must_use]
    pub fn of(program: &Path) -> Self {
        match program.file_name().and_then(OsStr::to_str).map(|name| name.trim_start_matches('-')) {
            Some("bash") => Self::Bash,
            Some("zsh") => Self::Zsh,
            Some("fish") => Self::Fish,
            _ => Self::Other,
        }
    }

    /// The shell's name, for people and the model.
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

/// The start of a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Arguments without the program's name.
    pub arguments: Vec<OsString>,
    /// Variables to set.
    pub environment: Vec<(OsString, OsString)>,
}

/// Starts an interactive shell. `integration` is the first of its [`startup_files`]: the shell reads its own files, too. Without it, or
/// in another shell, the start is unchanged.
#[must_use]
pub fn start(shell: Shell, login: bool, integration: Option<&Path>, home: &Path) -> Start {
    let mut start = Start::default();
    let mut set = |name: &str, value: OsString| start.environment.push((name.into(), value));
    start.arguments = match (shell, integration) {
        (Shell::Bash, Some(file)) if login => {
            // A login shell reads no rcfile; a posix one reads $ENV, and our file undoes posix mode.
            set("ENV", file.into());
            if std::env::var_os("HISTFILE").is_none() {
                set("HISTFILE", home.join(".bash_history").into());
            }
            vec!["--posix".into(), "-l".into(), "-i".into()]
        }
        (Shell::Bash, Some(file)) => vec!["--rcfile".into(), file.into(), "-i".into()],
        (Shell::Zsh, Some(file)) => {
            if let Some(directory) = std::env::var_os("ZDOTDIR") {
                set("COHAB_ZDOTDIR", directory);
            }
            set("ZDOTDIR", file.parent().unwrap_or(file).into());
            flags(login)
        }
        (Shell::Fish, Some(file)) => {
            let mut source = b"source ".to_vec();
            source.extend(shell.quoted(file.as_os_str()));
            [flags(login), vec!["-C".into(), OsString::from_vec(source)]].concat()
        }
        _ => flags(login),
    };
    start
}

fn flags(login: bool) -> Vec<OsString> {
    if login { vec!["-l".into(), "-i".into()] } else { vec!["-i".into()] }
}

/// The files that connect a shell with us, by name, for a private `directory`; empty for a shell without integration. The shell reads the
/// first file, the first file reads the others.
#[must_use]
pub fn startup_files(shell: Shell, login: bool, nonce: &str, directory: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let directory = shell.quoted(directory.as_os_str());
    let state = state::script(shell).as_bytes();
    match shell {
        Shell::Bash => {
            let users: &str = if login { BASH_LOGIN_FILES } else { "[[ ! -r ~/.bashrc ]] || . ~/.bashrc\n" };
            let script = filled(include_str!("../assets/integration.bash"), nonce, &directory);
            vec![("integration.bash", [users.as_bytes(), BASH_ALIASES_OFF.as_bytes(), state, &script].concat())]
        }
        Shell::Zsh => {
            let filled = |script| filled(script, nonce, &directory);
            vec![
                (".zshenv", filled(include_str!("../assets/zshenv.zsh"))),
                ("integration.zsh", [state, &filled(include_str!("../assets/integration.zsh"))].concat()),
            ]
        }
        Shell::Fish => {
            let script = filled(include_str!("../assets/integration.fish"), nonce, &directory);
            vec![("integration.fish", [state, &script].concat())]
        }
        Shell::Other => Vec::new(),
    }
}

/// The script with nonce and directory put in; `directory` is quoted for the shell.
fn filled(script: &str, nonce: &str, directory: &[u8]) -> Vec<u8> {
    let script = script.replace("@NONCE@", nonce);
    let parts: Vec<&[u8]> = script.split("@DIR@").map(str::as_bytes).collect();
    parts.join(directory)
}

/// Switches aliases off until the end of the integration script, for bash 4.4 or later.
const BASH_ALIASES_OFF: &str = "{ ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) || \\builtin return 0
[[ :$BASHOPTS: != *:expand_aliases:* ]] || __cohab_aliases=1; \\builtin shopt -u expand_aliases; } >/dev/null 2>&1
";

const BASH_LOGIN_FILES: &str = "set +o posix; shopt -u inherit_errexit; unset ENV; export -n HISTFILE
[[ ! -r /etc/profile ]] || . /etc/profile
for __cohab_k in ~/.bash_profile ~/.bash_login ~/.profile; do
  [[ ! -r $__cohab_k ]] || { . \"$__cohab_k\"; break; }
done
";

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
    fn an_integrated_shell_reads_our_file_and_others_start_as_ever() {
        let home = Path::new("/home/u");
        let file = Path::new("/run/x/rc");
        let arguments = |shell, login, file| start(shell, login, file, home).arguments;
        assert_eq!(arguments(Shell::Bash, false, Some(file)), ["--rcfile", "/run/x/rc", "-i"]);
        assert_eq!(arguments(Shell::Bash, true, Some(file)), ["--posix", "-l", "-i"]);
        assert_eq!(arguments(Shell::Bash, false, None), ["-i"]);
        assert_eq!(arguments(Shell::Zsh, true, Some(file)), ["-l", "-i"]);
        let odd = Path::new(r"/run/it's\x");
        assert_eq!(arguments(Shell::Fish, false, Some(odd)), ["-i", "-C", r"source '/run/it\'s\\x'"]);
        let environment = start(Shell::Zsh, false, Some(file), home).environment;
        assert!(environment.contains(&("ZDOTDIR".into(), "/run/x".into())), "{environment:?}");
    }

    #[test]
    fn the_startup_files_hold_nonce_and_directory() {
        let directory = Path::new("/run/it's");
        for (shell, word) in [
            (Shell::Bash, "__cohab_nonce=00ff __cohab_dir='/run/it'\\''s' "),
            (Shell::Zsh, "__cohab_nonce=00ff __cohab_dir='/run/it'\\''s' "),
            (Shell::Fish, "set -g __cohab_nonce 00ff\nset -g __cohab_dir '/run/it\\'s'\n"),
        ] {
            let files = startup_files(shell, false, "00ff", directory);
            let all: String = files.iter().map(|(_, content)| String::from_utf8_lossy(content)).collect();
            assert!(all.contains(word), "{all}");
            assert!(!all.contains("@DIR@") && !all.contains("@NONCE@"));
        }
    }
}
