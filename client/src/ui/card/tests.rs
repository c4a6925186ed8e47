use std::path::Path;

use cohab_protocol::{ApprovalId, TurnId};

use super::*;
use crate::ui::describe::{plain, styled};

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

fn shown(request: &ApprovalRequest, answering: &Answering) -> String {
    let mut out = String::new();
    for (width, look) in [(80, Look::Glyphs), (40, Look::Glyphs), (40, Look::Sentences)] {
        let question = question(request, answering, width, look);
        out += &format!("======== {width} columns, {look:?}, cursor {:?}\n", question.cursor);
        out += &styled(&card(request, width, look));
        out += &styled(&question.lines);
    }
    out
}

#[test]
fn a_command() {
    let subject = command("cargo build --release 2>&1 | tee build.log\necho \u{1b}[2J done");
    insta::assert_snapshot!(shown(
        &request(subject, false, &["`cargo build` runs code of the project"]),
        &Answering::Keys
    ));
}

#[test]
fn a_dangerous_command() {
    let asked = request(command("rm -rf ~/src/old"), true, &["removes 3 folders and what is in them for good"]);
    insta::assert_snapshot!(shown(&asked, &Answering::Confirming(InputText::new("ye"))));
    insta::assert_snapshot!(shown(&asked, &Answering::Keys));
}

#[test]
fn a_change_of_a_file() {
    let subject = ApprovalSubject::FileChange {
        tool: "edit".into(),
        path: Path::new("src/main.rs").into(),
        diff: "--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-    old();\n+    a_new_call(with, many, arguments, that, wrap);\n }\n".into(),
    };
    insta::assert_snapshot!(shown(&request(subject, false, &[]), &Answering::Refusing(InputText::new("use foo()"))));
}

#[test]
fn a_local_server() {
    let subject = ApprovalSubject::LocalServer {
        url: "http://127.0.0.1:11434".into(),
        server: "Ollama".into(),
        model: "qwen3:8b".into(),
    };
    insta::assert_snapshot!(shown(&request(subject, false, &[]), &Answering::Keys));
}

#[test]
fn editing_a_command() {
    let text = "find . -name '*.tmp' -newer Makefile -print";
    insta::assert_snapshot!(shown(&request(command(text), false, &[]), &Answering::Editing(InputText::new(text))));
}

#[test]
fn the_whole_command_is_shown_at_any_width() {
    let text = "x".repeat(5_000) + "END";
    let asked = request(command(&text), false, &[]);
    for width in [2, 5, 20, 80] {
        let letters: String =
            plain(&card(&asked, width, Look::Sentences)).chars().filter(|c| !c.is_whitespace()).collect();
        assert!(letters.contains(&text), "width {width}");
    }
}

#[test]
fn a_diff_keeps_its_indentation_and_shows_what_hides() {
    assert_eq!(visible_diff_line("+\t\tx"), "+\t\tx");
    assert_eq!(visible_diff_line("-        y\u{202e}"), "-        y\\u{202e}");
}

#[test]
fn danger_cannot_be_allowed_for_the_session() {
    let offered = |is_dangerous| {
        keys(&request(command("rm x"), is_dangerous, &[]), Look::Glyphs).iter().any(|key| key.content == "a")
    };
    assert!(offered(false));
    assert!(!offered(true));
}
