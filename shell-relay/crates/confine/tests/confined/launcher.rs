//! Tests that the launcher becomes the program and records the rules that held.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, symlink},
        process::ExitStatusExt,
    },
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{Bench, launcher, set_mode, skips};
use cohab_confine::{Denied, Record, temporary};

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap().trim_end().to_owned()
}

#[test]
fn it_is_the_same_process_with_the_same_end() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    let mut child = bench.confined(&["sh", "-c", "echo $$"]).stdout(Stdio::piped()).spawn().unwrap();
    let pid = child.id().to_string();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut said).unwrap();
    assert_eq!(said.trim_end(), pid);
    assert!(child.wait().unwrap().success());
    for status in [0, 1, 42, 255] {
        let output = bench.script(&format!("exit {status}"));
        assert_eq!(output.status.code(), Some(status));
    }
    assert_eq!(bench.script("kill -SEGV $$").status.signal(), Some(11));
    assert_eq!(text(&bench.confined(&["sh", "-c", "echo $0 $1", "zero", "one two"]).output().unwrap()), "zero one two");
}

#[test]
fn signals_that_the_shell_had_set_stay_as_they_were() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    let line = format!("'{}' -- grep ^SigIgn /proc/self/status", launcher().display());
    for before in ["", "trap '' PIPE; ", "trap '' INT; ", "trap '' PIPE INT; "] {
        let plain = bench.plain(&["bash", "-c", &format!("{before}grep ^SigIgn /proc/self/status")]).output().unwrap();
        let confined = bench.plain(&["bash", "-c", &format!("{before}{line}")]).output().unwrap();
        assert_eq!(text(&confined), text(&plain), "{before}");
    }
    let piped = format!("'{}' -- seq 1000000 | head -n 1; echo ${{PIPESTATUS[0]}}", launcher().display());
    assert_eq!(text(&bench.plain(&["bash", "-c", &piped]).output().unwrap()), "1\n141");
}

#[test]
fn what_cannot_be_started_has_the_status_of_a_shell() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    let plain_text = bench.write("app/text", "x");
    let program = bench.write("app/script", "echo by sh\n");
    set_mode(&program, 0o755);
    let status = |words: &[&str]| bench.confined(words).output().unwrap().status.code().unwrap();
    assert_eq!(status(&["cohab-no-such-program"]), 127);
    assert_eq!(status(&["./missing"]), 127);
    assert_eq!(status(&[plain_text.to_str().unwrap()]), 126);
    assert_eq!(status(&["/"]), 126);
    assert_eq!(text(&bench.confined(&["./script"]).output().unwrap()), "by sh");
    for words in [&["cat"][..], &["--"], &[], &["--record"], &["--what", "--", "true"]] {
        let output = Command::new(launcher()).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: cohab-confine"), "{output:?}");
    }
}

#[test]
fn programs_are_found_as_a_shell_finds_them() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    for (name, mode) in [("app/bin/tool", 0o644), ("app/other/tool", 0o755), ("app/tool", 0o755)] {
        set_mode(&bench.write(name, &format!("#!/bin/sh\necho {name}\n")), mode);
    }
    let run = |path: &str| bench.confined(&["tool"]).env("PATH", path).output().unwrap();
    assert_eq!(text(&run("/nowhere:bin:other:/bin")), "app/other/tool");
    assert_eq!(text(&run(":/bin")), "app/tool");
    assert_eq!(run("bin").status.code(), Some(126));
    let told = bench.confined(&["sh", "-c", "echo $_"]).env("_", launcher()).output().unwrap();
    assert!(text(&told).ends_with("/sh"), "{told:?}");
}

#[test]
fn each_program_has_a_private_folder_that_the_next_one_removes() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    let place = bench.home().join("tmp");
    fs::create_dir(&place).unwrap();
    let script = "umask 000; exec \"$0\" -- sh -c 'echo $TMPDIR $$; stat -c %a $TMPDIR; mkdir $TMPDIR/deep; echo x >$TMPDIR/deep/x'";
    let run = || {
        let mut command = bench.plain(&["sh", "-c", script, launcher().to_str().unwrap()]);
        text(&command.env("TMPDIR", &place).output().unwrap())
    };
    let shared = temporary::shared(&place);
    for _ in 0..3 {
        let said = run();
        let (folder, mode) = said.split_once('\n').unwrap();
        let (folder, pid) = folder.split_once(' ').unwrap();
        assert_eq!((Path::new(folder), mode), (shared.join(pid).as_path(), "700"));
        assert!(Path::new(folder).join("deep/x").exists());
        assert_eq!(fs::read_dir(&shared).unwrap().count(), 1, "the one before is gone");
    }
    assert_eq!(fs::metadata(&shared).unwrap().mode() & 0o7777, 0o700);
    // Another user's folder is not used, and nothing else is written.
    fs::remove_dir_all(&shared).unwrap();
    symlink(bench.home(), &shared).unwrap();
    let said = bench.confined(&["sh", "-c", "echo $TMPDIR"]).env("TMPDIR", &place).output().unwrap();
    assert!(!text(&said).starts_with(place.to_str().unwrap()), "{said:?}");
}

