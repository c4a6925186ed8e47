//! The agent acts in the live shell and in files, and the user sees it.

use std::fs;

use cohab_e2e::{Answer, Home, ModelServer, Wire, keys, terminal::View};
use serde_json::json;

/// A home where everything is approved.
fn trusting(server: &ModelServer) -> Home {
    Home::with_model(server).env("COHAB_APPROVAL", "all")
}

/// One question whose answer is these tool calls, then a word.
fn acting(calls: Vec<Answer>) -> (ModelServer, Home) {
    let server = ModelServer::start(Wire::OpenAiChat, calls.into_iter().chain([Answer::text("All done.")]));
    let home = trusting(&server);
    (server, home)
}

fn last_result(server: &ModelServer, calls: usize) -> String {
    let requests = server.wait_for_calls(calls);
    requests[calls - 1].tool_results().last().map(|result| result.content.clone()).unwrap_or_default()
}

#[test]
fn cd_and_export_of_the_agent_stick() {
    for wire in Wire::ALL {
        let command = "mkdir -p big && cd big && export FOO=1";
        let server = ModelServer::start(wire, [Answer::bash(command), Answer::text("All done.")]);
        let home = trusting(&server).prompt("\\W$ ", "~$ ");
        let mut shell = home.cohab();
        let mark = shell.submit("? go to the biggest folder and set FOO=1");
        shell.expect_prompt("big$ ");
        let raw = shell.wait_answer(mark, "All done.");
        assert!(raw.contains("export FOO=1"), "the command is shown as it runs: {raw}");
        assert!(shell.run("echo foo=$FOO in $PWD").contains(&format!("foo=1 in {}", home.path("big").display())));
        let conversation = server.wait_for_calls(2)[1].conversation();
        assert!(conversation.contains(&home.path("big").display().to_string()), "{conversation}");
    }
}

#[test]
fn the_card_and_the_model_know_where_the_rc_file_went() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("touch made.txt"), Answer::text("All done.")]);
    let home = Home::with_model(&server).rc("mkdir -p ~/elsewhere; cd ~/elsewhere");
    let shell = home.cohab();
    let mark = shell.submit("? make it");
    shell.wait_approval("/elsewhere");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    assert!(home.path("elsewhere/made.txt").exists());
    let place = format!("cwd: {}", home.path("elsewhere").display());
    assert!(server.wait_for_calls(1)[0].conversation().contains(&place));
}

#[test]
fn a_receipt_names_what_changed_and_shows_no_value() {
    let command = "mkdir d; cd d; export FOO=visible API_TOKEN=$(printf 'zz%s' top9secret); unset GONE";
    let (server, home) = acting(vec![Answer::bash(command)]);
    let home = home.env("GONE", "soon");
    let shell = home.cohab();
    shell.ask("change things", "All done.");
    let receipt = shell.look(View::history);
    let receipt: Vec<&str> = receipt.lines().filter(|line| !line.contains("printf")).collect();
    let receipt = receipt.join("\n");
    assert!(receipt.contains("cd ~/d · +API_TOKEN +FOO -GONE\n"), "{}", shell.dump());
    assert!(!receipt.contains("zztop9secret"), "a secret is shown\n{}", shell.dump());
    assert!(!last_result(&server, 2).contains("zztop9secret"), "a secret went to the model");
}

#[test]
fn a_command_runs_in_the_users_terminal_and_takes_the_users_keys() {
    let (server, home) = acting(vec![Answer::bash("echo one; read -r word; echo got-$word")]);
    let shell = home.cohab();
    let mark = shell.submit("? ask me");
    shell.wait_for("its output", |view| view.rows().iter().any(|row| row == "one"));
    shell.send("abc\r");
    let raw = shell.wait_answer(mark, "All done.");
    assert!(raw.contains("got-abc"), "{raw}");
    assert!(last_result(&server, 2).contains("got-abc"));
}

#[test]
fn functions_aliases_and_options_are_the_users() {
    let (server, home) = acting(vec![Answer::bash("greet; made() { echo made-by-agent; }; alias m=made; umask 077")]);
    let home = home.rc("greet() { echo hello-from-rc; }");
    let shell = home.cohab();
    shell.ask("use mine", "All done.");
    assert!(last_result(&server, 2).contains("hello-from-rc"));
    assert!(shell.run("m").contains("made-by-agent"));
    assert!(shell.run("umask").contains("0077"));
}

