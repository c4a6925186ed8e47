//! Names the files that programs change in known places. Pure.

use std::sync::LazyLock;

use crate::{
    arguments::Arguments,
    table::{self, Row},
    words::PatternWord,
};

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| table::parse(include_str!("writers.table")));

/// What a program changes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// The content of these is replaced.
    Replaced(Vec<PatternWord>),
    /// These are written to, or made.
    Written(Vec<PatternWord>),
    /// Folders are made.
    Folders(Vec<PatternWord>),
    /// The first are copied to the last.
    Copied(Vec<PatternWord>),
    /// Permissions or times, also of what is below or not.
    Attributes(Vec<PatternWord>, bool),
    /// Files with these endings below these; below the project if there are none.
    Below(Vec<PatternWord>, Vec<String>),
    /// What no undo brings back, as a phrase.
    Says(&'static str),
}

/// What a program changes that is called with these words; nothing is an empty list. `None` if the table does not have it, or a word is not
/// to be read.
pub(crate) fn writes(program: &str, words: &[&PatternWord]) -> Option<Vec<Writes>> {
    let (row, arguments) = table::find(&ROWS, program, words)?;
    if arguments.is_unclear {
        return None;
    }
    if let Some(phrase) = row.what.strip_prefix("says:") {
        return Some(vec![Writes::Says(phrase)]);
    }
    row.what
        .split_whitespace()
        .map(|what| writes_of(what, &arguments))
        .collect::<Option<Vec<_>>>()
        .map(|all| all.into_iter().flatten().collect())
}

/// `None` if the table has no such word.
fn writes_of(what: &str, arguments: &Arguments) -> Option<Vec<Writes>> {
    let (word, value) = what.split_once(':').unwrap_or((what, ""));
    let endings = || value.split(',').map(str::to_owned).collect::<Vec<String>>();
    let without_first = |skip: bool| arguments.all().into_iter().skip(usize::from(skip)).collect::<Vec<_>>();
    Some(vec![match word {
        "nothing" => return Some(Vec::new()),
        "write" => Writes::Written(arguments.all()),
        "folders" => Writes::Folders(arguments.all()),
        "replace" => Writes::Replaced(arguments.all()),
        "rest" => Writes::Written(without_first(arguments.value_of(value).is_none())),
        "value" => Writes::Written(arguments.value_of(value).into_iter().cloned().collect()),
        "key" => {
            let named = |word: &PatternWord| word.raw.starts_with(value).then(|| word.without_start(value.len()))?;
            Writes::Replaced(arguments.all().iter().filter_map(named).collect())
        }
        "ending" => {
            let both = |word: PatternWord| [word.with_end(value), word];
            Writes::Written(arguments.all().into_iter().flat_map(both).collect())
        }
        "without" => {
            let both = |word: PatternWord| [word.without_end(value), Some(word)].into_iter().flatten();
            Writes::Written(arguments.all().into_iter().flat_map(both).collect())
        }
        "copy" => Writes::Copied(arguments.all()),
        "below" => Writes::Below(arguments.all(), endings()),
        "project" => Writes::Below(Vec::new(), endings()),
        "modes" => {
            // `chmod -x FILE` has its mode as an option.
            let has_mode = ["-r", "-w", "-x", "-X", "-s", "-t"].iter().any(|mode| arguments.has(mode));
            Writes::Attributes(without_first(!has_mode), arguments.has("-R") || arguments.has("--recursive"))
        }
        "stamps" => Writes::Attributes(arguments.all(), false),
        _ => return None,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{WordToken, tokens};

    fn written(line: &str) -> Option<Vec<Writes>> {
        let words: Vec<PatternWord> = tokens(line)
            .expect("it can be read")
            .into_iter()
            .filter_map(|token| if let WordToken::Word(word) = token { Some(word) } else { None })
            .collect();
        let all: Vec<&PatternWord> = words.iter().collect();
        writes(&all[0].raw, &all[1..])
    }

    /// The words of what is written or replaced.
    fn files(line: &str) -> String {
        let raw = |words: Vec<PatternWord>| words.into_iter().map(|word| word.raw).collect::<Vec<_>>().join(" ");
        match written(line).expect("the table has it").pop() {
            Some(
                Writes::Replaced(words)
                | Writes::Written(words)
                | Writes::Copied(words)
                | Writes::Folders(words)
                | Writes::Attributes(words, false)
                | Writes::Below(words, _),
            ) => raw(words),
            Some(Writes::Attributes(words, true)) => format!("all below {}", raw(words)),
            Some(Writes::Says(phrase)) => format!("({phrase})"),
            None => String::new(),
        }
    }

    #[test]
    fn each_program_of_the_table_names_its_files() {
        for (line, expected) in [
            ("truncate -s 0 a b", "a b"),
            ("truncate --size=0 a", "a"),
            ("sort -k 2 -o out in", "out"),
            ("sort -oout in", "out"),
            ("sort -o\"out\" in", "\"out\""),
            ("sort --output=out in", "out"),
            ("sort in", ""),
            ("dd if=a of=b bs=1k", "b"),
            ("sed -i.bak s/x/y/ a b", "a b"),
            ("sed -i -e s/x/y/ a b", "a b"),
            ("sed -n p a", ""),
            ("perl -pi -e s/x/y/ a b", "a b"),
            ("perl -i -pe s/x/y/ a", "a"),
            ("gzip -9 a", "a.gz a"),
            ("gzip -c a", ""),
            ("gzip -d a.gz", "a a.gz"),
            ("gunzip a.gz", "a a.gz"),
            ("chmod 600 a b", "a b"),
            ("chmod -R u+x d", "all below d"),
            ("chmod -x a", "a"),
            ("touch -d yesterday a", "a"),
            ("gofmt -w .", "."),
            ("gofmt .", ""),
            ("cargo fmt", ""),
            ("ruff check --fix src", "src"),
            ("ruff check src", ""),
            ("install -m 755 a b d", "a b d"),
            ("curl -o page https://example.com", "page"),
            ("apt install x", "(the packages of the system)"),
        ] {
            assert_eq!(files(line), expected, "{line}");
        }
        assert_eq!(written("cargo build"), None);
        assert_eq!(written("install -t d a"), None);
    }

    #[test]
    fn each_word_of_the_table_is_known() {
        for row in ROWS.iter().filter(|row| !row.what.starts_with("says:")) {
            for what in row.what.split_whitespace() {
                assert!(writes_of(what, &Arguments::default()).is_some(), "{what}");
            }
        }
    }
}
