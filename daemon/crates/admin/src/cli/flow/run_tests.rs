use std::{collections::VecDeque, fs, sync::Mutex};

use super::{super::super::testing::Home, super::console::AnswerSource, *};

/// Prints of a run: output, errors, status.
type Told = (String, String, String);

struct Bench {
    home: Home,
    work: PathBuf,
}

impl Bench {
    /// A home with a trusted folder.
    fn new() -> Self {
        let (home, work) = Home::with_work_folder();
        let list = home.paths.trusted_folders_file();
        TrustedFolders::new(list, "/home/nobody".into()).add(&work).expect("trusted");
        Self { home, work }
    }

    fn file(&self, text: &str) -> PathBuf {
        let file = self.work.join("flow.toml");
        fs::write(&file, text).expect("written");
        file
    }

    fn tell(&self, prepared: Result<Prepared, Failure>, mode: ApprovalMode, answers: Option<&[&str]>) -> Told {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let source = || match answers {
            Some(answers) => {
                AnswerSource::Script(Mutex::new(answers.iter().map(|text| (*text).to_owned()).collect::<VecDeque<_>>()))
            }
            None => AnswerSource::Nobody,
        };
        let console = |lines| Console::new(source(), lines);
        let approve = ApproveArgs { approve: Some(mode) };
        let status = go_on(prepared, &approve, &self.home.paths, &console, (&mut output, &mut errors));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (text(output), text(errors), format!("{status:?}"))
    }

    fn run(&self, text: &str, values: &[&str], mode: ApprovalMode, answers: Option<&[&str]>) -> Told {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let args = RunArgs { file: self.file(text), values, approve: ApproveArgs::default() };
        let prepared = begin(&args, &self.home.paths, &mut Vec::new())
            .map(|prepared| Prepared { folder: self.work.clone(), ..prepared });
        self.tell(prepared, mode, answers)
    }

    fn resume(&self, answer: Option<&str>, node: Option<&str>) -> Told {
        let (answer, node) = (answer.map(str::to_owned), node.map(str::to_owned));
        let args = ResumeArgs { run: self.id(), answer, node, approve: ApproveArgs::default() };
        self.tell(reopen(&args, &self.home.paths), ApprovalMode::Ask, None)
    }

    fn id(&self) -> String {
        super::super::list::store(&self.home.paths).list().expect("listed").remove(0).id
    }
}

fn status(code: u8) -> String {
    format!("{:?}", ExitCode::from(code))
}

