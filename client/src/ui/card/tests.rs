use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use cohab_protocol::{ApprovalId, TurnId};

use super::*;
use crate::{
    approval::{OpenQuestion, Scene},
    errand::Done,
    touched::{Grave, Note, Tally, Touched},
    ui::{
        describe::{plain, styled},
        keys::{Input, KeyReader},
    },
};

fn request(subject: ApprovalSubject, is_dangerous: bool, reasons: &[&str]) -> ApprovalRequest {
    ApprovalRequest {
        approval_id: ApprovalId::fresh(),
        turn_id: TurnId::fresh(),
        subject,
        is_dangerous,
        reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
    }
}

fn command(text: &str) -> ApprovalSubject {
    ApprovalSubject::Command { command: text.into(), cwd: Path::new("/home/ann/src").into(), mode: RunMode::Live }
}

fn proposed(text: &str, cwd: &str, reason: &str) -> ProposedCommand {
    ProposedCommand {
        approval_id: ApprovalId::fresh(),
        command: text.into(),
        cwd: Path::new(cwd).into(),
        mode: RunMode::Live,
        reasons: vec![reason.into()],
    }
}

/// The question after these keys.
fn open(request: &ApprovalRequest, scene: Scene, keys: &str) -> OpenQuestion {
    let now = Instant::now();
    let (mut question, _) = OpenQuestion::new(request.clone(), Arc::new(scene), now);
    press(&mut question, keys, now + Duration::from_millis(301));
    question
}

fn press(question: &mut OpenQuestion, keys: &str, now: Instant) {
    let mut reader = KeyReader::new();
    let inputs: Vec<Input> = reader.push(keys.as_bytes());
    for input in inputs {
        question.on_input(&input, now);
    }
}

fn drawn(question: &OpenQuestion) -> String {
    let mut out = String::new();
    for (columns, look) in [(80, Look::Glyphs), (80, Look::Sentences), (40, Look::Glyphs), (40, Look::Sentences)] {
        let width = columns - 1;
        let below = question.question(width, look);
        out += &format!("======== {columns} columns, {look:?}, cursor {:?}\n", below.cursor);
        out += &styled(&question.card(width, look));
        out += &styled(&below.lines);
    }
    out
}

fn shown(request: &ApprovalRequest, keys: &str) -> String {
    drawn(&open(request, Scene::of_ann(), keys))
}

/// The question with what was found about its command, or commands.
fn shown_with(request: &ApprovalRequest, found: Vec<Vec<Note>>) -> String {
    let mut question = open(request, Scene::of_ann(), "");
    let touched = found.into_iter().map(|notes| Touched { notes }).collect();
    let done = Done::Looked { question: request.approval_id, touched };
    question.on_done(done, Instant::now());
    drawn(&question)
}

#[test]
fn a_command() {
    let subject = command("cargo build --release\necho \u{1b}[2J done");
    insta::assert_snapshot!(shown(&request(subject, false, &["`cargo build` runs code of the project"]), ""));
}

#[test]
fn a_command_that_can_be_remembered() {
    let asked = request(command("cargo test"), false, &["not known to be read-only: `cargo`"]);
    insta::assert_snapshot!(shown(&asked, ""));
    insta::assert_snapshot!(shown(&asked, "a"));
    insta::assert_snapshot!(shown(&asked, "ay"));
}

#[test]
fn a_command_that_cannot_be_remembered_for_good() {
    let asked = request(command("python3 build.py"), false, &["not known to be read-only: `python3`"]);
    insta::assert_snapshot!(shown(&asked, ""));
}

#[test]
fn the_parts_of_a_line_stand_one_by_one() {
    let line = "cargo build && cp target/debug/app ~/bin/ | grep -i warning; git push";
    let reasons =
        ["not known to be read-only: `cargo`", "not known to be read-only: `cp`", "the whole line has a reason"];
    insta::assert_snapshot!(shown(&request(command(line), false, &reasons), ""));
}

#[test]
fn a_dangerous_command() {
    let asked = request(command("rm -rf ~/src/old"), true, &["removes 3 folders and what is in them for good"]);
    insta::assert_snapshot!(shown(&asked, "yye"));
    insta::assert_snapshot!(shown(&asked, ""));
}

#[test]
fn what_would_be_removed() {
    let asked = request(command("rm -rf build *.log"), true, &["removes whole folders, without asking"]);
    let path = |name: &str| Path::new("/home/ann/src").join(name);
    let tally = Tally {
        files: 214,
        folders: 12,
        bytes: 38_400_000,
        examples: vec![path("build"), path("a.log"), path("b\u{202e}.log")],
        named: 214,
        ..Tally::default()
    };
    insta::assert_snapshot!(shown_with(&asked, vec![vec![Note::Removes(tally)]]));
    insta::assert_snapshot!(shown(&asked, ""));
    let home =
        Tally { files: 20_000, folders: 31, bytes: 1_234_567_890, is_partial: true, named: 1, ..Tally::default() };
    insta::assert_snapshot!(shown_with(&asked, vec![vec![Note::Removes(home), Note::Grave(Grave::Home)]]));
}

#[test]
fn what_would_be_replaced_matched_or_cannot_be_told() {
    let asked = request(command("sort *.csv > notes.txt"), false, &["writes a file"]);
    let path = |name: &str| Path::new("/home/ann/src").join(name);
    let notes = vec![
        Note::Matches {
            pattern: "*.csv".into(),
            count: 5,
            examples: vec![path("a.csv"), path("b.csv"), path("c.csv")],
        },
        Note::Replaces(vec![(path("notes.txt"), 2_140)]),
        Note::Unknown("what $BUILD holds in the shell".into()),
    ];
    insta::assert_snapshot!(shown_with(&asked, vec![notes]));
}

