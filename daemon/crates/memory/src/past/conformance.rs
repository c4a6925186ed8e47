//! The tests that every [`PastStore`] has to pass. Each takes an empty store and panics when the store breaks the contract.

#![expect(clippy::unwrap_used, reason = "tests")]

mod consolidation;

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;

use super::{
    period::Period,
    record::{NewRun, NewTurn, PastId, PastItem, RunSource, TurnCommand},
    store::{Added, MAX_HITS, PastFound, PastQuery, PastSelection, PastStore, Wish, WordGroup},
    terms,
};

/// A day, in seconds.
pub const DAY: i64 = 86_400;

/// All of them.
pub fn all<S: PastStore>(empty: impl Fn() -> S) {
    records_come_back_as_they_were(&mut empty());
    a_record_is_stored_once(&mut empty());
    a_line_is_found_by_each_of_its_words(&mut empty());
    a_turn_is_found_by_all_its_texts(&mut empty());
    the_rarest_and_the_most_groups_are_among_the_hits(&mut empty());
    a_line_of_last_week_is_found_among_many(&mut empty());
    each_condition_chooses_the_newest_run(&mut empty());
    what_is_wished_for_is_found_among_many(&mut empty());
    without_words_the_newest_are_found(&mut empty());
    the_turns_around_a_hit_are_neighbours(&mut empty());
    ids_are_forgotten(&mut empty());
    sources_and_times_are_forgotten(&mut empty());
    everything_is_forgotten(&mut empty());
    hostile_texts_and_terms_are_data(&mut empty());
    an_odd_time_is_a_time(&mut empty());
    counts_follow_each_change(&mut empty());
    consolidation::all(&empty);
}

/// A run in a cohab shell that succeeded, without an output.
#[must_use]
pub fn run(line: &str, second: i64) -> NewRun {
    NewRun {
        line: line.to_owned(),
        at: Some(at(second)),
        folder: Some("/home/ann".into()),
        exit_code: Some(0),
        duration: Some(Duration::from_millis(1_200)),
        output_tail: String::new(),
        source: RunSource::Shell,
    }
}

/// A turn of the session `s1` without commands, with its second as its id.
#[must_use]
pub fn turn(question: &str, second: i64) -> NewTurn {
    NewTurn {
        turn: format!("turn {second}"),
        session: "s1".to_owned(),
        at: at(second),
        folder: "/home/ann".into(),
        question: question.to_owned(),
        answer: String::new(),
        commands: Vec::new(),
        trust: 0.7,
    }
}

/// A moment, in seconds since the epoch.
#[must_use]
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A search for the words of a text, each with one meaning.
#[must_use]
pub fn words(text: &str) -> PastQuery {
    let group = |term| WordGroup { term, others: Vec::new() };
    PastQuery { groups: terms::of(text).into_iter().map(group).collect(), ..PastQuery::default() }
}

fn between(from: i64, until: i64) -> Option<Period> {
    Some(Period { from: Some(at(from)), until: Some(at(until)) })
}

/// The line or question of a record.
#[must_use]
pub fn text(item: &PastItem) -> &str {
    match item {
        PastItem::Line(line) => &line.last.line,
        PastItem::Turn(turn) => &turn.turn.question,
    }
}

fn sorted(items: &[PastItem]) -> Vec<&str> {
    let mut texts: Vec<_> = items.iter().map(text).collect();
    texts.sort_unstable();
    texts
}

/// The texts of the hits, in the order of the alphabet.
fn hits<S: PastStore>(store: &S, query: &PastQuery) -> Vec<String> {
    sorted(&store.search(query).unwrap().hits).into_iter().map(str::to_owned).collect()
}

fn found<S: PastStore>(store: &S, query: &str) -> PastFound {
    store.search(&words(query)).unwrap()
}

/// The number of the record with this text.
fn id<S: PastStore>(store: &S, wanted: &str) -> PastId {
    let all = store.search(&PastQuery::default()).unwrap().hits;
    all.iter().find(|item| text(item) == wanted).unwrap().id()
}

