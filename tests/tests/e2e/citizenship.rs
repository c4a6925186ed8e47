//! Cohab leaves no mode behind in the terminal, and adapts to terminals inside other programs.

use cohab_e2e::{Home, Session, binaries, terminal::View};
use cohab_shell_state::quote;

const OUTER: &str = "outer$ ";

fn cohab() -> String {
    binaries::word("cohab")
}

/// A bash of the user's with cohab open in it, and cohab's process id.
fn opened(home: &Home) -> (Session<'_>, String) {
    let mut shell = home.bash();
    shell.submit(&format!("PS1='{OUTER}'"));
    shell.expect_prompt(OUTER);
    shell.wait_prompt();
    shell.submit(&cohab());
    shell.expect_prompt("ready$ ");
    shell.wait_prompt();
    let raw = shell.run("echo pid=$PPID.");
    let pid = raw.rsplit("pid=").next().and_then(|rest| rest.split_once('.')).expect("a process id").0.to_owned();
    (shell, pid)
}

fn is_plain(view: &View) -> bool {
    let screen = view.screen();
    !screen.alternate_screen()
        && !screen.hide_cursor()
        && !screen.application_keypad()
        && !screen.application_cursor()
        && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
        && screen.mouse_protocol_encoding() == vt100::MouseProtocolEncoding::Default
}

#[test]
fn a_signal_in_the_middle_of_a_full_screen_program_leaves_no_mode_behind() {
    for (signal, status) in [("TERM", 143), ("HUP", 129)] {
        let home = Home::new();
        let (mut shell, pid) = opened(&home);
        shell.send("printf '\\033[?1049h\\033[?25l\\033[?1h\\033=\\033[?1003h\\033[?1006h\\033[>5u\\033[2;9rdrawn'; sleep 300\r");
        shell.wait_for("the program", |view| view.screen().alternate_screen() && view.shows("drawn"));
        assert!(!shell.look(is_plain));
        let mark = shell.mark();
        assert!(home.process("/bin/kill", &["-s", signal, &pid]).status().expect("kill exists").success());
        shell.expect_prompt(OUTER);
        shell.wait_prompt();
        assert!(shell.look(is_plain), "{signal}\n{}", shell.dump());
        let raw = shell.raw_since(mark);
        assert!(raw.contains("\u{1b}[<1u") && raw.contains("\u{1b}[r"), "kitty keyboard and scroll region: {raw:?}");
        assert!(shell.run("echo status=$?").contains(&format!("status={status}")), "{signal}");
        assert!(shell.run("stty -a").contains(" icanon"), "{signal}");
    }
}

#[test]
fn in_its_own_terminal_it_does_not_nest_and_says_so() {
    let home = Home::new();
    let shell = home.cohab();
    let raw = shell.run(&format!("{}; echo status=$?", cohab()));
    assert!(raw.contains("You are already inside cohab.") && raw.contains("status=0"), "{raw:?}");
    assert!(shell.run("readlink /proc/$PPID/exe").contains("/cohab"), "{}", shell.dump());
}

#[test]
fn in_a_pane_of_tmux_it_opens_anew() {
    if !binaries::is_installed_or_skip("tmux") {
        return;
    }
    let home = Home::new();
    let shell = home.cohab();
    let server = home.path("tmux").display().to_string();
    let tmux = format!("tmux -S {server} -f /dev/null");
    shell.send(&format!("{tmux} new-session {}\r", quote::word(&cohab())));
    shell.wait_for("a prompt in the pane", |view| view.screen().alternate_screen() && view.rows()[0] == "ready$");
    shell.send(&format!("{}\r", cohab()));
    shell.wait_for("that it is open", |view| view.text().contains("already inside cohab"));
    assert!(!shell.look(|view| String::from_utf8_lossy(view.raw()).contains("]7391")), "a mark is shown");
    let kill = format!("{tmux} kill-server");
    assert!(home.process("/bin/sh", &["-c", &kill]).status().expect("sh exists").success());
    shell.wait_for("the first shell", |view| !view.screen().alternate_screen());
    assert!(shell.run("echo works-$((40+2))").contains("works-42"));
}
