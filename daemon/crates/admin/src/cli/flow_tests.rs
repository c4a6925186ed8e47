use std::{fs, path::Path};

use cohab_graph::{
    conformance::{finished, new_run},
    log::{LogEntry, RunStatus},
    port::RunStore as _,
};
use cohab_text::{sanitize::sanitize, terminal_attack_fixtures::HOSTILE};

use super::{super::testing::Home, *};

/// What a command prints: output, errors, and whether it succeeded.
fn told(command: &FlowCommand, paths: &Paths) -> (String, String, bool) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let status = run(command, paths, &mut output, &mut errors);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output), text(errors), status == ExitCode::SUCCESS)
}

/// A flow's file in the work folder.
fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("written");
    path
}

const REVIEW: &str = "start = \"test\"\n[nodes.test]\nkind = \"tool\"\ncommand = \"cargo test\"\nnext = \"look\"\n\
    [nodes.look]\nkind = \"subgraph\"\nfile = \"look.toml\"\nnext = \"ask\"\n\
    [nodes.ask]\nkind = \"human\"\nquestion = \"Ship it?\"\nchoices = [\"yes\", \"no\"]\nnext = \"end\"\n\
    [nodes.end]\nkind = \"end\"\n";
const LOOK: &str =
    "start = \"ask\"\n[nodes.ask]\nkind = \"llm\"\nprompt = \"Look\"\nnext = \"end\"\n[nodes.end]\nkind = \"end\"\n";

#[test]
fn a_sound_flow_is_counted_and_drawn() {
    let (home, work) = Home::with_work_folder();
    let file_of = file(&work, "review.toml", REVIEW);
    file(&work, "look.toml", LOOK);
    let check = |json| FlowCommand::Check { file: file_of.clone(), json };
    let (output, errors, is_done) = told(&check(false), &home.paths);
    assert!(is_done && errors.is_empty(), "{errors}");
    let expected = "is sound: 6 nodes, 1 asks a model, 1 runs something, 1 asks you, at most 100 steps.\n";
    assert!(output.ends_with(expected), "{output}");
    let (output, ..) = told(&check(true), &home.paths);
    assert_eq!(output, "{\"ok\":true,\"name\":\"review\",\"nodes\":6,\"steps\":100,\"problems\":[]}\n");
    let (output, ..) = told(&FlowCommand::Graph { file: file_of }, &home.paths);
    assert_eq!(output.lines().count(), 6, "{output}");
    assert!(output.starts_with("○ test   command    cargo test\n"), "{output}");
}

#[test]
fn faults_are_named_with_their_place_in_their_file() {
    let (home, work) = Home::with_work_folder();
    let file_of = file(&work, "review.toml", REVIEW);
    file(&work, "look.toml", &LOOK.replace("llm", "lmm"));
    let check = |json| FlowCommand::Check { file: file_of.clone(), json };
    let (output, errors, is_done) = told(&check(false), &home.paths);
    assert_eq!((output.as_str(), is_done), ("", false));
    assert_eq!(errors, "look.toml:3:8: there is no kind `lmm`\n  did you mean `llm`?\n");
    let (output, errors, is_done) = told(&check(true), &home.paths);
    assert_eq!((errors.as_str(), is_done), ("", false));
    let problem = "{\"file\":\"look.toml\",\"line\":3,\"column\":8,\"message\":\"there is no kind `lmm`\",\"hint\":\"did you mean `llm`?\"}";
    assert_eq!(output, format!("{{\"ok\":false,\"problems\":[{problem}]}}\n"));
    fs::remove_file(work.join("look.toml")).expect("removed");
    let (_, errors, _) = told(&check(false), &home.paths);
    assert!(errors.contains(":8:8: the file `look.toml` cannot be read: No such file"), "{errors}");
    let (_, errors, _) = told(&FlowCommand::Graph { file: work.clone() }, &home.paths);
    assert!(errors.ends_with("cannot be read: it is not a regular file\n"), "{errors}");
}

#[test]
fn runs_are_listed_with_their_state() {
    let home = Home::empty();
    let list = |json| told(&FlowCommand::List(ListArgs { json }), &home.paths).0;
    assert_eq!((list(false).as_str(), list(true).as_str()), ("No flow has run yet.\n", "{\"runs\":[]}\n"));
    let runs = list::store(&home.paths);
    for status in [RunStatus::Done, RunStatus::Waiting] {
        let (_, mut log) = runs.create(&new_run("nightly")).expect("created");
        log.append(&finished("a", 1, "x")).expect("appended");
        log.append(&LogEntry::Stopped { status }).expect("appended");
    }
    let (_, log) = runs.create(&new_run("review")).expect("created");
    let rows = list(false);
    let words: Vec<&str> = rows.lines().map(|row| row.split_once("  ").expect("an id").1.trim()).collect();
    assert_eq!(
        words,
        [
            "review   running        0 steps  now",
            "nightly  waits for you  1 step   now",
            "nightly  done           1 step   now",
        ]
    );
    drop(log);
    let json: serde_json::Value = serde_json::from_str(&list(true)).expect("JSON");
    let status: Vec<_> = json["runs"].as_array().expect("a list").iter().map(|run| &run["status"]).collect();
    assert_eq!(status, ["interrupted", "waiting", "done"]);
}

#[test]
fn a_hostile_flow_is_printed_clean() {
    let (home, work) = Home::with_work_folder();
    for fixture in HOSTILE {
        let hostile = fixture.bytes.to_owned();
        let question = serde_json::to_string(&hostile).expect("text");
        let flow = format!(
            "start = \"a\"\n[nodes.a]\nkind = \"human\"\nquestion = {question}\nnext = \"z\"\n[nodes.z]\nkind = \"end\"\n"
        );
        let file = file(&work, "hostile.toml", &flow);
        for command in [
            FlowCommand::Graph { file: file.clone() },
            FlowCommand::Check { file: file.clone(), json: true },
            FlowCommand::Check { file, json: false },
        ] {
            let (output, errors, _) = told(&command, &home.paths);
            assert_eq!((sanitize(&output), sanitize(&errors)), (output.clone(), errors.clone()));
        }
    }
}

/// The page of the guide, and the flows in it.
const GUIDE: &str = include_str!("../../../../../docs/guide/flows.md");

#[test]
fn the_flows_of_the_guide_are_sound() {
    let blocks: Vec<&str> =
        GUIDE.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(flow, _)| flow)).collect();
    assert_eq!(blocks.len(), 2);
    let (home, work) = Home::with_work_folder();
    for flow in blocks {
        let (_, errors, is_done) =
            told(&FlowCommand::Check { file: file(&work, "a.toml", flow), json: false }, &home.paths);
        assert!(is_done, "{errors}");
    }
}
