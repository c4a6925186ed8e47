//! Reads the words of a line that can be remembered: one simple command of literal words.

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::{hidden_characters, is_confirmed, parse_plain, why_read_otherwise};

use crate::danger;

/// Commands that are never remembered although they are no interpreter, wrapper or program of the network.
const NEVER: &[&str] = &[
    "find",
    "fd",
    "fdfind",
    "git",
    "hg",
    "svn",
    "jj",
    "eval",
    "source",
    ".",
    "exec",
    "trap",
    "kill",
    "pkill",
    "killall",
    "rm",
    "rmdir",
    "dd",
    "shred",
    "truncate",
    "crontab",
    "at",
    "systemctl",
    "service",
    "mount",
    "umount",
    "su",
    "sg",
];
/// Programs that talk to the network or bring something from it, in addition to those that only connect.
const FETCHING: &[&str] = &[
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ftp",
    "mail",
    "sendmail",
    "mutt",
    "kubectl",
    "helm",
    "docker",
    "podman",
    "terraform",
    "ansible",
    "gcloud",
    "az",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "pip",
    "pip3",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "pacman",
    "brew",
    "snap",
    "flatpak",
    "gem",
    "twine",
    "openssl",
];
/// Build tools that count as interpreters elsewhere: they run the project's code, as any other build tool does.
const BUILD_TOOLS: &[&str] = &["make"];

/// The words of `line`.
pub(super) fn argv_of(line: &str, shell: Shell) -> Result<Vec<String>, &'static str> {
    if hidden_characters(line).next().is_some() {
        return Err("contains characters that cannot be seen");
    }
    let commands = parse_plain(line)?;
    let [command] = commands.as_slice() else { return Err("is more than one command") };
    if !command.redirects.is_empty() {
        return Err("redirects its input or output");
    }
    if command.words.iter().any(|word| word.has_glob || word.has_tilde) {
        return Err("names files by a pattern or `~`");
    }
    if !command.words.first().is_some_and(|name| name.is_bare) {
        return Err("its name is quoted or spliced");
    }
    if !is_confirmed(line, &commands) {
        return Err("two shell parsers read it differently");
    }
    if let Some(reason) = why_read_otherwise(shell, line, &commands) {
        return Err(reason);
    }
    Ok(commands.into_iter().flat_map(|command| command.words).map(|word| word.text).collect())
}

/// The reason why no rule may name this command.
pub(super) fn why_name_never(name: &str) -> Option<&'static str> {
    let verb = name.rsplit('/').next().unwrap_or_default();
    if verb.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.+-/".contains(&byte)) {
        return Some("its name is not a plain one");
    }
    if BUILD_TOOLS.contains(&verb) {
        return None;
    }
    if NEVER.contains(&verb) || FETCHING.contains(&verb) {
        return Some("is of a kind that is always asked");
    }
    danger::why_never_remembered(verb)
}
