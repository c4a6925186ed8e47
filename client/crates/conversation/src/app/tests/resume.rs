//! Going on with an older conversation.

use cohab_protocol::{EnvSetting, LeftState};

use super::*;

pub(super) const LINE: &str = "cohab sessions resume a3f9";
const TITLE: &str = "deploy \u{1b}[31mthe shop";

pub(super) fn attached(left: Option<LeftState>) -> Attached {
    let model = ModelIdentity { provider: "w".into(), model: "m".into(), origin: "test".into(), is_offline: false };
    let session = SessionKey("shell:old".into());
    let title = Some(TITLE.to_owned());
    Attached { session, model, approval: ApprovalMode::Ask, is_resumed: false, title, left, recap: None }
}

pub(super) fn left(cwd: &str, environment: &[(&str, &str)]) -> LeftState {
    let setting = |(name, value): &(&str, &str)| EnvSetting { name: (*name).into(), value: (*value).into() };
    LeftState { cwd: Path::new(cwd).into(), environment: environment.iter().map(setting).collect() }
}

fn enter(bench: &mut Bench, line: &str) -> Vec<Effect> {
    bench.live(LiveEvent::LineEntered {
        text: line.into(),
        cursor: 0,
        cwd: CWD.into(),
        is_alone: true,
        is_command: Some(true),
    })
}

/// A session that was left so is being joined, and the terminal is ours.
fn joining(shell: Shell, left: Option<LeftState>) -> (Bench, Vec<Effect>) {
    let mut bench = Bench::connected_in(shell);
    let effects = enter(&mut bench, LINE);
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant), Effect::Join(SessionKey("resume:a3f9".into()))]);
    assert!(bench.live(LiveEvent::AnswerReady).is_empty(), "the session is not joined yet");
    let effects = bench.event(Event::LinkUp(attached(left)));
    (bench, effects)
}

fn offered(shell: Shell, environment: &[(&str, &str)]) -> String {
    let (mut bench, effects) = joining(shell, Some(left("/srv/it's", environment)));
    assert!(effects.contains(&Effect::TakeKeyboard(true)), "{effects:?}");
    bench.shown()
}

#[test]
fn the_line_joins_the_session_and_says_which() {
    let (mut bench, effects) = joining(Shell::Bash, None);
    assert_eq!(effects.last(), Some(&Effect::EndAnswer));
    let shown = bench.shown();
    assert!(shown.contains("Resumed \"deploy \\u{1b}[31mthe shop\" in this shell."), "{shown}");
    bench.live(LiveEvent::AnswerEnded);
    let sent = enter(&mut bench, "? and now");
    assert!(sent.iter().any(|effect| matches!(effect, Effect::Send(ClientMessage::UserQuery(_)))), "{sent:?}");
}

#[test]
fn an_interrupted_session_is_joined_by_its_id() {
    let mut bench = Bench::connected();
    let joins = Effect::Join(SessionKey("resume:a3f9".into()));
    assert!(enter(&mut bench, "cohab resume a3f9").contains(&joins));
    let mut bench = Bench::connected();
    assert!(!enter(&mut bench, "cohab resume --list").contains(&joins), "that is a program's");
}

#[test]
fn only_the_line_alone_is_taken() {
    for line in [
        "cohab sessions",
        "cohab sessions resume",
        "cohab sessions resume a b",
        "cohab sessions resume $x",
        "cohab sessions rm a",
    ] {
        let mut bench = Bench::connected();
        assert_eq!(enter(&mut bench, line), [Effect::DecideLine(LineDecision::Shell)], "{line}");
    }
    let mut bench = Bench::connected();
    let effects = enter(&mut bench, " cohab  sessions fork last ");
    assert!(effects.contains(&Effect::Join(SessionKey("fork:last".into()))), "{effects:?}");
}

#[test]
fn the_way_back_is_shown_and_runs_on_y_only() {
    let (mut bench, _) =
        joining(Shell::Bash, Some(left("/srv/shop", &[("NODE_ENV", "dev"), ("EVIL", "a\nb"), ("a b", "c")])));
    let shown = bench.shown();
    assert!(
        shown.contains("It was left in /srv/shop, with NODE_ENV.\n❯ cd -- '/srv/shop' && export NODE_ENV='dev'\n"),
        "{shown}"
    );
    let effects = bench.live(LiveEvent::AnswerKey(b"y".to_vec()));
    let [Effect::TakeKeyboard(false), Effect::RunAsItIs(request)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(request.text, "cd -- '/srv/shop' && export NODE_ENV='dev'");
    let (id, mut outcome) = (request.id.clone(), outcome(Ending::Exited));
    outcome.cwd = "/srv/shop".into();
    bench.live(LiveEvent::CommandFinished { id, outcome });
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
    bench.live(LiveEvent::AnswerEnded);
    assert!(!bench.app.is_joining());

    for keys in ["n", "\r", "\u{1b}", "yes", "\u{1b}[200~y\u{1b}[201~"] {
        let (mut bench, _) = joining(Shell::Bash, Some(left("/srv/shop", &[])));
        let effects = bench.live(LiveEvent::AnswerKey(keys.as_bytes().to_vec()));
        assert_eq!(effects, [Effect::TakeKeyboard(false), Effect::EndAnswer], "{keys:?}");
    }
}

#[test]
fn words_are_quoted_for_the_shell_that_reads_them() {
    assert!(offered(Shell::Zsh, &[("A", "$(x)")]).contains(r"cd -- '/srv/it'\''s' && export A='$(x)'"));
    assert!(offered(Shell::Fish, &[("A", r"b\'")]).contains(r"cd -- '/srv/it\'s' && set -gx A 'b\\\''"));
}

#[test]
fn nothing_is_offered_where_the_shell_is_as_it_was() {
    let (_, effects) = joining(Shell::Bash, Some(left(CWD, &[])));
    assert_eq!(effects.last(), Some(&Effect::EndAnswer));
    let long = "x".repeat(500);
    let (_, effects) = joining(Shell::Bash, Some(left(CWD, &[("LONG", long.as_str())])));
    assert_eq!(effects.last(), Some(&Effect::EndAnswer));
}

#[test]
fn a_session_that_cannot_be_joined_is_told_and_the_shell_goes_on() {
    let mut bench = Bench::connected();
    enter(&mut bench, LINE);
    bench.live(LiveEvent::AnswerReady);
    let effects =
        bench.event(Event::NotJoined { message: "no session begins with \"a3f9\"".into(), hint: "look".into() });
    assert_eq!(effects, [Effect::EndAnswer]);
    assert!(bench.shown().contains("no session begins with \"a3f9\""));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.live(LiveEvent::PromptReady), [Effect::LookForDaemon], "the session before");
}

#[test]
fn a_shell_that_is_opened_for_a_session_says_so_at_its_prompt() {
    let mut bench = Bench::new();
    bench.live(LiveEvent::PromptReady);
    assert_eq!(bench.event(Event::LinkUp(attached(None))), [Effect::BeginAnswer]);
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
    assert!(bench.shown().contains("Resumed "));
}

#[test]
fn ctrl_c_stops_the_wait() {
    let mut bench = Bench::connected();
    enter(&mut bench, LINE);
    bench.live(LiveEvent::AnswerReady);
    assert_eq!(bench.live(LiveEvent::CancelRequested { is_escape: false }), [Effect::EndAnswer]);
    bench.live(LiveEvent::AnswerEnded);
    assert!(!bench.app.is_joining());
}
