//! The harness is tested before cohab is: raw bash in the terminal, plain HTTP against the server.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Size, Terminal, Wire, binaries, deadline::eventually, keys};
use cohab_shell_state::quote;

/// Asks the server as a client would, and gives the whole answer.
fn post(server: &ModelServer, body: &str) -> String {
    let mut stream = send(server, body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn send(server: &ModelServer, body: &str) -> TcpStream {
    let url = server.base_url();
    let address = url.trim_start_matches("http://").split('/').next().expect("a URL has a host").to_owned();
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let path = server.wire().call_path();
    let head =
        format!("POST {path} HTTP/1.1\r\nConnection: close\r\nX-Test: yes\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).expect("the server reads");
    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a limit above zero");
    stream
}

/// The events of an answer, joined over the chunks of the body.
fn events(answer: &str) -> String {
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let mut lines = body.split("\r\n");
    let mut joined = String::new();
    while let (Some(_), Some(chunk)) = (lines.next(), lines.next()) {
        joined.push_str(chunk);
    }
    joined
}

#[test]
fn raw_bash_runs_a_command_and_prompts_again() {
    let home = Home::new();
    let shell = home.bash();
    assert!(shell.run("echo a$((40+2))b").contains("a42b"));
    shell.run("cd /usr && pwd");
    assert_eq!(shell.look(|view| view.row_of("/usr")).map(|row| row > 0), Some(true));
    shell.submit("exit 7");
    assert_eq!(shell.wait_exit().exit_code(), 7);
}

#[test]
fn a_two_line_prompt_counts_as_one() {
    let home = Home::new().prompt("top \\W\\nlow> ", "low> ");
    let shell = home.bash();
    shell.run("true");
    assert_eq!(shell.look(|view| view.rows().iter().filter(|row| row.starts_with("top ")).count()), 2);
}

#[test]
fn the_terminal_keeps_what_scrolled_away() {
    let home = Home::new();
    let shell = home.bash();
    shell.run("seq -f 'line %g.' 1 100");
    let history = shell.look(cohab_e2e::terminal::View::history);
    for number in 1..=100 {
        assert_eq!(history.matches(&format!("line {number}.\n")).count(), 1, "line {number}\n{history}");
    }
    assert!(!shell.look(|view| view.shows("line 1.")));
}

#[test]
fn the_size_of_the_terminal_is_what_the_program_sees() {
    let home = Home::new();
    let shell = home.bash();
    assert!(shell.run("stty size").contains("24 80"));
    shell.resize(Size { rows: 30, columns: 100 });
    assert!(shell.run("stty size").contains("30 100"));
}

#[test]
fn keys_reach_the_line_editor_and_the_foreground_group() {
    let home = Home::new();
    let shell = home.bash();
    shell.type_line("ech hi");
    shell.send(keys::LEFT);
    shell.send(keys::LEFT);
    shell.send(keys::LEFT);
    shell.send("o");
    let mark = shell.mark();
    shell.send(keys::ENTER);
    assert!(shell.wait_next_prompt(mark).contains("hi"));
    // Said by the program itself: from then on it is in the foreground.
    let mark = shell.submit("sh -c 'echo begun; exec sleep 60'");
    shell.wait_for("the command's start", |view| view.rows().iter().any(|row| row == "begun"));
    shell.send(keys::CTRL_C);
    shell.wait_next_prompt(mark);
    assert!(shell.run("echo $?").contains("130"));
}

#[test]
fn the_environment_is_only_what_the_home_says() {
    let home = Home::new().env("ONLY", "this");
    let output = home.process("/usr/bin/env", &[]).output().expect("env exists");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("ONLY=this") && !text.contains("CARGO"), "{text}");
    assert!(home.daemon_pids().is_empty());
}

#[test]
fn a_finished_process_tells_its_status_and_output() {
    let home = Home::new();
    let child = home.process("/bin/sh", &["-c", "echo out; echo err >&2; exit 3"]).spawn().expect("sh exists");
    let finished = home.finish(child);
    assert_eq!((finished.status, finished.stdout.as_str(), finished.stderr.as_str()), (Some(3), "out\n", "err\n"));
}

#[test]
fn a_program_ends_with_its_terminal() {
    let home = Home::new();
    let terminal = Terminal::spawn(home.in_terminal("/bin/cat", &[]));
    terminal.send("x");
    terminal.wait_text("x");
    let proc = std::path::PathBuf::from(format!("/proc/{}", terminal.pid()));
    drop(terminal);
    eventually("the end of the program", || !proc.exists());
}

#[test]
fn a_text_has_the_events_of_its_wire() {
    for (wire, end) in
        [(Wire::OpenAiChat, "data: [DONE]\n\n"), (Wire::Anthropic, "data: {\"type\":\"message_stop\"}\n\n")]
    {
        let server = ModelServer::start(wire, [Answer::text("one two").usage(3, 4)]);
        let answer = events(&post(&server, "{\"a\":1}"));
        assert!(answer.contains("\"one \"") && answer.contains("\"two\"") && answer.ends_with(end), "{answer}");
        let request = &server.wait_for_calls(1)[0];
        assert_eq!((request.header("x-test"), request.body["a"].as_i64()), (Some("yes"), Some(1)));
    }
}

#[test]
fn arguments_in_pieces_join_to_the_whole() {
    let arguments = serde_json::json!({ "command": "echo é \"x\"" });
    for (wire, key) in [(Wire::OpenAiChat, "arguments"), (Wire::Anthropic, "partial_json")] {
        let server = ModelServer::start(wire, [Answer::call("bash", &arguments).arguments_in_pieces_of(1)]);
        let answer = events(&post(&server, "{}"));
        let values = answer.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        let values = values.map(|data| serde_json::from_str::<serde_json::Value>(data).expect("each event is JSON"));
        let joined: String = values.filter_map(|value| find(&value, key).map(str::to_owned)).collect();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&joined).expect("JSON again"), arguments);
    }
}

