//! Tests that no file contains what was forgotten.

use super::*;

/// Enough records for pages that are split, and for words that begin a page of the index.
fn filler(store: &mut SqlitePast, from: i64) {
    let runs: Vec<_> = (from..from + 400)
        .map(|n| {
            let folder = Some(format!("/srv/wvu{n:04}folder").into());
            let output_tail = format!("out{n:04}puttling");
            let wait = "and wait ".repeat(usize::try_from(n % 40).expect("positive"));
            NewRun { folder, output_tail, ..run(&format!("zyx{n:04}pqline --on shelf{n}qv {wait}"), n * DAY) }
        })
        .collect();
    let turns: Vec<_> = (from..from + 100)
        .map(|n| NewTurn { answer: format!("tsr{n:04}onswer"), ..turn(&format!("ask{n:04}edling"), n) })
        .collect();
    add(store, &runs, &turns);
}

#[test]
fn a_forgotten_text_is_in_no_file() {
    let bench = Bench::new();
    let mut store = bench.open();
    filler(&mut store, 0);
    let secret = NewRun {
        folder: Some("/srv/vaultfolder".into()),
        output_tail: "qwertzuiopian".to_owned(),
        ..run("open --word Xyzzyplughings", 7)
    };
    let commands = vec![TurnCommand { line: "show frobnicator".to_owned(), exit_code: None }];
    let asked = NewTurn {
        answer: "It is grmblfixle.".to_owned(),
        commands,
        folder: "/srv/secretplace".into(),
        session: "sessionquux".to_owned(),
        ..turn("what is the plughword?", 950)
    };
    add(&mut store, &[secret], std::slice::from_ref(&asked));
    filler(&mut store, 1_000);
    let tokens = [
        "xyzzyplugh",
        "qwertzuiop",
        "vaultfold",
        "frobnic",
        "grmblfix",
        "secretplac",
        "sessionquux",
        "plughword",
        "turn 950",
    ];
    assert!(tokens.iter().all(|token| bench.contains(token)));
    let found = store.search(&words("xyzzyplughings plughword")).unwrap().hits;
    let ids: Vec<_> = found.iter().map(PastItem::id).collect();
    assert_eq!(store.forget(&PastSelection::Ids(ids)).unwrap(), 2);
    for token in tokens {
        assert!(!bench.contains(token), "{token}, while it is open");
    }
    assert_eq!(store.changed().unwrap(), []);
    drop(store);
    for token in tokens {
        assert!(!bench.contains(token), "{token}, after it is closed");
    }
    assert!(hits(&bench.open(), &words("wait")).len() > 300);
}

#[test]
fn many_forgotten_texts_are_in_no_file() {
    let bench = Bench::new();
    let mut store = bench.open();
    filler(&mut store, 0);
    let all = store.search(&PastQuery::default()).unwrap().hits;
    let every_third: Vec<_> = all.iter().step_by(3).map(PastItem::id).collect();
    let gone: Vec<_> = all.iter().step_by(3).map(|item| text(item).split("ling").next().unwrap_or_default()).collect();
    assert_eq!(store.forget(&PastSelection::Ids(every_third.clone())).unwrap(), every_third.len() as u64);
    for text in gone {
        assert!(!bench.contains(text.split_once("line ").map_or(text, |(line, _)| line)), "{text}");
    }
    assert!(store.forget(&PastSelection::Before { at: at(200 * DAY), timeless: true }).unwrap() > 150);
    for n in 0..200 {
        for token in [
            format!("zyx{n:04}"),
            format!("wvu{n:04}"),
            format!("out{n:04}"),
            format!("shelf{n}qv"),
            format!("tsr{n:04}"),
        ] {
            assert!(!bench.contains(&token), "{token}");
        }
    }
    assert_eq!(store.changed().unwrap(), []);
    let counts = store.counts().unwrap();
    assert_eq!(entries(&store).cast_unsigned(), counts.lines + counts.turns);
    store.forget(&PastSelection::All).unwrap();
    for token in ["zyx", "wvu", "out0", "/srv", "pqlin", "wait"] {
        assert!(!bench.contains(token), "{token}");
    }
}

#[test]
fn a_forgotten_source_leaves_the_others() {
    let bench = Bench::new();
    let mut store = bench.open();
    let imported =
        |line: &str, folder: &str| NewRun { source: RunSource::Fish, folder: Some(folder.into()), ..run(line, 9) };
    // The line is run by the user, too, and the folder is that of a turn.
    let runs = [imported("make", "/srv/importedplace"), run("make", 10), imported("ls", "/srv/askedplace")];
    add(&mut store, &runs, &[NewTurn { folder: "/srv/askedplace".into(), ..turn("why?", 11) }]);
    assert_eq!(hits(&store, &words("importedplace")), ["make"]);
    assert_eq!(store.forget(&PastSelection::Source(RunSource::Fish)).unwrap(), 2);
    assert_eq!(hits(&store, &words("importedplace")), [""; 0]);
    assert_eq!(
        (hits(&store, &words("make")), hits(&store, &words("askedplace"))),
        (vec!["make".to_owned()], vec!["why?".to_owned()])
    );
    assert!(!bench.contains("importedplac") && bench.contains("askedplac"));
}

#[test]
fn an_index_that_loses_most_is_built_again() {
    let bench = Bench::new();
    let mut store = bench.open();
    let runs: Vec<_> = (0..6_000).map(|n| run(&format!("echo abcd{n:04}"), n * 3_600)).collect();
    add(&mut store, &runs, &[turn("why?", 5)]);
    assert_eq!(store.forget(&PastSelection::Before { at: at(5_000 * 3_600), timeless: false }).unwrap(), 5_001);
    assert_eq!((entries(&store), totals(&store)), (1_000, (1_000, 1_000)));
    assert_eq!(hits(&store, &words("abcd5500 abcd0500")), ["echo abcd5500"]);
    assert!(!bench.contains("abcd0500") && bench.contains("abcd5500"));
}
