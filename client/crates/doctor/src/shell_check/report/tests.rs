use cohab_shell_state::shell::Shell;

use super::*;
use crate::shell_check::facts::{
    FolderFacts, HalfLine, Inside, MarksSeen, PlaceFacts, RcFacts, RcLine, RelayFacts, ShellFacts, StartFacts, Tried,
    Version,
};

const ALL_MARKS: MarksSeen = MarksSeen { prompt: true, start: true, end: true, continuation: true };

fn relay_that_works() -> RelayFacts {
    RelayFacts {
        has_line_editor: true,
        first: Tried::Right,
        is_history_aside: true,
        marks: ALL_MARKS,
        continuation_tried: true,
        enter: Tried::Right,
        hotkey: Tried::Right,
        half_line: HalfLine::Back,
        types_right: true,
        answer: Tried::Right,
        status: Tried::Right,
        cwd: Tried::Right,
        variables: Tried::Right,
        variables_told: Tried::Right,
        shapes: vec![("here-document", Tried::Right), ("comment", Tried::Right), ("unclosed quote", Tried::Right)],
        history: Tried::Right,
        relayed: vec![Duration::from_micros(1300); 20],
        typed: vec![Duration::from_micros(900); 20],
        inside: Some(Inside { tools: vec!["starship"], promptvars: Some(true) }),
    }
}

fn bash_that_works() -> Facts {
    Facts {
        shell: ShellFacts {
            kind: Shell::Bash,
            path: "/bin/bash".into(),
            version: Some(Version(5, 2, 15)),
            is_login: false,
            passed_over: vec![],
        },
        place: PlaceFacts {
            term: Some("xterm-256color".into()),
            has_cwd: true,
            has_dev_tty: true,
            is_inside_tmux: true,
            ..PlaceFacts::default()
        },
        folder: FolderFacts { path: "/run/user/1000/cohab".into(), error: None, free_bytes: Some(1 << 30) },
        start: StartFacts {
            ours: StartEnd::Prompt,
            first: Duration::from_millis(30),
            plain: None,
            with: Some(Duration::from_micros(17_200)),
            without: Some(Duration::from_micros(13_100)),
            marks: ALL_MARKS,
            printed: String::new(),
        },
        rc: RcFacts::default(),
        has_hotkey: true,
        relay: Some(relay_that_works()),
    }
}

fn ends_at(ours: StartEnd) -> Facts {
    let facts = bash_that_works();
    let start = StartFacts { ours, marks: MarksSeen::default(), with: None, without: None, ..facts.start };
    Facts { start, relay: None, ..facts }
}

fn shown(facts: Facts) -> String {
    String::from_utf8(Report::new(facts).text(80, ColorSupport::None)).unwrap()
}

fn rc_line(number: usize, text: &str) -> Option<RcLine> {
    Some(RcLine { file: "~/.bashrc".into(), number, text: text.into() })
}

#[test]
fn all_is_well() {
    insta::assert_snapshot!(shown(bash_that_works()));
    assert!(Report::new(bash_that_works()).works());
}

#[test]
fn what_is_wrong_comes_with_hints() {
    let mut relay = relay_that_works();
    relay.enter = Tried::Wrong("the line editor did not answer".into());
    relay.answer = Tried::Skipped;
    relay.half_line = HalfLine::Unknown;
    relay.marks.start = false;
    relay.history = Tried::Skipped;
    relay.variables_told = Tried::Wrong("it stays, but the change is not reported".into());
    relay.inside = Some(Inside { tools: vec!["ble.sh"], promptvars: Some(true) });
    let mut facts = Facts { relay: Some(relay), ..bash_that_works() };
    facts.rc.complaint = Some("bash: ~/.bashrc: line 3: syntax error".into());
    facts.folder.free_bytes = Some(9_000_000);
    assert!(Report::new(facts.clone()).works(), "the hotkey is left");
    insta::assert_snapshot!(shown(facts));
}

#[test]
fn a_shell_that_never_gets_to_its_prompt() {
    let ended = Facts {
        rc: RcFacts { exit: rc_line(4, "exit 3"), ..RcFacts::default() },
        ..ends_at(StartEnd::Ended { status: 3 })
    };
    let replaced = Facts {
        rc: RcFacts { exec: rc_line(9, "exec fish"), ..RcFacts::default() },
        ..ends_at(StartEnd::Replaced { by: "fish".into() })
    };
    let slow = ends_at(StartEnd::Slow { running: Some("sleep".into()), after: Duration::from_secs(10) });
    let mut unmarked = ends_at(StartEnd::Unmarked);
    unmarked.start.marks.end = true;
    unmarked.rc.promptvars = rc_line(2, "shopt -u promptvars");
    let mut ours = ends_at(StartEnd::Ended { status: 1 });
    ours.start.plain = Some(StartEnd::Prompt);
    let all = [ended, replaced, slow, unmarked, ours];
    assert!(all.iter().all(|facts| !Report::new(facts.clone()).works()));
    insta::assert_snapshot!(all.map(shown).join("\n---\n"));
}

