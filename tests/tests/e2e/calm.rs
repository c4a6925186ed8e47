//! What a user sees around the answers: the line of the first starts, the status of a silent command, text that is put on the prompt,
//! hints in nested shells, a recap of what is resumed.

use std::fs;

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_shell, deadline::eventually, keys, terminal::View};
use serde_json::json;

const GREETING: &str = "cohab · offline assistant · type ? and a question";

#[test]
fn the_first_three_starts_say_what_to_type() {
    in_each_shell(|name| {
        let home = Home::new().shell(name);
        let file = home.paths().state_dir.join("greetings");
        fs::remove_file(&file).expect("tests begin after these starts");
        for start in 1..=4 {
            let shell = home.cohab();
            shell.wait_prompt();
            let rows = shell.look(View::rows);
            assert_eq!(rows[0].starts_with(GREETING), start <= 3, "{name}, start {start}: {}", shell.dump());
            let prompt = usize::from(start <= 3);
            assert!(rows[prompt].starts_with("ready$"), "{name}, start {start}: {}", shell.dump());
            eventually("the start is counted", || {
                fs::read_to_string(&file).is_ok_and(|text| text.trim() == start.min(3).to_string())
            });
        }
    });
}

#[test]
fn a_silent_command_shows_that_it_runs_and_leaves_no_trace() {
    in_each_shell(|name| {
        let go = "while ! test -e go; do sleep 0.1; done; echo went";
        let go = if name == "fish" { "while not test -e go; sleep 0.1; end; echo went" } else { go };
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash(go), Answer::text("It went.")]);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        shell.wait_prompt();
        shell.submit("? wait for it");
        shell.wait_text(" s · Ctrl-C stops");
        let row = shell.look(|view| view.row_of("Ctrl-C stops").map(|row| view.rows()[row].clone()));
        assert!(row.is_some_and(|row| row.contains("whil") && !row.starts_with("●")), "{}", shell.dump());
        // What is typed meanwhile is echoed where the row was.
        shell.send("typed-ahead");
        shell.wait_text("typed-ahead");
        home.write("go", "");
        shell.wait_for("the answer", |view| view.history().contains("It went."));
        assert!(!shell.look(|view| view.history() + &view.text()).contains("s · Ctrl-C stops"), "{}", shell.dump());
        let told = server.requests().last().expect("the result was sent").conversation();
        assert!(told.contains("went") && !told.contains("typed-ahead"), "{name}: {told}");
    });
}

#[test]
fn a_light_terminal_gets_other_shades_and_its_answer_reaches_no_shell() {
    in_each_shell(|name| {
        let answers = [Answer::text("Use `one`."), Answer::text("Use `two`.")];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = Home::with_model(&server).shell(name);
        let shell = home.cohab();
        shell.wait_prompt();
        let mark = shell.mark();
        shell.send("? one");
        shell.send(keys::ENTER);
        shell.wait_for("the question about the background", |view| {
            String::from_utf8_lossy(&view.raw()[mark..]).contains("\u{1b}]11;?\u{1b}\\")
        });
        shell.send("\u{1b}]11;rgb:ffff/fdfd/f6f6\u{1b}\\");
        shell.wait_answer(mark, "Use one.");
        let mark = shell.mark();
        shell.ask("two", "Use two.");
        let raw = shell.raw_since(mark);
        assert!(raw.contains("\u{1b}[38;5;24mtwo"), "{name}: {raw:?}");
        assert!(!raw.contains("\u{1b}]11;?"), "{name}: asked twice");
        shell.submit("echo 'and 'keys");
        shell.wait_text("and keys");
        assert!(!shell.look(|view| view.history() + &view.text()).contains("ffff"), "{name}: {}", shell.dump());
    });
}

#[test]
fn the_output_of_a_step_comes_whole_in_the_users_pager() {
    in_each_shell(|name| {
        let server = ModelServer::start(
            Wire::OpenAiChat,
            [Answer::call("read", &json!({"path": "long.txt"})), Answer::text("It is long.")],
        );
        let home = Home::with_model(&server).env("PAGER", "sed 's/^/paged: /'").shell(name);
        home.write("long.txt", &(1..=30).map(|line| format!("line {line}\n")).collect::<String>());
        let shell = home.cohab();
        shell.wait_prompt();
        shell.ask("what is in long.txt", "It is long.");
        assert!(shell.look(View::text).contains("30 lines · ? /output"), "{name}: {}", shell.dump());
        let mark = shell.submit("? /output");
        shell.wait_answer(mark, "paged:     30   line 30");
        let shown = shell.look(|view| view.history() + &view.text());
        assert!(shown.contains("paged: read  long.txt"), "{name}: {}", shell.dump());
        let mark = shell.submit("? /output 2");
        shell.wait_answer(mark, "only 1 step of this conversation has output");
    });
}

