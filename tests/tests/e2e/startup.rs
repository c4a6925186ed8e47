//! The user has a shell after every fault at the start or later, and the terminal is restored.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use cohab_e2e::{Answer, Home, ModelServer, Session, Terminal, Wire, binaries, keys, terminal::View};

const OUTER: &str = "outer$ ";

/// A program of the user's own in the place of a shell.
fn script(home: &Home, name: &str, text: &str) -> String {
    home.write(name, text);
    fs::set_permissions(home.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    home.path(name).display().to_string()
}

fn cohab() -> String {
    binaries::word("cohab")
}

/// A bash of the user with another prompt, to start cohab from.
fn outer(home: &Home) -> Session<'_> {
    let mut outer = home.bash();
    outer.submit(&format!("PS1='{OUTER}'"));
    outer.expect_prompt(OUTER);
    outer.wait_prompt();
    outer
}

/// The line of `stty -g`.
fn settings(outer: &Session) -> String {
    let raw = outer.run("stty -g");
    let line = raw.lines().map(str::trim).find(|line| line.contains(':') && line.len() > 40);
    line.unwrap_or_else(|| panic!("no settings in {raw:?}")).to_owned()
}

/// The messages of cohab about itself; a line may take several rows.
fn complaints(view: &View) -> Vec<String> {
    let raw = String::from_utf8_lossy(view.raw()).into_owned();
    raw.lines()
        .filter_map(|line| line.trim_start_matches("\x1b[?2004l\r").strip_prefix("cohab: "))
        .map(str::to_owned)
        .collect()
}

/// Starts cohab with `line` in a bash of the user, works in it, leaves it: it is a working shell, `says` is its only message, and the
/// terminal is as before.
fn opens_a_shell(home: &Home, line: &str, says: &str) {
    let mut outer = outer(home);
    let before = settings(&outer);
    outer.submit(line);
    outer.expect_prompt("ready$ ");
    outer.wait_prompt();
    assert!(outer.run("echo works-$((40+2))").contains("works-42"), "{line}");
    let said = outer.look(complaints);
    assert!(said.len() == 1 && said[0].contains(says), "{line}: {said:?}\n{}", outer.dump());
    outer.submit("exit 7");
    outer.expect_prompt(OUTER);
    outer.wait_prompt();
    assert!(outer.run("echo status=$?").contains("status=7"), "{line}");
    assert_eq!(settings(&outer), before, "{line}");
}

/// The same, and it is the shell alone.
fn opens_a_plain_shell(home: &Home, line: &str, says: &str) {
    opens_a_shell(home, line, says);
    assert!(home.daemon_pids().is_empty(), "a daemon was started for nothing: {line}");
}

#[test]
fn a_shell_that_is_missing_or_no_program_makes_place_for_the_next() {
    for (shell, says) in [
        ("/no/such/shell", "/no/such/shell: No such file"),
        ("~/not-a-program", "not-a-program: Permission denied"),
        ("/usr", "/usr: Permission denied"),
        ("no-such-shell", "no-such-shell: No such file"),
    ] {
        let home = Home::new();
        home.write("not-a-program", "text");
        opens_a_shell(&home, &format!("{} --shell {shell}", cohab()), says);
    }
}

#[test]
fn a_relative_shell_variable_counts_for_nothing() {
    let home = Home::new().env("SHELL", "bash");
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["-c", "echo $0 $SHELL"]));
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    assert!(
        terminal.look(|view| view.shows("/sh /")) || terminal.look(|view| view.shows("bash /")),
        "{}",
        terminal.dump()
    );
}

#[test]
fn without_a_place_for_its_files_it_is_the_plain_shell() {
    let home = Home::new();
    opens_a_plain_shell(&home, &format!("COHAB_HOME=/proc/none {}", cohab()), "this is your plain shell");
    let home = Home::new();
    home.write("../cohab/run", "in the way");
    opens_a_plain_shell(&home, &cohab(), "this is your plain shell");
}

#[test]
fn on_a_full_disk_it_is_the_plain_shell() {
    let home = Home::new();
    let line = format!("(trap '' XFSZ; ulimit -f 0; exec {})", cohab());
    opens_a_plain_shell(&home, &line, "this is your plain shell");
}

