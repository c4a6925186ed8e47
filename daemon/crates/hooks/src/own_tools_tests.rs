use cohab_agent::{port::NoSink, runner::CommandRunner};
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use tokio_util::sync::CancellationToken;

use super::*;

struct Machine {
    _folder: tempfile::TempDir,
    home: PathBuf,
}

struct Here(PathBuf);

#[async_trait]
impl CommandRunner for Here {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        self.0.clone()
    }
}

fn guide(name: &str) -> String {
    json!({"name": name, "description": "Says hello. It does no more.", "only_reads": true}).to_string()
}

/// A tool that says what it got.
fn program(name: &str) -> String {
    format!("#!/bin/sh\n[ \"$1\" = --agent-guide ] && {{ echo '{}'; exit 0; }}\ncat; pwd\n", guide(name))
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in ["settings/tools", "shop/.cohab/tools"] {
            fs::create_dir_all(home.join(name)).unwrap();
            fs::set_permissions(home.join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        Self { _folder: folder, home }
    }

    fn places(&self) -> ToolPlaces {
        ToolPlaces {
            settings: self.home.join("settings"),
            trust: TrustedFolders::new(self.home.join("state/trusted"), self.home.clone()),
            allowed: AllowedFiles::at(self.home.join("state/allowed")),
            unasked: AllowedFiles::at(self.home.join("state/unasked")),
            prints: Arc::default(),
        }
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.join(path);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    fn found(&self) -> Vec<FoundTool> {
        self.places().find(Some(&self.home.join("shop"))).unwrap()
    }

    async fn tools(&self) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
        let environment = [("PATH".into(), std::env::var_os("PATH").unwrap())];
        let setting = ToolSetting { environment: environment.into(), limit: Duration::from_secs(20) };
        Guides::default().tools(self.found(), &setting).await
    }
}

fn arguments(value: &Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

#[tokio::test]
async fn a_tool_describes_itself_and_is_called_with_json() {
    let machine = Machine::new();
    machine.write("settings/tools/hello.sh", &program("hello"));
    let (tools, faults) = machine.tools().await;
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(tools[0].spec().name, "own_hello");
    let args = arguments(&json!({"to": "Ann"}));
    let effect = tools[0].intent(&args, Path::new("/")).unwrap().effect;
    let Effect::Foreign { details, agreed: Agreed::No, .. } = effect else { panic!("{effect:?}") };
    assert!(details.contains("\"to\": \"Ann\""), "{details}");
    let (runner, cancel) = (Here(machine.home.clone()), CancellationToken::new());
    let context = ToolContext {
        runner: &runner,
        approval: None,
        run_id: String::new(),
        is_check: false,
        cancel: &cancel,
        sink: &NoSink,
    };
    let output = tools[0].call(&args, &context).await.unwrap();
    assert_eq!(output.content, format!("{{\"to\":\"Ann\"}}{}\n", machine.home.display()));
    cancel.cancel();
    assert_eq!(tools[0].call(&args, &context).await.unwrap_err(), "cancelled");
}

#[tokio::test]
async fn a_tool_of_a_project_needs_trust_and_consent_to_its_content() {
    let machine = Machine::new();
    let path = machine.write("shop/.cohab/tools/deploy", &program("deploy"));
    let consent = || machine.found()[0].consent;
    assert_eq!((consent(), machine.tools().await.0.len()), (Consent::NoTrust, 0));
    machine.places().trust.add(&machine.home.join("shop")).unwrap();
    assert_eq!((consent(), machine.tools().await.0.len()), (Consent::Missing, 0));
    let allow =
        |list: &AllowedFiles| list.allow(path.clone(), machine.found()[0].fingerprint.clone().unwrap()).unwrap();
    allow(&machine.places().allowed);
    assert_eq!((consent(), machine.tools().await.0.len()), (Consent::Given, 1));
    allow(&machine.places().unasked);
    let has_rule = |tools: &[Arc<dyn Tool>]| {
        let intent = tools[0].intent(&JsonObject::new(), Path::new("/")).unwrap();
        matches!(intent.effect, Effect::Foreign { agreed: Agreed::ByRule, .. })
    };
    assert!(has_rule(&machine.tools().await.0));
    machine.write("shop/.cohab/tools/deploy", &(program("deploy") + "# changed\n"));
    assert_eq!(consent(), Consent::Changed);
    allow(&machine.places().allowed);
    assert!(!has_rule(&machine.tools().await.0), "what ran unasked was another program");
}

#[tokio::test]
async fn what_others_can_write_or_is_no_program_is_not_used() {
    let machine = Machine::new();
    let tool = machine.write("settings/tools/hello", &program("hello"));
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(machine.tools().await.1[0].contains("chmod +x"));
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o722)).unwrap();
    assert!(machine.tools().await.1[0].contains("chmod go-w"));
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(machine.home.join("settings/tools"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(machine.tools().await.1[0].contains("chmod go-w"));
}

#[tokio::test]
async fn tools_that_hang_flood_or_take_names_cost_a_line_each() {
    let machine = Machine::new();
    for (name, text) in [
        ("a", program("same")),
        ("b", program("same") + "# another\n"),
        ("c", "#!/bin/sh\nsleep 1000\n".to_owned()),
        ("d", "#!/bin/sh\nhead -c 10000000 /dev/zero\n".to_owned()),
        ("e", "#!/bin/sh\necho hello\n".to_owned()),
        ("f", program("Bash")),
        ("g", "#!/no/such/interpreter\n".to_owned()),
    ] {
        machine.write(&format!("settings/tools/{name}"), &text);
    }
    let (tools, faults) = machine.tools().await;
    assert_eq!(tools.len(), 1);
    let expected =
        ["another one has its name", "longer than 2 s", "too much", "no description", "small letters", "status"];
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.contains(expected), "{fault}");
    }
    assert_eq!(faults.len(), 6, "{faults:?}");
}

