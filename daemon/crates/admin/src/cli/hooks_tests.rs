use std::fs;

use cohab_context::trust::TrustedFolders;
use cohab_hooks::consent::AllowedFiles;

use super::*;

struct Machine {
    _folder: tempfile::TempDir,
    home: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in [".config/cohab", "shop/.cohab", "shop/.git", ".claude"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        Self { _folder: folder, home }
    }

    fn places(&self) -> HookPlaces {
        HookPlaces {
            settings: self.home.join(".config/cohab"),
            home: self.home.clone(),
            trust: TrustedFolders::new(self.home.join("state/trusted"), self.home.clone()),
            allowed: AllowedFiles::at(self.home.join("state/allowed")),
        }
    }

    fn write(&self, path: &str, event: &str, command: &str) {
        let hooks = json!({"hooks": {event: [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": command, "timeout": 5}]}
        ]}});
        fs::write(self.home.join(path), hooks.to_string()).unwrap();
    }

    /// What `cohab hooks` says; `answer` is what the user types at a terminal.
    fn say(&self, words: &[&str], answer: Option<&str>) -> String {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            args: HooksArgs,
        }
        let words = std::iter::once("hooks").chain(words.iter().copied());
        let Line { args } = clap::Parser::try_parse_from(words).unwrap();
        let folder = self.home.join("shop");
        let (mut input, mut output) = (answer.unwrap_or_default().as_bytes(), Vec::new());
        let (root, is_terminal) = (folder.clone(), answer.is_some());
        let mut caller = Caller { places: self.places(), root, folder, input: &mut input, is_terminal };
        let result = run_by(&args, &mut caller, &mut output);
        let mut text = String::from_utf8(output).unwrap();
        match result {
            Ok(()) => {}
            Err(Failure::Other(message, hint)) => text += &format!("error: {message} | {}\n", hint.unwrap_or_default()),
            Err(Failure::Told) => text += "(status 1)\n",
            Err(other) => panic!("{other:?}"),
        }
        text.replace(&self.home.display().to_string(), "~")
    }
}

#[test]
fn a_project_is_shown_allowed_and_forgotten() {
    let machine = Machine::new();
    let mut said = vec![machine.say(&[], None)];
    machine.write("shop/.cohab/hooks.json", "PreToolUse", "python3 $CLAUDE_PROJECT_DIR/.cohab/check.py");
    fs::write(machine.home.join("shop/.cohab/check.py"), "").unwrap();
    said.push(machine.say(&["allow", "--yes"], None));
    machine.places().trust.add(&machine.home.join("shop")).unwrap();
    for (words, answer) in [
        (&["list"][..], None),
        (&["allow"], None),
        (&["allow"], Some("n\n")),
        (&["allow"], Some("y\n")),
        (&["allow"], Some("")),
        (&["list"], None),
    ] {
        said.push(machine.say(words, answer));
    }
    fs::write(machine.home.join("shop/.cohab/check.py"), "import os").unwrap();
    said.push(machine.say(&["list"], None));
    said.push(machine.say(&["forget"], None));
    said.push(machine.say(&["forget"], None));
    insta::assert_snapshot!(said.join("---\n"));
}

#[test]
fn a_broken_file_is_shown_with_its_line() {
    let machine = Machine::new();
    fs::write(machine.home.join(".config/cohab/hooks.json"), "{\n\"hooks\": 1}").unwrap();
    let said = machine.say(&[], None);
    assert!(said.contains("broken: line 2: invalid type"), "{said}");
    let json: Value = serde_json::from_str(&machine.say(&["--json"], None)).unwrap();
    assert_eq!(json["files"][0]["state"], "broken");
    assert!(machine.say(&["test", "Stop"], None).starts_with("error: the hooks in ~/.config/cohab/hooks.json"));
}

#[test]
fn hooks_of_claude_code_are_copied_once() {
    let machine = Machine::new();
    machine.write(".config/cohab/hooks.json", "Stop", "say done");
    machine.write(".claude/settings.json", "PreToolUse", "~/guard.sh");
    let file = machine.home.join(".claude/settings.json").display().to_string();
    let said = machine.say(&["import", &file], Some("y\n"));
    assert!(said.ends_with("Copied, in force from the next question on. `cohab hooks` lists them.\n"), "{said}");
    machine.say(&["import", &file, "--yes"], None);
    let listed = machine.say(&["list"], None);
    assert_eq!(listed.matches("~/guard.sh").count(), 1, "{listed}");
    assert!(listed.contains("say done") && listed.contains("active"), "{listed}");
    fs::write(&file, "{}").unwrap();
    assert!(machine.say(&["import", &file, "--yes"], None).contains("no hooks that cohab can run"));
}

#[test]
fn a_trial_shows_what_hooks_say() {
    let machine = Machine::new();
    machine.write(
        ".config/cohab/hooks.json",
        "PreToolUse",
        "grep -q 'rm -rf' && { echo use trash >&2; exit 2; }; exit 0",
    );
    let tried = |words: &[&str]| machine.say(&[&["test"], words].concat(), None);
    let refused = tried(&["PreToolUse", "--input", r#"{"command": "rm -rf x"}"#]);
    assert!(refused.contains("objects: use trash") && refused.ends_with("(status 1)\n"), "{refused}");
    let passed = tried(&["PreToolUse", "--tool", "bash", "--input", r#"{"command": "ls"}"#]);
    assert_eq!(passed, "1 hook ran.\nNone objects; the policy decides as always.\n");
    assert_eq!(tried(&["PreToolUse", "--tool", "Write"]), "No hook runs for this.\n");
    let json: Value = serde_json::from_str(&tried(&["PreToolUse", "--json"])).unwrap();
    assert_eq!((&json["ran"], &json["decision"]), (&1.into(), &"none".into()));
    assert!(tried(&["Pretool"]).contains("the events are: SessionStart"));
    assert!(tried(&["PreToolUse", "--input", "ls"]).contains("not a JSON object"));
}
