//! `cohab undo`: the shell is as it was before the turn, and the user knows what is not.

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries, terminal::View};

const CTRL_UNDERSCORE: &str = "\x1f";

/// A home where everything is approved, and a model that runs this command and then says a word, as often as asked.
fn acting(command: &str) -> (ModelServer, Home) {
    let turn = || [Answer::bash(command), Answer::text("All done.")];
    let server = ModelServer::start(Wire::OpenAiChat, turn().into_iter().chain(turn()));
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").env("OLD", "it's old");
    (server, home)
}

#[test]
fn the_line_brings_folder_variables_and_aliases_back_and_says_what_stays() {
    let (server, home) = acting("mkdir d; cd d; export NEW=1 OLD=2; alias ll='ls -l'; f() { :; }");
    let shell = home.cohab();
    shell.ask("change things", "All done.");
    assert!(shell.run("echo \"<$NEW $OLD ${PWD##*/}>\"").contains("<1 2 d>"));
    let raw = shell.run("cohab undo");
    let undone = shell.look(View::history);
    assert!(undone.contains("↶ cd ~ · -NEW ~OLD · unalias ll\n"), "{}", shell.dump());
    assert!(undone.contains("Cannot be undone: function f.\n"), "{}", shell.dump());
    assert!(!raw.contains("builtin"), "the command is not shown: {raw}");
    let now = shell.run("echo \"<${NEW-none} $OLD>\"; pwd; alias ll; type -t f");
    assert!(now.contains("<none it's old>") && now.contains("ll: not found") && now.contains("function"), "{now}");
    assert!(!now.contains("/d\r"), "{now}");
    assert!(shell.run("cohab undo").contains("Nothing to undo"));

    shell.ask("again", "All done.");
    let told = server.wait_for_calls(3)[2].conversation();
    assert!(told.contains("cohab undo") && told.contains("-NEW ~OLD"), "the model knows: {told}");
}

#[test]
fn what_the_user_changed_since_stays_and_what_the_shell_refuses_is_told() {
    let (_server, home) = acting("export MINE=1 FIXED=1 NEW=1");
    let shell = home.cohab();
    shell.ask("change things", "All done.");
    shell.run("export MINE=2; readonly FIXED");
    shell.run("cohab undo");
    let told = shell.look(View::history);
    assert!(told.contains("The shell refused: variable FIXED.\n"), "{}", shell.dump());
    assert!(told.contains("Changed since, and left alone: variable MINE.\n"), "{}", shell.dump());
    assert!(shell.run("echo \"<$MINE $FIXED ${NEW-none}>\"").contains("<2 1 none>"));
}

#[test]
fn the_key_undoes_right_after_the_turn_and_is_the_shells_at_any_other_time() {
    let (_server, home) = acting("export NEW=1");
    let shell = home.cohab();
    shell.ask("change things", "All done.");
    let mark = shell.mark();
    shell.send(CTRL_UNDERSCORE);
    assert!(shell.wait_next_prompt(mark).contains("-NEW"));
    assert!(shell.run("echo \"<${NEW-none}>\"").contains("<none>"));

    shell.ask("again", "All done.");
    // The line editor's own undo takes back what was typed.
    shell.type_line("echo typed");
    shell.send(CTRL_UNDERSCORE);
    shell.wait_prompt();
    assert!(shell.run("echo \"<${NEW-none}>\"").contains("<1>"));
}

#[test]
fn elsewhere_the_command_explains_itself() {
    let finished = Home::new().run(&["undo"]);
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains("only at the prompt of a shell that cohab opened"), "{finished:?}");
    let (_server, home) = acting("true");
    let shell = home.cohab();
    let line = format!("{} undo | cat", binaries::program("cohab").display());
    assert!(shell.run(&line).contains("only at the prompt"));
}
