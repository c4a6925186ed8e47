//! `?+ words` adds to the question that is being answered.

use cohab_e2e::{Answer, Home, Session, binaries::in_each_shell, keys};

use crate::aside::{Held, ask, type_aside};

/// Adds words to the turn behind the prompt.
fn add(shell: &Session<'_>, words: &str) {
    type_aside(shell, &format!("?+ {words}"));
    shell.send(keys::ENTER);
    shell.wait_text(&format!("added: {words}"));
}

#[test]
fn an_addition_goes_to_the_model_with_the_next_step() {
    in_each_shell(|name| {
        let model = Held::new([Answer::bash("echo by-agent"), Answer::text("All done.")]);
        let home = Home::with_model(&model.server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        let mark = ask(&shell, &model, "do something");
        add(&shell, "only in src");
        model.answer();
        model.wait_asked();
        model.answer();
        shell.wait_answer(mark, "All done.");
        let requests = model.server.wait_for_calls(2);
        assert!(!requests[0].conversation().contains("only in src"));
        let told = requests[1].conversation();
        let (result, addition) = (told.find("by-agent"), told.find("only in src"));
        assert!(result.is_some() && result < addition, "{told}");
        assert_eq!(model.server.requests().len(), 2, "it is no question of its own");
        assert!(shell.run("echo fine").contains("fine"));
    });
}

#[test]
fn an_addition_that_was_typed_ahead_while_a_command_ran_is_not_lost() {
    in_each_shell(|name| {
        let model = Held::new([Answer::bash("cat door"), Answer::text("All done."), Answer::text("That, too.")]);
        let home = Home::with_model(&model.server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        shell.run("mkfifo door");
        let mark = ask(&shell, &model, "do something");
        model.answer();
        // Its status says that it runs.
        shell.wait_text("cat door · ");
        shell.send("?+ only in src");
        shell.send(keys::ENTER);
        std::fs::write(home.path("door"), "opened\n").expect("the command reads it");
        model.wait_asked();
        model.answer();
        // The output of the command holds the typed line, too.
        let is_read = |call: usize| {
            let messages = model.server.wait_for_calls(call)[call - 1].body["messages"].clone();
            let of_user = messages.as_array().into_iter().flatten().filter(|message| message["role"] == "user");
            of_user.into_iter().any(|message| message["content"].to_string().contains("only in src"))
        };
        // It comes before the next step, or it is the next question.
        if !is_read(2) {
            model.wait_asked();
            model.answer();
            assert!(is_read(3), "{name}");
            shell.wait_answer(mark, "That, too.");
        }
        shell.wait_answer(mark, "All done.");
        assert!(shell.run("echo fine").contains("fine"));
    });
}

#[test]
fn an_addition_behind_the_last_step_is_answered_in_the_same_turn() {
    let model = Held::new([Answer::text("First."), Answer::text("Second.")]);
    let home = Home::with_model(&model.server);
    let shell = home.cohab();
    let mark = ask(&shell, &model, "one");
    add(&shell, "and two");
    model.answer();
    model.wait_asked();
    model.answer();
    shell.wait_answer(mark, "Second.");
    assert!(model.server.wait_for_calls(2)[1].conversation().contains("and two"));
    assert!(!shell.look(|view| view.shows("? and two")), "{}", shell.dump());
}

#[test]
fn without_an_answer_to_add_to_it_is_a_question() {
    in_each_shell(|name| {
        let model = Held::new([Answer::text("Sure.")]);
        let home = Home::with_model(&model.server).shell(name);
        let shell = home.cohab();
        let mark = shell.submit("?+ why is it so");
        model.wait_asked();
        model.answer();
        shell.wait_answer(mark, "Sure.");
        assert!(model.server.wait_for_calls(1)[0].conversation().contains("<question>\nwhy is it so"));
    });
}

#[test]
fn control_c_names_what_was_not_read_and_drops_it() {
    let model = Held::new([Answer::text("Never seen.")]);
    let home = Home::with_model(&model.server);
    let shell = home.cohab();
    ask(&shell, &model, "why");
    add(&shell, "only in src");
    shell.wait_text("continuing: why");
    shell.send(keys::CTRL_C);
    shell.wait_text("What you added was not read.");
    shell.wait_prompt();
    model.answer();
    assert!(shell.run("echo fine").contains("fine"));
    assert_eq!(model.server.requests().len(), 1, "it is not asked next");
}

#[test]
fn what_was_read_outlives_the_daemon_and_what_was_not_is_named() {
    let model = Held::new([Answer::bash("echo by-agent"), Answer::text("Lost."), Answer::text("Continued.")]);
    let home = Home::with_model(&model.server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    ask(&shell, &model, "do something");
    add(&shell, "only in src");
    model.answer();
    model.wait_asked();
    add(&shell, "and no tests");
    home.kill_daemon();
    shell.wait_text("not read by the model: and no tests");
    shell.wait_text("/resume` continues it");
    shell.wait_prompt();
    model.answer();
    let mark = shell.submit("? /resume");
    model.wait_asked();
    model.answer();
    shell.wait_answer(mark, "Continued.");
    let told = model.server.wait_for_calls(3)[2].conversation();
    assert!(told.contains("only in src") && !told.contains("no tests"), "{told}");
}
