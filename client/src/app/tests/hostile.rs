//! Tests that the text of any field of a message reaches the terminal as letters only.

use cohab_protocol::{Notice, NoticeKind, WireError, WireErrorKind};
use cohab_term::{
    ansi::ColorSupport,
    live_area::{Abilities, LiveArea},
};
use cohab_text::{sanitize::is_invisible, terminal_attack_fixtures::HOSTILE};

use super::*;

/// A message with the text in one of its fields, or an event of the client's own.
type Field = (&'static str, fn(String) -> Event);

fn daemon(message: DaemonMessage) -> Event {
    Event::Daemon(Box::new(message))
}

fn chunk(delta: ChunkDelta) -> Event {
    daemon(DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id: TURN, seq: 0, delta }))
}

fn started(activity: StepActivity) -> Event {
    daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 0, activity }))
}

fn notice(kind: NoticeKind, text: String) -> Event {
    daemon(DaemonMessage::Notice(Notice { turn_id: Some(TURN), kind, text }))
}

fn error(message: String, hint: String) -> Event {
    let about = cohab_protocol::ErrorSubject::Turn(TURN);
    daemon(DaemonMessage::Error(WireError { about, kind: WireErrorKind::Provider, message, hint: Some(hint) }))
}

fn question(subject: ApprovalSubject, reason: String) -> Event {
    daemon(DaemonMessage::ApprovalRequest(ApprovalRequest {
        approval_id: QUESTION,
        turn_id: TURN,
        subject,
        is_dangerous: false,
        reasons: vec![reason],
        is_each_time: false,
    }))
}

fn path(text: &str) -> cohab_protocol::WirePath {
    Path::new(text).into()
}

fn command(command: &str, cwd: &str) -> ApprovalSubject {
    ApprovalSubject::Command { command: command.into(), cwd: path(cwd), mode: RunMode::Live }
}

const FIELDS: &[Field] = &[
    ("answer", |text| chunk(ChunkDelta::Text(text))),
    ("answer, closed", |text| chunk(ChunkDelta::Text(text + "\n\nnext"))),
    ("heading", |text| chunk(ChunkDelta::Text(format!("# {text}\n")))),
    ("code", |text| chunk(ChunkDelta::Text(format!("```{text}\n{text}\n```\n")))),
    ("inline code", |text| chunk(ChunkDelta::Text(format!("`{text}`\n\n")))),
    ("link", |text| chunk(ChunkDelta::Text(format!("[{text}](https://a.b/{text}) <https://a.b/{text}>\n\n")))),
    ("link in angles", |text| chunk(ChunkDelta::Text(format!("[x](<https://a.b/{text}>)\n\n")))),
    ("entities", |text| {
        let entities: String = text.chars().map(|c| format!("&#{};", u32::from(c))).collect();
        chunk(ChunkDelta::Text(format!("{entities}\n\n[{entities}](https://a.b/{entities})\n\n")))
    }),
    ("table", |text| chunk(ChunkDelta::Text(format!("|{text}|b|\n|-|-|\n|{text}|c|\n\n")))),
    ("formula", |text| chunk(ChunkDelta::Text(format!("$$\n{text}\n$$\nand \\({text}\\)\n\n")))),
    ("html", |text| chunk(ChunkDelta::Text(format!("<b {text}>{text}</b>\n\n<!-- {text} -->\n\n")))),
    ("reasoning", |text| chunk(ChunkDelta::Reasoning(text))),
    ("model", |model| started(StepActivity::ModelCall { model })),
    ("tool", |tool| started(StepActivity::ToolCall { tool, argument: "x".into() })),
    ("argument", |argument| started(StepActivity::ToolCall { tool: "read".into(), argument })),
    ("notice", |text| notice(NoticeKind::Info, text)),
    ("warning", |text| notice(NoticeKind::Warning, text)),
    ("retry", |text| notice(NoticeKind::Retry { after_ms: 5_000 }, text)),
    ("error", |text| error(text, "none".into())),
    ("hint", |text| error("failed".into(), text)),
    ("goodbye", |reason| daemon(DaemonMessage::Goodbye { reason })),
    ("lost link", |text| Event::LinkDown { message: text.clone(), hint: text }),
    ("command", |text| question(command(&text, "/"), "x".into())),
    ("folder", |text| question(command("ls", &text), "x".into())),
    ("reason", |text| question(command("ls", "/"), text)),
    ("path to read", |text| question(ApprovalSubject::FileRead { tool: "read".into(), path: path(&text) }, "x".into())),
    ("tool that reads", |tool| question(ApprovalSubject::FileRead { tool, path: path("/") }, "x".into())),
    ("change", |text| {
        let diff = format!("@@ {text}\n+{text}\n-{text}\n {text}");
        question(ApprovalSubject::FileChange { tool: "edit".into(), path: path(&text), diff }, "x".into())
    }),
    ("server", |text| {
        let subject = ApprovalSubject::LocalServer { url: text.clone(), server: text.clone(), model: text };
        question(subject, "x".into())
    }),
];

