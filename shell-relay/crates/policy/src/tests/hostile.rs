//! Tests with texts made to break their readers: nested, endless, broken, hidden. Each has a verdict that is not `Allow`, within bounds
//! of size and on a small stack. (`scripts/bench policy` and the fuzz target check that no time grows faster than the text.)

use super::*;

/// Smaller than the stack of any thread of ours.
const SMALL_STACK_BYTES: usize = 512 * 1024;
/// Just below the limit, so that it reaches the readers of a whole line.
const LONG: usize = 31_000;
/// Enough to nest deeper than any reader follows.
const SHORT: usize = 1_500;
/// Longer than any scanned text.
const TOO_LONG: usize = 140_000;

fn on_a_small_stack(check: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(SMALL_STACK_BYTES).spawn(check).expect("a thread");
    thread.join().expect("no panic");
}

fn repeated(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len() + 1)
}

#[test]
fn what_nests_without_end_is_never_allowed_and_overflows_no_stack() {
    on_a_small_stack(|| {
        let nesting = [
            "$(",
            "(",
            "((",
            "{ ",
            "{",
            "`",
            "\"$(",
            "${x",
            "$((",
            "<(",
            "[[ ",
            "[ ! ",
            "! ",
            "if ",
            "while ",
            "until ",
            "for i in a; do ",
            "case x in ",
            "select x in ",
            "coproc ",
            "time ",
            "function f { ",
            "f() { ",
            "then ",
            "<<E ",
            "cat <<E\n",
            "$(cat <<E\n",
            "a[$(",
        ];
        let handing_on =
            ["eval ", "eval \"$(", "env ", "sudo ", "xargs ", "sh -c '", "bash -c \"", "source <(", "curl http://x/$("];
        for (units, bytes) in [(&nesting[..], LONG), (&handing_on[..], SHORT)] {
            for unit in units {
                assert_ne!(level(&repeated(unit, bytes)), Level::Allow, "{unit}");
            }
        }
        for unit in ["$(", "if ", "{ "] {
            assert_ne!(level(&repeated(unit, TOO_LONG)), Level::Allow, "{unit}");
        }
    });
}

#[test]
fn what_goes_on_without_end_is_never_allowed() {
    on_a_small_stack(|| {
        let units = [
            "ls;",
            "ls|",
            "ls&&",
            "ls||",
            "ls&",
            "ls\n",
            "a ",
            ">f ",
            "<f ",
            "2>&1 ",
            "x=1 ",
            "\"",
            "\\",
            "#",
            "\\\n",
            "a\\",
            "\"a\"'b'",
            "* ",
            "*a",
            "../",
            "f(){ f|f& };f;",
            "a(){ ",
            "find . -exec ",
            "\u{200b}",
            "\u{e0041}",
        ];
        for unit in units {
            for (shell, bytes) in [(Shell::Bash, 8_000), (Shell::Zsh, SHORT), (Shell::Fish, SHORT)] {
                assert_ne!(level_in(shell, &repeated(unit, bytes)), Level::Allow, "{shell:?} {unit}");
            }
        }
        for line in
            [format!("ls {}", repeated("a ", 3_000)), format!("cat {}", repeated("''", 33_000)), repeated("ls;", 160)]
        {
            assert_eq!(level(&line), Level::Ask, "{} bytes", line.len());
        }
    });
}

#[test]
fn a_limit_hides_no_harm() {
    let long = [
        repeated("ls; ", 1_000),
        repeated("ls; ", LONG),
        format!("echo {};", "x".repeat(100_000)),
        repeated("ls\n", 32_000),
    ];
    for before in long {
        for harm in ["rm -rf x", "$(rm -rf x)", "eval 'rm -rf x'", "cat ~/.ssh/id_rsa"] {
            let judged = level(&format!("{before}{harm}"));
            assert_eq!(judged, Level::Danger, "{} bytes before {harm}", before.len());
        }
    }
    assert_eq!(level(&repeated("ls;", LONG)), Level::Ask, "looked through to its end, nothing found");
    assert_eq!(level(&repeated("ls;", TOO_LONG)), Level::Danger, "too long to be looked through");
}

