//! Commands to the assistant itself.

use cohab_protocol::{
    ContextReport, ContextRoom, ContextSection, ErrorSubject, NamedCommand, Notice, NoticeKind, RequestId,
    SessionAnswer, SessionReply, WireError, WireErrorKind,
};

use super::*;
use crate::slash::{
    COMMANDS,
    own_output::{OwnOutput, ProgramEnding},
};

impl Stage {
    /// This command is entered, and the daemon answers.
    fn answered(&mut self, line: &str, answer: SessionAnswer) {
        self.connect();
        self.enter(line);
        self.daemon(DaemonMessage::SessionReply(SessionReply { request_id: RequestId(2), answer }));
    }

    /// No model is picked, and the daemon says who answers.
    fn introduced(&mut self, attached: Attached) {
        self.connect();
        self.enter("? /model");
        let outcome = CommandOutcome { output: String::new(), ..outcome(Ending::Exited) };
        self.live(LiveEvent::CommandFinished { id: TURN.to_string(), outcome });
        self.live(LiveEvent::AnswerReady);
        let answer = SessionAnswer::Attached(attached);
        self.daemon(DaemonMessage::SessionReply(SessionReply { request_id: RequestId(2), answer }));
    }

    fn entered(&mut self, line: &str) {
        self.connect();
        self.enter(line);
    }

    /// Our own program was run for the line, and ended so.
    fn printed(&mut self, line: &str, text: &str, ending: ProgramEnding) {
        self.entered(line);
        self.event(Event::ProgramEnded(OwnOutput { text: text.into(), ending }));
    }

    fn with_code(&mut self, line: &str) {
        self.ask("how");
        self.text(0, "So:\n\n```sh\ncargo clean\ncargo build\n```\n\nThat is all.");
        self.end(TurnEndReason::Answered);
        self.enter(line);
    }
}

fn identity(model: &str, is_offline: bool) -> Attached {
    let provider = if is_offline { "offline" } else { "openai-chat" };
    let origin = if is_offline { "no key is set" } else { "OPENAI_API_KEY" };
    Attached {
        session: SessionKey("shell:1".into()),
        model: ModelIdentity { provider: provider.into(), model: model.into(), origin: origin.into(), is_offline },
        approval: ApprovalMode::Ask,
        is_resumed: false,
        title: None,
        left: None,
        recap: None,
    }
}

fn context(window_tokens: Option<u64>) -> SessionAnswer {
    let sections = [
        ("system prompt", 912),
        ("tools", 1_840),
        ("project notes", 310),
        ("shell history", 42_000),
        ("questions", 95),
        ("answers", 0),
        ("tool calls", 12),
        ("tool output", 23_410),
    ];
    let section = |(name, tokens): (&str, u64)| ContextSection { name: name.into(), tokens };
    let room = window_tokens.map(|max| ContextRoom {
        max,
        system: 3_062,
        messages: 65_517,
        response_reserve: 16_384,
        total: 68_579,
        available: 43_037,
        percent: 53,
        fits: true,
    });
    SessionAnswer::Context(ContextReport { sections: sections.into_iter().map(section).collect(), room })
}

fn named(commands: &[(&str, &str, &str, bool)]) -> SessionAnswer {
    let named = |(name, hint, meaning, is_of_project): &(&str, &str, &str, bool)| NamedCommand {
        name: (*name).into(),
        hint: (*hint).into(),
        meaning: (*meaning).into(),
        is_of_project: *is_of_project,
    };
    SessionAnswer::Commands(commands.iter().map(named).collect())
}

#[test]
fn help_models_modes_and_mistakes() {
    let states: &[State] = &[
        ("help", |stage| stage.answered("? /help", named(&[]))),
        ("help with skills and commands", |stage| {
            let own =
                ("release", "VERSION", "How a release of this project is made, with its notes and its tags", false);
            let long = ("a-name-that-is-rather-long-for-a-row", "[pr-number] [priority]", "Review it", true);
            stage.answered("? /help", named(&[own, ("fix", "", "Fix it", false), long]));
        }),
        ("a slip", |stage| stage.answered("? /modle gpt-5", named(&[]))),
        ("an unknown command", |stage| stage.answered("? /frobnicate", named(&[]))),
        ("a slip for a skill", |stage| stage.answered("? /relaese", named(&[("release", "", "", false)]))),
        ("words behind a command that takes none", |stage| stage.entered("? /new please")),
        ("words that a command does not know", |stage| stage.entered("? /approve sometimes")),
        ("who answers", |stage| stage.introduced(identity("gpt-5", false))),
        ("the built-in assistant answers", |stage| stage.introduced(identity("", true))),
        ("somebody else answers", |stage| {
            stage.answered("? /model gpt-5", SessionAnswer::Attached(identity("gpt-5", false)));
        }),
        ("somebody else than was wanted answers", |stage| {
            stage.answered("? /model gpt-6", SessionAnswer::Attached(identity("gpt-5", false)));
        }),
        ("nobody answers but the built-in assistant", |stage| {
            stage.answered("? /model gpt-6", SessionAnswer::Attached(identity("", true)));
        }),
        ("what runs unasked", |stage| stage.entered("? /approve")),
        ("approve read-only", |stage| stage.answered("? /approve read-only", SessionAnswer::Done)),
        ("approve all", |stage| stage.answered("? /approve all", SessionAnswer::Done)),
    ];
    insta::assert_snapshot!("commands", seen(states));
}