/// Without the times.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(", ") {
        Some((words, took)) if took.ends_with('s') => format!("{words}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

const GATE: &str = r#"
start = "test"
[state]
name = { type = "text", value = "world" }
code = "number"
answer = "text"
[nodes.test]
kind = "tool"
command = ["echo", "hello {{name}}"]
status = "code"
next = "good"
[nodes.good]
kind = "condition"
when = [{ if = "code == 0", next = "ask" }]
else = "bad"
[nodes.ask]
kind = "human"
question = "Go on, {{name}}?"
choices = ["yes", "no"]
output = "answer"
next = "end"
[nodes.end]
kind = "end"
result = "said {{answer}}"
[nodes.bad]
kind = "end"
status = "failed"
"#;

#[test]
fn a_flow_runs_and_asks_at_the_terminal() {
    let bench = Bench::new();
    let (output, errors, code) = bench.run(GATE, &["name=you"], ApprovalMode::Ask, Some(&["perhaps", "y"]));
    let expected = "test: exit 0\nask: Go on, you? [yes/no] \nthe answer is one of: yes, no.\nask: Go on, you? [yes/no] \nsaid yes\n";
    assert_eq!((timeless(&output).as_str(), errors.as_str(), code), (expected, "", status(0)));
}

#[test]
fn without_a_terminal_it_waits_and_is_resumed_with_the_answer() {
    let bench = Bench::new();
    let (output, _, code) = bench.run(GATE, &[], ApprovalMode::Ask, None);
    let id = bench.id();
    let answer_with = format!("The run waits. Answer with `cohab flow resume {} --answer TEXT`.\n", &id[..6]);
    assert_eq!(timeless(&output), format!("test: exit 0\nask: Go on, world? (yes/no)\n{answer_with}"));
    assert_eq!(code, status(5));
    let (_, errors, code) = bench.resume(Some("maybe"), None);
    assert_eq!((errors.as_str(), code), ("error: `ask`: the answer is one of: yes, no\n", status(1)));
    let (_, errors, _) = bench.resume(Some("yes"), Some("test"));
    assert!(errors.starts_with("error: the run does not wait for this answer\n"), "{errors}");
    let (output, _, code) = bench.resume(Some("no"), None);
    assert_eq!((output.as_str(), code), ("said no\n", status(0)), "the command does not run again");
    let (_, errors, _) = bench.resume(None, None);
    assert!(errors.starts_with(&format!("error: the run {} is over: done\n", &id[..6])), "{errors}");
}

#[test]
fn a_flow_of_a_folder_that_is_not_trusted_does_not_run() {
    let bench = Bench::new();
    bench.run(GATE, &[], ApprovalMode::Ask, None);
    let other = bench.home.paths.state_dir.parent().expect("a folder").join("other");
    fs::create_dir_all(&other).expect("made");
    fs::write(other.join("part.toml"), "start = \"a\"\n[nodes.a]\nkind = \"end\"\n").expect("written");
    // Neither does one whose part is somewhere else.
    let part = "start = \"p\"\n[nodes.p]\nkind = \"subgraph\"\nfile = \"../other/part.toml\"\nnext = \"z\"\n[nodes.z]\nkind = \"end\"\n";
    let (output, errors, code) = bench.run(part, &[], ApprovalMode::All, None);
    assert!(errors.contains("other is not trusted\nHint: read the flow; `cohab trust "), "{errors}");
    assert_eq!((output.as_str(), code), ("", status(1)));
    let trust = TrustedFolders::new(bench.home.paths.trusted_folders_file(), "/home/nobody".into());
    trust.remove(&bench.work).expect("no longer trusted");
    let (_, errors, _) = bench.run(GATE, &[], ApprovalMode::All, None);
    assert!(errors.contains("the flow does not run: its folder "), "{errors}");
    let (_, errors, _) = bench.resume(Some("yes"), None);
    assert!(errors.contains("is not trusted"), "a run that waits does not go on either: {errors}");
}

const WRITES: &str = "start = \"make\"\n[nodes.make]\nkind = \"tool\"\ncommand = \"touch made\"\nnext = \"z\"\n[nodes.z]\nkind = \"end\"\n";

#[test]
fn what_changes_something_needs_a_yes_at_the_terminal() {
    for (answers, is_made) in [(Some(&["n"][..]), false), (Some(&["y"]), true), (None, false)] {
        let bench = Bench::new();
        let (output, errors, _) = bench.run(WRITES, &[], ApprovalMode::Ask, answers);
        assert_eq!(bench.work.join("made").exists(), is_made, "{output}{errors}");
        if answers.is_some() {
            assert!(
                output.contains("The flow wants to run:\n  touch made\n") && output.contains("Run it? [y/N]"),
                "{output}"
            );
        } else {
            assert!(errors.contains("no terminal is attached to approve this"), "{errors}");
        }
    }
}

#[test]
fn danger_takes_more_than_a_key() {
    let dangerous = WRITES.replace("touch made", "rm -rf ./build");
    for (answer, is_gone) in [("y", false), ("yes", true)] {
        let bench = Bench::new();
        fs::create_dir_all(bench.work.join("build")).expect("made");
        let (output, ..) = bench.run(&dangerous, &[], ApprovalMode::Auto, Some(&[answer]));
        assert!(output.contains("Dangerous. Type yes to run it:"), "{output}");
        assert_eq!(bench.work.join("build").exists(), !is_gone, "{output}");
    }
}

/// A model's answer goes into a command as one word, and decides.
const ASKING: &str = r#"
start = "name"
[state]
name = "text"
shown = "text"
[nodes.name]
kind = "llm"
prompt = "Name a host for {{shown}}."
output = "name"
next = "show"
[nodes.show]
kind = "tool"
command = ["echo", "host {{name}}"]
output = "shown"
next = "end"
[nodes.end]
kind = "end"
result = "{{shown}}"
"#;

#[test]
fn a_node_asks_the_model_and_its_answer_goes_on() {
    let bench = Bench::new();
    let script = bench.home.paths.config_dir.join("script.json");
    fs::create_dir_all(&bench.home.paths.config_dir).expect("a folder");
    fs::write(&script, r#"[{"match": "Name a host", "steps": [{"text": "blue; rm -rf ~"}]}]"#).expect("written");
    let settings = format!("[model]\nprovider = \"scripted\"\nbase_url = \"{}\"\n", script.display());
    fs::write(bench.home.paths.config_file(), settings).expect("written");
    let (output, errors, code) = bench.run(ASKING, &[], ApprovalMode::Ask, None);
    let expected = "name: done\nshow: exit 0\nhost blue; rm -rf ~\n";
    assert_eq!((timeless(&output).as_str(), errors.as_str(), code), (expected, "", status(0)));
}

#[test]
fn a_flow_that_needs_a_model_and_has_none_says_what_to_do() {
    let bench = Bench::new();
    let (_, errors, code) = bench.run(ASKING, &[], ApprovalMode::Ask, None);
    assert!(errors.contains("no model is set up; `cohab setup` chooses one"), "{errors}");
    assert_eq!(code, status(1));
}

#[test]
fn values_that_do_not_fit_begin_nothing() {
    let bench = Bench::new();
    for (value, words) in [
        ("name", "error: `--set name` has no `=`"),
        ("nam=x", "error: --set: the flow has no key `nam`"),
        ("code=x", "error: --set: the value for `code` is not a number"),
    ] {
        let (_, errors, code) = bench.run(GATE, &[value], ApprovalMode::Ask, None);
        assert!(errors.starts_with(words) && code == status(1), "{errors}");
    }
    assert!(super::super::list::store(&bench.home.paths).list().expect("listed").is_empty());
}

#[test]
fn failed_runs_and_failed_commands_say_so() {
    let bench = Bench::new();
    let (_, errors, code) = bench.run(&WRITES.replace("touch made", "false"), &[], ApprovalMode::Ask, None);
    assert_eq!((errors.as_str(), code), ("error: `make` failed: exit status 1\n", status(1)));
    let end = WRITES
        .replace("touch made", "true")
        .replace("kind = \"end\"", "kind = \"end\"\nstatus = \"failed\"\nresult = \"no luck\"");
    let (_, errors, code) = bench.run(&end, &[], ApprovalMode::Ask, None);
    assert_eq!((errors.as_str(), code), ("error: no luck\n", status(1)));
}
