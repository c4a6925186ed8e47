//! The measured shells, and a home with a plain prompt for all of them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use cohab_e2e::{Home, home::PROMPT};
use cohab_shell_state::shell::Shell;

/// The place of fish 4 from `scripts/newer-shells`, below the user's cache.
const FISH4_IN_CACHE: &str = "cohab-test/newer/bin/fish";

/// One shell of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Name and version, as `fish 3.6`.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) kind: Shell,
}

impl Measured {
    /// Longest time of a relayed `true`, prompt to prompt.
    pub(crate) fn relay_bar_ms(&self) -> f64 {
        if self.kind == Shell::Fish { 9.0 } else { 3.0 }
    }
}

/// bash, zsh, the fish of this machine and fish 4; or the name of each that is missing.
pub(crate) fn all() -> Vec<Result<Measured, &'static str>> {
    let wanted = [
        ("bash", Some(PathBuf::from("/bin/bash"))),
        ("zsh", in_path("zsh")),
        ("fish", in_path("fish")),
        ("fish 4", fish4()),
    ];
    wanted.into_iter().map(|(name, program)| program.and_then(|program| measured(&program)).ok_or(name)).collect()
}

fn measured(program: &Path) -> Option<Measured> {
    let said = Command::new(program).arg("--version").output().ok()?;
    let version = version(&String::from_utf8_lossy(&said.stdout))?;
    let kind = Shell::of(program);
    Some(Measured { name: format!("{} {version}", kind.name()), program: program.to_owned(), kind })
}

/// The first two numbers of the first version in a text: `5.2` of `GNU bash, version 5.2.15(1)-release`.
fn version(text: &str) -> Option<String> {
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    let numbers: Vec<&str> = word.split(|letter: char| !letter.is_ascii_digit()).take(2).collect();
    Some(numbers.join("."))
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn fish4() -> Option<PathBuf> {
    let cache = || {
        let own = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        own.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
    };
    let named = std::env::var_os("COHAB_TEST_FISH4").map(PathBuf::from);
    named.or_else(|| Some(cache()?.join(FISH4_IN_CACHE))).filter(|file| file.is_file())
}

/// Gives all shells the expected prompt, and nothing else to do.
pub(crate) fn furnish(home: &Home) {
    home.write(".zshrc", &format!("PS1='{PROMPT}'\n"));
    home.write(
        ".config/fish/config.fish",
        &format!("set -g fish_greeting\nfunction fish_prompt; echo -n '{PROMPT}'; end\n"),
    );
    // Without this file fish starts a program that reads all manual pages, and both cores are busy for a while.
    home.write(".local/share/fish/generated_completions/none", "");
    home.write(".cache/fish/generated_completions/none", "");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_by_two_numbers() {
        for (text, told) in [
            ("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)", Some("5.2")),
            ("zsh 5.9 (x86_64-debian-linux-gnu)", Some("5.9")),
            ("fish, version 4.0.2", Some("4.0")),
            ("none", None),
        ] {
            assert_eq!(version(text).as_deref(), told, "{text}");
        }
    }
}
