//! A planted key reaches its service and nothing else: no output, no log, no file, no command line.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::API_KEY};

/// Every way of failing in which a service repeats the key that it got, and two in which all goes well.
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
