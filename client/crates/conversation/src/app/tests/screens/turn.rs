//! An answer from the question to its end.

use cohab_protocol::{ErrorSubject, FileDiff, Notice, NoticeKind, StepDetail, TurnProgress, WireError, WireErrorKind};

use super::*;

fn notice(kind: NoticeKind, text: &str) -> DaemonMessage {
    DaemonMessage::Notice(Notice { turn_id: Some(TURN), kind, text: text.into() })
}

fn spent() -> DaemonMessage {
    let usage = Usage { input_tokens: Some(3_210), cost_microusd: Some(12_345), ..Usage::default() };
    DaemonMessage::TurnProgress(TurnProgress { turn_id: TURN, usage })
}

fn failed(stage: &mut Stage, kind: WireErrorKind, message: &str, hint: Option<&str>) {
    stage.ask("why is it big");
    let hint = hint.map(str::to_owned);
    stage.daemon(DaemonMessage::Error(WireError {
        about: ErrorSubject::Turn(TURN),
        kind,
        message: message.into(),
        hint,
    }));
    stage.end(TurnEndReason::Failed);
}

/// Answered in part, and then ended so.
fn ended_so(stage: &mut Stage, reason: TurnEndReason) {
    stage.ask("why is it big");
    stage.text(0, "Because of the build output, most of which is in");
    stage.end(reason);
}

#[test]
fn waiting_and_the_status_line() {
    let states: &[State] = &[
        ("a question without words", |stage| {
            stage.connect();
            stage.enter("?");
        }),
        ("a private question", |stage| {
            stage.connect();
            stage.enter("?! why is it big");
        }),
        ("the daemon is started", |stage| stage.enter("? why is it big")),
        ("the model thinks", |stage| stage.ask("why is it big")),
        ("it thinks for long", |stage| {
            stage.ask("why is it big");
            stage.pass(75_000);
        }),
        ("a later step, with what the turn took", |stage| {
            stage.ask("why is it big");
            stage.daemon(spent());
            stage.daemon(step(2, tool("read", "src/main.rs")));
            stage.pass(12_000);
        }),
        ("nothing is asked", |stage| {
            stage.bench.app.options.approval = ApprovalMode::All;
            stage.ask("why is it big");
            stage.daemon(step(1, tool("grep", "TODO in src")));
            stage.pass(3_000);
        }),
        ("hostile and very long", |stage| {
            stage.ask(&format!("why\u{202e} {}", "is it so big and ".repeat(8)));
            stage.daemon(spent());
            stage.daemon(step(2, tool("re\u{1b}[31mad\r", &"a/very/long/path/".repeat(30))));
            stage.pass(12_000);
        }),
        ("a request is repeated", |stage| {
            stage.ask("why is it big");
            let why = "Anthropic (api.anthropic.com) is overloaded, status 529: Overloaded";
            stage.daemon(notice(NoticeKind::Retry { after_ms: 65_000 }, why));
            stage.pass(3_000);
        }),
        ("a request is repeated at once", |stage| {
            stage.ask("why is it big");
            stage.daemon(notice(NoticeKind::Retry { after_ms: 0 }, "the connection broke"));
        }),
    ];
    insta::assert_snapshot!("waiting", seen(states));
}

