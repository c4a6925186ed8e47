//! What the names of a command stand for in the user's own shell, before the command runs unasked.

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_of};

#[test]
fn a_plain_command_runs_unasked_where_its_name_is_the_programs() {
    in_each_of(&["bash", "zsh", "fish"], |name| {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("uname -s"), Answer::text("All done.")]);
        let home = Home::with_model(&server).shell(name);
        let shell = home.cohab();
        shell.run("true");
        shell.ask("which system is this", "All done.");
        assert!(shell.look(|view| view.history().contains("Linux")), "{name}\n{}", shell.dump());
    });
}

#[test]
fn a_function_or_alias_of_that_name_is_asked_about() {
    let definitions = [
        ("bash", "alias uname='echo hacked'"),
        ("zsh", "uname() { echo hacked }"),
        ("fish", "function uname; echo hacked; end"),
    ];
    for (name, definition) in definitions {
        in_each_of(&[name], |name| {
            let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("uname -s"), Answer::text("All done.")]);
            let home = Home::with_model(&server).shell(name);
            let shell = home.cohab();
            shell.run(definition);
            let mark = shell.submit("? which system is this");
            shell.wait_approval("uname -s");
            assert!(shell.look(|view| view.history().contains("in this shell")), "{name}\n{}", shell.dump());
            shell.send("n");
            shell.wait_text("A word to the assistant?");
            shell.send(cohab_e2e::keys::ENTER);
            shell.wait_answer(mark, "All done.");
            let output = server.wait_for_calls(2)[1].conversation();
            assert!(!output.contains("hacked -s"), "{output}");
        });
    }
}

#[test]
fn after_the_assistant_changed_the_path_the_next_plain_command_is_asked_about() {
    in_each_of(&["bash", "zsh", "fish"], |name| {
        let change = if name == "fish" { "set -gx PATH /opt $PATH" } else { "export PATH=/opt:$PATH" };
        let calls = [Answer::bash(change), Answer::bash("uname -s"), Answer::text("All done.")];
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = Home::with_model(&server).shell(name);
        let shell = home.cohab();
        shell.run("true");
        let mark = shell.submit("? change the path");
        shell.wait_approval("PATH");
        shell.send("y");
        shell.wait_text("Type yes and Enter");
        shell.send("yes\r");
        shell.wait_approval("uname -s");
        assert!(shell.look(|view| view.history().contains("`PATH`")), "{name}\n{}", shell.dump());
        shell.send("y");
        shell.wait_answer(mark, "All done.");
    });
}
