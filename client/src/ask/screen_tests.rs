//! Screen tests for `cohab ask` at a terminal.

use std::{path::Path, sync::Arc};

use cohab_conversation::approval::ApprovalEnvironment;
use cohab_policy_io::files::FileSystem;
use cohab_protocol::{
    AgentStreamChunk, ApprovalId, ApprovalRequest, ApprovalSubject, Notice, NoticeKind, RunMode, StepOutcome,
    StepStarted, TurnEndReason, TurnEnded, TurnId, Usage,
};
use cohab_term::{ansi::ColorSupport, test_screen::TestScreen};

use super::*;

type Ask = ScreenView<TestScreen>;
/// What a person sees, and what happened before.
type State = (&'static str, fn(&mut Ask));

fn tell(ask: &mut Ask, message: impl std::borrow::Borrow<DaemonMessage>) {
    ask.show(message.borrow()).unwrap();
}

fn text(ask: &mut Ask, text: &str) {
    let delta = ChunkDelta::Text(text.into());
    tell(ask, DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id: TurnId::fresh(), seq: 0, delta }));
}

fn begins(ask: &mut Ask, step: u32, activity: StepActivity) {
    tell(ask, DaemonMessage::StepStarted(StepStarted { turn_id: TurnId::fresh(), step, activity }));
}

fn tool(argument: &str) -> StepActivity {
    StepActivity::ToolCall { tool: "read".into(), argument: argument.into() }
}

fn finishes(ask: &mut Ask, step: u32, outcome: StepOutcome, summary: &str) {
    let summary = summary.into();
    let finished = StepFinished {
        turn_id: TurnId::fresh(),
        step,
        outcome,
        summary,
        elapsed_ms: 812,
        detail: None,
        only_reads: false,
    };
    tell(ask, DaemonMessage::StepFinished(finished));
}

fn fails_with_output(ask: &mut Ask, step: u32) {
    let output = "mkdir: cannot create directory 'dir1':\nRead-only \u{1b}[31mfile system".to_owned();
    let (outcome, summary) = (StepOutcome::Failed, "exit 1, 2 lines".into());
    let detail = Some(StepDetail::Output(output));
    let finished =
        StepFinished { turn_id: TurnId::fresh(), step, outcome, summary, elapsed_ms: 12, detail, only_reads: false };
    tell(ask, DaemonMessage::StepFinished(finished));
}

fn ends(ask: &mut Ask, reason: TurnEndReason) {
    let (turn_id, usage) = (TurnId::fresh(), Usage::default());
    tell(ask, DaemonMessage::TurnEnded(TurnEnded { turn_id, reason, usage, chunks: 0 }));
    ask.finish().unwrap();
}

const STATES: &[State] = &[
    ("a command fails", |ask| {
        begins(ask, 1, StepActivity::ToolCall { tool: "bash".into(), argument: "mkdir -p dir1".into() });
        fails_with_output(ask, 1);
        text(ask, "It could not be made.");
        ends(ask, TurnEndReason::Answered);
    }),
    ("the model thinks", |ask| begins(ask, 0, StepActivity::ModelCall { model: "anthropic/claude".into() })),
    ("text, then a step", |ask| {
        begins(ask, 0, StepActivity::ModelCall { model: "anthropic/claude".into() });
        text(ask, "I look at **two** things.");
        begins(ask, 1, tool("Cargo.toml"));
    }),
    ("steps and the answer", |ask| {
        for (step, argument, outcome, summary) in [
            (1, "Cargo.toml", StepOutcome::Done, "42 lines"),
            (
                2,
                "a/very/long/path/that/does/not/fit/into/a/row/of/eighty/columns/missing.toml",
                StepOutcome::Failed,
                "no such file",
            ),
        ] {
            begins(ask, step, tool(argument));
            finishes(ask, step, outcome, summary);
        }
        text(ask, "It is the build output.");
        ends(ask, TurnEndReason::Answered);
    }),
    ("a notice, and a request that is repeated", |ask| {
        let notice = |kind, text: &str| DaemonMessage::Notice(Notice { turn_id: None, kind, text: text.into() });
        tell(ask, notice(NoticeKind::Info, "The conversation was too long for claude; older parts were left out."));
        tell(
            ask,
            notice(NoticeKind::Retry { after_ms: 2_000 }, "Anthropic (api.anthropic.com) is overloaded, status 529"),
        );
    }),
    ("a question for consent", |ask| {
        let environment = Arc::new(ApprovalEnvironment::of_ann(&FileSystem));
        let (command, cwd, mode) = ("cargo test".into(), Path::new("/home/ann/src").into(), RunMode::Isolated);
        let request = ApprovalRequest {
            approval_id: ApprovalId::fresh(),
            turn_id: TurnId::fresh(),
            subject: ApprovalSubject::Command { command, cwd, mode },
            is_dangerous: false,
            reasons: vec!["may run code: `cargo`".into()],
            is_each_time: false,
        };
        let (question, _) = OpenQuestion::new(request, environment, Instant::now());
        ask.show_question(Some(&question)).unwrap();
    }),
    ("the limit of steps", |ask| {
        text(ask, "So far: the build output.");
        ends(ask, TurnEndReason::StepLimit);
    }),
    ("an error", |ask| {
        let about = ErrorSubject::Connection;
        let (message, hint) =
            ("the answer broke off: the connection went silent", "ask again; the part that was shown is kept");
        let (message, hint, kind) = (message.into(), Some(hint.into()), WireErrorKind::Provider);
        tell(ask, DaemonMessage::Error(WireError { about, kind, message, hint }));
        ends(ask, TurnEndReason::Failed);
    }),
    ("the daemon ends", |ask| {
        text(ask, "Because of the build outp");
        tell(ask, DaemonMessage::Goodbye { reason: "the daemon is ending".into() });
        ask.finish().unwrap();
    }),
];

#[test]
fn each_state_at_80_and_40_columns_and_in_sentences() {
    let wide: fn() -> (u16, u16) = || (80, 24);
    let narrow: fn() -> (u16, u16) = || (40, 24);
    let mut seen = String::new();
    for (name, happens) in STATES {
        for (size, output_style, how) in [
            (wide, OutputStyle::Rich, "80 columns"),
            (narrow, OutputStyle::Rich, "40 columns"),
            (wide, OutputStyle::Accessible, "sentences"),
        ] {
            let colors = output_style.choose(ColorSupport::Ansi16, ColorSupport::None);
            let abilities = Abilities { colors, output_style, is_dumb: false, has_links: false, rewraps: false };
            let mut ask = ScreenView::new(TestScreen::new(size().0, size().1), size, abilities);
            happens(&mut ask);
            // The clock of frames is a real one: what waits for it is drawn now.
            ask.draw().unwrap();
            seen += &format!("==== {name} ({how})\n{}\n", ask.out.seen());
        }
    }
    insta::assert_snapshot!("ask", seen);
}