fn records_come_back_as_they_were<S: PastStore>(store: &mut S) {
    let bare = NewRun {
        line: "make\n\ttest \u{1f980}".to_owned(),
        at: None,
        folder: None,
        exit_code: None,
        duration: None,
        output_tail: String::new(),
        source: RunSource::Bash,
    };
    let full = NewRun {
        exit_code: Some(-1),
        output_tail: "error: no such file".to_owned(),
        source: RunSource::Atuin,
        ..run("ls missing", 5)
    };
    let commands = vec![
        TurnCommand { line: "ls -la".to_owned(), exit_code: Some(2) },
        TurnCommand { line: "rm \"x\"".to_owned(), exit_code: None },
    ];
    let asked =
        NewTurn { answer: "It is *here*.\n".to_owned(), commands, trust: 0.3, ..turn("where is the \u{202e}log?", 7) };
    let added = store.add(&[bare.clone(), full.clone()], std::slice::from_ref(&asked)).unwrap();
    assert_eq!(added, Added { new: 3, known: 0 });
    for expected in [bare, full] {
        let PastItem::Line(line) = store.get(id(store, &expected.line)).unwrap().unwrap() else { panic!("a line") };
        assert_eq!((line.last, line.runs), (expected, 1));
    }
    let PastItem::Turn(stored) = store.get(id(store, &asked.question)).unwrap().unwrap() else { panic!("a turn") };
    assert_eq!(stored.turn, asked);
    assert_eq!((store.trust(&asked.turn).unwrap(), store.trust("turn 8").unwrap()), (Some(0.3), None));
    for missing in [PastId::Line(99), PastId::Turn(99), PastId::Line(u64::MAX)] {
        assert_eq!(store.get(missing).unwrap(), None);
    }
    assert_eq!(store.changed().unwrap(), []);
}

fn a_record_is_stored_once<S: PastStore>(store: &mut S) {
    let timeless = NewRun { at: None, source: RunSource::Bash, ..run("make", 0) };
    let runs = [run("make", 1), run("make", 2), timeless.clone(), run("make", 1)];
    assert_eq!(store.add(&runs, &[turn("why?", 3), turn("what?", 3)]).unwrap(), Added { new: 4, known: 2 });
    assert_eq!(store.add(&runs, &[turn("why?", 3)]).unwrap(), Added { new: 0, known: 5 });
    // Another source makes another run.
    let others = [NewRun { source: RunSource::Zsh, ..timeless }, NewRun { source: RunSource::Zsh, ..run("make", 1) }];
    assert_eq!(store.add(&others, &[]).unwrap(), Added { new: 2, known: 0 });
    let PastItem::Line(line) = store.get(id(store, "make")).unwrap().unwrap() else { panic!("a line") };
    assert_eq!((line.runs, line.last.at), (5, Some(at(2))));
    assert_eq!(store.add(&[], &[]).unwrap(), Added::default());
}

fn a_line_is_found_by_each_of_its_words<S: PastStore>(store: &mut S) {
    let line = "ffmpeg -i Trailer_final.mov -c:v libx264 out/größte.mp4";
    let folder = Some("/home/ann/src/upload-shop".into());
    store.add(&[NewRun { folder, ..run(line, 1) }, run("make test", 2), run(".", 3)], &[]).unwrap();
    for word in terms::of(line).into_iter().chain(["upload".to_owned(), "shop".to_owned()]) {
        let query =
            PastQuery { groups: vec![WordGroup { term: word.clone(), others: Vec::new() }], ..PastQuery::default() };
        assert_eq!(hits(store, &query), [line], "{word}");
    }
    let group = WordGroup { term: "missing".to_owned(), others: vec!["ffmpeg".to_owned(), "magick".to_owned()] };
    let other = WordGroup { term: "make".to_owned(), others: vec!["ninja".to_owned()] };
    let found = store.search(&PastQuery { groups: vec![group, other], ..PastQuery::default() }).unwrap();
    assert_eq!((found.total, found.with_term), (3, vec![(0, vec![1, 0]), (1, vec![0])]));
    assert_eq!(sorted(&found.hits), [line, "make test"]);
    assert_eq!(found.neighbours, []);
    // The folder of a later run is found, too, and the line counts once.
    store
        .add(&[NewRun { folder: Some("/srv/blog".into()), ..run("make test", 4) }, run("make test", 900 * DAY)], &[])
        .unwrap();
    let found = self::found(store, "blog make missing");
    assert_eq!(
        (sorted(&found.hits), found.with_term),
        (vec!["make test"], vec![(1, vec![]), (1, vec![]), (0, vec![])])
    );
    // A line without a word is found by its folder.
    assert!(hits(store, &words("ann")).contains(&".".to_owned()));
}