#[test]
fn the_model_gets_status_and_output() {
    let (server, home) = acting(vec![
        Answer::bash("printf 'a\\rb\\033[31mred\\033[0m\\n'; (exit 42)"),
        Answer::bash("echo hi # note"),
        Answer::bash("echo 'unclosed"),
        Answer::bash("cat <<END\nin a heredoc\nEND"),
    ]);
    let shell = home.cohab();
    shell.ask("four commands", "All done.");
    let requests = server.wait_for_calls(5);
    let results: Vec<String> = requests[4].tool_results().into_iter().map(|result| result.content).collect();
    assert_eq!(results.len(), 4);
    assert!(
        results[0].contains("bred") && results[0].contains("42") && !results[0].contains('\u{1b}'),
        "{}",
        results[0]
    );
    assert!(results[1].contains("hi") && !results[1].contains("note"), "{}", results[1]);
    assert!(results[2].contains("unexpected EOF"), "{}", results[2]);
    assert!(results[3].contains("in a heredoc"), "{}", results[3]);
    assert!(shell.run("echo usable").contains("usable"));
}

#[test]
fn a_flood_is_shown_whole_and_sent_cut() {
    let (server, home) = acting(vec![Answer::bash("seq -f 'row-%g' 1 60000")]);
    let shell = home.cohab();
    let raw = shell.ask("count", "All done.");
    assert!(raw.contains("row-1\r\n") && raw.contains("row-30000\r\n") && raw.contains("row-60000\r\n"));
    let result = last_result(&server, 2);
    assert!(result.contains("row-1\n") && result.contains("row-60000"), "head and tail are kept");
    assert!(result.len() < 200 * 1024, "{} bytes went to the model", result.len());
}

#[test]
fn a_command_of_100_kb_arrives_byte_for_byte() {
    let word = "x".repeat(100_000);
    let (server, home) = acting(vec![Answer::bash(&format!("W={word}; echo length-${{#W}}"))]);
    let shell = home.cohab();
    shell.ask("long", "All done.");
    assert!(last_result(&server, 2).contains("length-100000"));
}

#[test]
fn an_exit_of_the_agent_does_not_end_the_users_shell() {
    let (server, home) = acting(vec![Answer::bash("echo leaving; exit 3")]);
    let shell = home.cohab();
    shell.ask("leave", "All done.");
    assert!(last_result(&server, 2).contains('3'));
    assert!(shell.run("echo alive").contains("alive"));
}

#[test]
fn the_agents_commands_are_not_in_the_history() {
    let (_server, home) = acting(vec![Answer::bash("echo by-the-agent")]);
    let shell = home.cohab();
    shell.run("echo by-the-user");
    shell.ask("do it", "All done.");
    let history = shell.run("history");
    assert!(history.contains("echo by-the-user") && !history.contains("echo by-the-agent"), "{history}");
}

#[test]
fn files_are_found_read_written_and_edited() {
    let server = ModelServer::start(
        Wire::Anthropic,
        [
            Answer::call("glob", &json!({ "pattern": "**/*.txt" })),
            Answer::call("grep", &json!({ "pattern": "needle" })),
            Answer::call("read", &json!({ "path": "notes/a.txt" })),
            Answer::call("edit", &json!({ "path": "notes/a.txt", "old_string": "needle", "new_string": "thread" })),
            Answer::call("write", &json!({ "path": "notes/new.txt", "content": "fresh\n" })),
            Answer::text("All done."),
        ],
    );
    let home = trusting(&server);
    home.write("notes/a.txt", "one\nneedle two\nthree\n");
    let shell = home.cohab();
    shell.ask("work on the notes", "All done.");
    let results = server.wait_for_calls(6)[5].tool_results();
    assert!(results[0].content.contains("notes/a.txt"), "{results:?}");
    assert!(results[1].content.contains("needle two"), "{results:?}");
    assert!(results[2].content.contains("three"), "{results:?}");
    assert_eq!(fs::read_to_string(home.path("notes/a.txt")).expect("it exists"), "one\nthread two\nthree\n");
    assert_eq!(fs::read_to_string(home.path("notes/new.txt")).expect("it exists"), "fresh\n");
    let history = shell.look(View::history);
    for tool in ["glob", "grep", "read", "edit", "write"] {
        assert!(history.contains(tool), "no line about {tool}\n{}", shell.dump());
    }
}

