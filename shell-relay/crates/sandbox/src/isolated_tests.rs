use std::{fs, os::unix::fs::PermissionsExt};

use super::*;

pub(super) fn request(text: &str) -> CommandRequest {
    CommandRequest { id: "1".into(), text: text.into(), timeout: Duration::from_secs(20), wants_env_delta: false }
}

async fn run(text: &str) -> CommandOutcome {
    DaemonShell::new("/usr".into()).run(request(text), &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn output_and_status_come_back_in_order() {
    let outcome = run("echo out; echo err >&2; echo on; exit 7").await;
    assert_eq!((outcome.output.as_str(), outcome.status, outcome.ending), ("out\nerr\non\n", Some(7), Ending::Exited));
    assert_eq!((outcome.mode, outcome.cwd.to_str(), outcome.total_bytes), (Mode::Isolated, Some("/usr"), 11));
    assert_eq!(run("kill -9 $$").await.status, Some(137));
    assert_eq!(run("nosuchcommand").await.status, Some(127));
}

#[tokio::test]
async fn nothing_sticks_and_nothing_can_be_asked() {
    let shell = DaemonShell::new("/usr".into());
    let cancel = CancellationToken::new();
    shell.run(request("cd /; export X=1"), &cancel).await.unwrap();
    let outcome =
        shell.run(request("pwd; echo \"<$X>\"; read y; echo $?; (: </dev/tty) 2>/dev/null || echo no tty"), &cancel);
    assert_eq!(outcome.await.unwrap().output, "/usr\n<>\n1\nno tty\n");
}

#[tokio::test]
async fn a_hidden_variable_is_not_passed_on() {
    let shell = DaemonShell::new("/".into()).hiding("PATH");
    let outcome = shell.run(request("export -p"), &CancellationToken::new()).await.unwrap();
    assert!(!outcome.output.contains(&std::env::var("PATH").unwrap()));
}

#[tokio::test]
async fn names_of_a_line_that_only_reads_stand_for_the_systems_programs_and_for_nothing_of_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let (home, app) = (folder.path().to_owned(), folder.path().join("app"));
    fs::create_dir_all(app.join("bin")).unwrap();
    let trace = home.join("trace");
    let evil = format!("echo ran >{}", trace.display());
    for name in ["bin/uname", "env.sh"] {
        fs::write(app.join(name), format!("#!/bin/sh\n{evil}\n")).unwrap();
        fs::set_permissions(app.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("bin:{}:/usr/bin:/bin", app.join("bin").display());
    let set = |name: &str, value: &str| (name.into(), value.into());
    for variables in [
        vec![set("PATH", &path)],
        vec![set("PATH", "/usr/bin:/bin"), set("BASH_ENV", "./env.sh")],
        vec![set("PATH", "/usr/bin:/bin"), set("SHELLOPTS", "xtrace"), set("PS4", &format!("$({evil})"))],
        vec![set("PATH", "/usr/bin:/bin"), set("BASH_FUNC_uname%%", &format!("() {{ {evil}; }}"))],
    ] {
        let shell = DaemonShell::new(app.clone()).with_environment(variables.clone());
        let cancel = CancellationToken::new();
        let reading = shell.clone().reading_only(home.clone());
        assert_eq!(reading.run(request("uname -s"), &cancel).await.unwrap().output, "Linux\n", "{variables:?}");
        assert!(!trace.exists(), "{variables:?}");
        shell.run(request("uname -s"), &cancel).await.unwrap();
        // root's bash takes no PS4 from its variables.
        let is_taken = fs::remove_file(&trace).is_ok() || variables[1].0 == "SHELLOPTS";
        assert!(is_taken, "{variables:?}: what the user agreed to has them");
    }
}

#[tokio::test]
async fn a_line_that_only_reads_is_typed_so_that_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let (home, repository) = (folder.path().to_owned(), folder.path().join("app"));
    fs::create_dir(&repository).unwrap();
    let shell = DaemonShell::new(repository.clone());
    let cancel = CancellationToken::new();
    let trace = home.join("trace");
    let planted = format!("git init -q && git config core.fsmonitor 'touch {} #'", trace.display());
    shell.run(request(&planted), &cancel).await.unwrap();
    let reading = DaemonShell::new(repository.clone()).reading_only(home);
    let outcome = reading.run(request("git status --short; pwd"), &cancel).await.unwrap();
    assert!(outcome.output.ends_with("/app\n") && !trace.exists(), "{}", outcome.output);
    // A line that was agreed to runs as it stands.
    reading.run(request("git status --short; : >here"), &cancel).await.unwrap();
    assert!(trace.exists() && repository.join("here").exists());
}

#[tokio::test]
async fn a_background_job_does_not_hold_the_result() {
    let started = Instant::now();
    assert_eq!(run("sleep 15 & echo bg").await.output, "bg\n");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_flood_is_counted_and_cut() {
    let outcome = run("head -c 3000000 /dev/zero | tr '\\0' 'x'").await;
    assert_eq!(outcome.total_bytes, 3_000_000);
    assert!(outcome.truncated_bytes > 1_500_000 && outcome.output.len() < 600_000);
}

#[tokio::test]
async fn when_its_time_is_up_the_whole_group_is_ended() {
    let directory = tempfile::tempdir().unwrap();
    let shell = DaemonShell::new(directory.path().into());
    let mut request = request("echo begun; sleep 60 & echo $! >pid; wait");
    request.timeout = Duration::from_millis(300);
    let outcome = shell.run(request, &CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.ending, Ending::Interrupted { by: Interrupter::TimeLimit });
    assert_eq!(outcome.output, "begun\n[ended: its time of 0.3 s was up]\n");
    assert_dies(directory.path()).await;
}

#[tokio::test]
async fn a_cancelled_command_gives_what_it_had_and_dies_even_if_it_ignores_the_first_signal() {
    let directory = tempfile::tempdir().unwrap();
    let shell = DaemonShell::new(directory.path().into());
    let cancel = CancellationToken::new();
    let text = "trap '' INT; echo begun; sleep 60 & echo $! >pid.new; mv pid.new pid; wait; wait";
    let running = shell.run(request(text), &cancel);
    let cancelling = async {
        while !directory.path().join("pid").exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(running, cancelling);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.ending, outcome.output.as_str()), (Ending::Interrupted { by: Interrupter::Turn }, "begun\n"));
    assert_dies(directory.path()).await;
}

#[tokio::test]
async fn dropping_the_run_ends_the_command() {
    let directory = tempfile::tempdir().unwrap();
    let shell = DaemonShell::new(directory.path().into());
    let cancel = CancellationToken::new();
    tokio::select! {
        _ = shell.run(request("sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 60'"), &cancel) => panic!("it ended"),
        () = async { while !directory.path().join("pid").exists() { tokio::task::yield_now().await } } => {}
    }
    assert_dies(directory.path()).await;
}

/// The process whose id is in `pid` ends before long.
async fn assert_dies(directory: &Path) {
    let pid: i32 = fs::read_to_string(directory.join("pid")).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    let is_alive = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).unwrap_or_default();
        rustix::process::test_kill_process(pid).is_ok() && !stat.contains(") Z ")
    };
    let gone = async {
        while is_alive() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), gone).await.expect("it should have been ended");
}

#[tokio::test]
async fn texts_that_cannot_be_passed_are_refused() {
    for text in ["echo a\0b".to_owned(), "x".repeat(TEXT_MAX_BYTES + 1)] {
        let refused = DaemonShell::new("/".into()).run(request(&text), &CancellationToken::new()).await;
        assert_eq!(refused.unwrap_err().code(), "bad_text");
    }
}

#[tokio::test]
async fn commands_see_the_given_environment_and_no_other() {
    let given = [("SEEN", "a b"), ("MY_KEY", "k"), ("PATH", "/usr/bin:/bin"), ("TERM", "xterm")];
    let given = given.map(|(name, value)| (name.into(), value.into()));
    let shell = DaemonShell::new("/".into()).with_environment(given).hiding("MY_KEY");
    let outcome =
        shell.run(request("env | grep -v '^\\(_\\|PWD\\|SHLVL\\|OLDPWD\\)='"), &CancellationToken::new()).await;
    let output = outcome.unwrap().output;
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["GIT_PAGER=cat", "PAGER=cat", "PATH=/usr/bin:/bin", "SEEN=a b", "TERM=dumb"]);
}