fn a_turn_is_found_by_all_its_texts<S: PastStore>(store: &mut S) {
    let commands = vec![TurnCommand { line: "lsof -i :8080".to_owned(), exit_code: Some(0) }];
    let asked = NewTurn {
        answer: "A forgotten server holds it.".to_owned(),
        commands,
        ..turn("which program has the port?", 1)
    };
    store.add(&[run("frobnicate", 1)], &[NewTurn { folder: "/srv/webshop".into(), ..asked }]).unwrap();
    for word in ["programs", "servers", "LSOF", "8080", "webshop"] {
        assert_eq!(hits(store, &words(word)), ["which program has the port?"], "{word}");
    }
    assert_eq!(hits(store, &words("frobnicate")), ["frobnicate"]);
    assert_eq!(found(store, "missing").hits, []);
}

fn the_rarest_and_the_most_groups_are_among_the_hits<S: PastStore>(store: &mut S) {
    let mut runs = vec![run("zorg plover start", 1), run("zorg frob --all", 2), run("echo sesame", 3)];
    runs.extend((0..1_500).map(|n| run(&format!("zorg list {n}"), n + 10)));
    runs.extend((0..700).map(|n| run(&format!("frob {n}"), n + 10)));
    let turns: Vec<_> = (0..700).map(|n| turn(&format!("what does zorg do with {n}?"), n + 10)).collect();
    store.add(&runs, &turns).unwrap();
    let found = found(store, "zorg frob sesame plover");
    assert!(found.total == 2_903 && found.hits.len() <= MAX_HITS);
    for expected in ["zorg plover start", "zorg frob --all", "echo sesame"] {
        assert!(found.hits.iter().any(|hit| text(hit) == expected), "{expected}");
    }
    let ids: BTreeSet<_> = found.hits.iter().map(PastItem::id).collect();
    assert_eq!(ids.len(), found.hits.len());
    let with: Vec<u64> = found.with_term.iter().map(|(count, _)| *count).collect();
    assert!(with[0] > with[1] && with[1] > with[2] && with[2] == 1 && with[3] == 1, "{with:?}");
}

fn a_line_of_last_week_is_found_among_many<S: PastStore>(store: &mut S) {
    let now = 2_000 * DAY;
    let mut runs: Vec<_> = (0..2_000).map(|n| run(&format!("git show {n}"), n * DAY / 2)).collect();
    runs.push(run("git clean", now - 1_100 * DAY));
    runs.push(NewRun { folder: Some("/srv/shop/src".into()), ..run("git gc", now - 1_200 * DAY) });
    runs.push(NewRun { exit_code: Some(1), ..run("git am", now - 1_300 * DAY) });
    // The newest lines of all, behind the period.
    runs.extend((0..2_000).map(|n| run(&format!("git diff {n}"), now + n)));
    store.add(&runs, &[]).unwrap();
    let week = |end: i64| between(now - end * DAY - 3_600, now - end * DAY + 3_600);
    let query = PastQuery { period: week(1_100), ..words("git") };
    assert_eq!(hits(store, &query).len(), 2);
    assert!(hits(store, &query).contains(&"git clean".to_owned()));
    assert_eq!(hits(store, &PastQuery { folder: Some("/srv/shop".into()), ..words("git") }), ["git gc"]);
    assert_eq!(hits(store, &PastQuery { has_succeeded: Some(false), ..words("git") }), ["git am"]);
    let all =
        PastQuery { folder: Some("/srv".into()), period: week(1_200), has_succeeded: Some(true), ..words("git gc") };
    assert_eq!(hits(store, &all), ["git gc"]);
    assert_eq!(hits(store, &PastQuery { has_succeeded: Some(false), ..all }), [""; 0]);
}

