//! Tests for plans that list and then act, and for words that refer to earlier answers.

use super::{Understood, bash, converse, done, play, understand};

/// Plays in a real folder; an approval card is always answered with yes.
fn real(questions: &[&str], root: &std::path::Path) -> (Vec<String>, String) {
    converse(questions, |command| bash(root, command))
}

fn folder_of(names: &[(&str, usize)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in names {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, vec![b'x'; *bytes]).unwrap();
    }
    folder
}

#[test]
fn the_largest_file_of_a_kind_is_found_and_then_deleted() {
    let folder = folder_of(&[("a.log", 10), ("sub/it's b.log", 900), ("huge.bin", 5000)]);
    let (commands, answer) = real(&["delete the largest log file here"], folder.path());
    assert_eq!(commands.len(), 2);
    assert_eq!(commands[1], "rm './sub/it'\\''s b.log'");
    assert!(answer.contains("is gone; it held 900 B"), "{answer}");
    assert!(!folder.path().join("sub/it's b.log").exists() && folder.path().join("huge.bin").exists());
}

#[test]
fn nothing_is_acted_on_if_the_listing_is_empty_or_ambiguous() {
    let folder = folder_of(&[("a.log", 10), ("b.log", 10)]);
    let (commands, answer) = real(&["delete the largest log file here"], folder.path());
    assert!(commands.len() == 1 && answer.contains("equally big"), "{answer}");
    for question in [
        "delete the largest video",
        "clean up old .tmp files",
        "delete all .bak files",
        "delete the empty folders",
        "compress the biggest folder",
        "move all pdfs into a.log",
        "delete files older than two weeks",
    ] {
        let (commands, answer) = real(&[question], folder.path());
        assert!(commands.len() == 1 && answer.contains("nothing was done"), "{question}: {commands:?} {answer}");
    }
}

#[test]
fn a_refused_action_is_told_and_nothing_else_is_tried() {
    for question in ["delete the largest log file", "delete all .log files", "compress the biggest folder"] {
        let folder = folder_of(&[("a.log", 10), ("sub/b.txt", 9)]);
        let (commands, answer) = play(question, |command| {
            let acts = ["rm ", "tar ", "mv "].iter().any(|verb| command.starts_with(verb));
            if acts { ("the user refused".into(), true) } else { bash(folder.path(), command) }
        });
        assert!(answer.contains("You refused") && answer.contains("so it was not done"), "{commands:?} {answer}");
        assert!(folder.path().join("a.log").exists());
    }
}

#[test]
fn names_of_any_kind_are_deleted_and_no_others() {
    let kept = ["-rf", "keep.txt", "line\nbreak.tmp", "break.tmp.keep"];
    let gone =
        ["a b.tmp", "it's.tmp", "-x.tmp", "$(id).tmp", "back\\slash\\\\.tmp", "\"q\".tmp", "*.tmp", "ü.tmp", "!!.tmp"];
    for shell in ["bash", "zsh", "fish"] {
        let all: Vec<(&str, usize)> = kept.iter().chain(&gone).map(|name| (*name, 1)).collect();
        let folder = folder_of(&all);
        let (commands, answer) = play("delete all .tmp files here", |command| {
            let Ok(output) =
                std::process::Command::new(shell).args(["-c", command]).current_dir(folder.path()).output()
            else {
                return bash(folder.path(), command);
            };
            done(String::from_utf8_lossy(&output.stdout).trim_end())
        });
        for name in gone {
            assert!(!folder.path().join(name).exists(), "{shell}: {name} is left by {commands:?}\n{answer}");
        }
        for name in kept {
            assert!(folder.path().join(name).exists(), "{shell}: {name} was deleted by {commands:?}");
        }
    }
}

#[test]
fn too_many_files_are_not_deleted_at_once() {
    let many: String = (0..101).map(|n| format!("./{n}.tmp\n")).collect();
    let (commands, answer) = play("delete all .tmp files", |_| done(&many));
    assert!(commands.len() == 1 && answer.contains("more than I do at once"), "{answer}");
    // A name that was cut in two could be the name of another file.
    let (commands, answer) = play("delete all .tmp files", |_| done("./a.tmp\n[900 bytes left out]\n./b.tmp"));
    assert!(commands.len() == 1 && answer.contains("more than I do at once"), "{answer}");
}

