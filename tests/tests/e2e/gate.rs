//! Lines in plain language are questions without a prefix: decided before Enter takes effect, shown before that, undone by a key.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use cohab_e2e::{Answer, Home, ModelServer, Session, Wire, binaries::in_each_shell, home::PROMPT, keys};

const SENTENCE: &str = "what is the weather like today";
const MARK: &str = "ask  Alt-G: run";
const FLIPPED: &str = "run  Alt-G: ask";
/// People type only after they see the prompt. Keys that come while it is painted are typed ahead and get no mark.
const READING: Duration = Duration::from_millis(200);
/// The mark would be there after this.
const MARKED: Duration = Duration::from_millis(600);
const FLIP: &str = "\x1bg";

fn home_of(shell: &str, server: &ModelServer) -> Home {
    Home::with_model(server).shell(shell)
}

/// More lines for the shell's own file.
fn with_rc(home: Home, shell: &str, lines: &str) -> Home {
    let file = match shell {
        "bash" => ".bashrc",
        "zsh" => ".zshrc",
        _ => ".config/fish/config.fish",
    };
    let rc = fs::read_to_string(home.path(file)).unwrap_or_default();
    home.write(file, &format!("{rc}\n{lines}\n"));
    home
}

fn cursor_row(view: &cohab_e2e::terminal::View) -> String {
    view.rows().get(view.cursor().0).cloned().unwrap_or_default()
}

/// Types as a person does, and waits until the line is there, with any hint next to it.
fn type_line(shell: &Session<'_>, line: &str) {
    shell.wait_prompt();
    let _ = shell.holds_within(READING, |_| false);
    shell.send(line);
    let typed = format!("{PROMPT}{line}");
    shell.wait_for(&format!("`{line}` typed"), |view| cursor_row(view).starts_with(&typed));
}

/// Types a line, then presses Enter by itself.
fn enter(shell: &Session<'_>, line: &str) -> usize {
    type_line(shell, line);
    let mark = shell.mark();
    shell.send(keys::ENTER);
    mark
}

/// Types and runs a line, and waits for the next prompt.
fn run(shell: &Session<'_>, line: &str) -> String {
    let mark = enter(shell, line);
    shell.wait_next_prompt(mark)
}

#[test]
fn a_sentence_is_answered_and_what_becomes_of_it_is_seen_before() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Sunny."), Answer::text("A listing.")]);
        let home = home_of(name, &server);
        let shell = home.cohab();
        assert!(run(&shell, "echo one two").contains("one two"));
        type_line(&shell, SENTENCE);
        shell.wait_for("the mark", |view| cursor_row(view).ends_with(MARK));
        shell.send("?");
        shell.wait_for("the line alone", |view| cursor_row(view) == format!("{PROMPT}{SENTENCE}?"));
        let mark = shell.mark();
        shell.send(keys::ENTER);
        shell.wait_answer(mark, "Sunny.");
        assert!(server.wait_for_calls(1)[0].conversation().contains(SENTENCE));

        type_line(&shell, "ls -l /");
        shell.send(FLIP);
        shell.wait_for("the mark of a flipped command", |view| cursor_row(view).ends_with(MARK));
        shell.send(FLIP);
        shell.wait_for("the mark of a command that runs", |view| cursor_row(view).ends_with(FLIPPED));
        shell.send(FLIP);
        shell.wait_for("the mark again", |view| cursor_row(view).ends_with(MARK));
        let mark = shell.mark();
        shell.send(keys::ENTER);
        shell.wait_answer(mark, "A listing.");
        assert!(run(&shell, "echo usable").contains("usable"));
        assert_eq!(server.requests().len(), 2);
    });
}

#[test]
fn a_sentence_that_begins_with_a_name_of_the_shells_own_runs() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, []);
        let own = match name {
            "fish" => "alias what 'echo aliased'\nfunction who_knows; echo called $argv; end",
            _ => "alias what='echo aliased'\nwho_knows() { echo called \"$@\"; }",
        };
        let home = with_rc(home_of(name, &server), name, own);
        let shell = home.cohab();
        assert!(run(&shell, "what -n now").contains("aliased") || name == "fish");
        assert!(run(&shell, "who_knows").contains("called"), "{}", shell.dump());
        for line in [" what is this now", "\\true is it so", "/bin/echo why is this so"] {
            run(&shell, line);
        }
        assert!(server.requests().is_empty(), "{}", shell.dump());
    });
}

