use std::{path::Path, sync::Mutex, time::Duration};

use cohab_protocol::{
    ApprovalMode, Attach, CommandEnding, CommandExecutionResult, EnvDelta, EnvSetting, RunMode, SessionKey, StateAfter,
};
use cohab_shell_relay::{isolated::DaemonShell, runner::Mode};

use super::*;
use crate::server::session::Variables;

type Asked = Arc<Mutex<Vec<(PathBuf, Variables)>>>;

/// A session in `/usr` whose client has a live shell, and a runner for it.
fn bench() -> (Arc<Session>, LiveOrIsolated, Asked) {
    let session = Arc::new(Session::new(SessionKey("shell:1".into())));
    let environment = vec![EnvSetting { name: "SEEN".into(), value: "1".into() }];
    let attach = Attach {
        session: session.key().clone(),
        live_shell: Some("bash".into()),
        approval: ApprovalMode::All,
        can_approve: true,
        settings: Vec::new(),
        environment,
        resume: None,
    };
    session.attach(attach, ApprovalMode::All, 1, CancellationToken::new());
    let turn_id = TurnId::fresh();
    session.begin_turn(turn_id, "/usr".into(), CancellationToken::new()).unwrap();
    let asked = Asked::default();
    let isolated_shell: IsolatedShell = Arc::new({
        let asked = Arc::clone(&asked);
        move |cwd: &Path, environment: &Variables| {
            asked.lock().unwrap().push((cwd.to_owned(), environment.clone()));
            Arc::new(DaemonShell::new(cwd.to_owned()))
        }
    });
    let runner = LiveOrIsolated::new(Arc::clone(&session), turn_id, isolated_shell);
    (session, runner, asked)
}

/// The client refuses the command; gives what came of it and what the user was told.
async fn refused(code: &str, text: &str) -> (Result<CommandOutcome, RelayError>, Option<String>, usize) {
    let (session, runner, asked) = bench();
    let request =
        CommandRequest { id: "01".into(), text: text.into(), timeout: Duration::from_secs(20), wants_env_delta: true };
    let client = async {
        loop {
            let Some(DaemonMessage::ExecuteCommand(command)) = session.next_outgoing(1).await else { continue };
            session.command_ended(CommandExecutionResult {
                call_id: command.call_id,
                ending: CommandEnding::Refused { code: code.into(), reason: "python3 has it".into() },
                exit_code: None,
                output: String::new(),
                total_bytes: 0,
                truncated_bytes: 0,
                // Where the shell is by now; the command was judged for another folder.
                cwd: Path::new("/").into(),
                env_delta: EnvDelta::default(),
                duration_ms: 0,
                mode: RunMode::Live,
                state_after: StateAfter::Prompt,
            });
            return;
        }
    };
    let cancel = CancellationToken::new();
    let (result, ()) = tokio::join!(runner.run(request, &cancel), client);
    let told = std::iter::from_fn(|| session.next_waiting(1)).find_map(|message| match message {
        DaemonMessage::Notice(notice) => Some(notice.text),
        _ => None,
    });
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|(cwd, environment)| cwd == Path::new("/usr") && environment["SEEN"] == "1"));
    (result, told, asked.len())
}

#[tokio::test]
async fn where_the_live_shell_is_out_of_reach_a_shell_of_its_own_runs_it_and_says_so() {
    for code in ["not_integrated", "unsupported_shell", "shell_replaced", "nested", "fullscreen_app"] {
        let (result, told, _) = refused(code, "pwd").await;
        let outcome = result.unwrap();
        assert_eq!((outcome.mode, outcome.output.as_str()), (Mode::Isolated, "/usr\n"), "{code}");
        let expected =
            "The command runs in a shell of its own: python3 has it. What `cd` and `export` do there is lost.";
        assert_eq!(told.as_deref(), Some(expected), "{code}");
    }
}

#[tokio::test]
async fn any_other_refusal_stands_and_nothing_runs() {
    for code in ["shell_busy", "continuation_line", "not_ready", "bad_text", "not_approved", "turn_over", "shell_gone"]
    {
        let (result, told, runs) = refused(code, "pwd").await;
        assert!(result.is_err() && told.is_none() && runs == 0, "{code}: {result:?} {told:?}");
    }
}

#[tokio::test]
async fn a_secret_is_filled_in_in_the_live_shell_or_nowhere() {
    let (result, told, asked) = refused("fullscreen_app", "echo <secret:jwt#1-abcdefgh>").await;
    assert_eq!((result.unwrap_err().code(), told, asked), ("fullscreen_app", None, 0));
}
