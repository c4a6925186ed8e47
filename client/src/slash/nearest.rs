//! Finds the command nearest to a mistyped word.

use super::{COMMANDS, Command};

/// Words that other assistants and habit know, and the command that does it here.
const OTHER_NAMES: [(&str, &str); 15] = [
    ("approvals", "approve"),
    ("check", "doctor"),
    ("clear", "new"),
    ("commands", "help"),
    ("compress", "compact"),
    ("history", "sessions"),
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
pub(super) fn to(word: &str) -> Option<&'static Command> {
    let named = |name: &str| COMMANDS.iter().find(|command| command.name == name);
    if let Some((_, name)) = OTHER_NAMES.iter().find(|(other, _)| *other == word) {
        return named(name);
    }
    let mut begun = COMMANDS.iter().filter(|command| word.len() >= MIN_PREFIX && command.name.starts_with(word));
    if let (Some(command), None) = (begun.next(), begun.next()) {
        return Some(command);
    }
    // Short words are near to everything.
    let most = if word.len() <= 4 { 1 } else { 2 };
    let near = COMMANDS.iter().map(|command| (distance(word.as_bytes(), command.name.as_bytes()), command));
    near.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, command)| command)
}

/// Letters to put in, take out, change or swap with their neighbour. Both words are short; anything longer is far away.
fn distance(a: &[u8], b: &[u8]) -> usize {
    const LONGEST: usize = 16;
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let mut table = [[0; LONGEST + 1]; LONGEST + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let changed = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let best = changed.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if is_swap { best.min(table[i - 2][j - 2] + 1) } else { best }
                }
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (a, b, expected) in
            [("", "", 0), ("new", "new", 0), ("modle", "model", 1), ("help", "halt", 2), ("", "ab", 2)]
        {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
        assert_eq!(distance(&[b'a'; 100], b"new"), usize::MAX);
    }

    #[test]
    fn other_names_lead_to_commands_and_are_none_themselves() {
        for (other, name) in OTHER_NAMES {
            assert!(COMMANDS.iter().any(|command| command.name == name), "{name}");
            assert!(COMMANDS.iter().all(|command| command.name != other), "{other}");
        }
    }
}
