use super::*;

fn ends(bench: &mut Bench, line: &str, status: i32) -> Vec<Effect> {
    let effects = bench.live(LiveEvent::UserCommandFinished(UserCommand {
        line: Some(line.into()),
        status,
        cwd: CWD.into(),
        duration: Duration::from_secs(1),
        output_tail: "no such target".into(),
        output_bytes: 5,
    }));
    bench.live(LiveEvent::PromptReady);
    effects
}

fn hotkey(bench: &mut Bench, text: &str) -> Vec<Effect> {
    bench.live(LiveEvent::HotkeyPressed { text: text.into(), cwd: CWD.into(), is_command: None })
}

fn asked(effects: &[Effect]) -> Option<&str> {
    match effects {
        [Effect::DecideLine(LineDecision::Assistant), Effect::Send(ClientMessage::UserQuery(query))] => {
            Some(&query.text)
        }
        [Effect::DecideLine(LineDecision::Shell)] => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_hotkey_on_the_empty_line_asks_about_the_command_that_failed_once() {
    let mut bench = Bench::connected();
    ends(&mut bench, "make all", 2);
    let effects = hotkey(&mut bench, " ");
    assert_eq!(asked(&effects), Some("Why did this fail: `make all` (exit 2)?"));
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().starts_with("? Why did this fail: `make all` (exit 2)?\n"));
    bench.daemon(ended(TurnEndReason::Answered));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(asked(&hotkey(&mut bench, "")), None);
}

#[test]
fn without_a_failed_command_right_before_it_does_nothing() {
    let mut bench = Bench::connected();
    assert_eq!(asked(&hotkey(&mut bench, "")), None);
    ends(&mut bench, "make", 2);
    ends(&mut bench, "ls", 0);
    assert_eq!(asked(&hotkey(&mut bench, "")), None);
    ends(&mut bench, "grep x y", 1);
    assert_eq!(asked(&hotkey(&mut bench, "")), None);
}

#[test]
fn a_line_that_is_not_empty_is_asked_as_it_stands() {
    let mut bench = Bench::connected();
    ends(&mut bench, "make", 2);
    assert_eq!(asked(&hotkey(&mut bench, "what now")), Some("what now"));
}

#[test]
fn the_key_is_told_of_once_in_a_shell_ahead_of_the_prompt() {
    let mut bench = Bench::connected();
    bench.app.options.failure_key = Some("Ctrl-Space");
    let announced = |effects: Vec<Effect>| {
        effects.into_iter().find_map(|effect| match effect {
            Effect::Announce(text) => Some(text),
            _ => None,
        })
    };
    assert_eq!(announced(ends(&mut bench, "ls", 0)), None);
    assert_eq!(announced(ends(&mut bench, "make", 2)).as_deref(), Some("Ctrl-Space: why?"));
    assert_eq!(announced(ends(&mut bench, "make", 2)), None);
}
