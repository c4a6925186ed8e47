//! `? /share`: an agent that runs elsewhere works in this shell through `cohab mcp serve`, while its user goes on typing.

use std::fs;

use cohab_e2e::{Home, Session, binaries::in_each_shell, deadline::eventually, keys, peer::Peer};
use serde_json::{Value, json};

/// An agent that runs elsewhere.
struct Agent(Peer);

impl Agent {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut peer = Peer::start(home.cohab_process(&[&["mcp", "serve"], arguments].concat()));
        let client = json!({"name": "claude-code", "version": "2.1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        assert_eq!(peer.call("initialize", &hello)["serverInfo"]["name"], "cohab");
        Self(peer)
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.0.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The text of an answer, and whether it is an error.
    fn answer(&mut self, id: u64) -> (String, bool) {
        let answer = self.0.answer(id, |method, _| panic!("{method} is asked back"));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let id = self.ask(tool, arguments);
        self.answer(id)
    }
}

fn share<'home>(home: &'home Home, name: &str) -> Session<'home> {
    let shell = home.cohab();
    let mark = shell.submit(&format!("? /share {name}"));
    shell.wait_text(&format!("shared as {name}"));
    shell.wait_next_prompt(mark);
    shell
}

/// Takes up a card that came while the prompt stood: no key that was meant for the shell answers it.
fn attend(shell: &Session<'_>, command: &str) {
    shell.wait_text("Tab or an arrow to answer");
    shell.outwait_deaf_card();
    shell.send("\t");
    shell.wait_approval(command);
}

#[test]
fn an_agent_elsewhere_works_in_a_shell_whose_user_types_on() {
    in_each_shell(|name| {
        let home = Home::new().shell(name);
        fs::create_dir(home.path("sub")).expect("a folder");
        let mut agent = Agent::start(&home, &[]);
        let (text, is_error) = agent.call("cwd", &json!({}));
        assert!(is_error && text.starts_with("No shell is shared."), "{name}: {text}");
        let shell = share(&home, "web");
        shell.run("echo typed-by-the-user");
        let call = agent.ask("run", &json!({"command": "cd sub && export FOO=bar"}));
        attend(&shell, "cd sub && export FOO=bar");
        assert!(shell.look(|view| view.shows("claude-code 2.1")), "{name}");
        shell.send("y");
        let (text, is_error) = agent.answer(call);
        assert!(!is_error && text.contains("[exit 0;"), "{name}: {text}");
        let (found, _) = agent.call("history_search", &json!({"query": "typed-by"}));
        assert!(found.contains("echo typed-by-the-user"), "{name}: {found}");
        shell.wait_prompt();
        let now = shell.run("echo $FOO in $PWD");
        assert!(now.contains("bar in ") && now.contains("/sub"), "{name}: {now}");
        let listed = home.run(&["mcp", "shared"]).stdout;
        assert!(listed.starts_with("web  "), "{name}: {listed}");
        let mark = shell.submit("? /unshare");
        shell.wait_text("no longer shared.");
        shell.wait_next_prompt(mark);
        // The prompt does not wait for the daemon.
        eventually("it is shared no longer", || home.run(&["mcp", "shared"]).stdout.starts_with("No shell is shared."));
        let (text, is_error) = agent.call("cwd", &json!({}));
        assert!(is_error && text.contains("? /share"), "{name}: {text}");
        let trace = home.run(&["trace"]).stdout;
        assert!(trace.contains("cd sub && export FOO=bar"), "{name}: {trace}");
    });
}

#[test]
fn a_refusal_reaches_the_agent_and_nothing_runs() {
    let home = Home::new();
    let shell = share(&home, "here");
    let mut agent = Agent::start(&home, &["--shell", "here"]);
    let call = agent.ask("run", &json!({"command": "touch made.txt"}));
    attend(&shell, "touch made.txt");
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send("not now");
    shell.wait_text("not now");
    shell.send(keys::ENTER);
    let (text, is_error) = agent.answer(call);
    assert!(is_error && text.contains("not now"), "{text}");
    assert!(!home.path("made.txt").exists());
}

#[test]
fn a_share_ends_with_its_shell_and_ctrl_c_ends_it_too() {
    let home = Home::new();
    let mut agent = Agent::start(&home, &[]);
    let shell = share(&home, "first");
    shell.send(keys::CTRL_C);
    eventually("it is shared no longer", || home.run(&["mcp", "shared"]).stdout.starts_with("No shell"));
    drop(shell);
    let shell = share(&home, "second");
    let (text, is_error) = agent.call("cwd", &json!({}));
    assert!(!is_error && text.starts_with('/'), "{text}");
    drop(shell);
    eventually("it ended with its shell", || home.run(&["mcp", "shared"]).stdout.starts_with("No shell"));
    let (text, is_error) = agent.call("cwd", &json!({}));
    assert!(is_error, "{text}");
}

#[test]
fn other_questions_wait_until_the_shell_is_shared_no_longer() {
    let home = Home::new();
    let shell = share(&home, "web");
    let mark = shell.submit("? what is my folder");
    shell.wait_text("not asked; end it by ? /unshare: what is my folder");
    shell.wait_next_prompt(mark);
    let outside = home.run(&["ask", "/share x"]);
    assert!(outside.stderr.contains("there is no shell to share"), "{}", outside.stderr);
}
