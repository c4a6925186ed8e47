use std::{os::unix::fs::symlink, path::PathBuf, sync::Arc, time::Duration};

use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, Approver};
use cohab_context::ignore_rules::IgnoreRules;
use cohab_model_api::ToolCall;
use cohab_protocol::ApprovalMode;
use cohab_shell_state::shell::Shell;
use cohab_tools::{ToolOptions, registry};
use serde_json::{Value, json};

use super::*;
use crate::gate::{Consents, Gate};

struct Nobody;

#[async_trait::async_trait]
impl Approver for Nobody {
    async fn ask(&self, _question: ApprovalQuestion) -> ApprovalAnswer {
        ApprovalAnswer::CancelTurn
    }
}

/// A home with a workspace, links that lead out of it, and our own files in an unusual place.
struct World {
    _folder: tempfile::TempDir,
    home: PathBuf,
    gate: Gate,
}

fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    let home = root.join("ann");
    for folder in ["work/app/.git/hooks", "work/app/src", "work/other", ".ssh", "kept/config", "kept/state/outputs/1"] {
        fs::create_dir_all(home.join(folder)).expect("made");
    }
    let set = |name: &str, mode: u32| {
        fs::write(home.join(name), "old\n").expect("written");
        fs::set_permissions(home.join(name), fs::Permissions::from_mode(mode)).expect("set");
    };
    for name in [
        ".bashrc",
        ".ssh/config",
        "work/app/.env",
        "work/app/src/lib.rs",
        "work/other/notes",
        "kept/config/config.toml",
    ] {
        set(name, 0o644);
    }
    set("work/app/run.sh", 0o755);
    set("kept/state/outputs/1/out.txt", 0o600);
    for (link, target) in [
        ("work/app/rc", "../../.bashrc"),
        ("work/app/keys", "../../.ssh"),
        ("work/app/out", "../other"),
        ("work/app/hooks", ".git/hooks"),
        ("work/app/settings", "../../kept/config/config.toml"),
    ] {
        symlink(target, home.join(link)).expect("linked");
    }
    let mode = Arc::new(|| ApprovalMode::Ask);
    let gate = Gate::new(standard_policy, mode, Arc::new(Nobody), Consents::default(), home.clone(), Shell::Bash)
        .with_outputs(home.join("kept/state/outputs/1"))
        .with_own_folders(["config", "state", "run"].map(|name| home.join("kept").join(name)).into());
    World { _folder: folder, home, gate }
}

impl World {
    fn judge(&self, tool: &str, args: &Value) -> Verdict {
        let cwd = self.home.join("work/app");
        let timeout = Duration::from_secs(1);
        let (home, ignore) = (self.home.clone(), IgnoreRules::new(self.home.clone(), self.home.join("ignore")));
        let options = ToolOptions { home, command_timeout: timeout, output_max_bytes: 1_000, ignore };
        let tool = registry(&options).into_iter().find(|one| one.spec().name == tool).expect("a tool");
        let args = args.as_object().cloned().expect("an object");
        let intent = tool.intent(&args, &cwd).unwrap_or_else(|error| panic!("{args:?}: {error}"));
        if let Effect::Write { diff, .. } = &intent.effect {
            assert!(diff.contains("+new"), "the difference is shown: {diff}");
        }
        let call = ToolCall { id: "1".into(), name: tool.spec().name, args: Ok(args.clone().into()) };
        self.gate.judge(&cohab_agent::PlannedCall::new(&call, args, intent, cwd))
    }
}

#[test]
fn a_change_is_never_unasked_and_danger_where_it_decides_what_runs_or_is_ours() {
    let world = world();
    for (path, level, word) in [
        ("src/lib.rs", Level::Ask, "writes /"),
        ("src/new.rs", Level::Ask, "writes /"),
        ("../other/notes", Level::Ask, "outside the working directory"),
        ("out/notes", Level::Ask, "outside the working directory"),
        ("~/notes.md", Level::Ask, "outside the working directory"),
        ("run.sh", Level::Ask, "it is a program"),
        ("~/.bashrc", Level::Danger, "decides what runs later"),
        ("rc", Level::Danger, "decides what runs later"),
        ("~/.zshrc", Level::Danger, "decides what runs later"),
        ("~/.config/fish/config.fish", Level::Danger, "decides what runs later"),
        ("~/.profile", Level::Danger, "decides what runs later"),
        (".git/hooks/pre-commit", Level::Danger, "decides what runs later"),
        ("hooks/post-checkout", Level::Danger, "decides what runs later"),
        (".git/config", Level::Danger, "decides what runs later"),
        (".git/worktrees/a/config.worktree", Level::Danger, "decides what runs later"),
        (".githooks/pre-push", Level::Danger, "decides what runs later"),
        (".envrc", Level::Danger, "overwrites secrets"),
        (".vscode/tasks.json", Level::Danger, "decides what runs later"),
        (".devcontainer/devcontainer.json", Level::Danger, "decides what runs later"),
        (".pre-commit-config.yaml", Level::Danger, "decides what runs later"),
        ("~/.local/bin/ls", Level::Danger, "decides what runs later"),
        ("~/bin/ls", Level::Danger, "a folder of your own programs"),
        ("~/.config/systemd/user/x.service", Level::Danger, "decides what runs later"),
        ("~/.local/share/applications/x.desktop", Level::Danger, "decides what runs later"),
        (".env", Level::Danger, "overwrites secrets"),
        ("keys/authorized_keys", Level::Danger, "overwrites secrets"),
        ("~/.ssh/config", Level::Danger, "overwrites secrets"),
        ("server.key", Level::Danger, "overwrites secrets"),
        ("~/.config/cohab/config.toml", Level::Danger, "overwrites secrets"),
        ("~/kept/config/config.toml", Level::Danger, "cohab's own files"),
        ("~/kept/config/rules.toml", Level::Danger, "cohab's own files"),
        ("settings", Level::Danger, "cohab's own files"),
        ("~/kept/state/backups/x", Level::Danger, "cohab's own files"),
        ("/etc/cohab-test-none/x", Level::Danger, "system place"),
    ] {
        let verdict = world.judge("write", &json!({"path": path, "content": "new\n"}));
        let reasons = verdict.reasons.join("; ");
        assert!(verdict.level == level && reasons.contains(word), "{path}: {:?} {reasons}", verdict.level);
    }
    let edit = json!({"path": "rc", "old_string": "old", "new_string": "new"});
    assert_eq!(world.judge("edit", &edit).level, Level::Danger);
}

#[test]
fn reads_of_what_is_secret_or_ours_are_not_unasked_also_through_links() {
    let world = world();
    for (path, level) in [
        ("src/lib.rs", Level::Allow),
        ("out/notes", Level::Allow),
        ("~/kept/state/outputs/1/out.txt", Level::Allow),
        (".env", Level::Danger),
        ("keys/config", Level::Danger),
        ("~/.ssh/config", Level::Danger),
        ("settings", Level::Danger),
        ("~/kept/config/config.toml", Level::Danger),
    ] {
        let verdict = world.judge("read", &json!({"path": path}));
        assert_eq!(verdict.level, level, "{path}: {:?}", verdict.reasons);
    }
    for path in ["~/kept", "~/work"] {
        let level = if path == "~/work" { Level::Allow } else { Level::Ask };
        let verdict = world.judge("grep", &json!({"pattern": "x", "path": path}));
        assert_eq!(verdict.level, level, "{path}: {:?}", verdict.reasons);
    }
}
