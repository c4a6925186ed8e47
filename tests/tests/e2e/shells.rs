//! zsh and fish are shells like bash: questions, commands of the agent's, the user's own lines.

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_of, keys};

/// Runs a test in each of the two shells whose editors report Enter themselves.
fn in_each_shell(test: impl Fn(&str)) {
    in_each_of(&["zsh", "fish"], test);
}

#[test]
fn what_the_agent_does_sticks_and_the_user_goes_on() {
    in_each_shell(|name| {
        let calls = [Answer::bash("mkdir -p big && cd big"), Answer::bash("export FOO=1"), Answer::text("All done.")];
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        shell.ask("go to the biggest folder", "All done.");
        let answer = shell.run("echo foo=$FOO in $PWD");
        assert!(answer.contains(&format!("foo=1 in {}", home.path("big").display())), "{}", shell.dump());
        let conversation = server.wait_for_calls(3)[2].conversation();
        assert!(conversation.contains(&home.path("big").display().to_string()), "{conversation}");
    });
}

#[test]
fn a_question_does_not_reach_the_shell_and_a_command_does_not_reach_the_model() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It is noon.")]);
        let home = Home::with_model(&server).shell(name);
        let shell = home.cohab();
        assert!(shell.run("echo one two").contains("one two"));
        shell.ask("what time is it, don't you know", "It is noon.");
        shell.run("true; false");
        assert!(shell.run("echo status-$status").contains("status-1"), "{}", shell.dump());
        assert_eq!(server.wait_for_calls(1).len(), 1);
        assert!(
            server.wait_for_calls(1)[0].conversation().contains("echo one two"),
            "the model knows the last command"
        );
    });
}

#[test]
fn a_command_can_be_stopped_and_keys_typed_meanwhile_are_the_users() {
    in_each_shell(|name| {
        let calls = [Answer::bash("sh -c 'echo begun; exec sleep 60'")];
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        let mark = shell.submit("? wait a bit");
        shell.wait_for("the command runs", |view| view.rows().iter().any(|row| row == "begun"));
        shell.send(keys::CTRL_C);
        shell.wait_next_prompt(mark);
        assert!(shell.run("echo still here").contains("still here"));
    });
}

#[test]
fn the_hotkey_takes_the_line_and_up_brings_a_question_back() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Blue.")]);
        let home = Home::with_model(&server).shell(name);
        let shell = home.cohab();
        shell.run("true");
        shell.type_line("which colour has the sky");
        let mark = shell.mark();
        shell.send(keys::ALT_ENTER);
        shell.wait_answer(mark, "Blue.");
        // fish 3 has no way to put a line into its history.
        if name == "zsh" {
            shell.send(keys::UP);
            shell.wait_for("the question", |view| view.rows()[view.cursor().0].ends_with("which colour has the sky"));
        }
    });
}