#[test]
fn the_terminal_learns_that_cohab_works_and_is_done() {
    for (term, status, is_told) in
        [("xterm-256color", "true", true), ("xterm-256color", "false", false), ("linux", "true", false)]
    {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It is long.")]);
        let home = Home::with_model(&server).env("TERM", term);
        assert_eq!(home.run(&["config", "set", "client.status", status]).status, Some(0));
        let shell = home.cohab();
        shell.wait_prompt();
        let mark = shell.mark();
        shell.ask("what is it", "It is long.");
        // The end of the turn comes after the text and the prompt that the screen shows.
        shell.wait_idle();
        for state in ["working", "done"] {
            let sequence = format!("\u{1b}]7501;state={state}:app=cohab\u{1b}\\");
            assert_eq!(shell.raw_since(mark).contains(&sequence), is_told, "{term} {status} {state}");
        }
    }
}

#[test]
fn a_code_block_is_put_on_the_prompt_and_runs_with_enter() {
    in_each_shell(|name| {
        let text = "Do this:\n\n```sh\necho one-$((40+2))\n```\n\nor that:\n\n```sh\necho a-line\necho b-line\n```\n";
        let text = if name == "fish" { text.replace("$((40+2))", "(math 40+2)") } else { text.to_owned() };
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text(&text)]);
        let home = Home::with_model(&server).shell(name);
        let shell = home.cohab();
        shell.wait_prompt();
        shell.ask("how", "b-line");
        shell.submit("? /insert 1");
        shell.wait_for("the line on the prompt", |view| view.cursor_row().contains("ready$ echo one-"));
        assert!(!shell.look(View::text).contains("one-42"), "{}", shell.dump());
        shell.send(keys::ENTER);
        shell.wait_text("one-42");
        shell.wait_prompt();
        shell.submit("? /insert");
        shell.wait_for("both lines on the prompt", |view| view.cursor_row().contains("echo b-line"));
        shell.send(keys::ENTER);
        shell.wait_for("both lines have run", |view| {
            let rows = view.rows();
            rows.iter().any(|row| row == "a-line") && rows.iter().any(|row| row == "b-line")
        });
    });
}

#[test]
fn a_shell_inside_the_shell_is_named_once() {
    in_each_shell(|name| {
        let home = Home::new().shell(name);
        let shell = home.cohab();
        shell.wait_prompt();
        let mark = shell.mark();
        for _ in 0..2 {
            shell.submit("bash --norc");
            shell.wait_for("its prompt", |view| view.cursor_row().starts_with("bash-"));
            shell.send("exit\r");
            shell.wait_prompt();
        }
        let raw = shell.raw_since(mark);
        assert_eq!(raw.matches("cohab does not answer inside `bash --norc`").count(), 1, "{}", shell.dump());
        let rows = shell.look(View::rows);
        let hint = rows.iter().position(|row| row.starts_with("cohab does not answer"));
        assert!(hint.is_some_and(|row| row > 0 && rows[row - 1].contains("bash --norc")), "{}", shell.dump());
    });
}

#[test]
fn a_resumed_conversation_says_how_it_ended() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("First line.\n\nSecond line.\n\nThird line.")]);
    let home = Home::with_model(&server);
    {
        let shell = home.cohab();
        shell.wait_prompt();
        shell.ask("what is the matter", "Third line.");
        shell.submit("exit");
        shell.wait_exit();
    }
    let shell = home.cohab();
    shell.wait_prompt();
    let listed = home.run(&["sessions", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let id = listed["sessions"][0]["id"].as_str().expect("an id").to_owned();
    shell.submit(&format!("cohab sessions resume {id}"));
    shell.wait_text("asked    what is the matter");
    let rows = shell.look(View::rows);
    assert!(rows.iter().any(|row| row.trim_start() == "answer   Second line."), "{}", shell.dump());
    assert!(rows.iter().any(|row| row.trim() == "Third line."), "{}", shell.dump());
}

#[test]
fn one_blank_row_stands_above_an_answer_and_above_the_next_prompt() {
    for ps1 in ["ready$ ", "\\nready$ "] {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("So it is.")]);
        let home = Home::with_model(&server).prompt(ps1, "ready$ ");
        let shell = home.cohab();
        shell.wait_prompt();
        shell.ask("why", "So it is.");
        let rows = shell.look(View::rows);
        let question = rows.iter().position(|row| row == "ready$ ? why").expect("the question");
        let below: Vec<&str> = rows[question + 1..question + 5].iter().map(String::as_str).collect();
        assert_eq!(below, ["", "So it is.", "", "ready$"], "{ps1:?}: {}", shell.dump());
    }
}