#[test]
fn the_conversation_its_cost_and_its_code() {
    let states: &[State] = &[
        ("a new conversation", |stage| stage.answered("? /new", SessionAnswer::Done)),
        ("nothing to ask again", |stage| stage.answered("? /retry", SessionAnswer::Rewound { question: None })),
        ("the last question again", |stage| {
            stage.answered("? /retry", SessionAnswer::Rewound { question: Some("why is it big".into()) });
        }),
        ("an interrupted answer goes on", |stage| {
            stage.entered("? /resume");
            let text = "continues where the daemon ended: 3 steps are done and are not repeated".into();
            stage.daemon(DaemonMessage::Notice(Notice { turn_id: Some(TURN), kind: NoticeKind::Info, text }));
            stage.text(0, "The rest of it.");
            stage.end(TurnEndReason::Answered);
        }),
        ("back to a question", |stage| {
            stage.entered("? /rewind");
            let output = "❯ 1 question back\n".to_owned();
            let outcome = CommandOutcome { output, cwd: CWD.into(), ..outcome(Ending::Exited) };
            stage.live(LiveEvent::CommandFinished { id: TURN.to_string(), outcome });
            stage.live(LiveEvent::AnswerReady);
            let answer = SessionAnswer::Rewound { question: Some("make it longer".into()) };
            stage.daemon(DaemonMessage::SessionReply(SessionReply { request_id: RequestId(2), answer }));
        }),
        ("the output of a step", |stage| stage.entered("? /output x")),
        ("shorter", |stage| {
            let (before_tokens, after_tokens) = (60_400, 21_300);
            stage.answered("? /compact", SessionAnswer::Compacted { before_tokens, after_tokens });
        }),
        ("short enough", |stage| {
            let (before_tokens, after_tokens) = (900, 900);
            stage.answered("? /compact", SessionAnswer::Compacted { before_tokens, after_tokens });
        }),
        ("nothing to shorten", |stage| {
            let (before_tokens, after_tokens) = (0, 0);
            stage.answered("? /compact", SessionAnswer::Compacted { before_tokens, after_tokens });
        }),
        ("what the model is sent", |stage| stage.answered("? /context", context(Some(128_000)))),
        ("what the model is sent, without a model", |stage| stage.answered("? /context", context(None))),
        ("the cost", |stage| {
            let usage = Usage {
                input_tokens: Some(1_200),
                output_tokens: Some(345),
                cache_read_tokens: Some(40_000),
                cost_microusd: Some(12_345),
                is_cost_partial: true,
                ..Usage::default()
            };
            stage.answered("? /cost", SessionAnswer::Usage(usage));
        }),
        ("the cost is not known", |stage| {
            let usage = Usage { input_tokens: Some(1_200), output_tokens: Some(345), ..Usage::default() };
            stage.answered("? /cost", SessionAnswer::Usage(usage));
        }),
        ("nothing was sent", |stage| stage.answered("? /cost", SessionAnswer::Usage(Usage::default()))),
        ("code is copied", |stage| stage.with_code("? /copy")),
        ("code with a wrong number", |stage| stage.with_code("? /copy 3")),
        ("no code", |stage| stage.entered("? /copy")),
        ("code is put on the prompt", |stage| stage.with_code("? /insert 1")),
        ("keys", |stage| stage.entered("? /keys")),
        ("nothing to hold", |stage| stage.entered("? /pause")),
        ("a task is taken", |stage| stage.answered("? /bg fix the flaky test", SessionAnswer::TaskStarted { id: 3 })),
        ("a goal without a check", |stage| stage.entered("? /goal the tests pass")),
        ("a debate about nothing", |stage| stage.entered("? /debate")),
        ("a shell is to be shared", |stage| stage.entered("? /share web")),
        ("a shell that is not shared", |stage| stage.entered("? /unshare")),
    ];
    insta::assert_snapshot!("conversation", seen(states));
}

