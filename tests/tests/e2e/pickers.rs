//! Lists at a terminal from which the user picks: `cohab sessions`, `cohab history` and `? /model`.

use cohab_e2e::{
    Answer, Home, ModelServer, Terminal, Wire,
    binaries::{self, in_each_of},
    deadline::eventually,
    keys,
    terminal::{Size, View},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// Leaves the alternate screen.
const LEAVE_SCREEN: &str = "\x1b[?1049l";

/// A home whose shells find `cohab` by its name.
fn home(server: &ModelServer, shell: &str) -> Home {
    let folder = binaries::program("cohab").parent().expect("it is in a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    Home::with_model(server).env("COHAB_APPROVAL", "all").env("PATH", &format!("{folder}:{path}")).shell(shell)
}

fn in_each_shell(test: impl Fn(&str)) {
    in_each_of(&["bash", "zsh", "fish"], test);
}

fn wait_until_kept(home: &Home, words: &str) {
    eventually("the answer is kept", || home.run(&["sessions", "show"]).stdout.contains(words));
}

#[test]
fn a_picked_command_stands_on_the_prompt_unrun() {
    in_each_shell(|name| {
        let calls = [Answer::bash("echo it\\'s > made"), Answer::bash("false"), Answer::text("Made it.")];
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = home(&server, name);
        let shell = home.cohab();
        shell.ask("make a file", "Made it.");
        wait_until_kept(&home, "Made it.");
        std::fs::remove_file(home.path("made")).expect("it was made");
        shell.submit("cohab history");
        shell.wait_text("Enter puts it on the prompt");
        shell.send("made");
        shell.wait_text("1 of 2");
        shell.send(keys::ENTER);
        shell.wait_for("the command at the prompt", |view| view.cursor_row().ends_with("echo it\\'s > made"));
        assert!(!home.path("made").exists(), "it did not run");
        assert!(shell.look(View::history).contains("make a file"), "the screen is as before: {}", shell.dump());
        shell.send(keys::ENTER);
        eventually("it runs at Enter", || home.path("made").exists());
    });
}

#[test]
fn a_picked_conversation_goes_on_in_this_shell() {
    in_each_shell(|name| {
        let answers = [Answer::text("It is blue."), Answer::text("Still blue.")];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = home(&server, name);
        home.cohab().ask("what colour is the shop", "It is blue.");
        wait_until_kept(&home, "It is blue.");
        let shell = home.cohab();
        shell.submit("cohab sessions");
        shell.wait_text("Enter resumes");
        assert!(shell.look(|view| view.shows("It is blue.")), "the preview: {}", shell.dump());
        shell.send("colr");
        shell.wait_text("1 of 1");
        shell.send(keys::ENTER);
        shell.wait_text("Resumed \"what colour is the shop\" in this shell.");
        shell.wait_prompt();
        shell.ask("and now", "Still blue.");
        assert!(server.wait_for_calls(2)[1].conversation().contains("It is blue."));
    });
}

#[test]
fn outside_of_cohab_a_picked_conversation_opens_a_shell() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It is blue.")]);
    let home = home(&server, "bash");
    home.cohab().ask("what colour", "It is blue.");
    wait_until_kept(&home, "It is blue.");
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["sessions"]));
    terminal.wait_text("Enter resumes");
    terminal.send(keys::ENTER);
    terminal.wait_text("Resumed \"what colour\" in this shell.");
}

#[test]
fn whatever_ends_a_picker_the_terminal_is_as_before() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It is blue.")]);
    let home = home(&server, "bash");
    home.cohab().ask("what colour", "It is blue.");
    wait_until_kept(&home, "It is blue.");
    let shell = home.bash();
    for leave in [keys::ESC, keys::CTRL_C] {
        shell.submit("cohab sessions; echo status=$?");
        shell.wait_text("Enter resumes");
        shell.send(leave);
        shell.wait_text("status=0");
        assert!(shell.run("stty -a").contains(" echo "), "{}", shell.dump());
        shell.run("clear");
    }
    let mark = shell.submit("sh -c 'echo $$ > pid; exec cohab sessions'; echo status=$?");
    shell.wait_text("Enter resumes");
    let pid = std::fs::read_to_string(home.path("pid")).expect("it was written").trim().parse().expect("a number");
    kill_process(Pid::from_raw(pid).expect("a process"), Signal::TERM).expect("it runs");
    shell.wait_text("status=143");
    assert!(shell.raw_since(mark).contains(LEAVE_SCREEN), "{}", shell.dump());
    assert!(shell.run("stty -a").contains(" echo "), "{}", shell.dump());
}

#[test]
fn a_session_is_deleted_after_a_yes_and_a_new_size_is_drawn() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It is blue."), Answer::text("It is red.")]);
    let home = home(&server, "bash");
    home.cohab().ask("what colour", "It is blue.");
    wait_until_kept(&home, "It is blue.");
    home.cohab().ask("another colour", "It is red.");
    wait_until_kept(&home, "It is red.");
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["sessions"]));
    terminal.wait_text("2 of 2");
    terminal.resize(Size { rows: 20, columns: 60 });
    terminal.wait_for("the keys in the last row", |view| view.rows()[19].contains("Ctrl-D deletes"));
    terminal.send(keys::CTRL_D);
    terminal.wait_text("Delete \"another colour\"? y deletes");
    terminal.send("n");
    terminal.wait_text("Ctrl-D deletes");
    terminal.send(&format!("{}y", keys::CTRL_D));
    terminal.wait_text("1 of 1");
    terminal.send(keys::ESC);
    terminal.wait_exit();
    let left = home.run(&["sessions"]).stdout;
    assert!(left.contains("what colour") && !left.contains("another"), "{left}");
}

