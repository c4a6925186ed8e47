//! A shell hangs while commands are handed to it: no command runs twice, and every report about one is true.

use std::{
    fs,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::is_installed_or_skip, processes::children};
use rustix::process::{Pid, Signal, kill_process};

/// The commands of a turn.
const NAMES: [&str; 3] = ["first", "second", "third"];

#[derive(Clone, Copy)]
struct Pids {
    client: Pid,
    shell: Pid,
}

fn signal(pid: Pid, signal: Signal) {
    kill_process(pid, signal).expect("it lives");
}

fn pids(client: u32, shell: &str) -> Pids {
    let is_shell =
        |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == shell);
    let shell = children(client).into_iter().find(is_shell).expect("the client has started it");
    let pid = |pid: u32| i32::try_from(pid).ok().and_then(Pid::from_raw).expect("it is a process");
    Pids { client: pid(client), shell: pid(shell) }
}

/// The possible numbers of runs of a command, according to the result that the model got.
fn told_times(name: &str, result: &str) -> std::ops::RangeInclusive<usize> {
    if result.contains(&format!("{name} has run")) {
        1..=1
    } else if result.contains("may still run") {
        0..=1
    } else {
        assert!(result.contains("not run") || result.contains("did not"), "{name}: {result}");
        0..=0
    }
}

/// The shell hangs from the first command on until that is given up; then the client hangs for `client`.
fn check(shell_name: &str, client: Duration) {
    if !is_installed_or_skip(shell_name) {
        return;
    }
    let known = Arc::new(OnceLock::<Pids>::new());
    let for_server = Arc::clone(&known);
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |request| {
        let pids = *for_server.get().expect("the question came after the shell");
        let done = request.tool_results().len();
        match done {
            0 => signal(pids.shell, Signal::STOP),
            1 => {
                signal(pids.client, Signal::STOP);
                signal(pids.shell, Signal::CONT);
                thread::spawn(move || {
                    thread::sleep(client);
                    signal(pids.client, Signal::CONT);
                });
            }
            _ => {}
        }
        NAMES.get(done).map_or_else(
            || Answer::text("All done."),
            |name| Answer::bash(&format!("echo {name} >>ran; echo {name} has run")),
        )
    });
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(shell_name);
    let shell = home.cohab();
    assert!(known.set(pids(shell.pid(), shell_name)).is_ok());
    shell.ask("run the three of them", "All done.");
    assert!(shell.run("echo still here").contains("still here"), "{}", shell.dump());

    let ran = fs::read_to_string(home.path("ran")).unwrap_or_default();
    let results = server.wait_for_calls(NAMES.len() + 1)[NAMES.len()].tool_results();
    for (name, result) in NAMES.iter().zip(&results) {
        let times = ran.lines().filter(|line| line == name).count();
        assert!(told_times(name, &result.content).contains(&times), "{name} ran {times} times: {}", result.content);
    }
    assert_eq!(told_times(NAMES[0], &results[0].content).start(), &0, "it was given up: {}", results[0].content);
}

macro_rules! standstills {
    ($($shell:ident: $goes_on:ident $both_stood:ident;)*) => {
        $(#[test]
        fn $goes_on() {
            check(stringify!($shell), Duration::ZERO);
        }

        #[test]
        fn $both_stood() {
            check(stringify!($shell), Duration::from_millis(500));
        })*
    };
}

standstills! {
    bash: bash_goes_on_when_a_command_was_given_up bash_goes_on_while_the_client_stands_still;
    zsh: zsh_goes_on_when_a_command_was_given_up zsh_goes_on_while_the_client_stands_still;
    fish: fish_goes_on_when_a_command_was_given_up fish_goes_on_while_the_client_stands_still;
}