#[test]
fn hidden_and_broken_characters_are_danger_wherever_they_stand() {
    let hidden = [
        '\0',
        '\r',
        '\u{1}',
        '\u{7}',
        '\u{8}',
        '\u{b}',
        '\u{c}',
        '\u{1b}',
        '\u{7f}',
        '\u{80}',
        '\u{85}',
        '\u{9b}',
        '\u{a0}',
        '\u{ad}',
        '\u{34f}',
        '\u{61c}',
        '\u{115f}',
        '\u{180e}',
        '\u{2000}',
        '\u{200b}',
        '\u{200d}',
        '\u{200e}',
        '\u{2028}',
        '\u{2029}',
        '\u{202a}',
        '\u{202e}',
        '\u{2060}',
        '\u{2066}',
        '\u{2069}',
        '\u{3000}',
        '\u{3164}',
        '\u{feff}',
        '\u{fe0f}',
        '\u{fffd}',
        '\u{e0001}',
        '\u{e0041}',
    ];
    for c in hidden {
        for line in [format!("ls {c}"), format!("ls 'a{c}b'"), format!("{c}ls"), format!("ls # {c}"), format!("l{c}s")]
        {
            for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
                assert_eq!(level_in(shell, &line), Level::Danger, "{line:?}");
            }
        }
    }
    let broken = String::from_utf8_lossy(b"ls \xff\xfe");
    assert_eq!(level(&broken), Level::Danger);
}

#[test]
fn a_name_of_letters_that_look_like_others_is_danger() {
    for line in [
        "\u{441}at x",
        "ls; \u{440}wd",
        "l\u{455} -la",
        "\u{ff4c}\u{ff53}",
        "caf\u{e9}",
        "sudo l\u{455}",
        "$(l\u{455})",
        "e\u{301}cho x",
    ] {
        assert_eq!(level(line), Level::Danger, "{line}");
    }
    // A text in any language is only a text.
    for line in
        ["echo '\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}'", "ls '\u{65e5}\u{672c}'", "grep -n caf\u{e9} menu.txt"]
    {
        assert_eq!(level(line), Level::Allow, "{line}");
    }
}

#[test]
fn what_a_parser_may_end_early_at_hides_nothing() {
    for line in [
        "ls\rrm -rf x",
        "ls #\nrm -rf x",
        "#\nrm -rf x",
        "# ls\nrm -rf x",
        "\trm -rf x",
        "ls\t;\trm -rf x",
        "ls \n\n\n rm -rf x",
        "ls;#;\nrm -rf x",
        "ls '#' ; rm -rf x",
        "ls ${x#y}; rm -rf x",
        "ls a#b; rm -rf x",
        "ls \\#; rm -rf x",
    ] {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert_eq!(level_in(shell, line), Level::Danger, "{shell:?} {line:?}");
        }
    }
    for line in ["# rm -rf x", "#", "ls # the files", "ls #", "", " ", "\n", "\t"] {
        assert_eq!(level(line), Level::Ask, "{line:?}");
    }
    // Such a line is handed over by file, so its blanks keep their meaning.
    assert_eq!(level("ls\t-la\nwc -l\tx"), Level::Allow);
}

#[test]
fn a_reason_is_short_however_long_the_word_it_is_about() {
    for line in [
        format!("cat /etc/{}/id_rsa", "x/".repeat(2_000)),
        format!("{} x", "y".repeat(3_000)),
        "rm -rf ~/.ssh; ".repeat(200),
    ] {
        let reasons = assess_line(&line, context()).reasons;
        assert!(reasons.len() <= 12 && reasons.iter().all(|reason| reason.len() <= 410), "{}", reasons.len());
    }
}
