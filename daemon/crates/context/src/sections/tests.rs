use cohab_memory::record::Memory;
use std::time::Duration;

use cohab_agent::tasks::{Status, Task};

use super::*;
use crate::{
    called::Called,
    git_state::GitState,
    query::{ADDED, ATTACHED, EARLIER, Environment, PROJECT_INSTRUCTIONS, PastCommand, Runtime},
    query_text::{parts, with_block},
};

fn standing() -> SystemContext {
    let skill = |name: &str, description: &str| Skill {
        name: name.into(),
        description: description.into(),
        path: "/home/ann/.config/cohab/skills/x/SKILL.md".into(),
        ..Skill::default()
    };
    SystemContext {
        identity: "Call me Ann.\n\nNever touch /srv.".into(),
        skills: vec![skill("release", "How a release is made"), skill("review", "How code is reviewed")],
    }
}

fn whole(question: &str) -> String {
    let environment = Environment {
        cwd: "/home/ann/app".into(),
        shell: Some("bash".into()),
        os: "Debian GNU/Linux 12".into(),
        date: "2026-11-20".into(),
        columns: 120,
        git: Some(GitState {
            root: "/home/ann/app".into(),
            branch: Some("main".into()),
            commit: Some("0123456789".into()),
            activity: Some("merge"),
        }),
        project: vec!["Rust (Cargo.toml)".into(), "make (Makefile)".into()],
    };
    let runtime = Runtime {
        time: "2026-11-20 10:15 UTC".into(),
        platform: "linux x86_64".into(),
        version: "1.2.3",
        session: "shell:0195".into(),
        channels: vec![("cli".into(), 1), ("shell".into(), 2)],
    };
    let history = [PastCommand {
        line: Some("cargo test".into()),
        exit_code: 101,
        cwd: "/home/ann/app".into(),
        duration: Duration::from_millis(3210),
        output_tail: "error: no\n".into(),
    }];
    let task = |text: &str, status| Task { text: text.into(), status };
    let tasks = [task("look", Status::Completed), task("mend it", Status::InProgress), task("test", Status::Pending)];
    let called = Called {
        name: "release".into(),
        text: "The skill `release`.\nTag it.".into(),
        is_of_project: false,
        tools: None,
    };
    Query {
        environment,
        runtime: Some(runtime),
        called: Some(&called),
        history: &history,
        project_notes: Some("Use tabs."),
        project_identity: Some("Be brief."),
        project_skills: Some("- `deploy`: How it is deployed\n"),
        memory_blocks: Some("human (10 of 2,000 characters):\n    uses fish\n"),
        memories: &[
            cohab_memory::conformance::memory(1, "staging is on host blue"),
            Memory { trust: 0.3, ..cohab_memory::conformance::memory(2, "red is faster") },
        ],
        tasks: &tasks,
        piped_input: Some("a log"),
        question,
    }
    .to_text()
}

/// The system prompt without the user's own texts.
#[test]
fn the_system_prompt_of_a_new_user() {
    insta::assert_snapshot!(system_prompt(&SystemContext::default()));
}

#[test]
fn the_whole_prompt_with_all_there_is() {
    let (plain, full) = (system_prompt(&SystemContext::default()), system_prompt(&standing()));
    let added = full.strip_prefix(&plain).expect("what depends on the build alone comes first");
    insta::assert_snapshot!(format!(
        "[the system prompt as for a new user]{added}\n=== question ===\n{}",
        whole("WHY DOES THIS damn TEST fail?")
    ));
}

#[test]
fn every_section_of_a_question_is_found_in_its_text_again() {
    let mut text = whole("why, damn it?");
    for filled_later in [EARLIER, ATTACHED, ADDED, PROJECT_INSTRUCTIONS] {
        text = with_block(&text, filled_later, "something");
    }
    let found: Vec<&str> = parts(&text).into_iter().map(|(tag, _)| tag).collect();
    let expected: Vec<&str> = tags().map(|(tag, _)| tag).chain(["question"]).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_system_prompt_has_the_same_bytes_whatever_is_asked_and_wherever() {
    assert_eq!(system_prompt(&standing()), system_prompt(&standing()));
    let text = system_prompt(&standing());
    for changing in ["2026", "/home/ann", "0195"] {
        assert!(!text.contains(changing), "{changing}");
    }
}

#[test]
fn only_open_tasks_are_told() {
    let done = [Task { text: "x".into(), status: Status::Completed }];
    assert_eq!((tasks_text(&[]), tasks_text(&done)), (String::new(), String::new()));
}
