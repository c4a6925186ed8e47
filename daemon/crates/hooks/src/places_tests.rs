use std::os::unix::fs::PermissionsExt as _;

use cohab_types::{approval_mode::ApprovalMode, environment::Variables};

use super::*;
use crate::{
    event::HookEvent,
    hook_set::{HookOutcome, HookSet, Moment},
    input::{Occasion, ToolUse},
};

struct Machine {
    _folder: tempfile::TempDir,
    places: HookPlaces,
    project: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let (settings, project) = (home.join(".config/cohab"), home.join("shop"));
        fs::create_dir_all(&settings).unwrap();
        for name in [".cohab", ".claude/hooks"] {
            fs::create_dir_all(project.join(name)).unwrap();
        }
        fs::create_dir_all(home.join(".claude")).unwrap();
        let trust = TrustedFolders::new(home.join("state/trusted"), home.clone());
        let allowed = AllowedFiles::at(home.join("state/allowed"));
        Self { _folder: folder, places: HookPlaces { settings, home, trust, allowed }, project }
    }

    fn write(&self, path: &str, command: &str) -> PathBuf {
        let path = self.places.home.join(path);
        let hook = serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}});
        fs::write(&path, hook.to_string()).unwrap();
        path
    }

    fn found(&self) -> Vec<(String, Consent, usize)> {
        let found = self.places.find(Some(&self.project)).unwrap();
        let row = |file: &FoundFile| {
            let path = file.path.strip_prefix(&self.places.home).unwrap().display().to_string();
            (path, file.consent, file.content.as_ref().map_or(0, |content| content.hooks.len()))
        };
        found.iter().map(row).collect()
    }

    fn consent(&self, path: &str) -> Consent {
        self.found().into_iter().find(|(found, ..)| found == path).unwrap().1
    }

    /// What the hooks in force say of a call, in a shell elsewhere.
    async fn judged(&self, set: &HookSet) -> HookOutcome {
        let environment: Variables = [("PATH".to_owned(), std::env::var("PATH").unwrap())].into();
        let moment =
            Moment { session: "shell:1".into(), cwd: self.places.home.clone(), environment, mode: ApprovalMode::Ask };
        let call = ToolUse { id: "1".into(), tool: "bash".into(), input: serde_json::Map::new() };
        set.run(&Occasion::PreToolUse(call), &moment).await
    }

    fn loaded(&self) -> HookSet {
        HookSet::load(&self.places, Some(&self.project)).unwrap()
    }

    fn allow(&self, path: &str) {
        let found = self.places.look(self.places.home.join(path), Some(&self.project)).unwrap();
        self.places.allowed.allow(found.path, found.fingerprint.unwrap()).unwrap();
    }
}

const PROJECT: &str = "shop/.cohab/hooks.json";

#[test]
fn the_own_file_counts_unless_others_can_write_it() {
    let machine = Machine::new();
    assert_eq!(machine.found(), []);
    let own = machine.write(".config/cohab/hooks.json", "guard");
    assert_eq!(machine.found(), [(".config/cohab/hooks.json".to_owned(), Consent::Given, 1)]);
    fs::set_permissions(&own, fs::Permissions::from_mode(0o664)).unwrap();
    let found = machine.places.find(None).unwrap();
    assert!(found[0].content.as_ref().unwrap_err().contains("chmod 600"), "{found:?}");
}

#[test]
fn a_project_needs_trust_and_consent_to_its_exact_content() {
    let machine = Machine::new();
    machine.write(PROJECT, "guard");
    assert_eq!(machine.found(), [(PROJECT.to_owned(), Consent::NoTrust, 1)]);
    machine.allow(PROJECT);
    assert_eq!(machine.consent(PROJECT), Consent::NoTrust, "an allowed file in a folder that is not trusted");
    machine.places.allowed.forget(&machine.project.join(".cohab/hooks.json")).unwrap();
    machine.places.trust.add(&machine.project).unwrap();
    assert_eq!(machine.consent(PROJECT), Consent::Missing);
    machine.allow(PROJECT);
    assert_eq!(machine.consent(PROJECT), Consent::Given);
    machine.write(PROJECT, "guard --lax");
    assert_eq!(machine.consent(PROJECT), Consent::Changed);
}

#[test]
fn a_script_of_the_project_is_part_of_the_consent() {
    let machine = Machine::new();
    machine.places.trust.add(&machine.project).unwrap();
    let script = machine.project.join(".claude/hooks/check.py");
    for command in [
        "python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check.py",
        "${COHAB_PROJECT_DIR}/.claude/hooks/check.py --fast",
        "cd src; .claude/hooks/check.py",
    ] {
        fs::write(&script, "print(1)").unwrap();
        machine.write(PROJECT, command);
        machine.allow(PROJECT);
        assert_eq!(machine.consent(PROJECT), Consent::Given, "{command}");
        fs::write(&script, "print(2)").unwrap();
        assert_eq!(machine.consent(PROJECT), Consent::Changed, "{command}");
        fs::remove_file(&script).unwrap();
        assert_eq!(machine.consent(PROJECT), Consent::Changed, "{command}");
    }
}

