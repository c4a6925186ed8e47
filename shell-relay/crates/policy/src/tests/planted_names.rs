//! Tests for hostile file names that a pattern matches: a line that is allowed in a folder with such a file is also allowed with the
//! name in the place of its pattern.

use super::*;

/// Pieces that others may put into a name.
const PIECES: &[&str] = &[
    "-R",
    "-delete",
    "-e",
    "--from-file=x",
    "-n5",
    "@x",
    "+x",
    "a'b",
    "a b",
    "a`id`",
    "a;id",
    "a|id",
    "$(id)",
    "%2e",
    "http:x",
    "x",
    "s,a,;e",
    "!x",
    "=x",
    "-",
    "--",
    "a*b",
];

/// A disk on which each pattern matches one file of a given piece.
#[derive(Debug)]
struct Planted(&'static str);

impl Planted {
    fn name(&self, pattern: &str) -> String {
        pattern.replacen('*', self.0, 1).replace(['*', '?'], "x")
    }
}

impl Files for Planted {
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
        Some(vec![path.to_owned()])
    }
    fn landings(&self, path: &Path, _: bool) -> Option<Vec<PathBuf>> {
        self.targets(path)
    }
    fn matches(&self, path: &Path) -> Option<Vec<PathBuf>> {
        Some(vec![PathBuf::from(self.name(path.to_str()?))])
    }
    fn find_below(&self, _: &Path, _: bool, _: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        None
    }
    fn has_names_below(&self, _: &Path, is_odd: &dyn Fn(&str) -> bool) -> bool {
        is_odd(self.0)
    }
    fn link_below(&self, _: &Path, _: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        None
    }
}

/// The line with a name in the place of each word with a pattern; `None` without such a word.
fn with_names(line: &str, disk: &Planted) -> Option<String> {
    let is_pattern =
        |word: &&str| word.contains(['*', '?']) && !word.contains(['\'', '"', '\\', '~', ';', '|', '&', '<', '>']);
    line.split(' ').any(|word| is_pattern(&word)).then(|| {
        let quoted = |word: &str| {
            let name = disk.name(word);
            let quote = if name.contains('\'') { '"' } else { '\'' };
            format!("{quote}{name}{quote}")
        };
        let words = line.split(' ').map(|word| if is_pattern(&word) { quoted(word) } else { word.to_owned() });
        words.collect::<Vec<_>>().join(" ")
    })
}

#[test]
fn what_is_allowed_with_a_pattern_is_allowed_with_any_name_it_matches() {
    let fixed = [
        "grep x *",
        "diff *",
        "wc -l *",
        "du -sh *",
        "strings *",
        "ls *",
        "cat *",
        "head -n 1 *",
        "tail *",
        "md5sum *",
        "zgrep x *.gz",
        "exiftool *.jpg",
        "nm src/*",
        "cat src/*",
        "find . -name *.c",
        "find src/* -name x",
        "grep -r x --include=*.rs .",
        "sort *.txt",
        "sed -n 1p *.txt",
        "sed -n 1p src/*",
        "awk 1 *.txt",
        "jq . *.json",
        "git log -- *.rs",
        "git diff src/*",
        "stat a?",
        "file *",
        "xxd a*",
        "echo *",
        "printf '%s' *",
        "rg x src/*",
        "cloc src/*",
        "xmllint src/*",
        "tar tf *.tar",
        "unzip -l *.zip",
    ];
    let tables = [TUNED_EVERYDAY, HELD_OUT_EVERYDAY, ASK, NEVER_ALLOWED];
    let mut allowed = 0;
    for line in fixed.into_iter().map(str::to_owned).chain(tables.into_iter().flat_map(lines)) {
        for piece in PIECES {
            let disk = Planted(piece);
            let Some(named) = with_names(&line, &disk) else { break };
            let looked = context().with_files(&disk);
            if assess_line(&line, looked).level > Level::Allow {
                continue;
            }
            allowed += 1;
            let typed = unasked(&line, looked).expect("it can be typed").text;
            let typed = with_names(&typed, &disk).expect("it has a pattern still");
            let verdict = assess_line(&typed, context());
            assert_eq!(verdict.level, Level::Allow, "{line}: {named}: {verdict:?}");
        }
    }
    assert!(allowed > 300, "{allowed}");
}
