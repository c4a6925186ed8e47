//! Lists programs that change the inside of the lines of a file. No search for secrets recognizes their output.

/// With any arguments.
const ALWAYS: &[&str] = &[
    "base32", "base64", "basenc", "column", "colrm", "fmt", "fold", "hd", "hexdump", "iconv", "numfmt", "od",
    "openssl", "pr", "recode", "rev", "sdiff", "string", "tr", "uconv", "uuencode", "xxd",
];
/// With these options; one letter may be joined with others.
const WITH_OPTIONS: &[(&str, &[&str])] = &[
    ("ag", SEARCH),
    ("colordiff", SIDE_BY_SIDE),
    ("cut", &["b", "c", "bytes", "characters"]),
    ("diff", SIDE_BY_SIDE),
    ("egrep", SEARCH),
    ("fgrep", SEARCH),
    ("git", &["word-diff", "word-diff-regex", "color-words", "only-matching"]),
    ("grep", SEARCH),
    ("head", &["c", "bytes"]),
    ("rg", &["o", "r", "only-matching", "replace"]),
    ("tac", &["r", "s", "regex", "separator"]),
    ("tail", &["c", "bytes"]),
    ("zgrep", SEARCH),
];
const SEARCH: &[&str] = &["o", "only-matching"];
const SIDE_BY_SIDE: &[&str] = &["y", "side-by-side"];
/// Parts of a filter of `jq` or `yq` that make another text of one.
const RESHAPING: &[&str] = &[
    "@", ":", "ascii", "explode", "implode", "join", "limit", "reverse", "split", "sub(", "test", "trimstr", "capture",
    "match", "scan", "encode",
];

/// Whether a program with these `arguments` may print a text in another form than in its file.
pub(super) fn changes_lines(verb: &str, arguments: &[&str]) -> bool {
    match verb {
        "sed" => !scripts(arguments).all(only_selects),
        // A program without an action prints the lines that it chooses.
        "awk" | "gawk" | "mawk" | "nawk" | "perl" | "ruby" => arguments.iter().any(|word| word.contains('{')),
        "jq" | "yq" | "gojq" => arguments.iter().any(|word| RESHAPING.iter().any(|part| word.contains(part))),
        "cut" if delimiter(arguments).is_some_and(|sign| sign.starts_with(|c: char| c.is_ascii_alphanumeric())) => true,
        _ => {
            let options = WITH_OPTIONS.iter().find(|(name, _)| *name == verb).map_or(&[][..], |(_, options)| options);
            ALWAYS.contains(&verb) || arguments.iter().any(|word| is_option_of(word, options))
        }
    }
}

/// Whether a word is one of these options, or has one among its letters.
fn is_option_of(word: &str, options: &[&str]) -> bool {
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => options.contains(&long.split('=').next().unwrap_or_default()),
        (None, Some(letters)) => options.iter().any(|option| option.len() == 1 && letters.contains(option)),
        (None, None) => false,
    }
}

fn delimiter<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    let at = arguments.iter().position(|word| word.starts_with("-d") || word.starts_with("--delimiter"))?;
    match arguments[at] {
        "-d" | "--delimiter" => arguments.get(at + 1).copied(),
        word => Some(word.trim_start_matches("--delimiter=").trim_start_matches("-d")),
    }
}

/// The scripts of `sed`: behind `-e`, else the first operand.
fn scripts<'a>(arguments: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let is_behind = |at: usize| at > 0 && matches!(arguments[at - 1], "-e" | "-ne" | "-Ee" | "-re" | "--expression");
    let has_option = arguments.iter().any(|word| word.starts_with("-e") || word.starts_with("--expression"))
        || (0..arguments.len()).any(is_behind);
    let first = arguments.iter().position(|word| !word.starts_with('-'));
    let chosen = arguments.iter().enumerate().filter(move |(at, word)| match has_option {
        true => is_behind(*at) || word.starts_with("-e") && word.len() > 2 || word.starts_with("--expression="),
        false => Some(*at) == first,
    });
    chosen.map(|(_, word)| word.trim_start_matches("--expression=").trim_start_matches("-e"))
}

/// Whether a script of `sed` only chooses lines: addresses, and commands that print or delete.
fn only_selects(script: &str) -> bool {
    let outside_patterns = script.split('/').step_by(2);
    outside_patterns.flat_map(str::chars).all(|c| c.is_ascii_digit() || " ,;$!pdqQnI~+{}".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_lines_is_told_from_what_chooses_them() {
        for line in [
            "base64 a",
            "fold -w 4 a",
            "sed -n l a",
            "sed s/./&_/g a",
            "sed -e s/a/b/ a",
            "sed -n -es/a/b/p a",
            "jq -R @base64 a",
            "jq .a[0:4] a",
            "awk {print$1} a",
            "cut -c1-4 a",
            "cut -nc 4 a",
            "cut -d x -f 2 a",
            "iconv -t utf-16 a",
            "pr a",
            "column -t a",
            "grep -o . a",
            "grep -rno x",
            "rg --replace x y",
            "rg -or x",
            "tac -s x a",
            "head -c 4 a",
            "diff -y a b",
            "git diff --word-diff-regex=.",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(changes_lines(words[0], &words[1..]), "{line}");
        }
        for line in [
            "cat a",
            "sed -n 1,5p a",
            "sed -n /token/p a",
            "sed -e 5q a",
            "jq .a.b a",
            "awk NR==5 a",
            "awk /x/ a",
            "cut -d: -f1 a",
            "grep -rn x .",
            "rg x",
            "tac a",
            "head -n 4 a",
            "sort a",
            "git diff --stat",
            "diff -u a b",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(!changes_lines(words[0], &words[1..]), "{line}");
        }
    }
}