/// What a consent for the session would cover.
fn covered(tool: &dyn Tool) -> (String, String) {
    let effect = tool.intent(&JsonObject::new(), Path::new("/")).unwrap().effect;
    let Effect::Foreign { by, action, .. } = effect else { panic!("{effect:?}") };
    (by, action)
}

#[tokio::test]
async fn consent_for_the_session_names_one_program_and_its_content() {
    let machine = Machine::new();
    let path = machine.write("settings/tools/a", &program("hello"));
    let (by, action) = covered(machine.tools().await.0[0].as_ref());
    assert_eq!(by, format!("a tool of yours, {}", path.display()));
    let print = machine.found()[0].fingerprint.clone().unwrap();
    assert_eq!(action, format!("hello ({})", print.short()));
    machine.write("settings/tools/a", &(program("hello") + "# changed\n"));
    let changed = covered(machine.tools().await.0[0].as_ref());
    assert!(changed.0 == by && changed.1 != action, "another content: {changed:?}");
    fs::rename(&path, path.with_file_name("b")).unwrap();
    let moved = covered(machine.tools().await.0[0].as_ref());
    assert!(moved.0 != by && moved.1 == changed.1, "another file: {moved:?}");
}

#[tokio::test]
async fn a_program_that_changes_within_a_turn_does_not_run() {
    let machine = Machine::new();
    let target = machine.write("writable", &program("hello"));
    std::os::unix::fs::symlink(&target, machine.home.join("settings/tools/hello")).unwrap();
    let tools = machine.tools().await.0;
    let (runner, cancel) = (Here(machine.home.clone()), CancellationToken::new());
    let context = ToolContext {
        runner: &runner,
        approval: None,
        run_id: String::new(),
        is_check: false,
        cancel: &cancel,
        sink: &NoSink,
    };
    assert!(tools[0].call(&JsonObject::new(), &context).await.is_ok());
    let mark = machine.home.join("mark");
    machine.write("writable", &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    assert_eq!(tools[0].intent(&JsonObject::new(), Path::new("/")).unwrap_err(), CHANGED);
    assert_eq!(tools[0].call(&JsonObject::new(), &context).await.unwrap_err(), CHANGED);
    assert!(!mark.exists(), "it ran");
}

#[tokio::test]
async fn a_program_is_not_described_by_another_one() {
    let machine = Machine::new();
    machine.write("settings/tools/hello", &program("hello"));
    let found = machine.found();
    let mark = machine.home.join("mark");
    machine.write("settings/tools/hello", &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    let setting = ToolSetting { environment: Vec::new(), limit: Duration::from_secs(20) };
    let guide = Guides::default().of(&found[0], &setting).await;
    assert_eq!(guide, Err(CHANGED.to_owned()));
    assert!(!mark.exists(), "it ran");
}

#[tokio::test]
async fn a_tool_that_failed_to_describe_itself_is_asked_again() {
    let machine = Machine::new();
    let flag = machine.home.join("ready");
    let path = machine.write(
        "settings/tools/hello",
        &format!("#!/bin/sh\ntest -e {} || exit 1\necho '{}'\n", flag.display(), guide("hello")),
    );
    let environment = [("PATH".into(), std::env::var_os("PATH").unwrap())];
    let (guides, setting) =
        (Guides::default(), ToolSetting { environment: environment.into(), limit: Duration::from_secs(20) });
    let faults = guides.tools(machine.found(), &setting).await.1;
    assert!(faults[0].contains("status 1"), "{faults:?}");
    fs::write(&flag, "").unwrap();
    assert_eq!(guides.tools(machine.found(), &setting).await.0.len(), 1);
    fs::remove_file(&flag).unwrap();
    assert_eq!(guides.tools(machine.found(), &setting).await.0.len(), 1, "an answer is kept");
    assert!(path.exists());
}

#[test]
fn a_program_that_is_as_it_was_is_not_read_again() {
    let machine = Machine::new();
    let path = machine.write("settings/tools/hello", &program("hello"));
    let places = machine.places();
    let known = Fingerprint::of([b"known".as_slice()]);
    let later = SystemTime::now() + Duration::from_secs(100);
    places.prints.remember(&fs::metadata(&path).unwrap(), &known, later);
    assert_eq!(places.find(None).unwrap()[0].fingerprint, Ok(known.clone()));
    machine.write("settings/tools/hello", &(program("hello") + "# changed\n"));
    assert_ne!(places.find(None).unwrap()[0].fingerprint, Ok(known));
}
