//! Tests the policy against the real shells: zsh and fish read each line allowed there as bash does; lines that run live leave the
//! shell alive.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests; a skipped test says why")]

use std::{
    fmt::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use cohab_policy::{Context, Level, assess_line, in_words_of_bash};
use cohab_shell_relay::subshell::{Containment, containment};
use cohab_shell_state::shell::Shell;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

/// Lines that are compared, per shell.
const LINES: usize = 600;
/// Lines in a shell's own words, per shell.
const OWN_LINES: usize = 300;
/// Texts that are run, per shell.
const TEXTS: usize = 150;
/// Programs that are replaced by a function that shows its arguments.
const PROGRAMS: [&str; 5] = ["ls", "git", "cat", "find", "grep"];

fn is_missing(program: &str) -> bool {
    let is_missing = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_err();
    if is_missing {
        eprintln!("skipped: no {program} here");
    }
    is_missing
}

/// The words that `shell` hands to the programs of each line, in the folder `cwd`: a text per line.
fn readings(shell: Shell, lines: &[String], cwd: &Path) -> Vec<String> {
    let shown = cwd.join(format!("../shown.{}", shell.name()));
    // A row is written in one call, as the parts of a pipe write at the same time.
    let (head, row, tail) = match shell {
        Shell::Fish => ("function shows; set -l row (printf '<%s>' $argv | string collect); ", "$row", "; end"),
        _ => ("shows() { local row; printf -v row '<%s>' \"$@\"; ", "\"$row\"", "; }"),
    };
    let file = shown.display();
    // The command reads its pipe, so that no writer fails.
    let mut script = format!("{head}printf '%s\\n' {row} >>{file}; command cat >/dev/null{tail}\n");
    for program in PROGRAMS {
        let _ = match shell {
            Shell::Fish => writeln!(script, "function {program}; shows {program} $argv; end"),
            _ => writeln!(script, "{program}() {{ shows {program} \"$@\"; }}"),
        };
    }
    for (index, line) in lines.iter().enumerate() {
        let file = cwd.join(format!("../line.{index}"));
        std::fs::write(&file, line).unwrap();
        let _ = match shell {
            Shell::Fish => {
                writeln!(script, "read -z line <{}; eval $line </dev/null >/dev/null 2>/dev/null", file.display())
            }
            _ => writeln!(script, "eval \"$(<{})\" </dev/null >/dev/null 2>/dev/null", file.display()),
        };
        let _ = writeln!(script, "echo ---- >>{}", shown.display());
    }
    let (program, arguments): (&str, &[&str]) = match shell {
        Shell::Fish => ("fish", &["--no-config"]),
        // The options that change how most is read; a pattern without a match stays as in bash.
        Shell::Zsh => ("zsh", &["-f", "-o", "extended_glob", "-o", "rc_quotes", "-o", "magic_equal_subst"]),
        _ => ("bash", &["--norc", "-O", "globstar"]),
    };
    let script_file = cwd.join(format!("../script.{}", shell.name()));
    std::fs::write(&script_file, script).unwrap();
    let status = Command::new(program).args(arguments).arg(&script_file).current_dir(cwd).stdin(Stdio::null()).status();
    assert!(status.is_ok(), "{program}: {status:?}");
    let shown = std::fs::read_to_string(shown).unwrap();
    // The parts of a pipe come in any order.
    let sorted = |part: &str| {
        let mut rows: Vec<_> = part.lines().collect();
        rows.sort_unstable();
        rows.join("\n")
    };
    let mut parts: Vec<_> = shown.split("----\n").map(sorted).collect();
    parts.pop();
    parts
}

/// Lines that the policy allows in `shell`, made of forms that shells are likely to read in different ways.
fn allowed_lines(shell: Shell) -> Vec<String> {
    let pieces = "(ls|git|cat|find|grep)([ ]|[ ]?(-[a-c]|--x|a|b[.]rs|'|'|\"|\"|\\\\|\\\\|\\*|\\?|~|/|=|==|:|%self|%|\\^|#|!|@|\\+|[.]{2,3}|,|[|]|;|&&|[|][|]| 2>/dev/null| 2>&1|[ ]>/dev/null|<b[.]rs|12>|\\(|\\)|\\[|\\]|[1-9]|é|\n(ls|git|cat)[ ]|;(ls|cat)[ ]|[|](grep|cat)[ ]|'b[\\\\]?'|\"c d\"|'\\\\\\\\'|''|HEAD\\^|HEAD~2|HEAD@\\{1\\}|@\\{[ab,.]{0,2}\\}|\\^\\{a\\}|\\{|\\})){1,9}";
    allowed_of(shell, pieces, LINES)
}

/// Up to `count` lines of this pattern that the policy allows in `shell`.
fn allowed_of(shell: Shell, pattern: &str, count: usize) -> Vec<String> {
    let lines = proptest::string::string_regex(pattern).unwrap();
    let mut runner = TestRunner::deterministic();
    let mut allowed = Vec::new();
    let context = Context::new(Path::new("/home/ann/work"), Path::new("/home/ann")).in_shell(shell);
    for _ in 0..200_000 {
        let line = lines.new_tree(&mut runner).unwrap().current();
        if assess_line(&line, context).level == Level::Allow {
            allowed.push(line);
        }
        if allowed.len() == count {
            break;
        }
    }
    allowed
}

#[test]
fn what_is_allowed_in_another_shell_is_read_there_as_in_bash() {
    for shell in [Shell::Zsh, Shell::Fish] {
        if is_missing(shell.name()) {
            continue;
        }
        let lines = allowed_lines(shell);
        assert_eq!(lines.len(), LINES, "{shell:?}");
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("cwd");
        std::fs::create_dir(&cwd).unwrap();
        for name in ["a", "b.rs", "c d", "aa", "HEAD", "é"] {
            std::fs::write(cwd.join(name), "x").unwrap();
        }
        let plain: Vec<_> = lines.iter().map(|line| in_words_of_bash(line, shell)).collect();
        let bash = readings(Shell::Bash, &plain, &cwd);
        let other = readings(shell, &lines, &cwd);
        assert_eq!((bash.len(), other.len()), (lines.len(), lines.len()), "{shell:?}");
        let mut read = 0;
        let mut wrong = Vec::new();
        for ((line, bash), other) in lines.iter().zip(&bash).zip(&other) {
            // A pattern that matches nothing ends the line in zsh and the command in fish: less runs.
            let runs_less = other.lines().all(|row| bash.lines().any(|known| known == row));
            let has_pattern = line.contains(['*', '?']);
            if bash == other {
                read += 1;
            } else if !(names_in_other_order(bash, other) || (has_pattern && runs_less)) {
                wrong.push(format!("{line:?}\n  bash {bash:?}\n  {} {other:?}", shell.name()));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
        assert!(read * 2 > lines.len(), "{shell:?}: {read} of {} compared", lines.len());
    }
}

#[test]
fn what_a_shell_writes_its_own_way_hands_on_no_word_that_its_words_of_bash_do_not() {
    let of_zsh = "(cat|ls|ls -d|cat a)( ([*]|a[*]|[*][.]rs|[*][*]/[*]|d/[*]|[*][.][(](rs|x)[|]c[)]|[{]a,aa[}]|[*][.][{]rs,x[}]|a)([(]([.]|N|/|/N|[.]om\\[1,2\\]|@N|\\^/|onN|[.]Lk-9|Y1)[)])?){1,3}( 2>/dev/null)?(; ls a[*][(]N[)]| && ls [*][(][.][)]| [|] cat)?|< b[.]rs cat( [|] cat)?";
    let of_fish = "(cat|ls|not ls|cat a|true; and cat|false; or ls)( ([*]|a[*]|[*][.]rs|[*][*]/[*]|[*][*][.]rs|d/[*][*]|[{]a,aa[}]|[*][.][{]rs,c[}]|a)){1,3}(; and ls a[*]|; or ls a| [|] cat|; not cat b[.]rs)?";
    for (shell, pattern) in [(Shell::Zsh, of_zsh), (Shell::Fish, of_fish)] {
        if is_missing(shell.name()) {
            continue;
        }
        let lines = allowed_of(shell, pattern, OWN_LINES);
        assert_eq!(lines.len(), OWN_LINES, "{shell:?}");
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("cwd");
        std::fs::create_dir_all(cwd.join("d/e")).unwrap();
        for name in ["a", "b.rs", "c d", "aa", "x.c", "d/f.rs", "d/e/g.rs", "-x", ".env"] {
            std::fs::write(cwd.join(name), "x").unwrap();
        }
        let plain: Vec<_> = lines.iter().map(|line| in_words_of_bash(line, shell)).collect();
        let bash = readings(Shell::Bash, &plain, &cwd);
        let other = readings(shell, &lines, &cwd);
        let mut wrong = Vec::new();
        for ((line, bash), other) in lines.iter().zip(&bash).zip(&other) {
            if !other.lines().all(|row| bash.lines().any(|known| is_within(row, known))) {
                wrong.push(format!("{line:?}\n  bash {bash:?}\n  {} {other:?}", shell.name()));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
        let read = other.iter().filter(|rows| !rows.is_empty()).count();
        assert!(read * 2 > lines.len(), "{shell:?}: {read} of {} ran", lines.len());
    }
}

/// Whether a row names the same program with no word that the other row lacks. fish finds files in all folders, while bash, without a
/// folder in front of `**`, finds those of the current one.
fn is_within(row: &str, other: &str) -> bool {
    let words = |row: &str| row.trim_matches(['<', '>']).split("><").map(str::to_owned).collect::<Vec<_>>();
    let (row, other) = (words(row), words(other));
    let is_deep = |word: &String| {
        word.starts_with("d/")
            && other.iter().any(|known| known.ends_with(".rs") || known.starts_with("d/") || known == "d")
    };
    row.first() == other.first() && row.iter().all(|word| other.contains(word) || is_deep(word))
}

/// Each shell sorts the names that a pattern matches in its own way.
fn names_in_other_order(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        let mut words: Vec<_> = text.split(['<', '>', '\n']).map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    words(one) == words(other)
}

#[test]
fn what_runs_live_leaves_the_shell_alive() {
    let pieces = "((exit|exec true|set -e|false|true|ls|eval|trap x EXIT|bye|setopt err_exit|noglob|repeat 2|begin|end|if true|if|function f|f[(][)]|not|and|or|builtin|command|then|fi|else|echo|[{]|[}])[ ]?(;|\n| |[|]|&&|[|][|]|'|\"|[(]|[)]| #)[ ]?){1,6}";
    let texts = proptest::string::string_regex(pieces).unwrap();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        if is_missing(shell.name()) {
            continue;
        }
        let mut runner = TestRunner::deterministic();
        let mut checked = 0;
        for _ in 0..20_000 {
            let text = texts.new_tree(&mut runner).unwrap().current();
            let contained = containment(shell, &text);
            let text = match (&contained, text.contains("exit") || text.contains("exec")) {
                (Containment::Refused(_), _) | (Containment::Live, false) => continue,
                (Containment::Live, true) => &text,
                (Containment::Subshell(text), _) => text,
            };
            assert!(lives_on(shell, text), "{shell:?} {contained:?}");
            checked += 1;
            if checked == TEXTS {
                break;
            }
        }
        assert_eq!(checked, TEXTS, "{shell:?}");
    }
}

/// Whether the shell still reads commands after `eval` of `text`, without `errexit`.
fn lives_on(shell: Shell, text: &str) -> bool {
    let script = match shell {
        Shell::Fish => "eval $argv[1]; echo ALIVE",
        _ => "eval \"$1\"; false; echo ALIVE",
    };
    let arguments: &[&str] = match shell {
        Shell::Fish => &["--no-config", "-c", script, "--"],
        Shell::Zsh => &["-f", "-c", script, "zsh"],
        _ => &["--norc", "-c", script, "bash"],
    };
    let mut command = Command::new(shell.name());
    command.args(arguments).arg(text).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).contains("ALIVE")
}