#[test]
fn only_old_files_are_deleted_by_age() {
    let folder = folder_of(&[("old.tmp", 1), ("new.tmp", 1)]);
    bash(folder.path(), "touch -d '20 days ago' old.tmp");
    let (_, answer) = real(&["clean up old .tmp files"], folder.path());
    assert!(answer.contains("old.tmp") && answer.contains("7 days"), "{answer}");
    assert!(!folder.path().join("old.tmp").exists() && folder.path().join("new.tmp").exists());
    let (commands, answer) = play("delete files changed in the last 2 days", |_| done(""));
    assert!(commands.is_empty() && answer.contains("older than"), "{answer}");
}

#[test]
fn the_biggest_folder_is_packed() {
    let folder = folder_of(&[("small/a", 10), ("my data/b", 90_000)]);
    let (commands, answer) = real(&["compress the biggest folder"], folder.path());
    assert_eq!(commands.last().unwrap(), "tar -caf './my data.tar.gz' './my data'");
    assert!(answer.contains("into `./my data.tar.gz`") && folder.path().join("my data.tar.gz").exists(), "{answer}");
    let (commands, answer) = real(&["compress the biggest folder"], folder.path());
    assert!(commands.len() == 3 && answer.contains("already there"), "{answer}");
}

#[test]
fn branches_and_commits_are_looked_at_first() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    bash(
        root,
        "git init -q -b main && git config user.name Ann && git config user.email a@b.c && touch a && git add a && git commit -qm one && git branch fix/a && git branch done",
    );
    let (commands, answer) = real(&["remove merged branches"], root);
    assert_eq!(commands, ["git branch --merged", "git branch -d done fix/a"]);
    assert!(answer.contains("2 branches"), "{answer}");
    let (commands, answer) = real(&["remove merged branches"], root);
    assert!(commands.len() == 1 && answer.contains("nothing was deleted"), "{answer}");
    let (commands, answer) = real(&["commit everything with message 'it''s x'"], root);
    assert!(commands.len() == 1 && answer.contains("nothing to commit"), "{answer}");
    std::fs::write(root.join("b c"), "x").unwrap();
    let (commands, answer) = real(&["commit everything with message \"it's done\""], root);
    assert_eq!(commands, ["git status --short", "git add -A && git commit -m 'it'\\''s done'"]);
    assert!(answer.contains("I committed 1 file"), "{answer}");
    let (commands, answer) = real(&["delete the branch main"], root);
    assert!(commands.len() == 1 && answer.contains("You are on"), "{answer}");
    let (commands, answer) = real(&["delete the branch nothing-here"], root);
    assert!(commands.len() == 1 && answer.contains("nothing was deleted"), "{answer}");
}

#[test]
fn only_a_process_that_stands_out_is_a_hog() {
    let rows = "87.5 4711 ann /usr/bin/node a.js\n 1.0 12 ann bash";
    let (commands, answer) = play("kill the process that uses the most cpu", |_| done(rows));
    assert_eq!(commands[1], "kill 4711");
    assert!(answer.contains("node a.js"), "{answer}");
    let quiet = "99.0 9 ann ps -e -o %cpu=\n2.0 4711 ann node";
    let (commands, answer) = play("kill the process that uses the most cpu", |_| done(quiet));
    assert!(commands.len() == 1 && answer.contains("nothing was stopped"), "{answer}");
}

#[test]
fn them_are_the_files_of_the_answer_before() {
    let folder = folder_of(&[("a b.log", 1), ("c.log", 1), ("d.txt", 1)]);
    let (commands, answer) = real(&["find all .log files", "delete them"], folder.path());
    assert_eq!(commands.last().unwrap(), "rm './a b.log' ./c.log");
    assert!(answer.contains("gone") && folder.path().join("d.txt").exists(), "{answer}");
    let (commands, answer) = real(&["find all .txt files", "what time is it", "delete it"], folder.path());
    assert_eq!(commands.last().unwrap(), "rm ./d.txt", "{answer}");
}

#[test]
fn one_of_several_has_to_be_picked() {
    let folder = folder_of(&[("a.log", 1), ("b.log", 1), ("keep/x", 1)]);
    let (commands, answer) = real(&["find all .log files", "delete it"], folder.path());
    assert!(commands.len() == 1 && answer.contains("which of these"), "{commands:?} {answer}");
    let (commands, _) = real(&["find all .log files", "delete the second one"], folder.path());
    assert!(commands.last().unwrap().starts_with("rm ./"), "{commands:?}");
    assert_eq!(["a.log", "b.log"].iter().filter(|name| folder.path().join(name).exists()).count(), 1);
    let (commands, answer) = real(&["find all .log files", "move them into keep"], folder.path());
    assert!(commands.last().unwrap().ends_with(" keep"), "{commands:?} {answer}");
}

