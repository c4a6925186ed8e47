//! The terminal is restored after every end of the client, in every state.

use std::{collections::BTreeMap, fs};

use cohab_e2e::{
    Answer, Home, ModelServer, Session, Terminal, Wire, binaries, deadline::eventually, home::PROMPT,
    processes::children,
};
use rustix::process::{Pid, Signal, kill_process};

/// Modes that a program may have switched on when it is killed: the second screen, the mouse, keys of other kinds, a scroll region, no
/// cursor.
const FULL_SCREEN: &str =
    r"printf '\e[?1049h\e[?25l\e[?1h\e=\e[?1000;1006h\e[?1004h\e[?7l\e[>4;2m\e[>1u\e[2;9rfull'; cat";

/// The state of the terminal when the client ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Prompt,
    Hint,
    Command,
    FullScreen,
    Answer,
    Card,
    AgentsCommand,
}

use State::*;

const STATES: [State; 7] = [Prompt, Hint, Command, FullScreen, Answer, Card, AgentsCommand];

/// The end of the client.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The client gets this signal.
    Signal(Signal),
    /// The shell is killed.
    Shell,
}

const ENDS: [End; 3] = [End::Signal(Signal::TERM), End::Signal(Signal::HUP), End::Shell];

fn server(state: State) -> ModelServer {
    let answer = match state {
        Card | AgentsCommand => Answer::bash("echo at-work; read -r line < gate"),
        _ => Answer::text("Words so far and more").stall_after(4),
    };
    ModelServer::start(Wire::Anthropic, [answer])
}

fn home(shell: &str, server: &ModelServer, state: State) -> Home {
    let home = Home::with_model(server);
    let home = if shell == "bash" { home } else { home.shell(shell) };
    let made = std::process::Command::new("mkfifo").arg(home.path("gate")).status();
    assert!(made.is_ok_and(|status| status.success()));
    if state == AgentsCommand { home.env("COHAB_APPROVAL", "all") } else { home }
}

/// Brings a terminal at its prompt into this state.
fn enter(terminal: &Terminal, state: State) {
    match state {
        Prompt => {}
        Hint => {
            terminal.send("why is the sky blue");
            terminal.wait_text("ask  Alt-G: run");
        }
        Command => {
            terminal.send("printf half; cat\r");
            terminal.wait_for("its output", |view| view.cursor_row() == "half");
        }
        FullScreen => {
            terminal.send(&format!("{FULL_SCREEN}\r"));
            terminal.wait_for("its screen", |view| view.screen().alternate_screen() && view.shows("full"));
        }
        Answer => {
            terminal.send("? tell me\r");
            terminal.wait_text("Words so");
        }
        Card => {
            terminal.send("? do it\r");
            terminal.wait_text("y once");
        }
        AgentsCommand => {
            terminal.send("? do it\r");
            terminal.wait_for("its output", |view| view.rows().iter().any(|row| row == "at-work"));
        }
    }
}

/// The client below the outer shell of this terminal.
fn client_below(terminal: &Terminal) -> u32 {
    let is_client =
        |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "cohab");
    children(terminal.pid()).into_iter().find(is_client).expect("the outer shell has started it")
}

fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process");
    kill_process(pid, signal).expect("it is ours");
}

fn end(client: u32, end: End) {
    match end {
        End::Signal(signal) => send(client, signal),
        // The daemon may be a child of the client, too.
        End::Shell => {
            let is_shell = |pid: &u32| {
                let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                ["bash", "zsh", "fish"].contains(&name.trim())
            };
            let shell = children(client).into_iter().find(is_shell).expect("the client has a shell");
            send(shell, Signal::KILL);
        }
    }
}

/// The modes that `raw` leaves switched on in a terminal. It counts independently of the client.
fn left_on(raw: &[u8]) -> Vec<String> {
    let mut modes: BTreeMap<String, bool> = BTreeMap::new();
    let mut pushed = 0_i32;
    for piece in raw.split(|byte| *byte == 0x1b).skip(1) {
        if let Some(b'=' | b'>') = piece.first() {
            modes.insert("keypad".into(), piece[0] == b'=');
        }
        let Some(body) = piece.strip_prefix(b"[") else { continue };
        let Some(length) = body.iter().position(|byte| (0x40..0x7f).contains(byte)) else { continue };
        let numbers = String::from_utf8_lossy(&body[..length]).into_owned();
        match (numbers.strip_prefix('?'), body[length]) {
            (Some(numbers), action @ (b'h' | b'l')) => {
                for mode in numbers.split(';') {
                    // These two are on in a fresh terminal.
                    modes.insert(format!("?{mode}"), (action == b'h') != ["7", "25"].contains(&mode));
                }
            }
            (None, b'r') => drop(modes.insert("region".into(), !numbers.is_empty())),
            (None, b'u') if numbers.starts_with('>') => pushed += 1,
            (None, b'u') if numbers.starts_with('<') => pushed -= numbers[1..].parse().unwrap_or(1),
            (None, b'u') if numbers.starts_with('=') => drop(modes.insert("kitty".into(), !numbers.starts_with("=0"))),
            (None, b'm') if numbers.starts_with(">4") => {
                modes.insert("other keys".into(), !matches!(numbers.as_str(), ">4" | ">4;" | ">4;0"));
            }
            _ => {}
        }
    }
    modes.insert("kitty stack".into(), pushed > 0);
    modes.into_iter().filter_map(|(name, is_on)| is_on.then_some(name)).collect()
}

