//! Commands at the prompt: what they do, what comes back, what is seen.

use std::{
    fs,
    time::{Duration, Instant},
};

use cohab_shell_relay::runner::{Ending, Mode};

use crate::terminal::Terminal;

#[test]
fn a_command_is_shown_runs_and_gives_its_status() {
    let mut t = Terminal::bash();
    for (text, status) in [("true", 0), ("false", 1), ("sh -c 'exit 42'", 42), ("sh -c 'exit 255'", 255), ("", 0)] {
        let outcome = t.run(text);
        assert_eq!(
            (outcome.status, outcome.output.as_str(), outcome.ending),
            (Some(status), "", Ending::Exited),
            "{text}"
        );
        assert_eq!(outcome.mode, Mode::Live);
    }
    assert_eq!(t.run("echo hi").output, "hi\n");
    t.wait_screen("$ true\n$ false\n$ sh -c 'exit 42'\n$ sh -c 'exit 255'\n$\n$ echo hi\nhi\n$");
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
}

#[test]
fn what_a_command_changes_in_the_shell_stays() {
    let mut t = Terminal::bash();
    assert_eq!(t.run("cd /usr/share").cwd.to_str(), Some("/usr/share"));
    assert_eq!(t.run("pwd").output, "/usr/share\n");
    t.run("export FOO='b ar'");
    assert!(t.run("env").output.contains("\nFOO=b ar\n"));
    t.line("echo \"<$FOO $PWD>\"");
    t.wait_text("<b ar /usr/share>");
    t.run("alias greet='echo hello'");
    assert_eq!(t.run("greet").output, "hello\n");
    t.run("f() { echo \"f $1\"; }");
    assert_eq!(t.run("f x").output, "f x\n");
    t.run("declare V=1");
    assert_eq!(t.run("echo $V").output, "1\n");
    t.run("pushd /usr >/dev/null; pushd /var >/dev/null");
    assert_eq!(t.run("dirs").output, "/var /usr /usr/share\n");
    t.run("umask 077");
    assert_eq!(t.run("umask").output, "0077\n");
}

#[test]
fn odd_directories_are_reported_exactly() {
    let mut t = Terminal::bash();
    for name in ["ä b", "new\nline;x", "per%cent", "quo'te"] {
        let path = t.home_path().join(name);
        fs::create_dir(&path).unwrap();
        t.run(&format!("cd ~ && cd '{}'", name.replace('\'', "'\\''")));
        assert_eq!(t.live.cwd(), path);
    }
    let gone = t.home_path().join("gone");
    fs::create_dir(&gone).unwrap();
    t.run(&format!("cd {}", gone.display()));
    fs::remove_dir(&gone).unwrap();
    let outcome = t.run("pwd; true");
    assert_eq!((outcome.cwd, outcome.status), (gone, Some(0)));
}

#[test]
fn a_text_is_one_unit_taken_literally() {
    let mut t = Terminal::bash();
    t.line("echo prev");
    assert_eq!(t.run("echo hi # note").output, "hi\n");
    assert_eq!(t.run("echo \"wow!!\" '!$'").output, "wow!! !$\n");
    assert_eq!(t.run("echo 日本語 é 🎉").output, "日本語 é 🎉\n");
    t.wait_text("$ echo 日本語 é 🎉\n日本語 é 🎉\n$");
    let looped = "for i in 1 2; do\n\techo \"n $i\" # say it\n\n\tfalse\ndone\necho end";
    assert_eq!(t.run(looped).output, "n 1\nn 2\nend\n");
    assert_eq!(t.run("cat <<A\n$((1 + 1)) $HOME\nA").output, format!("2 {}\n", t.home_path().display()));
    assert_eq!(t.run("cat <<'A'\n$HOME `x`\nA").output, "$HOME `x`\n");
    assert_eq!(t.run("cat <<-A\n\tx\n\tA\necho after").output, "x\nafter\n");
    assert_eq!(t.run("false | true; echo ${PIPESTATUS[*]}").output, "1 0\n");
}

#[test]
fn a_command_of_several_lines_is_echoed_as_given() {
    let mut t = Terminal::bash();
    t.run("for i in 1 2; do\n  echo $i\ndone");
    t.wait_screen("$ for i in 1 2; do\n  echo $i\ndone\n1\n2\n$");
}

