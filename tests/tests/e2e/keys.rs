//! A planted key reaches its service and nothing else: no output, no log, no file, no command line.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually, home::API_KEY};
use rustix::process::{Pid, Signal, kill_process};

/// Every failure in which a service repeats its key, and two successes.
fn answers() -> [Answer; 7] {
    let repeated = format!("the key {API_KEY} is not right for this");
    [
        Answer::status(401, &repeated),
        Answer::status(400, &repeated),
        Answer::status(404, &repeated),
        Answer::status(500, &repeated).header("x-should-retry", "false"),
        Answer::text("Half").error_after(2),
        Answer::bash("env; cat /proc/$PPID/environ | tr '\\0' '\\n'"),
        Answer::text("Well."),
    ]
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Command lines of all processes that can be seen.
fn command_lines() -> Vec<String> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    folders
        .filter_map(|folder| fs::read(folder.join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).into_owned())
        .collect()
}

/// Whether a daemon that crashes leaves a core file in its folder, the default place.
fn leaves_core(home: &Home) -> bool {
    let limit = "ulimit -c unlimited; exec \"$0\" run";
    let folder = home.path("crash");
    fs::create_dir_all(&folder).expect("a folder");
    let mut start =
        home.process("/bin/sh", &["-c", limit, &cohab_e2e::binaries::program("cohabd").display().to_string()]);
    let mut daemon = start.current_dir(&folder).spawn().expect("it starts");
    eventually("a daemon", || home.paths().socket().exists());
    let pid = i32::try_from(daemon.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::ABORT).expect("it runs");
    daemon.wait().expect("it ended");
    fs::read_dir(&folder).expect("a folder").next().is_some()
}

#[test]
fn a_crash_leaves_no_memory_behind() {
    let (open, guarded) = (Home::new(), Home::new().without("COHAB_ALLOW_DEBUG"));
    // Where core files go elsewhere, or are off, there is nothing to compare with.
    if leaves_core(&open) {
        assert!(!leaves_core(&guarded));
    }
}

#[test]
fn a_key_whose_name_only_the_settings_know_is_in_no_environment_of_ours() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("env; echo end"), Answer::text("Well.")]);
    let home = Home::new().env("MY_OWN", API_KEY);
    let (provider, url) = (server.wire().provider(), server.base_url());
    home.write_config(&format!(
        "[model]\nprovider = \"{provider}\"\nbase_url = \"{url}\"\nname = \"m\"\napi_key_env = \"MY_OWN\"\n"
    ));
    let finished = home.run(&["ask", "--approve", "all", "go"]);
    assert!(finished.stdout.contains("Well."), "{finished:?}");
    let request = server.requests().pop().expect("a request");
    assert_eq!(request.key(), Some(API_KEY));
    assert!(request.conversation().contains("end") && !request.body.to_string().contains(API_KEY));
    for pid in home.daemon_pids() {
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).expect("it runs");
        assert!(!String::from_utf8_lossy(&environment).contains(API_KEY));
    }
}

#[test]
fn a_key_is_in_no_output_no_log_no_file_and_no_command_line() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, answers());
        let home = Home::with_model(&server);
        home.write_config("[log]\nlevel = \"trace\"\n[model]\nretries = 0\n");
        let mut told = String::new();
        for json in [true, false] {
            let options: &[&str] = if json { &["--json"] } else { &[] };
            for _ in 0..3 {
                let finished = home.run(&[&["ask", "--approve", "all"], options, &["go"]].concat());
                told += &format!("{finished:?}");
            }
        }
        let finished = home.run(&["probe-model", "--json", "go"]);
        told += &format!("{finished:?}");
        assert!(command_lines().iter().all(|line| !line.contains(API_KEY)), "{wire:?}: on a command line");
        let log = home.daemon_log();
        assert!(!log.is_empty() && told.contains("[key]") && told.contains("Well."), "{wire:?}: {told}");
        told += &log;
        assert!(!told.contains(API_KEY), "{wire:?}: {told}");
        let requests = server.requests();
        assert!(requests.iter().any(|request| request.conversation().contains("PATH=")), "{wire:?}: env did not run");
        for request in requests {
            assert_eq!(request.key(), Some(API_KEY), "{wire:?}");
            let in_body = request.body.to_string().contains(API_KEY) || request.path.contains(API_KEY);
            assert!(!in_body, "{wire:?}: the model sees its own key");
        }
        for file in files_below(&home.paths().state_dir).into_iter().chain(files_below(&home.paths().config_dir)) {
            let bytes = fs::read(&file).unwrap_or_default();
            let is_in = bytes.windows(API_KEY.len()).any(|part| part == API_KEY.as_bytes());
            assert!(!is_in, "{wire:?}: {}", file.display());
        }
    }
}
