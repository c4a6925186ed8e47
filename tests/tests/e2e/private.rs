//! `?! words` asks without leaving a trace of the words.

use std::{fs, path::Path};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_shell, deadline::eventually};

/// The files below `folder` that hold `text`.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(holding(&path, text)),
            Ok(kind) if kind.is_file() => {
                let bytes = fs::read(&path).unwrap_or_default();
                let is_in = bytes.windows(text.len()).any(|part| part == text.as_bytes());
                found.extend(is_in.then(|| path.display().to_string()));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn nothing_of_a_private_question_is_found_later() {
    in_each_shell(|name| {
        let answers = [
            Answer::text("Hello."),
            Answer::bash("echo zanzibar-ran"),
            Answer::text("On zanzibar."),
            Answer::text("Again."),
        ];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        shell.ask("hello", "Hello.");
        let mark = shell.submit("?! where is zanzibar");
        shell.wait_answer(mark, "On zanzibar.");
        shell.wait_text("private: nothing of this is kept");
        shell.ask("and again", "Again.");
        let requests = server.wait_for_calls(4);
        assert!(!requests[1].conversation().contains("hello"), "it has a conversation of its own");
        assert!(requests[2].conversation().contains("zanzibar-ran"));
        let told = requests[3].conversation();
        assert!(told.contains("hello") && !told.contains("where is zanzibar"), "{told}");
        let history = if name == "fish" { "history" } else { "fc -l 1" };
        let listed = shell.run(history);
        assert!(!listed.contains("where is"), "{listed}");
        // fish 3 keeps no question.
        assert!(name == "fish" || listed.contains("? hello"), "{listed}");
        let audit = home.run(&["audit", "tail"]).stdout;
        assert!(!audit.contains("where is"), "{audit}");
        drop(shell);
        eventually("the other questions are kept", || !holding(&home.path(".."), "and again").is_empty());
        for text in ["where is zanzibar", "On zanzibar"] {
            assert_eq!(holding(&home.path(".."), text), [""; 0], "{text}");
        }
    });
}

#[test]
fn a_private_question_keeps_what_it_changes_for_undo_under_no_words() {
    let write = serde_json::json!({"path": "notes", "content": "new\n"});
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::call("write", &write), Answer::text("Written.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    home.write("notes", "old\n");
    let shell = home.cohab();
    let mark = shell.submit("?! rewrite my notes for zanzibar");
    shell.wait_answer(mark, "Written.");
    let listed = home.run(&["undo", "--list"]).stdout;
    assert!(listed.contains("private question") && !listed.contains("zanzibar"), "{listed}");
    let audit = home.run(&["audit", "tail"]).stdout;
    assert!(audit.contains("private question") && !audit.contains("zanzibar"), "{audit}");
}
