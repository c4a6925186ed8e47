//! Tests the parser of the tables: valid tables are read, and errors in a table are reported.

use std::{collections::BTreeSet, fs};

use cohab_e2e::side_by_side::{case::parse, runner::exceptions_of, shell::Shell};

const SHELLS: [Shell; 4] = [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Fish4];
/// Most exceptions of a shell.
const MOST_EXCEPTIONS: usize = 3;

#[test]
fn names_are_unique_and_exceptions_are_few_and_of_cases() {
    let folder = super::folder();
    let exceptions = fs::read_to_string(folder.join("exceptions.txt")).expect("it is a text");
    for shell in SHELLS {
        let mut names = BTreeSet::new();
        for file in fs::read_dir(&folder).expect("the tables are there").flatten().map(|entry| entry.path()) {
            let Some(table) = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".cases")) else { continue };
            let text = fs::read_to_string(&file).expect("it is a text");
            for case in parse(&text, shell).unwrap_or_else(|reason| panic!("{table}, {shell}: {reason}")) {
                let name = format!("{table}: {}", case.name);
                assert!(names.insert(name.clone()), "`{name}` stands twice");
            }
        }
        let excepted = exceptions_of(&exceptions, shell);
        assert!(excepted.len() <= MOST_EXCEPTIONS, "{shell}: {excepted:?}");
        let unknown: Vec<_> = excepted.into_iter().filter(|name| !names.contains(*name)).collect();
        assert!(unknown.is_empty(), "no cases of {shell}: {unknown:?}");
    }
}

#[test]
fn a_case_is_read_for_its_shells() {
    let table = "shells bash zsh\n\ncase one\n[zsh] rc A=1\n[bash] rc B=2\nsize 60x20\ndo \"a b\" Enter ( Esc C-r ) wait \"x\"\nexpect x\n\
                 case two\nshells fish\ndo Enter\nrow y\n";
    let names = |shell| parse(table, shell).expect("it is right").into_iter().map(|case| case.name).collect::<Vec<_>>();
    assert_eq!(names(Shell::Bash), ["one"]);
    assert_eq!(names(Shell::Fish4), ["two"]);
    let zsh = parse(table, Shell::Zsh).expect("it is right").remove(0);
    assert_eq!((zsh.rc, zsh.size.columns, zsh.size.rows), (vec!["A=1".to_owned()], 60, 20));
}

#[test]
fn a_setup_is_part_of_the_cases_that_use_it() {
    let table = "setup s\nshells zsh bash\nrc A=1\nneeds fzf\ncase one\nuse s\nrc B=2\ndo Enter\nexpect x\ncase two\ndo Enter\nexpect x\n";
    let cases = parse(table, Shell::Bash).expect("it is right");
    assert_eq!((&cases[0].rc, &cases[0].needs), (&vec!["A=1".to_owned(), "B=2".into()], &vec!["fzf".to_owned()]));
    assert!(cases[1].rc.is_empty() && cases[1].needs.is_empty());
    let of_fish: Vec<String> =
        parse(table, Shell::Fish).expect("it is right").into_iter().map(|case| case.name).collect();
    assert_eq!(of_fish, ["two"]);
}

#[test]
fn what_is_not_understood_is_said_with_its_line() {
    for (table, says) in [
        ("case a\ndo Entre\nexpect x", "line 2: `Entre` is no key and no action"),
        ("case a\ndo ( Enter\nexpect x", "line 2: `(` without `)`"),
        ("case a\ndo \"abc\nexpect x", "line 2: a text has no end: abc"),
        ("case a\ndo Enter", "line 1: `a` does or expects nothing"),
        ("case a\nexpect x", "line 1: `a` does or expects nothing"),
        ("case a\n[dash] do Enter", "line 2: `dash` is no shell"),
        ("case a\nuse b", "line 2: no setup `b`"),
        ("setup b\nuse b", "line 2: `use` outside of a case"),
        ("case a\nsizes 2x2", "line 2: unknown directive `sizes 2x2`"),
    ] {
        assert_eq!(parse(table, Shell::Bash).expect_err(table), says);
    }
}