#[test]
fn text_steps_and_commands() {
    let states: &[State] = &[
        ("text comes", |stage| {
            stage.ask("why is it big");
            stage.text(0, "## Build output\n\nMost of it is in `target`; the **largest part of th");
        }),
        ("text, then a step", |stage| {
            stage.ask("why is it big");
            stage.text(0, "I look at the folder first.");
            stage.daemon(step(1, tool("read", "Cargo.toml")));
        }),
        ("steps and how they went", |stage| {
            stage.ask("why is it big");
            stage.text(0, "I look at three things.");
            for (number, what, outcome, summary, ms) in [
                (1, "Cargo.toml", StepOutcome::Done, "42 lines", 5),
                (2, "missing.toml", StepOutcome::Failed, "no such file", 1),
                (3, "/etc/shadow", StepOutcome::Refused, "refused by you: not that one", 2_300),
                (4, "~/.ssh/config", StepOutcome::Refused, "", 0),
                (5, "a/large/file.log", StepOutcome::Cancelled, "", 12_000),
            ] {
                stage.daemon(step(number, tool("read", what)));
                stage.daemon(step_ended(number, outcome, summary, ms));
            }
        }),
        ("a command runs", |stage| {
            stage.ask("why is it big");
            stage.text(0, "I measure it.");
            stage.daemon(step(1, tool("bash", "du -sh target")));
            stage.daemon(execute("du -sh target", None));
        }),
        ("a command ran and changed the shell", |stage| {
            stage.ask("why is it big");
            stage.text(0, "I measure it.");
            stage.daemon(step(1, tool("bash", "du -sh target")));
            stage.daemon(execute("du -sh target", None));
            let changes = [("SIZE", None, Some("41G")), ("EDITOR", Some("vi"), Some("ed")), ("OLD", Some("1"), None)];
            stage.command_ran("41G\ttarget\n", 0, &changes);
            stage.daemon(step_ended(1, StepOutcome::Done, "exit 0", 812));
            stage.text(1, "It is the build output.");
        }),
        ("a file was changed unasked", |stage| {
            stage.bench.app.options.approval = ApprovalMode::All;
            stage.ask("why is it big");
            stage.daemon(step(1, tool("edit", "src/main.rs")));
            let added: String = (0..20).map(|number| format!("+    let line_{number} = {number};\n")).collect();
            let diff = "@@ -98,3 +98,3 @@\n fn main() {\n-    let total = price * count;\n+    let total = net * count;\n }\n@@ -120 +120,21 @@\n // more\n";
            let detail = Some(StepDetail::Change(FileDiff { diff: diff.to_owned() + &added, left_out_lines: 0 }));
            let (outcome, summary) = (StepOutcome::Done, "+21 -1".into());
            stage.daemon(DaemonMessage::StepFinished(StepFinished {
                turn_id: TURN,
                step: 1,
                outcome,
                summary,
                elapsed_ms: 3,
                detail,
                only_reads: false,
            }));
        }),
        ("a long command of many lines", |stage| {
            stage.ask("why is it big");
            stage.bench.app.options.approval = ApprovalMode::All;
            let lines: String = (1..=14).map(|n| format!("echo line {n} of a script that goes on\n")).collect();
            stage.daemon(execute(&lines, None));
            stage.command_ran("line 1 of a script that goes on\n", 3, &[]);
            stage.daemon(step_ended(1, StepOutcome::Failed, "exit 3", 12));
        }),
    ];
    insta::assert_snapshot!("steps", seen(states));
}

fn thought(stage: &mut Stage, seq: u64, text: &str) {
    let delta = ChunkDelta::Reasoning(text.into());
    stage.daemon(DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id: TURN, seq, delta }));
}

/// Thinks for four seconds.
fn thinks(stage: &mut Stage) {
    stage.ask("why is it big");
    thought(stage, 0, "The user asks about the folder.\n\nI could look at the sizes of what is in it first, ");
    stage.pass(4_000);
    thought(stage, 1, "and then at the build output, which is often the largest part of it.\nSo `du` it is.");
}

#[test]
fn thoughts_roll_and_fold() {
    let states: &[State] = &[
        ("it thinks", thinks),
        ("the answer begins", |stage| {
            thinks(stage);
            stage.text(2, "I measure it.");
        }),
        ("a step begins", |stage| {
            thinks(stage);
            stage.daemon(step(1, tool("read", "Cargo.toml")));
        }),
        ("thoughts are kept", |stage| {
            stage.bench.app.options.reasoning = Reasoning::Live;
            thinks(stage);
            stage.text(2, "I measure it.");
        }),
        ("the key keeps them", |stage| {
            thinks(stage);
            stage.event(Event::ThoughtsKeyPressed);
            stage.text(2, "I measure it.");
        }),
        ("the key shows what was folded", |stage| {
            thinks(stage);
            stage.text(2, "I measure it.");
            stage.event(Event::ThoughtsKeyPressed);
        }),
        ("thoughts are off", |stage| {
            stage.bench.app.options.reasoning = Reasoning::Off;
            thinks(stage);
            stage.text(2, "I measure it.");
        }),
    ];
    insta::assert_snapshot!("thoughts", seen(states));
}

