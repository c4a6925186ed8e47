//! Tests that hostile text in any field of a message reaches the terminal as letters only.

use std::{path::Path, sync::Arc};

use cohab_impact::{Grave, Impact, Note, Tally};
use cohab_policy_io::files::FileSystem;
use cohab_protocol::{
    ApprovalId, ApprovalMode, ApprovalRequest, ApprovalSubject, ErrorSubject, FileDiff, Notice, NoticeKind,
    ProposedChange, ProposedCommand, RunMode, StepActivity, StepOutcome, TurnId, WireError, WireErrorKind,
};
use cohab_shell_state::state::{Item, StateChange, Step};
use cohab_term::{
    ansi::{ColorSupport, write_lines},
    output_style::OutputStyle,
};
use cohab_term::{
    keys::{Input, KeyCode, KeyPress},
    markdown::MarkdownStream,
};
use cohab_text::{sanitize::is_invisible, terminal_attack_fixtures::HOSTILE};
use ratatui::text::Line;

use super::{diff::kept_rows, progress::TurnStatus, status};
use crate::ui::change_summary;
use crate::{
    approval::{ApprovalEnvironment, OpenQuestion},
    background_task::TaskResult,
};

/// The lines as the terminal gets them, without our own colours and line ends.
fn letters(lines: &[Line<'_>]) -> String {
    let mut bytes = Vec::new();
    write_lines(lines, ColorSupport::Ansi16, &mut bytes);
    let text = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (codes, rest) = part.split_once('m').expect("our own colours end");
        assert!(codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{codes:?}");
        plain.push_str(rest);
    }
    plain
}

fn assert_harmless(field: &str, lines: &[Line<'_>]) {
    let shown = letters(lines);
    let odd = |c: char| (c.is_control() && c != '\n') || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(!shown.contains(odd), "{field}: {shown:?}");
}

fn request(subject: ApprovalSubject, reason: &str) -> ApprovalRequest {
    ApprovalRequest {
        approval_id: ApprovalId::fresh(),
        turn_id: TurnId::fresh(),
        subject,
        is_dangerous: false,
        reasons: vec![reason.to_owned()],
        is_each_time: false,
    }
}

#[test]
fn steps_notices_errors_and_receipts_are_harmless() {
    for (text, output_style) in
        HOSTILE.iter().flat_map(|row| [(row.bytes, OutputStyle::Rich), (row.bytes, OutputStyle::Accessible)])
    {
        let text = format!("a{text}b");
        let tool = StepActivity::ToolCall { tool: text.clone(), argument: text.clone() };
        let model = StepActivity::ModelCall { model: text.clone() };
        for activity in [&tool, &model] {
            let status = TurnStatus {
                activity,
                step: 2,
                said: None,
                elapsed_s: 12,
                usage: None,
                budget: None,
                approval: ApprovalMode::All,
            };
            assert_harmless("status", &[status.line(80, output_style), Line::from(status.sentence())]);
        }
        assert_harmless("step", status::step_started(&tool, 80).as_slice());
        let finished = status::step_finished(&tool, StepOutcome::Failed, &text, 1, 80, output_style);
        assert_harmless("step end", finished.as_slice());
        assert_harmless("output", &status::failed_output(&text, 80, output_style));
        let diff = format!("@@ -1,{text} @@\n-x\t{text}\n+x\t{text} y\n{text}\n");
        let change = FileDiff { diff, left_out_lines: 1 };
        assert_harmless("change", &kept_rows(&change, "? /diff", 80, output_style));
        let notice = Notice { turn_id: None, kind: NoticeKind::Warning, text: text.clone() };
        assert_harmless("notice", &status::notice(&notice, 80, output_style));
        let about = ErrorSubject::Connection;
        let error = WireError { about, kind: WireErrorKind::Protocol, message: text.clone(), hint: Some(text.clone()) };
        assert_harmless("error", &status::error(&error, 80));
        assert_harmless("remark", &status::remark(&text, 80));
        let step = Step { before: None, after: Some(vec![text.clone().into_bytes()]) };
        let names = [Item::Folder, Item::Exported(text.clone()), Item::Function(text.clone()), Item::Umask];
        let change = StateChange { steps: names.into_iter().map(|item| (item, step.clone())).collect() };
        assert_harmless("receipt", change_summary::summary(&change, Path::new("/"), 80, output_style).as_slice());
    }
}

fn proposed(command: &str) -> ProposedCommand {
    ProposedCommand {
        approval_id: ApprovalId::fresh(),
        command: command.into(),
        cwd: Path::new(command).into(),
        mode: RunMode::Live,
        reasons: vec![command.into()],
    }
}

fn proposed_change(text: &str) -> ProposedChange {
    ProposedChange {
        approval_id: ApprovalId::fresh(),
        tool: text.into(),
        path: Path::new(text).into(),
        diff: format!("@@ -1 +1 @@\n-x {text}\n+x {text} y\n"),
        reasons: vec![text.into()],
    }
}

fn touched(text: &str) -> Impact {
    let paths = vec![text.into()];
    let tally = Tally { files: 2, named: 2, examples: paths.clone(), ..Tally::default() };
    Impact {
        notes: vec![
            Note::Grave(Grave::MountPoint(text.into())),
            Note::Removes(tally),
            Note::Replaces(vec![(text.into(), 1)]),
            Note::Matches { pattern: text.into(), count: 1, examples: paths },
            Note::Unknown(text.into()),
        ],
    }
}

#[test]
fn every_field_of_a_question_is_harmless_and_the_editor_too() {
    for text in HOSTILE.iter().map(|row| row.bytes) {
        let text = format!("a{text}b");
        let path = || Path::new(&text).into();
        let subjects = [
            ApprovalSubject::Command { command: text.clone(), cwd: path(), mode: RunMode::Live },
            ApprovalSubject::Command { command: format!("x '{text}'; y"), cwd: path(), mode: RunMode::Live },
            ApprovalSubject::Commands(vec![proposed(&text), proposed("touch a"), proposed("touch b")]),
            ApprovalSubject::FileChange { tool: text.clone(), path: path(), diff: format!("+{text}\n {text}") },
            ApprovalSubject::FileChanges(vec![proposed_change(&text), proposed_change("a")]),
            ApprovalSubject::FileRead { tool: text.clone(), path: path() },
            ApprovalSubject::Search { tool: "grep".into(), path: path(), pattern: text.clone() },
            ApprovalSubject::LocalServer { url: text.clone(), server: text.clone(), model: text.clone() },
            ApprovalSubject::Foreign { by: text.clone(), action: text.clone(), details: text.clone() },
            ApprovalSubject::Foreign { by: text.clone(), action: text.clone(), details: format!("{text}\n{text}") },
        ];
        for subject in subjects {
            let request = request(subject, &text);
            let opened_at = std::time::Instant::now();
            let question_id = request.approval_id;
            let environment = ApprovalEnvironment {
                remote_host: Some(text.clone()),
                rules_file: text.clone().into(),
                ..ApprovalEnvironment::of_ann(&FileSystem)
            };
            let (mut question, _) = OpenQuestion::new(request, Arc::new(environment), opened_at);
            question.on_done(
                TaskResult::Looked { question: question_id, impacts: vec![touched(&text), touched(&text)] },
                opened_at,
            );
            assert_harmless("card", &question.card(80, OutputStyle::Rich));
            let later = opened_at + std::time::Duration::from_secs(1);
            for key in ['e', 'n'] {
                question.on_input(&Input::Key(KeyPress::plain(KeyCode::Char(key))), later);
                question.on_input(&Input::Paste(text.clone()), later);
                assert_harmless("question", &question.question(80, OutputStyle::Rich).lines);
                question.on_input(&Input::Key(KeyPress::plain(KeyCode::Escape)), later);
            }
        }
    }
}

#[test]
fn an_answer_is_harmless_wherever_it_is_cut() {
    for text in HOSTILE.iter().map(|row| row.bytes) {
        for shape in
            ["a# b", "# X\n", "`X`", "```X\nX\n```\n", "[X](X)", "| X | b |\n|---|---|\n| X | c |\n", "* X\n", "<X>"]
        {
            let answer = shape.replace('X', text);
            for cut in answer.char_indices().map(|(at, _)| at) {
                let mut stream = MarkdownStream::new(60, None);
                stream.push(&answer[..cut]);
                assert_harmless("tail", stream.tail());
                stream.push(&answer[cut..]);
                assert_harmless("closed", &stream.take_closed());
                assert_harmless("rest", &stream.finish());
            }
        }
    }
}
