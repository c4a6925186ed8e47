//! Reads the table of known harm. The notation is described at the top of the table.

use std::{collections::HashMap, sync::LazyLock};

use cohab_shell_syntax::LooseWord;

/// Shorter abbreviations of long options are no sign of anything.
const MIN_ABBREVIATION_BYTES: usize = 5;

#[derive(Debug)]
enum RowPart {
    Always,
    Flag(char),
    Word(&'static str),
    FirstOperand(&'static str),
    Long(&'static str),
    Within(&'static str),
}

#[derive(Debug)]
struct Harm {
    reason: &'static str,
    /// Alternatives, one of which must hold; all parts of an alternative must hold.
    alternatives: Vec<Vec<RowPart>>,
}

static HARMS: LazyLock<HashMap<&'static str, Vec<Harm>>> = LazyLock::new(|| {
    let mut harms: HashMap<&str, Vec<Harm>> = HashMap::new();
    for line in include_str!("harm.table").lines().filter(|line| !line.starts_with("# ")) {
        let mut fields = line.splitn(3, " | ");
        let (Some(verbs), Some(reason), Some(alternatives)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        for verb in verbs.split(' ') {
            let alternatives =
                alternatives.split_whitespace().map(|parts| parts.split('&').map(parse_part).collect()).collect();
            harms.entry(verb).or_default().push(Harm { reason, alternatives });
        }
    }
    harms
});

fn parse_part(text: &'static str) -> RowPart {
    let letter = text.strip_prefix('-').filter(|rest| rest.len() == 1).and_then(|rest| rest.chars().next());
    match (letter, text.as_bytes()) {
        (_, b"*") => RowPart::Always,
        (Some(flag), _) if flag.is_ascii_alphabetic() => RowPart::Flag(flag),
        (_, [b'%', ..]) => RowPart::Within(&text[1..]),
        (_, [b'^', ..]) => RowPart::FirstOperand(&text[1..]),
        (_, [b'=', ..]) => RowPart::Word(&text[1..]),
        (_, [b'-', b'-', _, ..]) => RowPart::Long(text),
        _ => RowPart::Word(text),
    }
}

/// Whether `verb` is known to do harm in some way.
pub(super) fn is_known(verb: &str) -> bool {
    HARMS.contains_key(verb)
}

/// The reason why `verb` with these arguments does harm.
pub(super) fn reasons(verb: &str, arguments: &[LooseWord]) -> impl Iterator<Item = &'static str> {
    let harms = HARMS.get(verb).map_or(&[][..], Vec::as_slice);
    harms
        .iter()
        .filter(|harm| harm.alternatives.iter().any(|parts| parts.iter().all(|part| part.holds(arguments))))
        .map(|harm| harm.reason)
}

impl RowPart {
    fn holds(&self, arguments: &[LooseWord]) -> bool {
        // No word behind `--` is an option.
        let options = arguments.iter().position(|word| word.text == "--").unwrap_or(arguments.len());
        match self {
            Self::Always => true,
            Self::Flag(_) | Self::Long(_) => arguments[..options].iter().any(|word| self.holds_in(word)),
            Self::FirstOperand(wanted) => {
                let first = arguments.iter().find(|word| !word.text.starts_with('-'));
                first.is_some_and(|word| *wanted == "*" || word.text == *wanted)
            }
            Self::Word(_) | Self::Within(_) => arguments.iter().any(|word| self.holds_in(word)),
        }
    }

    fn holds_in(&self, word: &LooseWord) -> bool {
        let text = word.text.as_str();
        match self {
            Self::Always => true,
            Self::FirstOperand(wanted) | Self::Word(wanted) => text == *wanted,
            Self::Within(wanted) => text.contains(wanted),
            Self::Flag(flag) => {
                let joined = text.strip_prefix('-').unwrap_or_default();
                let flags = joined.find(|c: char| !c.is_ascii_alphabetic()).map_or(joined, |end| &joined[..end]);
                flags.contains(*flag)
            }
            Self::Long(long) => {
                let name = text.split('=').next().unwrap_or_default();
                name == *long
                    || (name.len() >= MIN_ABBREVIATION_BYTES && name.starts_with("--") && long.starts_with(name))
            }
        }
    }
}

/// Programs that change disks or keys unless these words restrict them to reporting.
const TELLING: &[(&str, &[&str])] = &[
    ("fdisk", &["-l", "--list"]),
    ("sfdisk", &["-l", "--list"]),
    ("gdisk", &["-l"]),
    ("sgdisk", &["-p"]),
    ("parted", &["-l", "--list"]),
    ("mdadm", &["--detail", "-D", "--examine", "-E"]),
    ("at", &["-l"]),
    ("auditctl", &["-l", "-s"]),
    ("hdparm", &["-I", "-i"]),
    ("ssh-keygen", &["-lf", "-lvf"]),
];

/// Whether a program of [`TELLING`] only reports, and on which files or devices.
pub(super) fn only_tells(verb: &str, arguments: &[LooseWord]) -> bool {
    let Some((option, rest)) = arguments.split_first() else { return false };
    let is_told = TELLING.iter().any(|(name, options)| *name == verb && options.contains(&option.text.as_str()));
    is_told && rest.iter().all(|word| !word.text.starts_with('-') && !word.expands)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_harm(verb: &str, arguments: &[&str]) -> bool {
        let words: Vec<LooseWord> =
            arguments.iter().map(|text| LooseWord { text: (*text).into(), ..LooseWord::default() }).collect();
        reasons(verb, &words).next().is_some()
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = include_str!("harm.table").lines().filter(|line| !line.starts_with("# ")).count();
        let read: usize = HARMS.values().map(Vec::len).sum();
        assert!(read >= lines, "{read} {lines}");
        assert!(HARMS.values().flatten().all(|harm| !harm.alternatives.is_empty()));
    }

    #[test]
    fn asking_a_disk_is_no_harm() {
        let words = |words: &[&str]| -> Vec<LooseWord> {
            words.iter().map(|text| LooseWord { text: (*text).into(), ..LooseWord::default() }).collect()
        };
        assert!(
            only_tells("fdisk", &words(&["-l", "/dev/sda"])) && only_tells("mdadm", &words(&["--detail", "/dev/md0"]))
        );
        for (verb, arguments) in
            [("fdisk", &["/dev/sda"][..]), ("fdisk", &["-l", "-w"]), ("mdadm", &["-D", "--stop"]), ("mkfs", &["-l"])]
        {
            assert!(!only_tells(verb, &words(arguments)), "{verb} {arguments:?}");
        }
    }

    #[test]
    fn harm_is_told_by_flags_words_and_their_union() {
        assert!(is_harm("rm", &["-rf", "x"]));
        assert!(is_harm("rm", &["--recu", "x"]));
        assert!(!is_harm("rm", &["x"]));
        assert!(is_harm("git", &["push", "--force-with-lease=main"]));
        assert!(!is_harm("git", &["push", "origin", "main"]));
        assert!(is_harm("chmod", &["a+rwx", "x"]));
        assert!(is_harm("chmod", &["u+s", "x"]));
        assert!(!is_harm("chmod", &["u+x", "x"]));
        assert!(is_harm("curl", &["-XPOST", "u"]));
        assert!(is_harm("sort", &["--compress-prog=sh", "x"]));
        assert!(!is_harm("sort", &["-n", "--", "-o"]));
        assert!(is_harm("cohab", &["memory", "add", "x"]) && is_harm("cohabd", &["memory", "off"]));
        assert!(is_harm("cohab", &["tool", "bash", "--json-in", "-"]) && !is_harm("cohab", &["todo"]));
        assert!(is_harm("cohab", &["mcp", "add", "x", "--", "sh"]) && is_harm("cohab", &["mcp", "allow", "x"]));
        assert!(is_harm("cohab", &["mcp", "test", "x"]) && !is_harm("cohab", &["mcp", "list"]));
        assert!(is_harm("cohab", &["hooks", "allow", "--yes"]) && !is_harm("cohab", &["hooks", "list"]));
        assert!(is_harm("cohab", &["best", "-n", "3", "mend it"]));
        assert!(is_harm("cohab", &["tasks", "apply", "1", "--yes"]) && !is_harm("cohab", &["tasks", "show", "1"]));
        assert!(is_harm("cohab", &["watch", "--when=in 1m", "push"]) && !is_harm("cohab", &["watch", "list"]));
        assert!(is_harm("cohab", &["rpc"]) && is_harm("cohab", &["acp"]) && !is_harm("cohab", &["watch", "rm", "3"]));
        assert!(!is_harm("cohab", &["memory", "list"]) && !is_harm("cohab", &["memory", "search", "x"]));
    }
}