#[test]
fn a_disk_that_hangs_is_said_so() {
    let asked = request(command("rm a.log"), false, &["removes a file"]);
    let mut question = open(&asked, Scene::of_ann(), "");
    question.on_time(Instant::now() + Duration::from_secs(1));
    insta::assert_snapshot!(drawn(&question));
}

#[test]
fn several_commands_on_one_card() {
    let commands = vec![
        proposed("mkdir -p assets/img", "/home/ann/src", "not known to be read-only: `mkdir`"),
        proposed("touch assets/img/.keep", "/home/ann/src", "not known to be read-only: `touch`"),
        proposed(
            "cargo test -p shop -- --nocapture a_rather_long_name_of_a_test",
            "/home/ann/src",
            "not known to be read-only: `cargo`",
        ),
    ];
    let asked = request(ApprovalSubject::Commands(commands.clone()), false, &[]);
    insta::assert_snapshot!(shown(&asked, ""));
    insta::assert_snapshot!(shown(&asked, "nnot now"));
    // One by one each is a question of its own.
    insta::assert_snapshot!(shown(&asked, "o"));
    let mut elsewhere = commands;
    elsewhere[1].cwd = Path::new("/home/ann/other").into();
    let asked = request(ApprovalSubject::Commands(elsewhere), false, &[]);
    insta::assert_snapshot!(shown(&asked, ""));
}

#[test]
fn root_on_another_machine_is_told() {
    let scene = Scene { is_root: true, remote_host: Some("build-7".into()), ..Scene::of_ann() };
    let asked = request(command("systemctl restart shop"), false, &["not known to be read-only: `systemctl`"]);
    insta::assert_snapshot!(drawn(&open(&asked, scene, "")));
}

#[test]
fn a_change_of_a_file() {
    let subject = ApprovalSubject::FileChange {
        tool: "edit".into(),
        path: Path::new("src/main.rs").into(),
        diff: "--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-    old();\n+    a_new_call(with, many, arguments, that, wrap);\n }\n".into(),
    };
    insta::assert_snapshot!(shown(&request(subject.clone(), false, &[]), "nuse foo()"));
    insta::assert_snapshot!(shown(&request(subject, false, &[]), ""));
}

#[test]
fn a_local_server() {
    let subject = ApprovalSubject::LocalServer {
        url: "http://127.0.0.1:11434".into(),
        server: "Ollama".into(),
        model: "qwen3:8b".into(),
    };
    insta::assert_snapshot!(shown(&request(subject, false, &[]), ""));
}

#[test]
fn editing_a_command() {
    let text = "find . -name '*.tmp' -newer Makefile -print";
    insta::assert_snapshot!(shown(&request(command(text), false, &[]), "e"));
}

#[test]
fn the_whole_command_is_shown_at_any_width() {
    let text = "x".repeat(5_000) + "END";
    let question = open(&request(command(&text), false, &[]), Scene::of_ann(), "");
    for width in [2, 5, 20, 80] {
        let letters: String =
            plain(&question.card(width, Look::Sentences)).chars().filter(|c| !c.is_whitespace()).collect();
        assert!(letters.contains(&text), "width {width}");
    }
}

#[test]
fn a_diff_keeps_its_indentation_and_shows_what_hides() {
    assert_eq!(visible_diff_line("+\t\tx"), "+\t\tx");
    assert_eq!(visible_diff_line("-        y\u{202e}"), "-        y\\u{202e}");
}

#[test]
fn the_keys_stand_on_one_row_of_80_columns() {
    for (text, is_dangerous) in [("cargo test", false), ("rm -rf x", true), ("python3 x", false), ("./run", false)] {
        for look in [Look::Glyphs, Look::Sentences] {
            let question = open(&request(command(text), is_dangerous, &[]), Scene::of_ann(), "");
            let keys = question.question(79, look).lines;
            let rows = keys.iter().filter(|line| line.to_string().contains("Esc stop")).count();
            let others = keys.iter().filter(|line| line.to_string().contains("once")).count();
            assert_eq!(
                (rows, others, keys.last().map(|line| line.to_string().contains("once"))),
                (1, 1, Some(true)),
                "{text}"
            );
        }
    }
}

#[test]
fn the_keys_that_are_offered_depend_on_the_command() {
    let offered = |text: &str, is_dangerous| {
        let question = open(&request(command(text), is_dangerous, &[]), Scene::of_ann(), "");
        let keys = question.question(200, Look::Sentences).lines.last().unwrap().to_string();
        keys.split(", ").map(|key| key.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(offered("cargo test", false), "y s d a e n Esc");
    assert_eq!(offered("./run", false), "y s d e n Esc");
    for text in [
        "env x",
        "xargs x",
        "bash x",
        "python3 x",
        "find x",
        "git commit -m x",
        "curl x",
        "a | b",
        "a > b",
        "a $X",
        "a *",
    ] {
        assert_eq!(offered(text, false), "y s e n Esc", "{text}");
    }
    assert_eq!(offered("cargo test", true), "y e n Esc");
    assert_eq!(offered("rm -rf x", false), "y e n Esc", "danger is danger, whatever the daemon says");
}