#[test]
fn a_longer_turn_ends_with_what_it_took() {
    let states: &[State] = &[
        ("steps, time, tokens and cost", |stage| {
            stage.ask("why is it big");
            stage.daemon(step(2, tool("read", "Cargo.toml")));
            stage.daemon(step_ended(2, StepOutcome::Done, "42 lines", 5));
            stage.daemon(spent());
            stage.pass(14_000);
            stage.text(0, "It is the build output.");
            stage.end(TurnEndReason::Answered);
        }),
        ("one long step", |stage| {
            stage.ask("why is it big");
            stage.pass(75_000);
            stage.text(0, "It is the build output.");
            stage.end(TurnEndReason::Answered);
        }),
        ("a short turn", |stage| {
            stage.ask("why is it big");
            stage.pass(9_000);
            stage.text(0, "It is the build output.");
            stage.end(TurnEndReason::Answered);
        }),
        ("the footer is off", |stage| {
            stage.bench.app.options.footer = false;
            stage.ask("why is it big");
            stage.pass(75_000);
            stage.text(0, "It is the build output.");
            stage.end(TurnEndReason::Answered);
        }),
    ];
    insta::assert_snapshot!("footer", seen(states));
}

/// All texts of the daemon's that are no errors.
const NOTICES: &[(NoticeKind, &str)] = &[
    (NoticeKind::Info, "The conversation was too long for claude-sonnet; older parts were left out."),
    (NoticeKind::Info, "Waiting for the shell: `cargo build --release` is using it."),
    (
        NoticeKind::Info,
        "The command runs in a separate shell: vim has the whole screen. The effects of its `cd` and `export` are lost.",
    ),
    (
        NoticeKind::Info,
        "Ollama at http://127.0.0.1:11434 is not used without your consent; the built-in assistant answers.",
    ),
    (NoticeKind::Info, "The service paused its answer too often. Say \"continue\" to go on."),
    (
        NoticeKind::Info,
        "`README.md` reads like instructions to the assistant (it overrides its instructions); what you allowed before is asked about \
         again.",
    ),
    (
        NoticeKind::Info,
        "The context of 8192 tokens is nearly full, and Ollama forgets what does not fit: raise `context_window_tokens` under \
         [model], or start a new session.",
    ),
    (
        NoticeKind::Info,
        "The model wrote a tool call as text, and nothing was run: switch on tool calling in its server (llama.cpp: --jinja, \
         vLLM: --enable-auto-tool-choice) or choose another model.",
    ),
    (NoticeKind::Warning, "The start of the answer is lost."),
    (NoticeKind::Warning, "hostile \u{1b}]52;c;aGk=\u{7}\u{202e} text\r\nin two lines"),
];

#[test]
fn notices_and_errors() {
    let states: &[State] = &[
        ("all notices", |stage| {
            stage.ask("why is it big");
            for (kind, text) in NOTICES {
                stage.daemon(notice(*kind, text));
            }
        }),
        ("the service refuses the key", |stage| {
            let message = "OpenAI (api.openai.com) refused the key, status 401: Incorrect API key provided";
            let hint = "check the key of OpenAI in OPENAI_API_KEY";
            failed(stage, WireErrorKind::Provider, message, Some(hint));
        }),
        ("an answer that broke off", |stage| {
            stage.ask("why is it big");
            stage.text(0, "Because of the build outp");
            stage.daemon(DaemonMessage::Error(WireError {
                about: ErrorSubject::Turn(TURN),
                kind: WireErrorKind::Provider,
                message: "the answer broke off: the connection went silent".into(),
                hint: Some("ask again; the part that was shown is kept".into()),
            }));
            stage.end(TurnEndReason::Failed);
        }),
        ("a mistake of ours", |stage| {
            let hint = "details are in /home/ann/.local/state/cohab/log";
            failed(stage, WireErrorKind::Internal, "internal error", Some(hint));
        }),
        ("an error without a hint", |stage| {
            failed(stage, WireErrorKind::Provider, "Mistral (api.mistral.ai) gave no answer within 60s", None);
        }),
        ("a hostile error", |stage| {
            let message = format!("\u{1b}[2J{}\n\nEvil: run this\r", "very long words of a service, ".repeat(6));
            failed(stage, WireErrorKind::Provider, &message, Some("\u{202e}a hint\u{7}\u{1b}]0;x\u{7}"));
        }),
        ("a busy session", |stage| {
            stage.ask("why is it big");
            stage.daemon(DaemonMessage::Error(WireError {
                about: ErrorSubject::Turn(TURN),
                kind: WireErrorKind::Busy,
                message: "another question of this session is being answered".into(),
                hint: Some("cancel it with Ctrl-C, or wait".into()),
            }));
        }),
    ];
    insta::assert_snapshot!("notices", seen(states));
}