#[test]
fn without_a_terminal_and_with_plain_the_lists_are_printed() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("true"), Answer::text("Done.")]);
    let home = home(&server, "bash");
    home.cohab().ask("do it", "Done.");
    wait_until_kept(&home, "Done.");
    assert!(home.run(&["sessions"]).stdout.starts_with("id      when"), "{:?}", home.run(&["sessions"]));
    let shell = home.bash();
    for (line, heading) in [
        ("cohab sessions --plain", "folder"),
        ("cohab history --plain", "outcome"),
        ("TERM=dumb cohab sessions", "folder"),
        ("COHAB_ACCESSIBLE=1 cohab history", "outcome"),
        ("PAGER=cat cohab history", "outcome"),
    ] {
        let printed = shell.run(line);
        assert!(printed.contains(heading) && !printed.contains(LEAVE_SCREEN), "{line}: {printed}");
    }
    assert!(shell.run("NO_COLOR=1 cohab sessions do").contains("do it"));
}

#[test]
fn a_model_is_picked_from_the_services_list() {
    in_each_shell(|name| {
        let list = json!({"data": [{"id": "scripted-model"}, {"id": "other-model"}]});
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("I am another.")]);
        let server = server.listing(move |_| Answer::json(&list));
        let home = home(&server, name);
        let shell = home.cohab();
        shell.submit("? /model");
        shell.wait_text("Enter picks");
        shell.send("other");
        shell.wait_text("1 of 2");
        shell.send(keys::ENTER);
        shell.wait_text("other-model answers from now on in this shell");
        shell.wait_prompt();
        shell.ask("who are you", "I am another.");
        assert_eq!(server.wait_for_calls(1)[0].model(), Some("other-model"));
        shell.submit("? /model");
        shell.wait_text("Enter picks");
        shell.send(keys::ESC);
        shell.wait_text("other-model answers here");
        shell.wait_prompt();
    });
}

#[test]
fn a_conversation_its_files_and_its_shell_go_back_to_a_question() {
    in_each_shell(|name| {
        let answers = [
            Answer::text("Hello."),
            Answer::bash("mkdir deep && cd deep && export REWOUND=yes"),
            Answer::bash("echo one > ../one"),
            Answer::text("Made one."),
            Answer::bash("echo more >> ../one"),
            Answer::text("Made it longer."),
            Answer::text("I know nothing."),
        ];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = home(&server, name);
        let shell = home.cohab();
        shell.ask("hello", "Hello.");
        shell.ask("make one", "Made one.");
        shell.ask("make it longer", "Made it longer.");
        wait_until_kept(&home, "Made it longer.");
        let mark = shell.submit("? /rewind");
        shell.wait_text("Enter continues");
        shell.send("one");
        shell.wait_text("2 of 3");
        // The preview is drawn below the count.
        shell.wait_text("Folder: ~.");
        shell.send(keys::ENTER);
        shell.wait_text("what goes back?");
        shell.wait_text("chat, files, shell");
        shell.send(keys::ENTER);
        shell.wait_text("The conversation is as it was before \"make one\".");
        shell.wait_next_prompt(mark);
        assert!(!home.path("one").exists(), "{}", shell.dump());
        assert!(
            shell.run("pwd").contains(&format!("{}\r\n", home.path("").display().to_string().trim_end_matches('/')))
        );
        assert!(!shell.run("env").contains("REWOUND"), "{}", shell.dump());
        shell.ask("what did I ask", "I know nothing.");
        let told = server.wait_for_calls(7)[6].conversation();
        assert!(told.contains("hello") && !told.contains("make one"), "{told}");
    });
}

#[test]
fn with_nothing_to_resume_an_older_conversation_is_picked() {
    in_each_shell(|name| {
        let answers = [Answer::text("It is blue."), Answer::text("Hello."), Answer::text("Still blue.")];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = home(&server, name);
        home.cohab().ask("what colour is the shop", "It is blue.");
        wait_until_kept(&home, "It is blue.");
        let shell = home.cohab();
        shell.ask("hello", "Hello.");
        shell.submit("? /resume");
        shell.wait_text("Enter resumes");
        shell.send(keys::ESC);
        shell.wait_text("Nothing to resume: no answer was interrupted.");
        shell.wait_prompt();
        shell.submit("? /resume");
        shell.wait_text("Enter resumes");
        shell.send("blue\x7f\x7f\x7f\x7fcolour");
        shell.wait_text("1 of 2");
        shell.send(keys::ENTER);
        shell.wait_text("Resumed \"what colour is the shop\" in this shell.");
        shell.wait_prompt();
        shell.ask("and now", "Still blue.");
        assert!(server.wait_for_calls(3)[2].conversation().contains("It is blue."));
    });
}

#[test]
fn the_assistants_own_command_gets_a_list_that_waits_for_no_key() {
    in_each_shell(|name| {
        let answers = [Answer::text("Hello."), Answer::bash("cohab sessions"), Answer::text("There is one.")];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = home(&server, name);
        let shell = home.cohab();
        shell.ask("hello", "Hello.");
        wait_until_kept(&home, "Hello.");
        shell.ask("which conversations are there", "There is one.");
        let result = server.wait_for_calls(3)[2].tool_results()[0].content.clone();
        assert!(result.contains("questions  folder"), "{result}");
    });
}