#[tokio::test]
async fn a_script_that_changes_within_a_turn_does_not_run() {
    let machine = Machine::new();
    machine.places.trust.add(&machine.project).unwrap();
    let script = machine.project.join(".claude/hooks/check.sh");
    fs::write(&script, "exit 0").unwrap();
    machine.write(PROJECT, "sh .claude/hooks/check.sh");
    machine.allow(PROJECT);
    let set = machine.loaded();
    let outcome = machine.judged(&set).await;
    assert!(outcome.ran == 1 && outcome.blocked().is_none(), "it runs at the root of its project: {outcome:?}");
    let mark = machine.places.home.join("mark");
    fs::write(&script, format!("touch {}", mark.display())).unwrap();
    let blocked = machine.judged(&set).await.blocked().unwrap();
    assert!(blocked.text.contains("changed since you allowed it"), "{blocked:?}");
    assert!(!mark.exists(), "it ran");
    fs::write(&script, "exit 0").unwrap();
    assert!(machine.judged(&set).await.blocked().is_none());
    machine.places.allowed.forget(&machine.project.join(".cohab/hooks.json")).unwrap();
    assert!(machine.judged(&set).await.blocked().unwrap().text.contains("took back your consent"));
}

#[tokio::test]
async fn a_file_that_appears_where_a_hook_names_one_is_a_change() {
    let machine = Machine::new();
    machine.places.trust.add(&machine.project).unwrap();
    machine.write(PROJECT, "test ! -e extra.sh || sh extra.sh");
    machine.allow(PROJECT);
    let set = machine.loaded();
    assert!(machine.judged(&set).await.blocked().is_none());
    fs::write(machine.project.join("extra.sh"), "exit 0").unwrap();
    assert!(machine.judged(&set).await.blocked().is_some());
    assert_eq!(machine.consent(PROJECT), Consent::Changed);
}

#[tokio::test]
async fn hooks_of_a_project_run_at_its_root_and_others_in_the_shells_folder() {
    let machine = Machine::new();
    machine.places.trust.add(&machine.project).unwrap();
    let says = "pwd >&2; exit 2";
    machine.write(PROJECT, says);
    machine.allow(PROJECT);
    let set = machine.loaded();
    assert_eq!(machine.judged(&set).await.blocked().unwrap().text, machine.project.display().to_string());
    machine.write(".config/cohab/hooks.json", says);
    let set = machine.loaded();
    let outcome = machine.judged(&set).await;
    assert_eq!(outcome.ran, 2, "the same command in two folders");
    assert_eq!(outcome.blocked().unwrap().text, machine.places.home.display().to_string());
    assert!(set.has(&[HookEvent::PreToolUse]));
}

#[test]
fn more_scripts_than_are_looked_at_are_a_fault() {
    let machine = Machine::new();
    machine.places.trust.add(&machine.project).unwrap();
    let names: Vec<String> = (0..33).map(|n| format!("s{n}")).collect();
    names.iter().for_each(|name| fs::write(machine.project.join(name), "").unwrap());
    machine.write(PROJECT, &names.join(";"));
    let found = machine.places.find(Some(&machine.project)).unwrap();
    assert!(found[0].content.as_ref().unwrap_err().contains("more than 32 files"), "{found:?}");
    assert_eq!((found[0].consent, &found[0].fingerprint), (Consent::Missing, &None));
}

#[test]
fn a_link_to_nowhere_is_a_fault_of_the_own_file() {
    let machine = Machine::new();
    let own = machine.places.settings.join(OWN_FILE);
    std::os::unix::fs::symlink(machine.places.home.join("dotfiles/hooks.json"), &own).unwrap();
    let fault = HookSet::load(&machine.places, None).unwrap_err().to_string();
    assert!(fault.contains("hooks.json cannot be read: it is there but cannot be reached"), "{fault}");
    fs::remove_file(&own).unwrap();
    assert!(HookSet::load(&machine.places, None).unwrap().is_empty());
}

#[test]
fn files_of_claude_code_count_once_they_are_allowed() {
    let machine = Machine::new();
    machine.places.trust.add(&machine.project).unwrap();
    machine.write(".claude/settings.json", "theirs");
    machine.write("shop/.claude/settings.json", "theirs");
    assert_eq!(machine.found(), []);
    machine.allow(".claude/settings.json");
    machine.allow("shop/.claude/settings.json");
    let given = |path: &str| (path.to_owned(), Consent::Given, 1);
    assert_eq!(machine.found(), [given(".claude/settings.json"), given("shop/.claude/settings.json")]);
    machine.write(".claude/settings.json", "others");
    assert_eq!(machine.consent(".claude/settings.json"), Consent::Changed);
}

#[test]
fn what_is_no_file_is_a_fault_and_nothing_waits_for_it() {
    let machine = Machine::new();
    machine.places.trust.add(&machine.project).unwrap();
    let path = machine.project.join(".cohab/hooks.json");
    let fault = || machine.places.find(Some(&machine.project)).unwrap()[0].content.as_ref().unwrap_err().clone();
    fs::create_dir(&path).unwrap();
    assert_eq!(fault(), "is a folder, not a file");
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "{").unwrap();
    assert!(fault().starts_with("line 1: EOF"), "{}", fault());
    fs::write(&path, vec![b' '; 300 * 1024]).unwrap();
    assert!(fault().contains("too large"), "{}", fault());
}

#[test]
fn a_question_without_hooks_pays_next_to_nothing() {
    let machine = Machine::new();
    fs::remove_dir_all(machine.project.join(".cohab")).unwrap();
    let began = std::time::Instant::now();
    for _ in 0..1_000 {
        assert!(machine.places.find(Some(&machine.project)).unwrap().is_empty());
    }
    let each = began.elapsed() / 1_000;
    assert!(each < std::time::Duration::from_millis(1), "{each:?}");
}