fn down(stage: &mut Stage, message: &str, hint: &str) {
    stage.enter("? why is it big");
    stage.event(Event::LinkDown { message: message.into(), hint: hint.into() });
}

#[test]
fn a_daemon_that_is_not_there() {
    let states: &[State] = &[
        ("it cannot be started", |stage| {
            let message = "/usr/bin/cohabd cannot be started: No such file or directory (os error 2)";
            down(stage, message, "install `cohabd` next to `cohab` or in a folder of $PATH");
        }),
        ("it does not answer", |stage| {
            down(stage, "the daemon was started but does not answer", "`cohab daemon logs` may say why");
        }),
        ("it is of another release", |stage| {
            let message = "the daemon is release 0.2.0, this is 0.1.0; they don't fit together";
            down(stage, message, "run `cohab daemon restart`");
        }),
        ("it takes no more connections", |stage| {
            let hint = "close some of your shells, or `cohab daemon restart`";
            down(stage, "the daemon has 256 connections already", hint);
        }),
        ("another client took the session over", |stage| {
            stage.ask("why is it big");
            let message = "another client took over this session".into();
            stage.event(Event::LinkDown { message, hint: "ask again; that connects again".into() });
        }),
        ("it is gone in the middle of an answer", |stage| {
            stage.ask("why is it big");
            stage.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
            stage.text(0, "Because of the build outp");
            stage.event(Event::LinkLost);
            let effects = stage.bench.attached(false);
            stage.obey(effects);
        }),
    ];
    insta::assert_snapshot!("daemon", seen(states));
}

#[test]
fn every_end_of_a_turn() {
    let states: &[State] = &[
        ("answered", |stage| ended_so(stage, TurnEndReason::Answered)),
        ("the limit of steps", |stage| ended_so(stage, TurnEndReason::StepLimit)),
        ("the limit of length", |stage| ended_so(stage, TurnEndReason::Length)),
        ("the model declines", |stage| ended_so(stage, TurnEndReason::Refused)),
        ("stopped by somebody else", |stage| ended_so(stage, TurnEndReason::Cancelled)),
        ("stopped by Ctrl-C", |stage| {
            stage.ask("why is it big");
            stage.text(0, "Because of the build outp");
            stage.live(LiveEvent::CancelRequested { is_escape: false });
        }),
    ];
    insta::assert_snapshot!("ends", seen(states));
}

#[test]
fn attached_files() {
    let states: &[State] = &[("files are attached", |stage| {
        stage.ask("why is @Cargo.toml wrong");
        for (number, path, outcome, summary) in [
            (0, "Cargo.toml", StepOutcome::Done, "42 lines"),
            (1, "data.bin", StepOutcome::Failed, "/home/ann/src/data.bin: is a binary file of 3 bytes"),
            (2, "~/.ssh/id", StepOutcome::Refused, "refused by you: not that one"),
        ] {
            stage.daemon(step(number, StepActivity::Attachment { path: path.into() }));
            stage.daemon(step_ended(number, outcome, summary, 5));
        }
        stage.daemon(step(3, StepActivity::Attachment { path: "a/very/long/path/".repeat(10) }));
    })];
    insta::assert_snapshot!("attachments", seen(states));
}
