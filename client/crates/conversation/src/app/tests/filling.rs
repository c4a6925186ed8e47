//! A secret that was taken out goes back into a command: here, after a question, and nowhere else.

use super::*;

fn token() -> String {
    ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat()
}

/// What is sent, as the daemon gets it.
fn sent(effects: &[Effect]) -> String {
    let messages = effects.iter().filter(|effect| matches!(effect, Effect::Send(_)));
    format!("{:?}", messages.collect::<Vec<_>>())
}

impl Bench {
    /// The user's last command has written a token; the model knows its placeholder.
    fn with_a_placeholder(approval: ApprovalMode) -> (Self, String) {
        let mut bench = Self::connected();
        bench.app.options.approval = approval;
        let effects = bench.live(LiveEvent::UserCommandFinished(UserCommand {
            line: Some(format!("echo {}", token())),
            status: 0,
            cwd: CWD.into(),
            duration: Duration::ZERO,
            output_tail: token(),
            output_bytes: 0,
        }));
        assert!(!sent(&effects).contains(&token()), "{effects:?}");
        let [Effect::Send(ClientMessage::ShellEvent(event))] = &effects[..] else { panic!("{effects:?}") };
        let placeholder = event.output_tail.clone();
        assert_eq!(event.line.as_deref(), Some(format!("echo {placeholder}").as_str()), "one number for one value");
        bench.enter("? why");
        bench.live(LiveEvent::AnswerReady);
        bench.shown();
        (bench, placeholder)
    }

    fn agree(&mut self, command: &str, key: &str) -> Vec<Effect> {
        self.daemon(ask(command, false));
        self.pass(301);
        self.key(key)
    }
}

#[test]
fn a_secret_is_filled_in_after_a_yes_and_comes_back_without() {
    let (mut bench, placeholder) = Bench::with_a_placeholder(ApprovalMode::Ask);
    let command = format!("check '{placeholder}'");
    bench.agree(&command, "y");
    let effects = bench.daemon(execute(&command, Some(QUESTION)));
    let Some(Effect::RunFilled(request, filled)) = effects.last() else { panic!("{effects:?}") };
    assert_eq!((request.text.as_str(), filled.text()), (command.as_str(), format!("check '{}'", token()).as_str()));
    assert!(!format!("{effects:?} {:?}", bench.app).contains(&token()), "nothing shows it");
    assert!(bench.shown().contains(&placeholder));

    let id = CALL.to_string();
    bench.live(LiveEvent::CommandStarted { id: id.clone() });
    let output = format!("refused: {} '{}'", token(), token());
    let effects =
        bench.live(LiveEvent::CommandFinished { id, outcome: CommandOutcome { output, ..outcome(Ending::Exited) } });
    assert!(!sent(&effects).contains("aB3dE5fG7hJ9"), "{effects:?}");
    assert_eq!(result_in(&effects).output, format!("refused: {placeholder} '{placeholder}'"));
    let again = bench.daemon(execute(&command, Some(QUESTION)));
    assert!(!sent(&again).contains("aB3dE5fG7hJ9") && runs(&again).is_none(), "{again:?}");
}

#[test]
fn no_mode_and_no_consent_of_before_fills_a_secret_in() {
    let (mut bench, placeholder) = Bench::with_a_placeholder(ApprovalMode::All);
    let command = format!("ls {placeholder}");
    assert_eq!(refusal_in(&bench.daemon(execute(&command, None))), "not_approved");
    assert_eq!(bench.agree(&command, "s"), [], "the session is not offered");
    bench.pass(301);
    assert!(decision_in(&bench.key("y")).is_some());
    bench.app.consents.allow_for_session(crate::consent::Agreed { command: command.clone(), cwd: CWD.into() });
    assert!(matches!(bench.daemon(execute(&command, Some(QUESTION))).last(), Some(Effect::RunFilled(..))));
    bench.live(undo::finished(&CALL.to_string()));
    bench.live(LiveEvent::AnswerReady);
    let another = execute_as(CallId(Uuid::from_u128(10)), &command, Some(QUESTION));
    assert_eq!(refusal_in(&bench.daemon(another)), "not_approved");
}

#[test]
fn what_cannot_be_filled_in_is_not_even_asked_about() {
    let (mut bench, placeholder) = Bench::with_a_placeholder(ApprovalMode::Ask);
    for (command, reason) in [
        (
            format!("cat <<E\n{placeholder}\nE"),
            "gitlab-token#1 is not filled in: this line holds a here-document or a here-string",
        ),
        (
            placeholder.replace("#1", "#9"),
            "gitlab-token#9 is not filled in: this terminal does not know its value, or not any more",
        ),
        ("echo <secret:jwt#1>".into(), "jwt#1 is not filled in: its value is not known in any terminal"),
        (
            "echo <secret:jwt#1-abcdefgh>".into(),
            "jwt#1 is not filled in: this terminal does not know its value, or not any more",
        ),
    ] {
        let effects = bench.daemon(ask(&command, false));
        assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Refused { note: reason.into() }), "{command}");
        assert!(!effects.contains(&Effect::TakeKeyboard(true)));
    }
}

#[test]
fn no_line_with_a_placeholder_left_is_typed() {
    for approval in [ApprovalMode::Ask, ApprovalMode::All] {
        let (mut bench, _) = Bench::with_a_placeholder(approval);
        bench.agree("touch a", "e");
        let command = "touch '<secret:jwt#1>'";
        bench.keys(&format!("\x7f\x7f\x7f\x7f\x7f\x7f\x7f{command}\r"));
        let effects = bench.daemon(execute(command, Some(QUESTION)));
        assert!(runs(&effects).is_none() && refusal_in(&effects) == "not_approved", "{effects:?}");
    }
}

#[test]
fn what_the_user_asks_and_answers_is_told_without_secrets() {
    let mut bench = Bench::connected();
    let effects = bench.enter(&format!("? why is {} refused", token()));
    assert!(
        sent(&effects).contains("why is <secret:gitlab-token#1-") && !sent(&effects).contains(&token()),
        "{effects:?}"
    );
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().contains(&token()), "the user sees what they typed");
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.key("n");
    let effects = bench.keys(&format!("use {}\r", token()));
    assert!(
        sent(&effects).contains("use <secret:gitlab-token#1-") && !sent(&effects).contains(&token()),
        "{effects:?}"
    );
}