#[test]
fn escape_puts_the_line_back_and_enter_runs_it_from_then_on() {
    in_each_shell(|name| {
        let calls = [Answer::text("Let me think about it.").stall_after(2), Answer::text("Never.")];
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = home_of(name, &server);
        let shell = home.cohab();
        enter(&shell, SENTENCE);
        server.wait_until_streaming();
        shell.wait_text("Let");
        shell.send("\x1b");
        let line = format!("{PROMPT}{SENTENCE}");
        shell.wait_for("the line at the prompt", |view| cursor_row(view) == line);
        assert!(!shell.holds_within(MARKED, |view| cursor_row(view) != line), "{}", shell.dump());
        let mark = shell.mark();
        shell.send(keys::ENTER);
        shell.wait_next_prompt(mark);
        run(&shell, SENTENCE);
        assert_eq!(server.requests().len(), 1, "{}", shell.dump());
        let kept = home.paths().state_dir.join("gate-corrections");
        assert_eq!(fs::metadata(&kept).expect("a correction is kept").permissions().mode() & 0o777, 0o600);
        assert!(!fs::read_to_string(&kept).expect("it is text").contains("weather"));
    });
}

#[test]
fn escape_puts_a_question_with_its_prefix_back_and_it_is_one_again() {
    let calls = [Answer::text("Let me think about it.").stall_after(2), Answer::text("Noon.")];
    let server = ModelServer::start(Wire::OpenAiChat, calls);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    enter(&shell, "? what time is it");
    server.wait_until_streaming();
    shell.send("\x1b");
    shell.wait_for("the line at the prompt", |view| cursor_row(view) == format!("{PROMPT}? what time is it"));
    let mark = shell.mark();
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "Noon.");
}

#[test]
fn what_is_pasted_typed_ahead_or_goes_on_from_a_line_before_is_the_shells() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, []);
        let home = home_of(name, &server);
        let shell = home.cohab();
        let mark = shell.mark();
        shell.send(&format!("{SENTENCE}\r{SENTENCE}\r"));
        shell.wait_for("both", |view| String::from_utf8_lossy(&view.raw()[mark..]).matches("ommand").count() >= 2);
        shell.wait_next_prompt(mark);

        shell.send("\x1b[200~what is the weather\nhow are you today\x1b[201~");
        shell.wait_text("how are you today");
        let mark = shell.mark();
        shell.send(keys::ENTER);
        shell.wait_next_prompt(mark);

        enter(&shell, "echo 'first");
        shell.wait_for("the rest of the line", |view| view.cursor().1 < 9 || cursor_row(view).trim().is_empty());
        shell.send(&format!("{SENTENCE}'"));
        shell.wait_text(&format!("{SENTENCE}'"));
        let mark = shell.mark();
        shell.send(keys::ENTER);
        assert!(shell.wait_next_prompt(mark).contains(SENTENCE), "{}", shell.dump());

        enter(&shell, "sh -c 'echo begun; exec cat'");
        shell.wait_for("the program", |view| view.rows().iter().any(|row| row == "begun"));
        shell.send(&format!("{SENTENCE}\r"));
        shell.wait_text(SENTENCE);
        shell.send(keys::CTRL_C);
        shell.wait_prompt();
        assert!(run(&shell, "echo usable").contains("usable"));
        assert!(server.requests().is_empty(), "{}", shell.dump());
    });
}

#[test]
fn switched_off_only_the_prefix_asks() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Noon.")]);
    let home = Home::with_model(&server);
    home.write_config("[client]\ngate = false\n");
    let shell = home.cohab();
    type_line(&shell, SENTENCE);
    assert!(!shell.holds_within(MARKED, |view| view.text().contains("Alt-G")));
    let mark = shell.mark();
    shell.send(keys::ENTER);
    shell.wait_next_prompt(mark);
    assert!(server.requests().is_empty(), "{}", shell.dump());
    shell.ask("what time is it", "Noon.");
}

#[test]
fn in_sentences_no_mark_is_drawn_and_the_line_is_asked_all_the_same() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Sunny.")]);
    let home = Home::with_model(&server).env("COHAB_ACCESSIBLE", "1");
    let shell = home.cohab();
    type_line(&shell, SENTENCE);
    assert!(!shell.holds_within(MARKED, |view| view.text().contains("Alt-G")));
    let mark = shell.mark();
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "Sunny.");
}