fn each_condition_chooses_the_newest_run<S: PastStore>(store: &mut S) {
    let failed =
        |folder: &str, second| NewRun { exit_code: Some(2), folder: Some(folder.into()), ..run("make", second) };
    let runs = [
        run("make", 10),
        failed("/srv/shop/src", 20),
        failed("/srv/shop2", 30),
        NewRun { exit_code: None, folder: None, ..run("make", 40) },
        NewRun { at: None, ..run("make", 0) },
    ];
    store.add(&runs, &[]).unwrap();
    let last = |query: PastQuery| {
        let hits = store.search(&query).unwrap().hits;
        assert_eq!(store.search(&PastQuery { groups: words("make").groups, ..query }).unwrap().hits, hits);
        match &hits[..] {
            [PastItem::Line(line)] => (line.last.at, line.runs),
            others => (None, others.len() as u64),
        }
    };
    let query = PastQuery::default();
    assert_eq!(last(query.clone()), (Some(at(40)), 5));
    assert_eq!(last(PastQuery { period: between(10, 30), ..query.clone() }), (Some(at(20)), 2));
    assert_eq!(last(PastQuery { period: between(41, 99), ..query.clone() }), (None, 0));
    assert_eq!(last(PastQuery { period: Some(Period::default()), ..query.clone() }), (Some(at(40)), 4));
    assert_eq!(
        last(PastQuery { period: Some(Period { from: None, until: Some(at(11)) }), ..query.clone() }),
        (Some(at(10)), 1)
    );
    assert_eq!(last(PastQuery { folder: Some("/srv/shop/".into()), ..query.clone() }), (Some(at(20)), 1));
    assert_eq!(last(PastQuery { folder: Some("/".into()), ..query.clone() }), (Some(at(30)), 4));
    assert_eq!(last(PastQuery { folder: Some("/srv/sho".into()), ..query.clone() }), (None, 0));
    assert_eq!(last(PastQuery { has_succeeded: Some(true), ..query.clone() }), (Some(at(10)), 2));
    assert_eq!(last(PastQuery { has_succeeded: Some(false), ..query }), (Some(at(30)), 2));
}

fn what_is_wished_for_is_found_among_many<S: PastStore>(store: &mut S) {
    let mut runs: Vec<_> = (0..2_000).map(|n| run(&format!("git show {n}"), n + 1_000)).collect();
    // Runs that have one wish, and one with both.
    runs.push(run("git gc", 5));
    runs.push(NewRun { folder: Some("/srv/shop".into()), ..run("git am", 900) });
    runs.extend([NewRun { folder: Some("/srv/shop".into()), ..run("git show 7", 6) }, run("git show 7", 7)]);
    store.add(&runs, &[]).unwrap();
    let wishes = vec![
        Wish::Period(Period { from: Some(at(0)), until: Some(at(100)) }),
        Wish::Folder("/srv/shop".into()),
        Wish::Outcome(false),
    ];
    for query in [words("git"), PastQuery::default()] {
        let found = store.search(&PastQuery { wishes: wishes.clone(), ..query }).unwrap().hits;
        assert!(found.len() >= MAX_HITS / 2, "a wish excludes nothing");
        let run_of = |line: &str| {
            let hit = found.iter().find(|hit| text(hit) == line)?;
            Some((hit.at()?, hit.folder()?.to_owned()))
        };
        assert_eq!(run_of("git gc"), Some((at(5), "/home/ann".into())));
        assert_eq!(run_of("git am"), Some((at(900), "/srv/shop".into())));
        assert_eq!(run_of("git show 7"), Some((at(6), "/srv/shop".into())), "the newest with most wishes");
        assert!(run_of("git show 1999").is_some());
    }
}

fn without_words_the_newest_are_found<S: PastStore>(store: &mut S) {
    let mut runs: Vec<_> = (0..600).map(|n| run(&format!("make {n}"), n)).collect();
    runs.push(NewRun { at: None, ..run("timeless", 0) });
    // An old line that ran again is new.
    runs.push(run("make 0", 2_000));
    let command = |exit_code| vec![TurnCommand { line: "make".to_owned(), exit_code }];
    let failed = NewTurn { commands: command(Some(1)), ..turn("new?", 1_000) };
    let open = NewTurn { commands: command(None), ..turn("open?", 1_001) };
    store.add(&runs, &[failed, open, turn("old?", 0)]).unwrap();
    let newest = hits(store, &PastQuery::default());
    assert_eq!(newest.len(), MAX_HITS);
    for (expected, is_found) in
        [("make 0", true), ("make 599", true), ("new?", true), ("old?", false), ("timeless", false)]
    {
        assert_eq!(newest.contains(&expected.to_owned()), is_found, "{expected}");
    }
    assert_eq!(hits(store, &PastQuery { period: between(0, 2), ..PastQuery::default() }), ["make 0", "make 1", "old?"]);
    let failed = PastQuery { has_succeeded: Some(false), ..PastQuery::default() };
    assert_eq!(hits(store, &failed), ["new?", "open?"]);
    let folder = |folder: &str| PastQuery { folder: Some(folder.into()), ..PastQuery::default() };
    assert_eq!((hits(store, &folder("/home/ann")).len(), hits(store, &folder("/srv")).len()), (MAX_HITS, 0));
}

