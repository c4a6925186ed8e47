//! Cases with keys that another program than our shell reads.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Options, Terminal, has};

/// Starts a program that reads commands itself, and returns the refusal of a command of the agent's there; then leaves the program.
fn refused_in(t: &mut Terminal, start: &str, ready: &str, leave: &str) -> String {
    t.events.clear();
    t.keys(format!("{start}\r"));
    t.wait("its start", |t| t.events.contains(&LiveEvent::UserCommandStarted));
    t.wait(ready, |t| t.text().lines().last().is_some_and(|row| row.ends_with(ready)));
    t.settle_for(Duration::from_millis(200));
    let before = t.text();
    let id = t.begin("echo x");
    let error = t.result(&id).expect_err("it should be refused");
    t.settle_for(Duration::from_millis(100));
    assert_eq!(t.text(), before, "nothing is typed there");
    t.events.clear();
    t.keys(leave);
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    assert_eq!(t.run("echo back").output, "back\n");
    format!("{}: {error}", error.code())
}

case!(case_071_inside_another_shell [bash zsh fish fish4] |kind| {
    let exported = if kind.is_fish() { "set -x PS1 'in> '\n" } else { "export PS1='in> '\n" };
    let rc = format!("{}{exported}", kind.plain_rc());
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    let fish_ready = if rustix::process::getuid().is_root() { "#" } else { ">" };
    for (start, ready) in [("sh", "in>"), ("bash --norc", "in>"), ("PS1='in> ' zsh -f", "in>"), ("fish -N", fish_ready)] {
        let name = start.split(' ').rev().nth(usize::from(start.contains(" -"))).unwrap();
        if !has(name) {
            continue;
        }
        let told = refused_in(&mut t, start, ready, "exit\r");
        assert!(told.starts_with("nested: ") && told.contains(&format!("{name} runs")), "{told}");
    }
});

case!(case_071_the_exported_prompt_holds_no_mark [bash zsh] |kind| {
    let rc = format!("{}export PS1 PS2 PS0\n", kind.plain_rc());
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    let nonce = t.nonce.clone();
    t.line("bash --norc -ic 'printf \"[%s]\\n\" \"${PS1@P}\" \"${PS0@P}\"'");
    t.wait_text("[$ ]\n[]\n");
    t.line("sh -c 'echo \"$PS1\"'");
    assert!(!t.text().contains("\\["), "{}", t.text());
    assert!(!t.run("env").output.contains(&nonce));
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
});

case!(case_072_python [bash zsh fish fish4] |kind| {
    if has("python3") {
        let told = refused_in(&mut Terminal::of(kind), "/usr/bin/python3 -q", ">>>", "exit()\r");
        assert!(told.starts_with("nested: ") && told.contains("python3 runs"), "{told}");
    }
});

case!(case_072_sqlite [bash zsh fish fish4] |kind| {
    if has("sqlite3") {
        let told = refused_in(&mut Terminal::of(kind), "sqlite3", "sqlite>", ".quit\r");
        assert!(told.starts_with("nested: ") && told.contains("sqlite3 runs"), "{told}");
    }
});

case!(case_072_su [bash zsh fish fish4] |kind| {
    if has("su") {
        // Root changes to root itself; other users have no password and stop at the question for it.
        let is_root = rustix::process::getuid().is_root();
        let (ready, leave) = if is_root { ("inner", "exit\r") } else { ("assword:", "\x03") };
        let start = if is_root { "env 'PS1=inner ' su -m -s /bin/sh root" } else { "su root" };
        let told = refused_in(&mut Terminal::of(kind), start, ready, leave);
        let name = if is_root { "sh runs" } else { "su runs" };
        assert!(told.starts_with("nested: ") && told.contains(name), "{told}");
    }
});

case!(case_072_docker [bash zsh fish fish4] |kind| {
    let containers = || std::process::Command::new("docker").args(["ps", "-q"]).output().ok();
    let running = containers().filter(|output| output.status.success() && !output.stdout.is_empty());
    let Some(output) = running else {
        eprintln!("SKIPPED: no docker container runs");
        return;
    };
    let container = String::from_utf8_lossy(&output.stdout[..12]).into_owned();
    let start = format!("docker exec -it -e 'PS1=inner ' {container} sh");
    let told = refused_in(&mut Terminal::of(kind), &start, "inner", "exit\r");
    assert!(told.starts_with("nested: ") && told.contains("docker runs"), "{told}");
});

case!(case_073_tmux_inside [bash zsh fish fish4] |kind| {
    if has("tmux") {
        let mut t = Terminal::of(kind);
        t.keys("env -u TMUX tmux -S $HOME/socket -f /dev/null new-session sh\r");
        t.wait("tmux", |t| t.live.modes().alternate_screen());
        assert_eq!(t.refused("true"), "fullscreen_app");
        t.wait_text("[0]");
        t.keys("exit\r");
        t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
        assert_eq!(t.run("echo on").output, "on\n");
    }
});

case!(case_073_vim_inside [bash zsh fish fish4] |kind| {
    if has("vim") {
        let mut t = Terminal::of(kind);
        t.keys("vim -u NONE\r");
        t.wait("vim", |t| t.live.modes().alternate_screen());
        assert_eq!(t.refused("true"), "fullscreen_app");
        t.wait_text("VIM - Vi IMproved");
        t.keys(":q\r");
        t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
        assert_eq!(t.run("echo on").output, "on\n");
    }
});

fn wait_replaced(t: &mut Terminal, marker: &str) {
    t.keys(format!("echo {marker}-$$\r"));
    t.wait_text(&format!("{marker}-{}", t.pty.child_pid()));
    t.settle_for(Duration::from_millis(300));
}

case!(case_075_exec_of_another_shell [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("exec sh\r");
    t.wait_foreground("sh");
    wait_replaced(&mut t, "inside");
    assert_eq!(t.refused("echo x"), "shell_replaced");
});

case!(case_075_exec_of_the_same_shell [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let program = kind.program().unwrap();
    let bare = match kind {
        Kind::Bash => "--norc",
        Kind::Zsh => "-f",
        Kind::Fish | Kind::Fish4 => "-N",
    };
    t.events.clear();
    t.keys(format!("exec {} {bare}\r", program.display()));
    t.settle_for(Duration::from_millis(500));
    t.keys(if kind.is_fish() { "echo again-$fish_pid\r" } else { "echo again-$$\r" });
    t.wait_text(&format!("again-{}", t.pty.child_pid()));
    let told = |event: &LiveEvent| matches!(event, LiveEvent::NotIntegrated { .. });
    t.wait("the user is told", |t| t.events.iter().any(told));
    assert_eq!(t.events.iter().filter(|event| told(event)).count(), 1);
    assert_eq!(t.refused("echo x"), "shell_replaced");
});