#[test]
fn it_can_be_looked_at_packed_and_marked() {
    let folder = folder_of(&[("my tool.sh", 30), ("x.txt", 1)]);
    let listed = "find all .sh files";
    for (question, expected) in [
        ("show it", "head -n 41 './my tool.sh'"),
        ("how big is it", "du -s -h './my tool.sh'"),
        ("who owns it", "ls -l -d './my tool.sh'"),
        ("make it executable", "chmod u+x './my tool.sh'"),
        ("compress it", "tar -caf './my tool.sh.tar.gz' './my tool.sh'"),
        ("copy it to other.sh", "cp -n -R -v './my tool.sh' other.sh"),
    ] {
        let (commands, answer) = real(&[listed, question], folder.path());
        assert_eq!(commands.last().unwrap(), expected, "{question}: {answer}");
    }
}

#[test]
fn a_listing_that_two_names_could_have_made_is_listed_again() {
    let folder = folder_of(&[("x\n./precious.txt", 1), ("precious.txt", 1), ("y.txt", 1)]);
    std::fs::rename(folder.path().join("precious.txt"), folder.path().join("precious.txt.keep")).ok();
    std::fs::write(folder.path().join("precious.txt"), "dear").unwrap();
    bash(folder.path(), "mv precious.txt precious");
    let (commands, _) = real(&["find all .txt files", "delete them"], folder.path());
    assert!(
        commands.last().unwrap().contains("y.txt") && !commands.last().unwrap().contains("precious"),
        "{commands:?}"
    );
}

#[test]
fn it_without_anything_before_is_asked_back() {
    for question in ["delete it", "delete them", "kill it", "delete the first one", "move it to /tmp"] {
        let (commands, answer) = play(question, |_| done(""));
        assert!(commands.is_empty() && answer.contains("please name it"), "{question}: {commands:?} {answer}");
    }
}

#[test]
fn answers_of_another_model_are_nothing_to_point_at() {
    use super::*;
    let call = ToolCall { id: "call_1".into(), name: "bash".into(), args: Ok(JsonObject::new().into()) };
    let said = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
    let result =
        ToolResult { call_id: "call_1".into(), tool: "bash".into(), content: "./a.log".into(), is_error: false };
    let messages = vec![
        user("find all .log files"),
        Message::Assistant(said),
        Message::ToolResults(vec![result]),
        user("delete it"),
    ];
    assert!(matches!(decide(&request(messages)), Next::Answer(text) if text.contains("please name it")));
}

/// A question that the tables propose several intents for.
const UNSURE: &str = "do the movie thing with holiday.mov";

#[test]
fn a_proposal_is_chosen_by_its_number() {
    let Understood::Unsure(requests) = understand(UNSURE) else { panic!("`{UNSURE}` is understood") };
    let (commands, answer) = play(UNSURE, |_| done(""));
    assert!(commands.is_empty() && answer.contains("\n1. ") && answer.contains("`? 1`"), "{answer}");
    for (said, place) in [("1", 0), ("yes", 0), ("do it", 0), ("2", 1), ("the second one", 1)] {
        let (commands, _) = converse(&[UNSURE, said], |_| done(""));
        assert_eq!(commands.first(), requests[place].command().as_ref(), "{said}");
    }
    let (commands, answer) = converse(&[UNSURE, "9"], |_| done(""));
    assert!(commands.is_empty(), "{answer}");
}

#[test]
fn a_missing_value_is_taken_from_the_next_question() {
    let asked = ["lower the priority of a running process", "1"];
    let (commands, answer) = converse(&asked, |_| done(""));
    assert!(commands.is_empty() && answer.contains("Which process id? Answer with it, as in `? 4242`."), "{answer}");
    let (commands, _) = converse(&[asked[0], asked[1], "4242"], |_| done(""));
    assert!(commands.iter().any(|command| command.contains("4242")), "{commands:?}");
}

#[test]
fn a_request_is_repeated_for_something_else() {
    let asked = "list the words by frequency in essay.txt";
    for (said, file) in [("again", "essay.txt"), ("and in notes.md", "notes.md"), ("what about ~/b.txt", "~/b.txt")] {
        let (commands, _) = converse(&[asked, said], |_| done("3 a"));
        assert!(commands.len() == 2 && commands[1].contains(file), "{said}: {commands:?}");
    }
}