/// A message for each field that holds this text.
pub(crate) fn messages(text: &str) -> impl Iterator<Item = (&'static str, DaemonMessage)> {
    FIELDS.iter().filter_map(move |(field, event)| match event(text.to_owned()) {
        Event::Daemon(message) => Some((*field, *message)),
        _ => None,
    })
}

/// What the terminal gets for a client to which this happens in a turn.
fn sent(event: Event, output_style: OutputStyle) -> String {
    let mut bench = Bench::new();
    bench.app.options.output_style = output_style;
    bench.live(LiveEvent::PromptReady);
    bench.link_up();
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    let abilities = Abilities {
        colors: ColorSupport::Ansi16,
        output_style,
        is_dumb: false,
        has_links: output_style == OutputStyle::Rich,
        rewraps: true,
    };
    let mut area = LiveArea::new(80, 24, abilities);
    let mut out = Vec::new();
    let mut draw = |bench: &mut Bench| {
        let frame = bench.app.frame();
        area.draw(&frame.above, &frame.area, frame.cursor, &mut out);
    };
    bench.event(event);
    draw(&mut bench);
    let summary = "x".into();
    let outcome = StepOutcome::Done;
    let finished =
        StepFinished { turn_id: TURN, step: 0, outcome, summary, elapsed_ms: 1, detail: None, only_reads: false };
    bench.daemon(DaemonMessage::StepFinished(finished));
    bench.daemon(ended(TurnEndReason::Cancelled));
    draw(&mut bench);
    String::from_utf8(out).expect("text")
}

/// The bytes without what is ours: styles, moves, erasures, marks of a frame, links to where their text says.
fn without_ours(sent: &str) -> String {
    let mut left = String::new();
    let mut rest = sent;
    while let Some((before, sequence)) = rest.split_once('\u{1b}') {
        left.push_str(before);
        let end = match sequence.as_bytes().first() {
            Some(b'(') => sequence.strip_prefix("(B").map(|_| 2),
            Some(b']') => sequence.strip_prefix("]8;").and_then(|_| sequence.find("\u{1b}\\")).map(|end| end + 2),
            _ => sequence.find(|c: char| c.is_ascii_alphabetic()).map(|end| end + 1),
        };
        let end = end.unwrap_or_else(|| panic!("not ours: {sequence:?}"));
        let ours = &sequence[..end];
        let is_ours = ours.starts_with("]8;id=") && ours[..end - 2].bytes().all(|byte| byte.is_ascii_graphic())
            || ["]8;;\u{1b}\\", "(B", "[?25l", "[?25h", "[?2026h", "[?2026l"].contains(&ours)
            || ours.ends_with(['m', 'A', 'B', 'C', 'K'])
                && ours[1..end - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        assert!(is_ours, "not ours: {ours:?}");
        rest = &sequence[end..];
    }
    left + rest
}

#[test]
fn no_field_of_a_frame_takes_a_sequence_to_the_terminal() {
    for hostile in HOSTILE {
        for (field, event) in FIELDS {
            for output_style in [OutputStyle::Rich, OutputStyle::Accessible] {
                let left = without_ours(&sent(event(format!("a{}b", hostile.bytes)), output_style));
                let is_odd = |c: char| (c.is_control() && !matches!(c, '\r' | '\n')) || is_invisible(c);
                assert!(!left.contains(is_odd), "{} in {field}: {left:?}", hostile.name);
            }
        }
    }
}

#[test]
fn text_around_a_sequence_stays_and_the_sequence_goes() {
    let shown = ["answer", "reasoning", "model", "tool", "argument", "notice", "warning", "retry", "error", "hint"];
    for hostile in HOSTILE {
        for (field, event) in FIELDS.iter().filter(|(field, _)| shown.contains(field) && *field != "reasoning") {
            let left = without_ours(&sent(event(format!("a{}b", hostile.bytes)), OutputStyle::Rich));
            let expected = format!("a{}b", hostile.left);
            assert!(left.contains(&expected), "{} in {field}: {left:?}", hostile.name);
        }
    }
}

#[test]
fn what_a_command_hides_is_written_out() {
    for hostile in HOSTILE {
        let left =
            without_ours(&sent(question(command(&format!("a{}b", hostile.bytes), "/"), "x".into()), OutputStyle::Rich));
        let escapes = left.matches("\\u{").count();
        let odd = hostile.bytes.chars().filter(|c| c.is_control() || is_invisible(*c)).count();
        // The card and the line of the question both may show it; wrapping never cuts a letter away.
        assert!(escapes >= odd, "{}: {escapes} of {odd} in {left:?}", hostile.name);
    }
}