#[test]
fn tools_follow_the_users_folder() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [Answer::call("read", &json!({ "path": "here.txt" })), Answer::text("All done.")],
    );
    let home = trusting(&server);
    home.write("sub/here.txt", "found below\n");
    let shell = home.cohab();
    shell.run("cd sub");
    shell.ask("read it", "All done.");
    assert!(last_result(&server, 2).contains("found below"));
}

#[test]
fn calls_of_one_batch_get_their_own_results() {
    for wire in Wire::ALL {
        let calls = Answer::bash("echo first").and_call("bash", &json!({ "command": "echo second" }));
        let server = ModelServer::start(wire, [calls, Answer::text("All done.")]);
        let home = trusting(&server);
        let shell = home.cohab();
        shell.ask("both", "All done.");
        let results = server.wait_for_calls(2)[1].tool_results();
        assert_eq!(results.len(), 2, "{results:?}");
        assert!(results[0].call_id == "call_1" && results[0].content.contains("first"), "{results:?}");
        assert!(results[1].call_id == "call_2" && results[1].content.contains("second"), "{results:?}");
    }
}

#[test]
fn a_tool_that_fails_or_does_not_exist_is_an_answer_to_the_model() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::call("read", &json!({ "path": "none.txt" })),
            Answer::call("teleport", &json!({})),
            Answer::text("All done."),
        ],
    );
    let home = trusting(&server);
    home.cohab().ask("try", "All done.");
    let results = server.wait_for_calls(3)[2].tool_results();
    assert!(results[0].content.contains("none.txt"), "{results:?}");
    assert!(results[1].content.contains("teleport"), "{results:?}");
}

#[test]
fn ctrl_c_ends_a_running_command_and_the_turn() {
    let server =
        ModelServer::start(Wire::OpenAiChat, [Answer::bash("sh -c 'echo begun; exec sleep 301'; echo not-reached")]);
    let home = trusting(&server);
    let shell = home.cohab();
    let mark = shell.submit("? wait long");
    shell.wait_for("its output", |view| view.rows().iter().any(|row| row == "begun"));
    shell.send(keys::CTRL_C);
    let raw = shell.wait_next_prompt(mark);
    assert!(!raw.contains("\nnot-reached"), "{raw}");
    assert!(shell.run("jobs; echo none").contains("none"));
    let processes = fs::read_dir("/proc").expect("there is a /proc").flatten();
    let mut command_lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    assert!(!command_lines.any(|line| line == b"sleep\x00301\x00"), "the command still runs");
    assert_eq!(server.wait_for_calls(1).len(), 1, "the turn went on");
}

#[test]
fn all_tools_are_on_offer_in_a_stable_order() {
    let server = ModelServer::start(Wire::OpenAiChat, ["Here.", "There."].map(Answer::text));
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("what can you do", "Here.");
    home.write_config("[model]\ncontext_window_tokens = 128000\n");
    shell.ask("and now", "There.");
    let requests = server.wait_for_calls(2);
    let few = ["bash", "edit", "glob", "grep", "memory_search", "read", "todo_read", "todo_write", "write"];
    assert_eq!(requests[0].tool_names(), few, "a small window has no room for all");
    let mut all: Vec<&str> = few
        .into_iter()
        .chain(["conversation_search", "delegate", "memory_append", "memory_propose", "memory_replace"])
        .collect();
    all.sort_unstable();
    assert_eq!(requests[1].tool_names(), all);
}

#[test]
fn reads_of_one_answer_run_at_once_and_answer_in_their_order() {
    let read = |file: &str| json!({ "path": file });
    let calls = Answer::call("read", &read("a")).and_call("read", &read("missing")).and_call("read", &read("b"));
    let (server, home) = acting(vec![calls]);
    fs::write(home.path("a"), "first\n").unwrap();
    fs::write(home.path("b"), "second\n").unwrap();
    let shell = home.cohab();
    let mark = shell.submit("? read both");
    let raw = shell.wait_answer(mark, "All done.");
    let requests = server.wait_for_calls(2);
    let results: Vec<String> = requests[1].tool_results().iter().map(|result| result.content.clone()).collect();
    assert!(results[0].contains("first") && results[2].contains("second"), "{results:?}");
    assert!(results[1].contains("missing"), "{results:?}");
    assert!(raw.matches("1 line").count() == 2, "{raw}");
}
