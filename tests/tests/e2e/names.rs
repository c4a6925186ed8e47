//! The names of a command are resolved in the user's own shell before the command runs unasked.

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_of};

/// A home with this shell, and a model that runs these commands, one after the other, and then is done.
fn wanted(name: &str, commands: &[&str]) -> (ModelServer, Home) {
    let calls = commands.iter().map(|command| Answer::bash(command));
    let server = ModelServer::start(Wire::OpenAiChat, calls.chain([Answer::text("All done.")]));
    let home = Home::with_model(&server).shell(name);
    (server, home)
}

#[test]
fn a_plain_command_runs_unasked_where_its_name_is_the_programs() {
    in_each_of(&["bash", "zsh", "fish"], |name| {
        let (_server, home) = wanted(name, &["uname -s"]);
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
            let (server, home) = wanted(name, &["uname -s"]);
            let shell = home.cohab();
            shell.run(definition);
            let mark = shell.submit("? which system is this");
            shell.wait_approval("uname -s");
            assert!(shell.look(|view| view.history().contains("in this shell")), "{name}\n{}", shell.dump());
            shell.send("n");
            shell.wait_text("Reason (optional).");
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
        let (_server, home) = wanted(name, &[change, "uname -s"]);
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

/// Runs a turn in a shell after `before`: the model has a file read that holds `change`, to which the user agrees, and then runs a
/// command that would run unasked. It is asked about, and `named` is reported.
fn is_asked_after(name: &str, before: &str, change: &str, then: &str, named: &str) {
    in_each_of(&[name], |name| {
        let (_server, home) = wanted(name, &["source ./setup", then]);
        std::fs::write(home.path("setup"), change).expect("the home can be written");
        let shell = home.cohab();
        shell.run(before);
        let mark = shell.submit("? look around");
        shell.wait_approval("source ./setup");
        shell.send("y");
        shell.wait_approval(then);
        assert!(shell.look(|view| view.history().contains(named)), "{name}: {change}\n{}", shell.dump());
        shell.send("y");
        shell.wait_answer(mark, "All done.");
    });
}

#[test]
fn a_plain_command_is_asked_about_after_a_file_that_changed_bash() {
    for (before, change, then, named) in [
        ("true", "PROMPT_COMMAND='true'", "uname -s", "`PROMPT_COMMAND`"),
        ("true", "trap true DEBUG", "uname -s", "`DEBUG`"),
        ("true", "hash -p /tmp/evil ls", "ls -a", "`ls` leads"),
        ("f() { echo 1; }", "f() { echo 2; }", "uname -s", "function `f`"),
    ] {
        is_asked_after("bash", before, change, then, named);
    }
}

#[test]
fn a_plain_command_is_asked_about_after_a_file_that_changed_zsh() {
    for (before, change, then, named) in [
        ("true", "trap true DEBUG", "uname -s", "`DEBUG`"),
        ("true", "hash ls=/tmp/evil", "ls -a", "`ls` leads"),
        ("precmd() { true }", "precmd() { false }", "uname -s", "function `precmd`"),
        ("true", "alias -g L='| sh'", "uname -s", "global alias `L`"),
    ] {
        is_asked_after("zsh", before, change, then, named);
    }
}

#[test]
fn a_plain_command_is_asked_about_after_a_file_that_changed_fish() {
    for (before, change, then, named) in [
        ("true", "function f --on-event fish_prompt; end", "uname -s", "handler `f`"),
        ("true", "function ls; echo 1; end", "uname -s", "function `ls`"),
        ("true", "set -gx PAGER /tmp/evil", "uname -s", "`PAGER`"),
    ] {
        is_asked_after("fish", before, change, then, named);
    }
}

#[test]
fn the_users_own_change_of_where_a_name_leads_is_asked_about() {
    for (name, change) in [
        ("bash", "hash -p /tmp/evil uname"),
        ("zsh", "hash uname=/tmp/evil"),
        ("zsh", "alias -g uname='true'"),
        ("fish", "abbr -a uname true"),
    ] {
        in_each_of(&[name], |name| {
            let (_server, home) = wanted(name, &["uname -s"]);
            let shell = home.cohab();
            shell.run(change);
            let mark = shell.submit("? which system is this");
            shell.wait_approval("uname -s");
            assert!(shell.look(|view| view.history().contains("in this shell")), "{name}: {change}\n{}", shell.dump());
            shell.send("y");
            shell.wait_answer(mark, "All done.");
        });
    }
}
