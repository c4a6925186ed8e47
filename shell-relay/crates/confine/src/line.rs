//! Prepares a line that a separate shell runs: without the user's settings, so that the line means what it says, and without pagers,
//! which would wait for a key.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::Path,
};

use rustix::{stdio::dup2_stdin, termios::isatty};

/// Shells, and the options in front of a line.
const SHELLS: &[(&str, &[&str])] = &[("bash", &["-p", "-c"]), ("zsh", &["-f", "-c"]), ("fish", &["--no-config", "-c"])];
/// Variables set for the shell: nothing waits for a key, and git writes no optional files.
const VARIABLES: &[(&str, &str)] = &[
    ("AWS_PAGER", ""),
    ("BAT_PAGER", ""),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
];

/// The words that start the line in `words`, the name of a shell and a line; `None` for any other words. `own` is the user's shell, which
/// is started if it has that name.
pub(crate) fn started(words: &[OsString], own: Option<OsString>) -> Option<Vec<OsString>> {
    let [name, line] = words else { return None };
    let (_, options) = SHELLS.iter().find(|(known, _)| name == OsStr::new(known))?;
    let is_named = |own: &OsString| Path::new(own).is_absolute() && Path::new(own).file_name() == Some(name);
    let shell = own.filter(is_named).unwrap_or_else(|| name.clone());
    let options = options.iter().map(OsString::from);
    Some(std::iter::once(shell).chain(options).chain([line.clone()]).collect())
}

/// Variables of the shell; `temporary` is the folder for its temporary files.
pub(crate) fn variables(temporary: Option<&Path>) -> impl Iterator<Item = (&'static str, OsString)> {
    // zsh keeps a here-string there.
    let prefix = temporary.map(|folder| ("TMPPREFIX", folder.join("zsh").into_os_string()));
    VARIABLES.iter().map(|(name, value)| (*name, OsString::from(value))).chain(prefix)
}

/// Variables of this process that the shell does not get: those of no row of `table` that begins with `harmless` or `given`. A line that is
/// read otherwise than it was judged finds no keys in its environment.
pub(crate) fn dropped(table: &str) -> Vec<OsString> {
    let rows = table.lines().filter_map(|line| line.split_once(" | "));
    let rows = rows.filter(|(how, _)| matches!(*how, "harmless" | "given"));
    let kept: Vec<&str> = rows.flat_map(|(_, names)| names.split(' ')).collect();
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| name.to_str().is_none_or(|name| !kept.contains(&name))).collect()
}

/// Detaches the input: a line that runs unasked must not read the user's typing, since it could ask for a password.
pub(crate) fn detach_input() -> io::Result<()> {
    let input = io::stdin();
    if isatty(&input) {
        dup2_stdin(File::open("/dev/null")?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_started_without_settings_by_a_shell_that_is_known() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let own = Some(OsString::from("/opt/fish"));
        for (given, expected) in [
            (&["bash", "echo $x"][..], Some(&["bash", "-p", "-c", "echo $x"][..])),
            (&["zsh", "ls"], Some(&["zsh", "-f", "-c", "ls"])),
            (&["fish", "ls"], Some(&["/opt/fish", "--no-config", "-c", "ls"])),
            (&["sh", "ls"], None),
            (&["bash"], None),
            (&["bash", "ls", "more"], None),
        ] {
            assert_eq!(started(&words(given), own.clone()), expected.map(words), "{given:?}");
        }
    }
}