#[track_caller]
fn assert_restored(terminal: &Terminal, what: &str) {
    terminal.look(|view| {
        let screen = view.screen();
        assert!(!screen.hide_cursor() && !screen.alternate_screen() && !screen.application_keypad(), "{what}");
        assert!(!screen.application_cursor() && !screen.bracketed_paste(), "{what}");
        assert_eq!(left_on(view.raw()), [""; 0], "{what}");
    });
}

fn each_state_and_end_directly(shell: &str) {
    if !binaries::is_installed_or_skip(shell) {
        return;
    }
    for state in STATES {
        for way in ENDS {
            let server = server(state);
            let home = home(shell, &server, state);
            let session: Session<'_> = home.cohab();
            session.wait_idle();
            enter(&session, state);
            end(session.pid(), way);
            session.wait_exit();
            let what = format!("{shell}, {state:?}, {way:?}\n{}", session.dump());
            assert_restored(&session, &what);
            session.look(|view| {
                let (row, column) = view.cursor();
                assert!(
                    column == 0 && view.rows().get(row).is_none_or(String::is_empty),
                    "the row is not free: {what}"
                );
            });
        }
    }
}

#[test]
fn bash_leaves_the_terminal_as_it_was() {
    each_state_and_end_directly("bash");
}

#[test]
fn zsh_leaves_the_terminal_as_it_was() {
    each_state_and_end_directly("zsh");
}

#[test]
fn fish_leaves_the_terminal_as_it_was() {
    each_state_and_end_directly("fish");
}

/// The outer shell works: its cursor is visible, and it takes a command on a separate row.
#[track_caller]
fn assert_outer_shell_works(terminal: &Terminal, what: &str) {
    terminal.wait_for("the outer prompt", |view| view.is_at_prompt(PROMPT) && view.shows("this is your plain shell"));
    terminal.send("echo \"outer=$COHAB_TTY.\"\r");
    terminal.wait_for("its answer", |view| view.rows().iter().any(|row| row == "outer=.") && view.is_at_prompt(PROMPT));
    terminal.look(|view| {
        let screen = view.screen();
        assert!(!screen.hide_cursor() && !screen.alternate_screen(), "{what}");
        let raw = view.raw();
        let on = left_on(raw);
        // The modes of the shell itself at its prompt.
        let is_outers = |name: &str| ["?2004", "keypad", "?1", "kitty", "kitty stack", "other keys"].contains(&name);
        assert!(on.iter().all(|name| is_outers(name)), "{on:?}: {what}");
    });
}

#[test]
fn a_killed_client_leaves_the_outer_shell_of_init_usable() {
    for (shell, program, rc) in [
        ("bash", "/bin/bash", ".bashrc"),
        ("zsh", "/usr/bin/zsh", ".zshrc"),
        ("fish", "/usr/bin/fish", ".config/fish/config.fish"),
    ] {
        if !binaries::is_installed_or_skip(shell) {
            continue;
        }
        for state in [Prompt, FullScreen, Answer, Card] {
            for signal in [Signal::TERM, Signal::HUP, Signal::KILL] {
                let server = server(state);
                let home = home(shell, &server, state);
                let lines = home.run(&["init", shell]).stdout;
                let own = fs::read_to_string(home.path(rc)).expect("the home has it");
                home.write(rc, &(own + &lines));
                let terminal = Terminal::spawn(home.in_terminal(program, &["-i"]));
                terminal.wait_for("an empty prompt", |view| view.is_at_prompt(PROMPT));
                eventually("the client", || children(terminal.pid()).len() == 1);
                enter(&terminal, state);
                send(client_below(&terminal), signal);
                assert_outer_shell_works(&terminal, &format!("{shell}, {state:?}, {signal:?}\n{}", terminal.dump()));
            }
        }
    }
}

#[test]
fn the_folder_of_a_killed_client_is_removed_by_the_next_one() {
    let home = Home::new();
    let folders = || {
        let entries = fs::read_dir(home.paths().runtime_dir).expect("a client made it").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("shell-")).collect::<Vec<_>>()
    };
    let alive = home.cohab();
    let of_alive = folders();
    let killed = home.cohab();
    assert_eq!(folders().len(), 2);
    send(killed.pid(), Signal::KILL);
    killed.wait_exit();
    assert_eq!(folders().len(), 2, "it could remove nothing");
    let next = home.cohab();
    eventually("the removal of what the killed one left", || folders().len() == 2);
    assert!(of_alive.iter().all(|name| folders().contains(name)), "{:?}", folders());
    assert!(alive.run("echo alive-$((1+1))").contains("alive-2") && next.run("echo next-$((1+1))").contains("next-2"));
}

#[test]
fn a_killed_question_of_the_command_line_leaves_the_terminal_as_it_was() {
    for state in [Answer, Card] {
        for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
            let server = server(state);
            let home = home("bash", &server, state);
            let cohab = binaries::program("cohab");
            let terminal = Terminal::spawn(home.in_terminal(cohab, &["ask", "tell me"]));
            match state {
                Card => terminal.wait_text("y once"),
                _ => terminal.wait_text("Words so"),
            }
            send(terminal.pid(), signal);
            terminal.wait_exit();
            assert_restored(&terminal, &format!("{state:?}, {signal:?}\n{}", terminal.dump()));
        }
    }
}
