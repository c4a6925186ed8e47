//! Tests for the reading of the tables.

use super::*;

fn split(verb_name: &str, words: &[&str]) -> Result<(usize, usize), String> {
    let words: Vec<Word> =
        words.iter().map(|text| Word { text: (*text).into(), is_bare: true, ..Word::default() }).collect();
    let arguments = verb(verb_name).expect("listed").split(&words)?;
    Ok((arguments.options.len(), arguments.operands.len()))
}

#[test]
fn every_table_line_is_read() {
    assert!(VERBS.len() > 100, "{}", VERBS.len());
    assert_eq!(verb("ls").expect("listed").operands, Operands::Paths);
    assert_eq!(verb("grep").expect("listed").operands, Operands::Rule("pattern"));
    assert_eq!(verb("rm").map(|_| ()), None);
    assert!(git_subcommand("status").is_some());
}

#[test]
fn no_verb_or_phrase_is_listed_twice() {
    for (table, read) in
        [(include_str!("../subcommands.table"), SUBCOMMANDS.len()), (include_str!("../shells.table"), OF_SHELLS.len())]
    {
        let phrases =
            rows(table).flat_map(|(phrases, _)| phrases.split(", ").flat_map(alternatives).collect::<Vec<_>>());
        assert_eq!(phrases.count(), read);
    }
    for (table, read) in
        [(include_str!("../options.table"), VERBS.len()), (include_str!("../git.table"), GIT_SUBCOMMANDS.len())]
    {
        assert_eq!(rows(table).flat_map(|(verbs, _)| verbs.split(' ')).count(), read);
    }
}

#[test]
fn a_programs_own_options_may_stand_in_front_of_its_subcommand() {
    let words = |text: &str| -> Vec<Word> {
        text.split(' ').map(|text| Word { text: text.into(), is_bare: true, ..Word::default() }).collect()
    };
    let rest = |text: &str| {
        let words = words(text);
        subcommand("kubectl", &words).map(|found| found.expect("a phrase").1.len())
    };
    assert_eq!(rest("get pods"), Ok(1));
    assert_eq!(rest("-n x get pods"), Ok(1));
    assert_eq!(rest("--namespace=x config view"), Ok(0));
    assert!(rest("--kubeconfig x get pods").is_err());
    assert!(rest("-n").is_err());
}

#[test]
fn listed_options_are_split_from_operands() {
    assert_eq!(split("ls", &["-la", "--sort=size", "src"]), Ok((3, 1)));
    assert_eq!(split("head", &["-5", "x"]), Ok((1, 1)));
    assert_eq!(split("head", &["-n", "5", "-c1K", "x", "-q"]), Ok((3, 1)));
    assert_eq!(split("date", &["-I", "-Iseconds"]), Ok((2, 0)));
    assert_eq!(split("sort", &["-t", "-k", "--", "-o"]), Ok((1, 1)));
    assert_eq!(split("grep", &["-rne", "x", "."]), Ok((3, 1)));
}

#[test]
fn what_is_not_listed_is_refused() {
    for (verb_name, words) in [
        ("sort", vec!["-o", "x"]),
        ("sort", vec!["-no", "x"]),
        ("sort", vec!["--compress-program=x"]),
        ("sort", vec!["--compress", "x"]),
        ("ls", vec!["--al"]),
        ("ls", vec!["--all=x"]),
        ("wc", vec!["-x"]),
        ("head", vec!["-n"]),
        ("ls", vec!["x", "--hyperlink"]),
    ] {
        assert!(split(verb_name, &words).is_err(), "{verb_name} {words:?}");
    }
}

#[test]
fn numbers_have_a_sign_a_fraction_and_a_unit() {
    for text in ["5", "+5", "-5", "1K", "0.5", "10MiB", "50%", "0x1F"] {
        assert!(is_number(text), "{text}");
    }
    for text in ["", "x", "1.2.3", "5kilo", "$(id)", "a[1]", "-", "0x", "0xg"] {
        assert!(!is_number(text), "{text}");
    }
}