#[test]
fn with_any_number_of_descriptors_there_is_a_shell() {
    let home = Home::new();
    let mut outer = outer(&home);
    let before = settings(&outer);
    for count in 6..24 {
        outer.submit(&format!("(ulimit -n {count}; exec {})", cohab()));
        outer.expect_prompt("ready$ ");
        outer.wait_prompt();
        assert!(outer.run("echo works-$((40+2))").contains("works-42"), "{count} descriptors");
        outer.submit("exit");
        outer.expect_prompt(OUTER);
        outer.wait_prompt();
    }
    assert_eq!(settings(&outer), before);
}

#[test]
fn a_shell_that_dies_of_our_way_to_start_it_is_started_plainly() {
    let home = Home::new();
    let shell =
        script(&home, "fragile/bash", "#!/bin/sh\ncase \"$*\" in *rcfile*) exit 3 ;; esac\nexec /bin/bash \"$@\"\n");
    opens_a_plain_shell(&home, &format!("{} --shell {shell}", cohab()), "ended at once with status 3");
}

#[test]
fn a_broken_rc_file_costs_nothing() {
    for rc in ["if then fi )", "return 3", "no-such-command", "set -e; false || true; set +e", "unset PS0; exec 3>&-"] {
        let home = Home::new().rc(rc);
        let shell = home.cohab();
        assert!(shell.run("echo works-$((40+2))").contains("works-42"), "{rc}");
        // The line editor reports its line: the integration is there.
        shell.type_line("echo x");
        shell.send(keys::ALT_ENTER);
        shell.wait_for("an answer", |view| !view.is_at_prompt("ready$ echo x"));
    }
}

#[test]
fn an_rc_file_that_ends_the_shell_ends_it_with_its_status() {
    let home = Home::new();
    let mut outer = outer(&home);
    let before = settings(&outer);
    home.write(".bashrc", "exit 5\n");
    outer.submit(&cohab());
    outer.expect_prompt(OUTER);
    outer.wait_prompt();
    assert!(outer.run("echo status=$?").contains("status=5"), "{}", outer.dump());
    assert_eq!(settings(&outer), before);
}

#[test]
fn a_command_line_for_the_shell_becomes_the_shell_in_the_same_process() {
    let home = Home::new();
    let arguments = script(&home, "arguments.sh", "echo $# \"$1\" \"$2\"; exit 9\n");
    let finished = home.run(&[&arguments, "a b", "c"]);
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(9), "2 a b c\n"));
    let child = home.cohab_process(&["-c", "echo $$"]).spawn().expect("cohab starts");
    let pid = child.id();
    assert_eq!(home.finish(child).stdout.trim(), pid.to_string(), "another process");
    assert!(home.daemon_pids().is_empty(), "a daemon was started for nothing");
}

#[test]
fn a_dash_before_our_name_makes_a_login_shell() {
    let home = Home::new();
    home.write(".bash_profile", "FROM_PROFILE=yes; . ~/.bashrc\n");
    let exec = format!("exec -a -cohab {} -c 'shopt login_shell; echo $0'", cohab());
    let plain = home.finish(home.process("/bin/bash", &["-c", &exec]).spawn().expect("bash exists"));
    assert!(plain.stdout.contains("login_shell    \ton") && plain.stdout.contains("-bash"), "{plain:?}");
    let interactive = home.in_terminal("/bin/bash", &["-c", &format!("exec -a -cohab {}", cohab())]);
    let terminal = Terminal::spawn(interactive);
    terminal.wait_for("the prompt", |view| view.is_at_prompt("ready$ "));
    terminal.send("shopt login_shell; echo profile=$FROM_PROFILE\r");
    terminal.wait_for("a login shell", |view| view.text().contains("on\n") && view.shows("profile=yes"));
}

#[test]
fn with_a_pipe_for_its_output_it_is_the_plain_shell() {
    let home = Home::new();
    let outer = outer(&home);
    let raw = outer.run(&format!("echo 'echo from-$((40+2))' | {} | cat -v", cohab()));
    assert!(raw.contains("from-42"), "{raw:?}");
    outer.send(&format!("{} | cat -v\r", cohab()));
    // bash asks on its standard error.
    outer.wait_for("the plain shell", |view| view.rows()[view.cursor().0].starts_with("ready$"));
    outer.send("readlink /proc/$$/exe; exit\r");
    outer.wait_prompt();
    let shown = outer.look(View::history);
    assert!(shown.contains("bash") && !shown.contains("7391"), "{shown}");
    assert!(home.daemon_pids().is_empty(), "a daemon was started for nothing");
}

