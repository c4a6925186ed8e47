use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use cohab_store::sessions::event::Approval;

use super::{
    super::testing::{Home, answer, call, question, result},
    *,
};

fn exported(home: &Home, turn: Option<u32>) -> Exported {
    let args = ExportArgs { id: "last".into(), turn, script: true, markdown: false, cast: false, output: None };
    Exported { zone: TimeZone::UTC, ..read(&args, &home.paths).expect("it is there") }
}

/// Whether a shell can read the script; nothing of it runs.
fn is_readable(shell: &str, script: &str) -> bool {
    let child = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("the shell starts");
    child.stdin.take().expect("an input").write_all(script.as_bytes()).expect("it reads");
    child.wait().expect("it ends").success()
}

#[test]
fn a_script_repeats_what_went_well_and_says_the_rest() {
    let script = script::script(&exported(&Home::with_sessions(), None));
    assert!(is_readable("bash", &script), "{script}");
    insta::assert_snapshot!(script);
}

#[test]
fn a_transcript_reads_like_the_conversation() {
    let transcript = markdown::transcript(&exported(&Home::with_sessions(), None));
    assert!(!transcript.contains(['\u{1b}', '\u{7}']), "{transcript:?}");
    insta::assert_snapshot!(transcript);
}

#[test]
fn a_recording_is_an_asciicast_that_is_never_idle_for_long() {
    let recording = cast::recording(&exported(&Home::with_sessions(), None));
    let mut lines = recording.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let header = lines.next().expect("a header");
    assert_eq!((&header["version"], &header["width"], &header["height"]), (&2.into(), &100.into(), &30.into()));
    let mut last = 0.0;
    let mut screen = String::new();
    for event in lines {
        let at = event[0].as_f64().expect("seconds");
        assert!((last..=last + 2.0 + 0.1).contains(&at), "{last} {event}");
        last = at;
        assert_eq!(event[1], "o");
        screen.push_str(event[2].as_str().expect("output"));
    }
    assert!(screen.contains("$ ? fix it and deploy\r\n") && screen.contains("> chmod 755 ./deploy.sh\r\n"), "{screen}");
    assert!(screen.contains("broken\r\n") && !screen.contains(['\u{1b}', '\u{7}']), "{screen:?}");
}

#[test]
fn whatever_ran_the_script_can_be_read() {
    let home = Home::empty();
    let commands = [
        "cat <<EOF\nno end",
        "echo \\",
        "ls -d !(a|b)",
        "echo 'a\nb' # comment",
        "for i in 1 2\ndo echo $i\ndone",
        "echo \"# $(echo \\\"a\\\")\"",
        "f() { echo hi; }",
        "case x in x) echo 1;; esac",
        "echo ${x:-'}'}",
        "true &",
        "",
        "# only a comment",
    ];
    let mut events = vec![question("do\nit\r$(rm -rf /)\\", "bash")];
    for command in commands {
        events.extend([call(command, "/it's \\here\n$(x)", Approval::Once), result("", Some(0), "/else")]);
    }
    events.extend([call("if then", "/", Approval::Once), result("", Some(2), "/")]);
    home.turn("s", "t", 0, "a \\title", &events);
    let script = script::script(&exported(&home, None));
    assert!(is_readable("bash", &script), "{script}");
    assert!(!is_readable("bash", "if then"), "the check can fail");
}

#[test]
fn the_script_is_for_the_shell_that_it_ran_in() {
    for (shell, first, has_set) in
        [("zsh", "#!/usr/bin/env zsh", true), ("fish", "#!/usr/bin/env fish", false), ("", "#!/usr/bin/env bash", true)]
    {
        let home = Home::empty();
        home.turn(
            "s",
            "t",
            0,
            "t",
            &[question("q", shell), call("ls", "/a'b", Approval::Once), result("", Some(0), "/")],
        );
        let script = script::script(&exported(&home, None));
        assert_eq!((script.lines().next(), script.contains("set -e")), (Some(first), has_set));
    }
}

#[test]
fn one_question_can_be_had_alone() {
    let home = Home::empty();
    for (turn, start) in [("t1", 0), ("t2", 10)] {
        home.turn("s", turn, start, "t", &[question(turn, "bash"), answer("done")]);
    }
    let transcript = |turn| markdown::transcript(&exported(&home, turn));
    assert!(transcript(Some(2)).contains("## t2") && !transcript(Some(2)).contains("## t1"));
    assert!(transcript(None).contains("## t1"));
    let args =
        ExportArgs { id: "last".into(), turn: Some(3), script: true, markdown: false, cast: false, output: None };
    let Err(Failure::Other(message, hint)) = read(&args, &home.paths) else { panic!("no such question") };
    assert_eq!((message.as_str(), hint.as_deref()), ("the session has no question 3", Some("number of questions: 2")));
}

#[test]
fn a_file_is_never_written_over() {
    let home = Home::with_sessions();
    let path = home.paths.state_dir.join("deploy.sh");
    let args = ExportArgs {
        id: "last".into(),
        turn: None,
        script: true,
        markdown: false,
        cast: false,
        output: Some(path.clone()),
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    assert_eq!(run(&args, &home.paths, &mut output, &mut errors), ExitCode::SUCCESS);
    assert!(output.is_empty() && fs::read_to_string(&path).expect("it is there").starts_with("#!/usr/bin/env bash\n"));
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o100, 0o100);
    assert_eq!(run(&args, &home.paths, &mut output, &mut errors), ExitCode::FAILURE);
    assert!(String::from_utf8_lossy(&errors).contains("cannot be written"));
}
