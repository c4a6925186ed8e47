use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, Lasts};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;

use super::*;
use crate::wiring;

/// Answers questions and keeps them.
struct User {
    says_yes: bool,
    asked: Mutex<Vec<ApprovalQuestion>>,
}

#[async_trait]
impl Approver for User {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        self.asked.lock().unwrap().push(question);
        match self.says_yes {
            true => ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once },
            false => ApprovalAnswer::Refused { reason: "the user refused".into() },
        }
    }
}

struct Bench {
    home: tempfile::TempDir,
    user: Arc<User>,
}

impl Bench {
    fn new(says_yes: bool) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        Self { home, user: Arc::new(User { says_yes, asked: Mutex::default() }) }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("work").canonicalize().unwrap()
    }

    fn paths(&self) -> Paths {
        let root = self.home.path().join("cohab");
        Paths::new(|name| (name == "COHAB_HOME").then(|| root.clone()), rustix::process::getuid().as_raw())
    }

    fn calls(&self, mode: ApprovalMode) -> FlowCalls {
        let approver = Arc::clone(&self.user) as _;
        let caller = FlowCaller { kind: "flow", run: "0123".into(), folder: self.folder(), mode: Some(mode), approver };
        wiring::flow_calls(&self.paths(), &Arc::new(Secrets::default()), caller).expect("settings")
    }

    fn questions(&self) -> Vec<ApprovalQuestion> {
        self.user.asked.lock().unwrap().clone()
    }
}

async fn call(calls: &FlowCalls, request: ToolRequest, holds_values: bool) -> NodeAnswer {
    calls.call(request, holds_values, &CancellationToken::new()).await
}

fn line(text: &str) -> ToolRequest {
    ToolRequest::Line(text.into())
}

fn words(words: &[&str]) -> ToolRequest {
    ToolRequest::Words(words.iter().map(|word| (*word).to_owned()).collect())
}

#[tokio::test]
async fn what_only_reads_runs_unasked_and_has_its_status() {
    let bench = Bench::new(false);
    let calls = bench.calls(ApprovalMode::Ask);
    let answer = call(&calls, line("echo hello"), false).await;
    assert_eq!(answer, NodeAnswer::Command { text: "hello\n".into(), status: 0 });
    assert!(matches!(call(&calls, line("false"), false).await, NodeAnswer::Command { status: 1, .. }));
    assert!(bench.questions().is_empty());
}

#[tokio::test]
async fn what_may_change_something_needs_a_yes() {
    for says_yes in [false, true] {
        let bench = Bench::new(says_yes);
        let answer = call(&bench.calls(ApprovalMode::Ask), line("touch made"), false).await;
        assert_eq!(bench.questions().len(), 1);
        assert_eq!(
            (matches!(answer, NodeAnswer::Command { status: 0, .. }), bench.folder().join("made").exists()),
            (says_yes, says_yes)
        );
        assert!(says_yes || answer == NodeAnswer::Failed("the user refused".into()), "{answer:?}");
    }
}

#[tokio::test]
async fn the_mode_for_reading_asks_nobody_and_runs_nothing_else() {
    let bench = Bench::new(true);
    let answer = call(&bench.calls(ApprovalMode::ReadOnly), line("touch made"), false).await;
    assert!(matches!(answer, NodeAnswer::Failed(_)) && bench.questions().is_empty());
    assert!(!bench.folder().join("made").exists());
}

#[tokio::test]
async fn values_of_the_state_suspend_the_automatic_mode() {
    let bench = Bench::new(false);
    let calls = bench.calls(ApprovalMode::Auto);
    let answer = call(&calls, words(&["touch", "first"]), false).await;
    assert!(matches!(answer, NodeAnswer::Command { status: 0, .. }), "{answer:?}");
    assert!(matches!(call(&calls, words(&["touch", "second"]), true).await, NodeAnswer::Failed(_)));
    let asked = bench.questions();
    assert!(asked[0].reasons.iter().any(|reason| reason.contains(EARLIER_RESULTS)), "{asked:?}");
}

#[tokio::test]
async fn a_word_is_one_word_whatever_is_in_it() {
    let bench = Bench::new(true);
    let calls = bench.calls(ApprovalMode::All);
    for word in ["a b", "$(touch x)", "`id`", "it's \"x\"", "a\nb", "; exit 9", "*", "~", "", "\\", "!x", "=y"] {
        let answer = call(&calls, words(&["printf", "%s", word]), true).await;
        assert_eq!(answer, NodeAnswer::Command { text: word.into(), status: 0 }, "{word:?}");
    }
    // What looks like an assignment is a program that does not exist.
    assert!(matches!(call(&calls, words(&["A=b", "c"]), true).await, NodeAnswer::Command { status: 127, .. }));
}

#[tokio::test]
async fn tools_pass_the_same_gate() {
    let bench = Bench::new(false);
    std::fs::write(bench.folder().join("notes"), "seven\n").unwrap();
    let calls = bench.calls(ApprovalMode::Ask);
    let tool = |name: &str, arguments: &[(&str, &str)]| ToolRequest::Tool {
        name: name.into(),
        arguments: arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
    };
    let read = call(&calls, tool("read", &[("path", "notes")]), false).await;
    assert!(matches!(&read, NodeAnswer::Text(text) if text.contains("seven")), "{read:?}");
    let write = call(&calls, tool("write", &[("path", "notes"), ("content", "x")]), false).await;
    assert!(matches!(write, NodeAnswer::Failed(_)) && bench.questions().len() == 1);
    let unknown = call(&calls, tool("fly", &[]), false).await;
    assert!(
        matches!(&unknown, NodeAnswer::Failed(reason) if reason.starts_with("there is no tool `fly`; the tools are: bash"))
    );
    let shell = tool("bash", &[("command", "touch made")]);
    let refused = call(&calls, shell, true).await;
    assert!(matches!(&refused, NodeAnswer::Failed(reason) if reason.contains("would run as code")), "{refused:?}");
    let wrong = call(&calls, tool("read", &[("file", "notes")]), false).await;
    assert!(matches!(&wrong, NodeAnswer::Failed(reason) if reason.contains("path")), "{wrong:?}");
}

#[tokio::test]
async fn a_cancelled_command_ends_soon() {
    let bench = Bench::new(true);
    let calls = bench.calls(ApprovalMode::All);
    let cancel = CancellationToken::new();
    let later = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    };
    let began = std::time::Instant::now();
    let (answer, ()) = tokio::join!(calls.call(line("sleep 60"), false, &cancel), later);
    assert_eq!(answer, NodeAnswer::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn what_was_done_and_who_agreed_is_on_record() {
    let bench = Bench::new(true);
    {
        let calls = bench.calls(ApprovalMode::Ask);
        call(&calls, line("touch made"), false).await;
    }
    let folder = bench.paths().state_dir.join("audit");
    let mut records = String::new();
    for file in std::fs::read_dir(folder).expect("there are records") {
        records += &std::fs::read_to_string(file.unwrap().path()).unwrap();
    }
    assert!(records.contains("flow:0123") && records.contains("touch made"), "{records}");
}