#[test]
fn no_capability_is_left_but_roots_to_read() {
    if skips() {
        return;
    }
    let status = text(&Bench::new().confined(&["cat", "/proc/self/status"]).output().unwrap());
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), ("1".into(), "2".into()));
    for name in ["CapInh:", "CapAmb:"] {
        assert_eq!(field(name), "0000000000000000", "{name}");
    }
    let is_root = rustix::process::geteuid().is_root();
    let read_search = "0000000000000004";
    for name in ["CapPrm:", "CapEff:"] {
        assert_eq!(field(name), if is_root { read_search } else { "0000000000000000" }, "{name}");
    }
    if is_root {
        assert_eq!(field("CapBnd:"), read_search);
    }
}

#[test]
fn root_reads_the_files_of_others_and_changes_none() {
    if skips() || !rustix::process::geteuid().is_root() {
        return;
    }
    let bench = Bench::new();
    let file = bench.write("app/others/private", "text\n");
    set_mode(&file, 0o600);
    set_mode(file.parent().unwrap(), 0o700);
    for path in [file.parent().unwrap(), &file] {
        std::os::unix::fs::chown(path, Some(1234), Some(1234)).unwrap();
    }
    assert_eq!(text(&bench.confined(&["cat", "others/private"]).output().unwrap()), "text");
    for words in
        [&["rm", "others/private"][..], &["sh", "-c", "echo x >others/private"], &["chmod", "666", "others/private"]]
    {
        assert!(!bench.confined(words).output().unwrap().status.success(), "{words:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "text\n");
}

#[test]
fn a_program_that_runs_code_in_its_words_gets_no_variable_with_a_key() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    let said = |words: &[&str]| {
        let mut command = bench.confined(words);
        text(&command.env("DEPLOY_TOKEN", "hunter2").env("LANG", "C.UTF-8").stdin(Stdio::null()).output().unwrap())
    };
    assert_eq!(said(&["sh", "-c", "echo ${DEPLOY_TOKEN-none} $LANG"]), "none C.UTF-8");
    assert_eq!(said(&["timeout", "5", "sh", "-c", "echo ${DEPLOY_TOKEN-none} $LANG"]), "none C.UTF-8");
    assert_eq!(said(&["printenv", "DEPLOY_TOKEN"]), "hunter2");
}

#[test]
fn a_record_explains_a_failure() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    bench.fill();
    let record = bench.write("record", "");
    set_mode(&record, 0o600);
    let explained = |words: &[&str]| {
        fs::write(&record, "").unwrap();
        let mut command = Command::new(launcher());
        command.arg("--record").arg(&record).arg("--").args(words).current_dir(bench.app()).env("HOME", bench.home());
        let output = command.env("LC_ALL", "C").output().unwrap();
        let line = fs::read_to_string(&record).unwrap();
        let kept = Record::from_line(&line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((kept.program.as_str(), &kept.cwd), (words[0], &bench.app()));
        kept.explain(output.status.code().unwrap(), &String::from_utf8_lossy(&output.stderr))
    };
    let key = bench.home().join(".ssh/id_ed25519");
    assert_eq!(explained(&["cat", key.to_str().unwrap()]), Some(Denied::Secret(key)));
    assert_eq!(explained(&["cat", ".env"]), Some(Denied::Secret(bench.app().join(".env"))));
    assert_eq!(explained(&["touch", "README.md"]), Some(Denied::Path(bench.app().join("README.md"))));
    assert_eq!(explained(&["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9"]), Some(Denied::Network));
    assert_eq!(explained(&["cat", "README.md"]), None);
    assert_eq!(explained(&["cat", "missing"]), None);
    set_mode(&record, 0o644);
    let refused = Command::new(launcher()).arg("--record").arg(&record).args(["--", "true"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(125), "{refused:?}");
}

#[test]
fn it_works_inside_of_itself() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    bench.fill();
    let own = launcher().to_str().unwrap();
    let output = bench.confined(&[own, "--", "sh", "-c", "cat README.md; mktemp; cat .env"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("needle") && said.lines().count() == 4 && !said.contains("secret"), "{output:?}");
}

/// Starts processes until none can be started, or 3,000; prints their number and ends them.
const BOMB: &str = r#"perl -e '
    my $most = 3000; my @all;
    while (@all < $most) { my $pid = fork; last unless defined $pid; if (!$pid) { sleep 60; exit } push @all, $pid }
    print scalar @all; kill 9, @all; waitpid $_, 0 for @all;
'"#;

#[test]
fn processes_without_end_end() {
    if skips() {
        return;
    }
    let bench = Bench::new();
    let (mut command, copy) = (Command::new(launcher()), tempfile::tempdir().unwrap());
    if rustix::process::getuid().is_root() {
        // The kernel bounds no processes of root, and another user may be unable to reach the folder of the launcher.
        set_mode(copy.path(), 0o755);
        let copied = copy.path().join("cohab-confine");
        fs::copy(launcher(), &copied).unwrap();
        command = Command::new("setpriv");
        command.args(["--reuid=61234", "--clear-groups", "--"]).arg(copied);
    }
    let output = command.args(["--line", "bash", BOMB]).current_dir("/").env("HOME", bench.home()).output().unwrap();
    let started: u32 = text(&output).parse().unwrap();
    assert!((100..2900).contains(&started), "{started} processes");
}
