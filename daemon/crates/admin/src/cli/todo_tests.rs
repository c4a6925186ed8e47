use cohab_agent::tasks::Status;
use cohab_store::sessions::{Entry, KeepAll as _};

use super::*;
use crate::cli::testing::Home;

fn shown(home: &Home, args: &TodoArgs) -> String {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    run(args, &home.paths, &mut output, &mut errors);
    String::from_utf8([output, errors].concat()).expect("it is text")
}

fn home() -> Home {
    let home = Home::with_sessions();
    let task = |text: &str, status| Task { text: text.into(), status };
    let open = vec![task("look", Status::Completed), task("mend", Status::InProgress), task("test", Status::Pending)];
    let done = vec![task("all", Status::Completed)];
    let set = |session: &str, tasks| Entry::Tasks { session: session.into(), tasks };
    home.store().keep_all(&[set("shell:2", open), set("shell:1", done)]).expect("they are kept");
    home
}

const OPEN: TodoArgs = TodoArgs { session: None, all: false, json: false };

#[test]
fn open_lists_are_shown_and_done_ones_on_demand() {
    let home = home();
    let text = shown(&home, &OPEN);
    assert!(text.ends_with("deploy the shop: 2 open of 3\n  ✓ look\n  ▶ mend\n  ○ test\n"), "{text}");
    let all = shown(&home, &TodoArgs { all: true, ..OPEN });
    assert!(all.contains("2 open of 3") && all.contains("0 open of 1\n  ✓ all\n"), "{all}");
}

#[test]
fn one_session_and_json() {
    let home = home();
    let json = shown(&home, &TodoArgs { session: Some("last".into()), json: true, ..OPEN });
    let value: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(value["sessions"][0]["active"], 2);
    assert_eq!(value["sessions"][0]["tasks"][1], json!({"text": "mend", "status": "in_progress"}));
    assert!(shown(&home, &TodoArgs { session: Some("ffff".into()), ..OPEN }).starts_with("error: no session begins"));
}

#[test]
fn without_tasks_or_a_store_none_is_open() {
    for home in [Home::empty(), Home::with_sessions()] {
        assert_eq!(shown(&home, &OPEN), "There are no open tasks.\n");
        assert_eq!(shown(&home, &TodoArgs { json: true, ..OPEN }), "{\"sessions\":[]}\n");
    }
}