fn the_turns_around_a_hit_are_neighbours<S: PastStore>(store: &mut S) {
    let questions = ["one", "two", "three sesame", "four sesame", "five", "six"];
    let mut turns: Vec<_> = (1..).zip(questions).map(|(second, question)| turn(question, second)).collect();
    turns.insert(3, NewTurn { session: "s2".to_owned(), ..turn("another", 50) });
    store.add(&[run("sesame", 1)], &turns).unwrap();
    let found = found(store, "sesame");
    assert_eq!(sorted(&found.hits), ["four sesame", "sesame", "three sesame"]);
    assert_eq!(sorted(&found.neighbours), ["five", "two"]);
    let found = self::found(store, "another one");
    assert_eq!((sorted(&found.hits), sorted(&found.neighbours)), (vec!["another", "one"], vec!["two"]));
}

fn ids_are_forgotten<S: PastStore>(store: &mut S) {
    let runs = [run("sesame one", 1), run("sesame one", 2), run("sesame two", 3)];
    store.add(&runs, &[turn("sesame?", 4), turn("again sesame?", 5)]).unwrap();
    let (line, asked) = (id(store, "sesame one"), id(store, "sesame?"));
    assert_eq!(store.forget(&PastSelection::Ids(vec![line, asked, PastId::Line(99), asked])).unwrap(), 3);
    assert_eq!((store.get(line).unwrap(), store.get(asked).unwrap()), (None, None));
    let found = found(store, "sesame");
    assert_eq!((found.total, found.with_term), (2, vec![(2, vec![])]));
    assert_eq!(sorted(&found.hits), ["again sesame?", "sesame two"]);
    assert_eq!((found.neighbours, store.changed().unwrap()), (vec![], vec![]));
    assert_eq!(store.forget(&PastSelection::Ids(vec![line])).unwrap(), 0);
    // A number is given once.
    store.add(&[run("sesame one", 1)], &[turn("sesame?", 4)]).unwrap();
    assert!(id(store, "sesame one") > line && id(store, "sesame?") > asked);
}

fn sources_and_times_are_forgotten<S: PastStore>(store: &mut S) {
    let imported = |line: &str, at| NewRun { at, source: RunSource::Bash, ..run(line, 0) };
    let runs = [run("make", 10), imported("make", Some(at(5))), imported("ls", None), run("pwd", 20), run("ls", 30)];
    store.add(&runs, &[turn("old?", 15), turn("new?", 25)]).unwrap();
    let before = |second, timeless| PastSelection::Before { at: at(second), timeless };
    assert_eq!(store.forget(&before(11, false)).unwrap(), 2);
    assert_eq!(hits(store, &PastQuery::default()), ["ls", "new?", "old?", "pwd"]);
    assert_eq!(hits(store, &words("make")), [""; 0]);
    assert_eq!(store.forget(&before(20, true)).unwrap(), 2);
    assert_eq!(hits(store, &PastQuery::default()), ["ls", "new?", "pwd"]);
    store.add(&[imported("ls", Some(at(99))), imported("cd", Some(at(99)))], &[]).unwrap();
    assert_eq!(store.forget(&PastSelection::Source(RunSource::Bash)).unwrap(), 2);
    assert_eq!(hits(store, &words("ls cd")), ["ls"]);
    let PastItem::Line(line) = store.get(id(store, "ls")).unwrap().unwrap() else { panic!("a line") };
    assert_eq!((line.last, line.runs), (run("ls", 30), 1));
    assert_eq!(store.changed().unwrap(), []);
}

fn everything_is_forgotten<S: PastStore>(store: &mut S) {
    store.add(&[run("make", 1), NewRun { at: None, ..run("ls", 0) }], &[turn("why?", 2)]).unwrap();
    assert_eq!(store.forget(&PastSelection::All).unwrap(), 3);
    assert_eq!(store.search(&PastQuery::default()).unwrap(), PastFound::default());
    assert_eq!(found(store, "make").with_term, [(0, vec![])]);
    assert_eq!((store.counts().unwrap().lines, store.counts().unwrap().since), (0, None));
    assert_eq!(store.add(&[run("make", 1)], &[]).unwrap().new, 1);
    assert_eq!(hits(store, &words("make")), ["make"]);
}

