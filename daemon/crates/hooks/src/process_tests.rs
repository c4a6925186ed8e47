use std::time::Instant;

use super::*;

async fn run_in(cwd: &Path, command: &str, input: &[u8], limit: Duration) -> HookEnd {
    let environment = [("PATH", std::env::var_os("PATH").unwrap()), ("TEST_SIGN", "here".into())];
    let environment = environment.map(|(name, value)| (name.into(), value));
    run(HookRun { command, cwd, environment: &environment, input, limit }).await
}

async fn ran(command: &str) -> HookEnd {
    run_in(Path::new("/"), command, b"{}\n", Duration::from_secs(20)).await
}

fn printed(end: &HookEnd) -> String {
    match end {
        HookEnd::Exited { status: 0, output, .. } => String::from_utf8(output.bytes.clone()).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn is_alive(pid: &str) -> bool {
    // One that was killed stays as a name until its parent hears of it.
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z"))
}

/// Waits until a process is gone; fails after ten seconds.
async fn gone(pid: &str) {
    let began = Instant::now();
    while is_alive(pid) {
        assert!(began.elapsed() < Duration::from_secs(10), "{pid} is alive");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_hook_reads_its_input_and_has_just_its_environment() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().canonicalize().unwrap();
    let end =
        run_in(&cwd, "cat; pwd; echo $TEST_SIGN ${HOME-none} ${CARGO-none}", b"{\"a\": 1}\n", Duration::from_secs(20))
            .await;
    assert_eq!(printed(&end), format!("{{\"a\": 1}}\n{}\nhere none none\n", cwd.display()));
    let end = ran("echo no >&2; exit 2").await;
    assert!(matches!(&end, HookEnd::Exited { status: 2, errors, .. } if errors.bytes == b"no\n"), "{end:?}");
}

#[tokio::test]
async fn a_hook_need_not_read_a_long_input() {
    let input = vec![b'x'; 4 * 1024 * 1024];
    assert_eq!(printed(&run_in(Path::new("/"), "echo ok", &input, Duration::from_secs(20)).await), "ok\n");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_a_reason() {
    let end = run_in(Path::new("/no/such/folder"), "true", b"", Duration::from_secs(20)).await;
    assert!(matches!(&end, HookEnd::NotRun(reason) if reason.contains("/no/such/folder")), "{end:?}");
}

#[tokio::test]
async fn a_hundred_megabytes_take_no_memory() {
    let end = ran("head -c 100000000 /dev/zero").await;
    let HookEnd::Exited { status: 0, output, .. } = end else { panic!("{end:?}") };
    assert_eq!((output.bytes.len(), output.is_cut), (MAX_OUTPUT_BYTES, true));
}

#[tokio::test]
async fn a_hook_that_hangs_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let command = "sleep 1000 & echo $! > child; trap '' TERM INT; sleep 1000";
    let end = run_in(folder.path(), command, b"", Duration::from_millis(300)).await;
    assert_eq!(end, HookEnd::Late(1));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    gone(&fs::read_to_string(folder.path().join("child")).unwrap()).await;
}

#[tokio::test]
async fn what_a_hook_leaves_behind_is_killed_also_outside_of_its_group() {
    let folder = tempfile::tempdir().unwrap();
    // The first holds the output open, the second has a session of its own.
    let command = "sleep 1000 & echo $! > inside; setsid sh -c 'echo $$ > outside; exec sleep 1000' & \
                   while [ ! -s outside ]; do sleep 0.01; done; echo done";
    let end = run_in(folder.path(), command, b"", Duration::from_secs(20)).await;
    assert_eq!(printed(&end), "done\n");
    for name in ["inside", "outside"] {
        gone(&fs::read_to_string(folder.path().join(name)).unwrap()).await;
    }
}

#[tokio::test]
async fn a_hook_that_forks_without_end_is_over_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    // Two hundred that stay, and one that starts another one for ever.
    let command = "i=0; while [ $i -lt 200 ]; do sleep 1000 & echo $! >> all; i=$((i+1)); done; \
                   f() { sleep 0.01; f & }; f; sleep 1000";
    let end = run_in(folder.path(), command, b"", Duration::from_millis(1_500)).await;
    assert!(matches!(end, HookEnd::Late(_)), "{end:?}");
    for pid in fs::read_to_string(folder.path().join("all")).unwrap().lines() {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_run_that_is_given_up_ends_within_200_ms() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut hook = Box::pin(run_in(folder.path(), "echo $$ > pid; sleep 1000", b"", Duration::from_secs(60)));
    let started = async {
        while !fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        end = &mut hook => panic!("{end:?}"),
        () = started => {}
    }
    let began = Instant::now();
    drop(hook);
    gone(&fs::read_to_string(&file).unwrap()).await;
    // Far less on a machine that does nothing else.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_left_the_group_of_a_run_that_is_given_up_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("outside");
    let command = "setsid sh -c 'echo $$ > outside; exec sleep 1000' & sleep 1000";
    let mut hook = Box::pin(run_in(folder.path(), command, b"", Duration::from_secs(60)));
    let started = async {
        while !fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        end = &mut hook => panic!("{end:?}"),
        () = started => {}
    }
    let pid = fs::read_to_string(&file).unwrap();
    drop(hook);
    gone(&pid).await;
}