#[test]
fn every_command_has_a_screen() {
    let screens = [
        include_str!("snapshots/cohab_conversation__app__tests__screens__commands__commands.snap"),
        include_str!("snapshots/cohab_conversation__app__tests__screens__commands__conversation.snap"),
        include_str!("snapshots/cohab_conversation__app__tests__screens__commands__programs.snap"),
        include_str!("snapshots/cohab_conversation__app__tests__screens__shell__undo.snap"),
        include_str!("snapshots/cohab_conversation__app__tests__screens__unasked__unasked.snap"),
    ];
    for command in &COMMANDS {
        let line = format!("~/src $ ? /{}", command.name);
        assert!(screens.iter().any(|screens| screens.contains(&line)), "{line}");
    }
}

#[test]
fn programs_of_our_own_and_requests_that_fail() {
    let states: &[State] = &[
        ("a program runs", |stage| stage.entered("? /sessions disk")),
        ("a model sums up", |stage| stage.entered("? /compact")),
        ("what the last turn changed", |stage| {
            let text = "\u{1b}[2m\"fix the price\", now\u{1b}[m\n\n\u{1b}[1m~/shop/app.py\u{1b}[m\u{1b}[2m  +1 -1\u{1b}[m\n\
                \u{1b}[2m2 \u{1b}[m\u{1b}[31m-net \u{1b}[7m1\u{1b}[m\n\u{1b}[2m2 \u{1b}[m\u{1b}[32m+net \u{1b}[7m2\u{1b}[m\n";
            stage.printed("? /diff", text, ProgramEnding::Exited(0));
        }),
        ("tasks behind the prompt", |stage| {
            let text = "  3  works             14 s  fix the flaky test · read tests/relay.rs\n  2  done        3 min ago  diff · make the price new\n";
            stage.printed("? /tasks", text, ProgramEnding::Exited(0));
        }),
        ("what it printed", |stage| {
            let text = "a3f9  2 hours ago  ~/src  why is it big, and what can go without harm\n";
            stage.printed("? /sessions", text, ProgramEnding::Exited(0));
        }),
        ("a fact is remembered", |stage| {
            let text = "Remembered (4): staging is on host blue · in ~/shop\n`? /forget 4` deletes it.\n";
            stage.printed("? remember that staging is on host blue", text, ProgramEnding::Exited(0));
        }),
        ("a secret is not remembered", |stage| {
            let text = "error: not remembered: the text holds a secret\nHint: remember where the secret is kept, not the secret itself\n";
            stage.printed("? /remember the key is KEY", text, ProgramEnding::Exited(1));
        }),
        ("the facts", |stage| {
            let text = "4  staging is on host blue · in ~/shop · 2 days ago\n3  I prefer ripgrep to search files · 2026-03-01\n";
            stage.printed("? /memory", text, ProgramEnding::Exited(0));
        }),
        ("several facts could be meant", |stage| {
            let text = "4  staging is on host blue\n3  production is on host red\nerror: 2 facts have these words; none was deleted\n\
                Hint: `? /forget 4` deletes one by its number\n";
            stage.printed("? /forget host", text, ProgramEnding::Exited(1));
        }),
        ("it printed nothing", |stage| stage.printed("? /sessions x", "", ProgramEnding::Exited(0))),
        ("it failed in silence", |stage| stage.printed("? /doctor", "", ProgramEnding::Exited(3))),
        ("it took too long", |stage| stage.printed("? /doctor", "ok    terminal", ProgramEnding::Ended)),
        ("it is not there", |stage| {
            stage.printed("? /doctor", "", ProgramEnding::NotStarted("No such file or directory (os error 2)".into()));
        }),
        ("it is stopped", |stage| {
            stage.entered("? /doctor");
            stage.live(LiveEvent::CancelRequested { is_escape: false });
        }),
        ("the daemon is started for it", |stage| stage.enter("? /context")),
        ("the daemon cannot be reached", |stage| {
            stage.enter("? /context");
            let message = "the daemon was started but does not answer".into();
            stage.event(Event::LinkDown { message, hint: "`cohab daemon logs` may say why".into() });
        }),
        ("the daemon is gone", |stage| {
            stage.entered("? /context");
            stage.event(Event::LinkLost);
        }),
        ("the daemon does not answer", |stage| {
            stage.entered("? /context");
            stage.pass(10_000);
        }),
        ("the daemon refuses", |stage| {
            stage.entered("? /compact");
            stage.daemon(DaemonMessage::Error(WireError {
                about: ErrorSubject::Request(RequestId(2)),
                kind: WireErrorKind::Settings,
                message: "OPENAI_API_KEY is not set".into(),
                hint: Some("`cohab config check` shows what is wrong".into()),
            }));
        }),
    ];
    insta::assert_snapshot!("programs", seen(states));
}
