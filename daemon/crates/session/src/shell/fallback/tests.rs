use std::{path::Path, sync::Mutex, time::Duration};

use cohab_guard::repository::testing::plant;
use cohab_protocol::{
    ApprovalMode, Attach, CommandEnding, CommandExecutionResult, EnvDelta, EnvSetting, RunMode, SessionKey, StateAfter,
};
use cohab_sandbox::isolated::DaemonShell;
use cohab_types::{command::Mode, environment::Variables};

use super::*;
use crate::shell::isolated::IsolatedRunner;

type Asked = Arc<Mutex<Vec<(PathBuf, Variables)>>>;

/// Answers each question with this one answer, and keeps the reasons.
struct Says(ApprovalAnswer, Mutex<Vec<Vec<String>>>);

#[async_trait]
impl Approver for Says {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        assert!(question.is_each_time);
        self.1.lock().unwrap().push(question.reasons);
        self.0.clone()
    }
}

/// A session in `cwd` whose client has a live shell, and a runner for it. Questions get this answer.
fn bench_in(
    cwd: &Path,
    mode: ApprovalMode,
    answer: ApprovalAnswer,
) -> (Arc<Session>, LiveOrIsolated, Asked, Arc<Says>) {
    let session = Arc::new(Session::new(SessionKey("shell:1".into())));
    let path = std::env::var("PATH").unwrap();
    let environment = [("SEEN", "1".to_owned()), ("PATH", path), ("HOME", "/nowhere".to_owned())];
    let environment = environment.map(|(name, value)| EnvSetting { name: name.into(), value }).into();
    let attach = Attach {
        session: session.key().clone(),
        live_shell: Some("bash".into()),
        approval: mode,
        can_approve: true,
        has_lock: false,
        settings: Vec::new(),
        environment,
        resume: None,
    };
    session.attach(attach, mode, 1, CancellationToken::new());
    let turn_id = TurnId::fresh();
    session.begin_turn(turn_id, cwd.to_owned(), CancellationToken::new()).unwrap();
    let asked = Asked::default();
    let isolated_shell: IsolatedShell = Arc::new({
        let asked = Arc::clone(&asked);
        move |cwd: &Path, environment: &Variables| {
            asked.lock().unwrap().push((cwd.to_owned(), environment.clone()));
            Arc::new(IsolatedRunner(DaemonShell::new(cwd.to_owned())))
        }
    });
    let says = Arc::new(Says(answer, Mutex::default()));
    let approver = Arc::clone(&says) as Arc<dyn Approver>;
    let runner = LiveOrIsolated::new(Arc::clone(&session), turn_id, isolated_shell, approver, "/nowhere".into());
    (session, runner, asked, says)
}

/// The result of a command that the client refuses with this code.
async fn run_refused(
    session: &Session,
    runner: &LiveOrIsolated,
    code: &str,
    text: &str,
) -> Result<CommandOutcome, RelayError> {
    let request =
        CommandRequest { id: "01".into(), text: text.into(), timeout: Duration::from_secs(20), wants_env_delta: true };
    let client = async {
        loop {
            let Some(DaemonMessage::ExecuteCommand(command)) = session.next_outgoing(1).await.map(Arc::unwrap_or_clone)
            else {
                continue;
            };
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
                first_run: None,
            });
            return;
        }
    };
    let cancel = CancellationToken::new();
    tokio::join!(runner.run(request, &cancel), client).0
}

/// The client refuses the command; returns the result and the notices to the user.
async fn refused(code: &str, text: &str) -> (Result<CommandOutcome, RelayError>, Option<String>, usize) {
    let (session, runner, asked, _) = bench_in(Path::new("/usr"), ApprovalMode::All, ApprovalAnswer::CancelTurn);
    let result = run_refused(&session, &runner, code, text).await;
    let told =
        std::iter::from_fn(|| session.next_waiting(1).map(Arc::unwrap_or_clone)).find_map(|message| match message {
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
            "The command runs in a separate shell: python3 has it. The effects of its `cd` and `export` are lost.";
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

#[tokio::test]
async fn what_a_repository_would_start_is_asked_about_before_git_runs_in_a_shell_of_its_own() {
    let yes = ApprovalAnswer::Approved { approval: None, lasts: cohab_agent::port::Lasts::Once };
    let no = ApprovalAnswer::Refused { reason: "rather not".into() };
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path());
    for (mode, answer, runs, questions) in [
        (ApprovalMode::Ask, yes.clone(), true, 1),
        (ApprovalMode::Auto, yes.clone(), true, 1),
        (ApprovalMode::Ask, no, false, 1),
        (ApprovalMode::Ask, ApprovalAnswer::CancelTurn, false, 1),
        (ApprovalMode::ReadOnly, yes.clone(), false, 0),
        (ApprovalMode::All, yes, true, 0),
    ] {
        let (session, runner, _, says) = bench_in(folder.path(), mode, answer.clone());
        let result = run_refused(&session, &runner, "nested", "git status").await;
        assert_eq!(result.is_ok(), runs, "{mode} {answer:?}: {result:?}");
        assert!(runs || result.unwrap_err().code() == "not_approved");
        let asked = says.1.lock().unwrap().clone();
        assert_eq!(asked.len(), questions, "{mode} {answer:?}");
        assert!(asked.iter().all(|reasons| reasons[0].contains("`core.fsmonitor` = `./evil`")), "{asked:?}");
        if runs {
            run_refused(&session, &runner, "nested", "git status").await.unwrap();
            assert_eq!(says.1.lock().unwrap().len(), questions, "a yes settles it");
        }
    }
}

#[tokio::test]
async fn where_git_starts_nothing_nobody_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["git --version", "pwd", "git -C . status"] {
        let (session, runner, _, says) = bench_in(folder.path(), ApprovalMode::Ask, ApprovalAnswer::CancelTurn);
        let result = run_refused(&session, &runner, "nested", command).await;
        assert!(result.is_ok() && says.1.lock().unwrap().is_empty(), "{command}: {result:?}");
    }
}
