//! `? @NAME words`: an agent that others wrote works in the user's live shell, under cohab's policy, cards and records.

use std::{
    fs,
    time::{Duration, Instant},
};

use cohab_e2e::{
    Home, Session,
    binaries::{in_each_shell, program},
    deadline::{eventually, limit},
    keys,
};

/// The longest time from Ctrl-C to the end of the turn: 200 ms on a machine that does nothing else, which this one does not wait for.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// A home without a model whose settings name the fake agent.
fn home() -> Home {
    let home = Home::new();
    let command = program("cohab-fake-agent").display().to_string();
    home.write_config(&format!(
        "[agents.fake]\ncommand = {command:?}\nenv = {{ FAKE_SEEN = \"yes\", FAKE_LOAD = \"1\" }}\n"
    ));
    home
}

/// Asks the agent, says yes to the card of this command, and waits for the end of the answer.
fn ask_and_allow(shell: &Session<'_>, steps: &str, command: &str, end: &str) -> String {
    let mark = shell.submit(&format!("? @fake {steps} ;; say {end}"));
    shell.wait_approval(command);
    shell.send("y");
    shell.wait_answer(mark, end)
}

#[test]
fn a_command_of_an_agent_sticks_in_the_users_shell() {
    in_each_shell(|name| {
        let home = home().shell(name);
        fs::create_dir(home.path("sub")).expect("a folder");
        let shell = home.cohab();
        ask_and_allow(&shell, "bash cd sub && export FOO=bar", "cd sub && export FOO=bar", "It sticks.");
        let now = shell.run("echo $FOO in (pwd) $PWD".replace("(pwd) ", "").as_str());
        assert!(now.contains("bar in ") && now.contains("/sub"), "{name}: {now}");
        let trace = home.run(&["trace"]);
        assert!(trace.stdout.contains("cd sub && export FOO=bar"), "{name}: {}", trace.stdout);
    });
}

#[test]
fn the_live_shell_is_an_mcp_server_for_agents() {
    in_each_shell(|name| {
        let home = home().shell(name);
        fs::create_dir(home.path("sub")).expect("a folder");
        let shell = home.cohab();
        shell.run("echo before-all");
        ask_and_allow(&shell, "run cd sub && export FOO=bar", "cd sub && export FOO=bar", "It sticks, too.");
        let now = shell.run("echo $FOO in $PWD");
        assert!(now.contains("bar in ") && now.contains("/sub"), "{name}: {now}");
        let mark = shell.submit("? @fake look cwd ;; look history_search {\"query\": \"before\"} ;; say Looked.");
        let seen = shell.wait_answer(mark, "Looked.");
        assert!(seen.contains("/sub") && seen.contains("echo before-all"), "{name}: {seen}");
    });
}

#[test]
fn a_refused_command_does_not_run_and_the_agent_learns_it() {
    for step in ["terminal", "run"] {
        let home = home();
        let shell = home.cohab();
        let mark = shell.submit(&format!("? @fake {step} touch made.txt ;; say Understood."));
        shell.wait_approval("touch made.txt");
        assert!(!home.path("made.txt").exists(), "it ran before the answer");
        shell.send("n");
        shell.wait_text("Reason (optional).");
        shell.send("not here");
        shell.wait_text("not here");
        shell.send(keys::ENTER);
        let answer = shell.wait_answer(mark, "Understood.");
        assert!(!home.path("made.txt").exists());
        assert!(answer.contains("[not run: ") || answer.contains("[error "), "{step}: {answer}");
        assert!(answer.matches("not here").count() >= 1, "{step}: {answer}");
    }
}

#[test]
fn an_action_of_its_own_is_a_card_and_never_lasts() {
    let home = home();
    let shell = home.cohab();
    let mark = shell.submit("? @fake permit edit a.rs ;; say Asked.");
    shell.wait_approval("edit files with its own tool: a.rs");
    shell.send("y");
    let answer = shell.wait_answer(mark, "Asked.");
    assert!(answer.contains("\"optionId\":\"yes\""), "{answer}");
}

#[test]
fn a_file_of_an_agent_is_shown_written_and_undone() {
    let home = home();
    home.write("a.txt", "one\n");
    let shell = home.cohab();
    let mark = shell.submit("? @fake read a.txt ;; write a.txt two ;; say Written.");
    shell.wait_approval("a.txt");
    shell.send("y");
    shell.wait_answer(mark, "Written.");
    assert_eq!(fs::read_to_string(home.path("a.txt")).expect("it"), "two");
    let undone = home.run(&["undo", "--yes"]);
    assert_eq!(undone.status, Some(0), "{}{}", undone.stdout, undone.stderr);
    assert_eq!(fs::read_to_string(home.path("a.txt")).expect("it"), "one\n");
}

#[test]
fn control_c_stops_an_agent_at_once() {
    let home = home();
    let shell = home.cohab();
    let stopped = || home.daemon_log().matches("reason=Cancelled").count();
    for (number, steps) in ["say Working. ;; hang", "say Working. ;; deaf"].into_iter().enumerate() {
        let mark = shell.submit(&format!("? @fake {steps}"));
        shell.wait_text("Working.");
        shell.wait_idle();
        let began = Instant::now();
        shell.send(keys::CTRL_C);
        eventually("the end of the turn", || stopped() > number);
        assert!(began.elapsed() < limit(CANCEL_LIMIT), "{:?}", began.elapsed());
        shell.wait_next_prompt(mark);
        assert!(shell.run("echo fine").contains("fine"));
        shell.run("clear");
    }
}

#[test]
fn the_death_of_an_agent_is_one_line_and_the_next_question_works() {
    let home = home();
    let shell = home.cohab();
    let mark = shell.submit("? @fake die");
    shell.wait_text("thread main panicked");
    shell.wait_next_prompt(mark);
    let mark = shell.submit("? @fake say Alive.");
    shell.wait_answer(mark, "Alive.");
    let pids = home.daemon_pids();
    home.kill_daemon();
    eventually("the end of the daemon", || home.daemon_pids() != pids);
    let mark = shell.submit("? @fake count ;; say Continued.");
    let answer = shell.wait_answer(mark, "Continued.");
    assert!(answer.contains("prompt 1 of session-") && !answer.contains("OLD TEXT"), "{answer}");
}

#[test]
fn agents_are_named_and_what_is_missing_is_said() {
    let home = home().env("PATH", "/usr/bin:/bin");
    let listed = home.run(&["agents"]);
    assert!(listed.stdout.starts_with("@fake  from config.toml\n"), "{}", listed.stdout);
    let shell = home.cohab();
    let mark = shell.submit("? @codex fix it");
    shell.wait_text("@codex cannot be asked: Codex is not installed");
    shell.wait_text("npm install -g @zed-industries/codex-acp");
    shell.wait_next_prompt(mark);
    let mark = shell.submit("? @fake env FAKE_SEEN ;; say Seen.");
    assert!(shell.wait_answer(mark, "Seen.").contains("yes"));
}
