//! What a consolidation reads.

use std::path::Path;

use super::{at, run, turn};
use crate::{
    past::{
        record::{Deed, NewRun, NewTurn, RunSource, TurnCommand},
        store::{PastSelection, PastStore},
    },
    record::Source,
};

/// All of them.
pub(super) fn all<S: PastStore>(empty: impl Fn() -> S) {
    deeds_are_what_succeeded_one_by_one(&mut empty());
    a_turn_is_consolidated_once(&mut empty());
}

fn deeds_are_what_succeeded_one_by_one<S: PastStore>(store: &mut S) {
    let folder = |folder: &str, run: NewRun| NewRun { folder: Some(folder.into()), ..run };
    let runs = [
        folder("/srv/shop", run("make", 5)),
        folder("/srv/shop/web", run("make", 1)),
        folder("/srv/shop2", run("make", 2)),
        NewRun { exit_code: Some(1), ..folder("/srv/shop", run("make", 3)) },
        NewRun { exit_code: None, ..folder("/srv/shop", run("make", 4)) },
        NewRun { at: None, ..folder("/srv/shop", run("make", 0)) },
        NewRun { source: RunSource::Atuin, ..folder("/srv/shop", run("make", 6)) },
    ];
    let command = |line: &str, exit_code| TurnCommand { line: line.to_owned(), exit_code };
    let commands =
        vec![command("one", Some(0)), command("two", Some(2)), command("three", None), command("four", Some(0))];
    let turn = NewTurn { commands, folder: "/srv/shop".into(), trust: 0.3, ..turn("why?", 7) };
    store.add(&runs, &[turn.clone(), NewTurn { turn: "other".into(), folder: "/srv".into(), ..turn.clone() }]).unwrap();
    let deeds = |folder: &str, since: i64, limit| {
        let mut deeds = store.deeds(Path::new(folder), at(since), limit).unwrap();
        deeds.sort_by_key(|deed| deed.at);
        deeds
    };
    let all = deeds("/srv/shop", 0, 100);
    let short = |deed: &Deed| (deed.line.clone(), deed.at.as_second() - at(0).as_second());
    let texts: Vec<_> = all.iter().map(short).collect();
    let expected = [("make", 1), ("make", 5), ("make", 6), ("one", 7), ("four", 7)];
    assert_eq!(texts, expected.map(|(line, second)| (line.to_owned(), second)));
    assert_eq!(all.iter().map(|deed| deed.trust).collect::<Vec<_>>(), [0.9, 0.9, 0.6, 0.3, 0.3]);
    assert!(all.iter().all(|deed| deed.exit_code == Some(0)));
    assert_eq!((&all[0].source, all[0].folder.as_path()), (&Source::Commands, Path::new("/srv/shop/web")));
    assert_eq!((&all[3].source, all[3].session.as_ref()), (&Source::Turn(turn.turn), Some(&turn.session)));
    assert_eq!(deeds("/srv/shop", 6, 100).iter().map(short).collect::<Vec<_>>(), texts[2..]);
    assert_eq!(deeds("/srv/shop", 0, 1).iter().map(short).collect::<Vec<_>>(), texts[2..]);
    assert_eq!(deeds("/srv/sho", 0, 100), []);
    assert_eq!(deeds("/srv/shop", 0, 0), []);
}

fn a_turn_is_consolidated_once<S: PastStore>(store: &mut S) {
    let turns: Vec<_> = (0..5).map(|second| turn(&format!("q{second}?"), second)).collect();
    store.add(&[], &turns).unwrap();
    let waiting = |store: &S, since, limit| {
        let turns = store.unconsolidated(at(since), limit).unwrap();
        turns.into_iter().map(|turn| (turn.id, turn.turn.question)).collect::<Vec<_>>()
    };
    let questions = |waiting: Vec<(u64, String)>| waiting.into_iter().map(|(_, question)| question).collect::<Vec<_>>();
    let all = waiting(store, 0, 10);
    assert_eq!(questions(all.clone()), ["q0?", "q1?", "q2?", "q3?", "q4?"]);
    assert_eq!(questions(waiting(store, 1, 2)), ["q1?", "q2?"]);
    store.set_consolidated(all[2].0).unwrap();
    store.set_consolidated(all[0].0).unwrap();
    assert_eq!(questions(waiting(store, 0, 10)), ["q3?", "q4?"]);
    store.forget(&PastSelection::All).unwrap();
    store.add(&[], &[turn("q5?", 9)]).unwrap();
    assert_eq!(questions(waiting(store, 0, 10)), ["q5?"]);
    store.set_consolidated(u64::MAX).unwrap();
    assert_eq!(waiting(store, 0, 10), []);
    assert_eq!(store.changed().unwrap(), []);
}