fn hostile_texts_and_terms_are_data<S: PastStore>(store: &mut S) {
    let hostile = [
        "",
        ".",
        "a\" OR \"b",
        "x'); DROP TABLE lines; --",
        "NEAR(a b)",
        "terms:a",
        "100% of _all_ *",
        "\u{0}nul",
        "\u{1f980} \u{202e}",
        "§1 §ok §partly",
    ];
    for (second, line) in (0..).zip(hostile) {
        store.add(&[run(line, second)], &[turn(line, second)]).unwrap();
    }
    assert_eq!(store.search(&PastQuery::default()).unwrap().hits.len(), 2 * hostile.len());
    for line in hostile {
        let all = store.search(&PastQuery::default()).unwrap().hits;
        for item in all.iter().filter(|item| text(item) == line) {
            assert_eq!(store.get(item.id()).unwrap().as_ref(), Some(item));
        }
        for term in terms::of(line) {
            let group = WordGroup { term: term.clone(), others: Vec::new() };
            let found = store.search(&PastQuery { groups: vec![group], ..PastQuery::default() }).unwrap();
            assert!(found.hits.iter().any(|hit| text(hit) == line), "{term}");
        }
    }
    let odd = ["", " ", "\"", "*", "^", "-", "AND", "a OR b", "\u{0}", "§ok", "§1", "A", "\u{a0}"];
    for term in hostile.into_iter().chain(odd) {
        let group = WordGroup { term: term.to_owned(), others: vec![term.to_owned()] };
        let found = store.search(&PastQuery { groups: vec![group], ..PastQuery::default() }).unwrap();
        assert_eq!((found.hits, found.with_term), (vec![], vec![(0, vec![0])]), "{term}");
    }
    let many =
        |n: usize| WordGroup { term: format!("word{n}"), others: (0..100).map(|other| format!("w{other}")).collect() };
    let query = PastQuery { groups: (0..100).map(many).collect(), folder: Some("".into()), ..PastQuery::default() };
    assert_eq!(store.search(&query).unwrap().with_term.len(), 100);
    assert_eq!(store.changed().unwrap(), []);
}

fn an_odd_time_is_a_time<S: PastStore>(store: &mut S) {
    let times = [Timestamp::MIN, at(-5), at(0), at(4_000_000_000), Timestamp::MAX];
    let runs: Vec<_> = times.iter().map(|at| NewRun { at: Some(*at), ..run("make", 0) }).collect();
    assert_eq!(store.add(&runs, &[NewTurn { at: Timestamp::MIN, ..turn("make?", 1) }]).unwrap().new, 6);
    let runs = |period| {
        let found = store.search(&PastQuery { period: Some(period), ..words("make") }).unwrap().hits;
        found.iter().map(|item| if let PastItem::Line(line) = item { line.runs } else { 100 }).sum::<u64>()
    };
    assert_eq!(runs(Period::default()), 105);
    assert_eq!(runs(Period { from: None, until: Some(at(-4)) }), 102);
    assert_eq!(runs(Period { from: Some(at(-5)), until: Some(at(1)) }), 2);
    assert_eq!(runs(Period { from: Some(at(1)), until: None }), 2);
    assert_eq!(runs(Period { from: Some(at(9)), until: Some(at(3)) }), 0);
}

fn counts_follow_each_change<S: PastStore>(store: &mut S) {
    let zsh = NewRun { source: RunSource::Zsh, ..run("make", 5) };
    store.add(&[run("make", 7), run("ls", 8), zsh], &[turn("why?", 6)]).unwrap();
    let counts = store.counts().unwrap();
    let mut runs = counts.runs;
    runs.sort_unstable();
    assert_eq!(runs, [(RunSource::Shell, 2), (RunSource::Zsh, 1)]);
    assert_eq!((counts.lines, counts.turns, counts.since), (2, 1, Some(at(5))));
    store.forget(&PastSelection::Source(RunSource::Zsh)).unwrap();
    let counts = store.counts().unwrap();
    assert_eq!((counts.runs, counts.since), (vec![(RunSource::Shell, 2)], Some(at(6))));
}