#[test]
fn a_shell_that_cohab_leaves_as_it_is() {
    let mut dash = ends_at(StartEnd::NotIntegrated);
    dash.shell = ShellFacts { kind: Shell::Other, path: "/bin/dash".into(), version: None, ..dash.shell };
    let mut old = ends_at(StartEnd::Unmarked);
    old.shell.version = Some(Version(3, 2, 57));
    let mut no_folder = ends_at(StartEnd::NotIntegrated);
    no_folder.folder.error = Some("/run/x: it belongs to uid 0; it must be a folder of yours with mode 0700".into());
    let mut dumb = bash_that_works();
    dumb.place.term = Some("dumb".into());
    let missing = ends_at(StartEnd::Failed("/opt/zsh: No such file or directory (os error 2)".into()));
    let mut nowhere = ends_at(StartEnd::Failed("/bin/bash: No such file or directory (os error 2)".into()));
    nowhere.place.has_cwd = false;
    let all = [dash, old, no_folder, dumb, missing, nowhere];
    assert!(all.iter().all(|facts| !Report::new(facts.clone()).works()));
    insta::assert_snapshot!(all.map(shown).join("\n---\n"));
}

#[test]
fn a_wrong_result_is_a_failure_whatever_else_is_well() {
    let spoil: [fn(&mut RelayFacts); 8] = [
        |relay| relay.has_line_editor = false,
        |relay| relay.first = Tried::Wrong("x".into()),
        |relay| relay.status = Tried::Wrong("x".into()),
        |relay| relay.cwd = Tried::Wrong("x".into()),
        |relay| relay.variables = Tried::Wrong("x".into()),
        |relay| relay.shapes[1].1 = Tried::Wrong("x".into()),
        |relay| relay.answer = Tried::Wrong("x".into()),
        |relay| (relay.enter, relay.hotkey) = (Tried::Wrong("x".into()), Tried::Wrong("x".into())),
    ];
    for (number, spoil) in spoil.iter().enumerate() {
        let mut relay = relay_that_works();
        spoil(&mut relay);
        assert!(!Report::new(Facts { relay: Some(relay), ..bash_that_works() }).works(), "{number}");
    }
    let mut relay = relay_that_works();
    relay.enter = Tried::Wrong("x".into());
    assert!(
        !Report::new(Facts { relay: Some(relay), has_hotkey: false, ..bash_that_works() }).works(),
        "no way to ask"
    );
}

#[test]
fn the_json_has_its_documented_shape() {
    let report = Report::new(bash_that_works());
    insta::assert_snapshot!(report.json());
    let failed: Value = serde_json::from_str(&Report::new(ends_at(StartEnd::Ended { status: 3 })).json()).unwrap();
    assert_eq!((&failed["works"], &failed["start_ms"]["with"]), (&json!(false), &Value::Null));
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&failed), names(&serde_json::from_str(&report.json()).unwrap()));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let report = Report::new(ends_at(StartEnd::Ended { status: 3 }));
    let coloured = String::from_utf8(report.text(80, ColorSupport::Ansi16)).unwrap();
    assert!(coloured.contains("\x1b[1;31mfail\x1b[m") && coloured.contains("\x1b[32mok"), "{coloured:?}");
    assert!(!report.text(80, ColorSupport::None).contains(&0x1b));
}

#[test]
fn rows_fit_and_lose_no_word() {
    let text =
        "a start-up file replaces the shell: ~/.bashrc line 9: `exec fish`; if fish is the shell you want, name it";
    for columns in [0, 20, 40, 80, 200] {
        let rows = rows(text, columns, 16);
        assert_eq!(rows.join(" "), text);
        let longest_word = text.split(' ').map(str::len).max().unwrap_or(0);
        let room = columns.saturating_sub(16).max(longest_word);
        assert!(rows.iter().all(|row| row.len() <= room), "{columns}: {rows:?}");
    }
}

#[test]
fn what_was_not_tried_is_not_promised() {
    let mut relay = relay_that_works();
    (relay.enter, relay.hotkey, relay.answer) = (Tried::Skipped, Tried::Skipped, Tried::Skipped);
    let text = shown(Facts { relay: Some(relay), ..bash_that_works() });
    assert!(text.contains("warn  enter          not tried for want of time"), "{text}");
    assert!(text.ends_with("\n\nWhat was tried works in this shell; asking a question was not tried.\n"), "{text}");
}