fn find<'a>(value: &'a serde_json::Value, key: &str) -> Option<&'a str> {
    match value {
        serde_json::Value::Object(fields) => {
            fields.get(key).and_then(|found| found.as_str()).or_else(|| fields.values().find_map(|v| find(v, key)))
        }
        serde_json::Value::Array(items) => items.iter().find_map(|item| find(item, key)),
        _ => None,
    }
}

#[test]
fn pieces_of_one_byte_make_the_same_stream() {
    let whole = ModelServer::start(Wire::Anthropic, [Answer::text("héllo")]);
    let split = ModelServer::start(Wire::Anthropic, [Answer::text("héllo").in_pieces_of(1)]);
    let (whole, mut stream) = (events(&post(&whole, "{}")), send(&split, "{}"));
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    // Each chunk is one byte: head line, the byte, line end.
    let body = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
    let joined: Vec<u8> = bytes[body..].chunks(6).filter(|chunk| chunk.starts_with(b"1\r\n")).map(|c| c[3]).collect();
    assert_eq!(String::from_utf8(joined).expect("UTF-8 again"), whole);
}

#[test]
fn every_fault_looks_like_the_fault_it_is() {
    let post_to = |answer: Answer| post(&ModelServer::start(Wire::OpenAiChat, [answer]), "{}");
    let cut = post_to(Answer::text("a b c").cut_after(2));
    assert!(cut.contains("\"a \"") && !cut.contains("\"b \"") && !cut.ends_with("0\r\n\r\n"), "{cut}");
    let error = post_to(Answer::text("a b").error_after(2));
    assert!(error.contains("upstream broke") && error.ends_with("0\r\n\r\n"), "{error}");
    let limited = post_to(Answer::status(429, "slow down").header("retry-after", "3"));
    assert!(limited.starts_with("HTTP/1.1 429 ") && limited.contains("retry-after: 3\r\n"), "{limited}");
    assert!(post_to(Answer::html(502)).contains("text/html"));
    assert_eq!(post_to(Answer::closed()), "");
}

#[test]
fn a_stalled_answer_ends_when_the_client_closes() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("a b").stall_after(1)]);
    let mut stream = send(&server, "{}");
    server.wait_until_streaming();
    stream.read_exact(&mut [0; 40]).expect("the first event comes");
    assert_eq!(server.open_connections(), 1);
    drop(stream);
    assert!(server.wait_until_quiet() < Duration::from_millis(200));
}

#[test]
fn a_paced_answer_takes_its_time_and_notices_a_client_that_leaves() {
    let step = Duration::from_millis(20);
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |_| Answer::text("a b c d").paced(step));
    let start = Instant::now();
    post(&server, "{}");
    assert!(start.elapsed() >= step * 4, "{:?}", start.elapsed());
    let slow = ModelServer::start(Wire::OpenAiChat, [Answer::text("a b").paced(Duration::from_secs(30))]);
    drop(send(&slow, "{}"));
    assert_eq!(slow.wait_for_calls(1).len(), 1);
    assert!(slow.wait_until_quiet() < Duration::from_secs(5));
}

#[test]
fn a_path_with_blanks_is_one_word_for_a_shell() {
    for text in ["/plain/path-1.2_x", "/a b/it's $HOME/`x`", ""] {
        let script = format!("printf %s {}", quote::word(text));
        let printed = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        assert_eq!(String::from_utf8_lossy(&printed.stdout), text);
    }
}

#[test]
fn what_is_not_installed_is_not_found() {
    assert!(binaries::is_installed("bash"));
    assert!(!binaries::is_installed("cohab-no-such-program"));
    assert!(binaries::workspace_root().join("protocol/Cargo.toml").is_file());
}

#[test]
fn the_minimal_proxy_passes_keys_output_size_and_status() {
    let home = Home::new();
    let program = binaries::program("pty_proxy_minimal");
    let terminal = Terminal::spawn(home.in_terminal(program, &["/bin/bash", "-i"]));
    terminal.wait_for("a prompt", |view| view.is_at_prompt("ready$ "));
    terminal.send("stty size; echo é-$((20+22)); exit 9\r");
    assert_eq!(terminal.wait_exit().exit_code(), 9);
    assert!(terminal.look(|view| view.shows("24 80") && view.shows("é-42")), "{}", terminal.dump());
}
