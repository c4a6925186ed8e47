//! Finds names that are similar to the typed one.

use super::{
    super::super::{
        run::{Halt, Run},
        shell_line::{is_plain_name, paths, word},
        vocabulary::is_program,
    },
    seen::glance,
};

/// Most folders of the search path that are searched.
const MAX_FOLDERS: usize = 40;
/// Most names that are fetched.
const MAX_NAMES: usize = 600;
/// Most proposals.
const MAX_SHOWN: usize = 3;

/// Commands of the shells themselves, which are in no folder.
const BUILTINS: &[&str] = &[
    "alias", "bg", "bind", "builtin", "cd", "command", "declare", "dirs", "disown", "echo", "eval", "exec", "exit",
    "export", "fg", "function", "hash", "history", "jobs", "kill", "local", "popd", "printf", "pushd", "pwd", "read",
    "return", "set", "source", "test", "time", "trap", "type", "ulimit", "umask", "unalias", "unset", "wait",
];

/// Number of added, omitted, changed, or swapped letters between two words.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Largest distance of a proposal: short names have many neighbours.
fn tolerance(name: &str) -> usize {
    if name.chars().count() <= 4 { 1 } else { 2 }
}

/// The nearest names, the likeliest first.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let wanted = letters(name);
    let mut ranked: Vec<(usize, bool, bool, bool, &str)> = names
        .filter(|other| *other != name && other.chars().count().abs_diff(name.chars().count()) <= tolerance(name))
        .map(|other| {
            let is_swapped = letters(other) == wanted;
            let starts_alike = other.chars().next() == name.chars().next();
            (
                distance(&name.to_lowercase(), &other.to_lowercase()),
                !is_swapped,
                !is_program(other),
                !starts_alike,
                other,
            )
        })
        .filter(|(distance, ..)| *distance <= tolerance(name))
        .collect();
    ranked.sort_unstable();
    ranked.dedup_by(|a, b| a.4 == b.4);
    // A name with all the letters, or a well-known one, is likely meant; the others only look alike.
    if let Some(&(distance, is_other, is_unknown, ..)) = ranked.first() {
        ranked.retain(|other| {
            other.0 == distance && (other.1 == is_other || is_other) && (other.2 == is_unknown || is_unknown)
        });
    }
    ranked.into_iter().take(MAX_SHOWN).map(|(.., other)| other.to_owned()).collect()
}

/// Commands of a similar name. The lines mean the same in bash, zsh and fish.
pub(super) fn nearest_commands(name: &str, run: &mut Run<'_>) -> Result<Vec<String>, Halt> {
    let Some(output) = glance(run, "printenv PATH")? else { return Ok(Vec::new()) };
    let mut folders: Vec<&str> = output
        .first()
        .unwrap_or_default()
        .split(':')
        .filter(|folder| folder.starts_with('/'))
        .take(MAX_FOLDERS)
        .collect();
    folders.sort_unstable();
    folders.dedup();
    if folders.is_empty() || !is_plain_name(name) {
        return Ok(nearest(name, BUILTINS.iter().copied()));
    }
    let line = format!(
        "find -H {} -maxdepth 1 -not -type d -printf '%f\\n' 2> /dev/null | grep -x -i -E -e {} | sort -u | head -n {MAX_NAMES}",
        paths(&folders),
        word(&rough_pattern(name))
    );
    let Some(output) = glance(run, &line)? else { return Ok(Vec::new()) };
    let names = output.lines();
    Ok(nearest(
        name,
        names.iter().map(|line| line.trim()).chain(BUILTINS.iter().copied()).filter(|name| is_plain_name(name)),
    ))
}

/// A pattern that every near name matches: about the same length, and one of the first letters at the start.
fn rough_pattern(name: &str) -> String {
    let first: String = name.chars().take(tolerance(name) + 1).filter(char::is_ascii_alphanumeric).collect();
    let length = name.chars().count();
    let shortest = length.saturating_sub(tolerance(name)).max(1);
    format!("[{first}].{{{},{}}}", shortest - 1, length + tolerance(name) - 1)
}

/// Replaces a name in the line, if the name occurs in it exactly once.
pub(super) fn corrected(line: &str, from: &str, to: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
    let hits: Vec<usize> = line
        .match_indices(from)
        .map(|(at, _)| at)
        .filter(|&at| !line[..at].ends_with(is_part) && !line[at + from.len()..].starts_with(is_part))
        .collect();
    let [at] = hits.as_slice() else { return None };
    Some(format!("{}{to}{}", &line[..*at], &line[at + from.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_letters_and_swaps() {
        for (a, b, expected) in [
            ("git", "git", 0),
            ("gti", "git", 1),
            ("dokcer", "docker", 1),
            ("pyhton", "python", 1),
            ("sl", "ls", 1),
            ("", "ab", 2),
            ("kubeclt", "kubectl", 1),
            ("cragoo", "cargo", 2),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_name_wins_and_far_ones_are_not_proposed() {
        let names = || ["git", "gtk", "ti", "grep", "ls", "sh", "docker", "dockerd", "python3"].into_iter();
        assert_eq!(nearest("gti", names()), ["git"]);
        assert_eq!(nearest("sl", names()), ["ls"]);
        assert_eq!(nearest("dokcer", names()), ["docker"]);
        assert_eq!(nearest("python", names()), ["python3"]);
        assert!(nearest("frobnicate", names()).is_empty());
    }

    #[test]
    fn every_near_name_fits_the_rough_pattern() {
        for (name, near) in [("gti", "git"), ("gi", "git"), ("ocker", "docker"), ("dokcer", "docker"), ("htpo", "htop")]
        {
            let pattern = regex::Regex::new(&format!("(?i)^(?:{})$", rough_pattern(name))).unwrap();
            assert!(pattern.is_match(near) || !near.starts_with(&name[..1]), "{name} {near}");
        }
    }

    #[test]
    fn a_line_is_corrected_where_the_name_stands_once() {
        assert_eq!(corrected("sudo gti push gti.txt", "gti", "git").as_deref(), Some("sudo git push gti.txt"));
        assert_eq!(corrected("gti; gti", "gti", "git"), None);
    }
}
