//! A confined program in a terminal behaves as an unconfined one: size, colours, keys, job control, pipelines.

use cohab_e2e::{
    Home,
    binaries::{is_installed_or_skip, word},
    keys,
    session::Session,
};

/// A bash in which `c` confines; skipped where the kernel cannot.
fn with_bash(test: impl Fn(&Session<'_>, &Home)) {
    if !cohab_sandbox::profile::present().can_launch() {
        return;
    }
    let home = Home::new();
    home.write("notes.txt", "a needle\nand more\n");
    let shell = home.bash();
    shell.run(&format!("c() {{ {} -- \"$@\"; }}", word("cohab-confine")));
    test(&shell, &home);
}

#[test]
fn size_colours_and_the_terminal_itself_are_there() {
    with_bash(|shell, _| {
        assert!(shell.run("c stty size").contains("24 80"), "{}", shell.dump());
        assert!(shell.run("c tput cols </dev/tty; c tty").contains("/dev/pts/"), "{}", shell.dump());
        assert!(shell.run("c ls --color=auto -d /").contains("\x1b["), "{}", shell.dump());
        assert!(shell.run("c grep --color=auto needle notes.txt").contains("\x1b[01;31m"), "{}", shell.dump());
        assert!(shell.run("c sh -c 'echo to-the-terminal >/dev/tty'").contains("to-the-terminal"), "{}", shell.dump());
        assert!(shell.run("c sh -c 'echo by-its-name >$(tty)'").contains("by-its-name"), "{}", shell.dump());
        assert!(shell.run("c cat notes.txt | c sort | c head -n 1; echo ${PIPESTATUS[*]}").contains("0 0 0"));
    });
}

#[test]
fn other_terminals_can_be_neither_read_nor_written() {
    with_bash(|shell, home| {
        let other = home.bash();
        let name = other.run("tty");
        let name = name.lines().find_map(|line| line.find("/dev/pts/").map(|at| line[at..].trim())).expect("a name");
        let said = shell.run(&format!("c sh -c 'echo intruder >{name}'; c head -c 1 {name}; echo ended"));
        assert_eq!(said.matches("Permission denied").count(), 2, "{said}");
        assert!(!other.run("echo quiet").contains("intruder"));
    });
}

#[test]
fn ctrl_c_and_ctrl_z_reach_a_confined_program() {
    with_bash(|shell, _| {
        shell.submit("c sh -c 'echo begun; exec sleep 600'");
        shell.wait_for("it runs", |view| view.rows().iter().any(|row| row == "begun"));
        let mark = shell.mark();
        shell.send(keys::CTRL_C);
        shell.wait_next_prompt(mark);
        assert!(shell.run("echo status=$?").contains("status=130"), "{}", shell.dump());

        // It reports that it continues: by then the terminal is its own again. It reads in short steps, as bash runs a trap between
        // commands only: a signal right before one long `read` would be handled at its end.
        shell.submit(
            "c bash -c 'trap \"echo awake\" CONT; echo ready; until read -t 0.1 line; do :; done; echo got-$line'",
        );
        shell.wait_for("it waits", |view| view.rows().iter().any(|row| row == "ready"));
        let mark = shell.mark();
        shell.send(keys::CTRL_Z);
        shell.wait_next_prompt(mark);
        assert!(shell.run("jobs").contains("Stopped"), "{}", shell.dump());
        let mark = shell.submit("fg");
        shell.wait_for("it goes on", |view| view.rows().iter().any(|row| row == "awake"));
        shell.send("word\r");
        let said = shell.wait_next_prompt(mark);
        assert!(said.contains("got-word"), "{said}");
    });
}

#[test]
fn a_pager_pages() {
    if !is_installed_or_skip("less") {
        return;
    }
    with_bash(|shell, _| {
        shell.submit("c seq 1 500 | c less");
        shell.wait_for("the first page", |view| view.rows().iter().any(|row| row == "20"));
        shell.send("G");
        shell.wait_for("the last page", |view| view.rows().iter().any(|row| row == "500"));
        let mark = shell.mark();
        shell.send("q");
        shell.wait_for("the prompt", |view| view.raw().len() > mark && !view.rows().iter().any(|row| row == "500"));
        assert!(shell.run("echo status=$?").contains("status=0"), "{}", shell.dump());
    });
}