#[test]
fn a_huge_command_runs_whole_and_is_shown_in_part() {
    let mut t = Terminal::bash();
    let outcome = t.run(&format!("x={}; echo ${{#x}}", "a".repeat(100_000)));
    assert_eq!(outcome.output, "100000\n");
    assert!(t.text().lines().count() < 12, "{}", t.text());
    let outcome = t.run(&format!("x={}; echo ${{#x}}", "b".repeat(1024 * 1024)));
    assert_eq!(outcome.output, "1048576\n");
}

#[test]
fn texts_that_cannot_be_sent_are_refused_before_anything_is() {
    let mut t = Terminal::bash();
    t.settle();
    let before = t.shown.len();
    assert_eq!(t.refused("echo a\0b"), "bad_text");
    assert_eq!(t.refused(&"x".repeat(4 * 1024 * 1024 + 1)), "bad_text");
    t.settle();
    assert_eq!(t.shown.len(), before);
}

#[test]
fn incomplete_texts_fail_at_once() {
    let mut t = Terminal::bash();
    for text in ["echo 'unclosed", "if true; then echo x", "echo $(", "cat <<E"] {
        let outcome = t.run(text);
        assert!(text == "cat <<E" || outcome.status != Some(0), "{text}: {outcome:?}");
        assert!(!outcome.output.is_empty(), "{text}");
    }
    assert_eq!(t.run("echo fine").output, "fine\n");
}

#[test]
fn statuses_are_exact() {
    let mut t = Terminal::bash();
    fs::write(t.home_path().join("plain"), "").unwrap();
    for (text, status) in [("nosuchcmd", 127), ("/", 126), ("~/plain", 126), ("sh -c 'kill -9 $$'", 137)] {
        assert_eq!(t.run(text).status, Some(status), "{text}");
    }
    t.run("false");
    t.line("echo \"s=$?\"");
    t.wait_text("s=1");
}

#[test]
fn output_without_a_last_newline_is_kept_exactly_and_stays_visible() {
    let mut t = Terminal::bash();
    let outcome = t.run("printf 'no newline'");
    assert_eq!((outcome.output.as_str(), outcome.total_bytes), ("no newline", 10));
    t.run("true");
    t.wait_screen("$ printf 'no newline'\nno newline\n$ true\n$");
}

#[test]
fn the_model_gets_what_is_seen() {
    let mut t = Terminal::bash();
    let outcome = t.run("printf 'a\\rb\\033[31mred\\033[0m\\n10%%\\r100%%\\n'");
    assert_eq!(outcome.output, "bred\n100%\n");
    assert!(t.shown.windows(8).any(|window| window == b"\x1b[31mred"));
    assert_eq!(t.run("printf 'x\\0y\\007z\\n'").output, "x\u{2400}y\u{2407}z\n");
    assert_eq!(t.shown.iter().filter(|byte| **byte == 7).count(), 1);
    let outcome = t.run("echo a; printf '\\033[?1049h'; echo hidden; printf '\\033[?1049l'; echo b");
    assert_eq!(outcome.output, "a\n[full-screen program ran]\nb\n");
    assert!(!t.live.modes().alternate_screen());
}

#[test]
fn a_flood_can_be_cancelled_and_is_counted() {
    let mut t = Terminal::bash();
    let id = t.begin("yes");
    t.wait_started(&id);
    t.settle_until(Duration::from_millis(300));
    let cancelled_at = Instant::now();
    t.cancel(&id);
    let outcome = t.result(&id).unwrap();
    assert!(cancelled_at.elapsed() < Duration::from_secs(2));
    assert_eq!((outcome.ending, outcome.status), (Ending::Interrupted, Some(130)));
    assert!(
        outcome.truncated_bytes > 0
            && outcome.output.starts_with("y\ny\n")
            && outcome.output.contains("bytes left out]")
    );
    assert_eq!(t.run("echo next").output, "next\n");
}

#[test]
fn a_megabyte_is_counted_exactly_and_binary_noise_harms_nothing() {
    let mut t = Terminal::bash();
    let outcome = t.run("head -c 500000 /dev/zero | od -An -v -tx1");
    // 16 bytes a row: 48 characters, CR, LF.
    assert_eq!(outcome.total_bytes, 500_000 / 16 * 50);
    assert_eq!(t.run("head -c 200000 /dev/urandom").status, Some(0));
    assert_eq!(t.run("reset; echo next").output.trim(), "next");
}