/// A home where everything is approved, and the model's answers.
fn acting(answers: Vec<Answer>) -> (ModelServer, Home) {
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    (server, home)
}

#[test]
fn a_shell_killed_in_a_command_of_the_agents_ends_cohab_and_restores_the_terminal() {
    let full_screen = "sh -c 'stty -icanon; printf \"\\033[?1049h\\033[?1000h\"; sleep 300'";
    let (_server, home) = acting(vec![Answer::bash(full_screen)]);
    let mut outer = outer(&home);
    let before = settings(&outer);
    outer.submit(&cohab());
    outer.expect_prompt("ready$ ");
    outer.wait_prompt();
    let pid = outer.run("echo pid=$$");
    let pid = pid.rsplit("pid=").next().and_then(|rest| rest.split_whitespace().next()).expect("a number").to_owned();
    outer.submit("? wait");
    outer.wait_for("the command", |view| view.screen().alternate_screen());
    let killed = home.process("/bin/kill", &["-9", &pid]).status().expect("kill exists");
    assert!(killed.success());
    outer.expect_prompt(OUTER);
    outer.wait_prompt();
    assert!(outer.run("echo status=$?").contains("status=137"), "{}", outer.dump());
    assert_eq!(settings(&outer), before);
    assert!(outer.look(|view| view.screen().mouse_protocol_mode() == vt100::MouseProtocolMode::None));
}

fn relay_folder(home: &Home) -> PathBuf {
    let entries = fs::read_dir(home.paths().runtime_dir).expect("it was made").flatten();
    let is_relay = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("shell-");
    entries.filter(is_relay).map(|entry| entry.path()).next().expect("an integrated shell has one")
}

#[test]
fn the_hand_over_folder_is_made_again_for_a_command() {
    let (server, home) = acting(vec![Answer::bash("echo ran-$((40+2))"), Answer::text("All done.")]);
    let shell = home.cohab();
    fs::remove_dir_all(relay_folder(&home)).expect("it is ours");
    assert!(shell.run("echo works-$((40+2))").contains("works-42"));
    shell.ask("try", "All done.");
    let result = server.wait_for_calls(2)[1].conversation();
    assert!(result.contains("ran-42"), "{result}");
    assert!(relay_folder(&home).is_dir());
    assert!(shell.run("echo works-$((40+2))").contains("works-42"));
}

#[test]
fn on_a_full_disk_a_command_is_typed_and_the_shell_goes_on() {
    let (server, home) = acting(vec![Answer::bash("echo ran-$((40+2))"), Answer::text("All done.")]);
    let shell = home.cohab();
    std::os::unix::fs::symlink("/dev/full", relay_folder(&home).join("cmd.new")).expect("it is ours");
    shell.ask("try", "All done.");
    let result = server.wait_for_calls(2)[1].conversation();
    assert!(result.contains("ran-42"), "{result}");
    assert!(shell.run("echo works-$((40+2))").contains("works-42"));
}

#[test]
fn a_shell_that_another_one_replaced_says_so_once_at_enter() {
    let home = Home::new();
    let mut shell = home.cohab();
    shell.submit("exec bash --norc --noprofile");
    shell.expect_prompt("$ ");
    shell.wait_for("the other shell", |view| view.cursor_row().starts_with("bash-"));
    for word in ["one", "two"] {
        shell.send(&format!("echo {word}-$((1+1))"));
        shell.wait_for("the line", |view| view.cursor_row().ends_with("+1))"));
        shell.send(keys::ENTER);
        shell.wait_for("it works", |view| view.rows().iter().any(|row| *row == format!("{word}-2")));
    }
    let rows = shell.look(View::rows);
    let told: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].contains("`exec` has replaced the shell")).collect();
    assert_eq!(told.len(), 1, "{}", shell.dump());
    assert!(rows[told[0] - 1].ends_with("echo one-$((1+1))"), "{}", shell.dump());
    assert_eq!(rows[told[0] + 1], "one-2", "{}", shell.dump());
}
