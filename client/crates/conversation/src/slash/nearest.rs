//! Finds the command nearest to a mistyped word.

use super::{COMMANDS, SlashCommand};

/// Words that other assistants and habit know, and the command that does it here.
const OTHER_NAMES: [(&str, &str); 17] = [
    ("approvals", "approve"),
    ("check", "doctor"),
    ("clear", "new"),
    ("commands", "help"),
    ("compress", "compact"),
    ("facts", "memory"),
    ("history", "sessions"),
    ("memories", "memory"),
    ("models", "model"),
    ("permissions", "approve"),
    ("profile", "model"),
    ("redo", "retry"),
    ("regenerate", "retry"),
    ("reset", "new"),
    ("continue", "resume"),
    ("tokens", "context"),
    ("usage", "cost"),
];

/// Folders at the root of many systems: a question that begins with one is about it.
const FOLDERS: [&str; 29] = [
    "app",
    "bin",
    "boot",
    "code",
    "data",
    "dev",
    "efi",
    "etc",
    "home",
    "lib",
    "media",
    "mnt",
    "nix",
    "opt",
    "proc",
    "private",
    "root",
    "run",
    "sbin",
    "snap",
    "srv",
    "src",
    "sys",
    "tmp",
    "usr",
    "var",
    "work",
    "workspace",
    "backup",
];

/// A beginning of this length stands for its command.
const MIN_PREFIX: usize = 3;

/// Whether the word names a folder rather than a command.
pub(super) fn is_folder(word: &str) -> bool {
    FOLDERS.contains(&word)
}

/// The command that is nearest to `word`, if one is near.
pub(super) fn to(word: &str) -> Option<&'static SlashCommand> {
    let named = |name: &str| COMMANDS.iter().find(|command| command.name == name);
    if let Some((_, name)) = OTHER_NAMES.iter().find(|(other, _)| *other == word) {
        return named(name);
    }
    let mut begun = COMMANDS.iter().filter(|command| word.len() >= MIN_PREFIX && command.name.starts_with(word));
    if let (Some(command), None) = (begun.next(), begun.next()) {
        return Some(command);
    }
    cohab_text::nearest::to(word, COMMANDS.iter().map(|command| command.name)).and_then(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_lead_to_commands_and_are_none_themselves() {
        for (other, name) in OTHER_NAMES {
            assert!(COMMANDS.iter().any(|command| command.name == name), "{name}");
            assert!(COMMANDS.iter().all(|command| command.name != other), "{other}");
        }
    }
}
