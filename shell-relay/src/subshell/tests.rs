use proptest::prelude::*;

use super::*;

fn is_contained(shell: Shell, text: &str) -> bool {
    containment(shell, text) != Containment::Live
}

#[test]
fn what_ends_or_changes_bash_or_zsh_is_found() {
    for text in [
        "exit",
        "exit 3",
        "cd /tmp && exit 1",
        "cd /nope || exit",
        "if true; then exit; fi",
        "for i in 1 2; do { exit; }; done",
        "case x in x) logout ;; esac",
        "while true; do exit; done",
        "\\exit",
        "'ex'it 2",
        "builtin exit",
        "command exec ls",
        "exec sh",
        "exec </dev/null",
        "exec 3>x 0<&-",
        "exec <<<x",
        "set -e; cd /nope; ls",
        "set -euo pipefail\nls",
        "set -o errexit",
        "set -uo errexit",
        "trap 'echo bye' EXIT",
        "X=1 exit",
        "exit\n'unclosed",
        "eval exit",
        "eval 'cd /nope || exit'",
    ] {
        for shell in [Shell::Bash, Shell::Zsh] {
            assert!(is_contained(shell, text), "{shell:?} {text}");
        }
    }
}

#[test]
fn what_leaves_bash_and_zsh_alone_is_not() {
    for text in [
        "",
        "ls -la",
        "echo exit",
        "(exit 3)",
        "sh -c 'exit 42'",
        "exit 3 | cat",
        "exit &",
        "f() { exit; }",
        "exec 3<file",
        "exec 3<>file 9>other {fd}>third",
        "set -u",
        "set -o pipefail",
        "set -- -e",
        "trap - INT",
        "systemctl set-default x",
        "grep -r 'set -e' .",
        "cat <<EOF\nexit\nEOF",
        "echo hi # exit",
        "eval 'echo exit'",
    ] {
        for shell in [Shell::Bash, Shell::Zsh] {
            assert!(!is_contained(shell, text), "{shell:?} {text}");
        }
    }
}

#[test]
fn zsh_has_more_ways_to_end_or_change_itself() {
    for text in [
        "bye",
        "noglob exit",
        "nocorrect exit",
        "- exit",
        "true | exit",
        "repeat 2 exit",
        "repeat 2 { exit }",
        "if [[ a ]] { exit }",
        "for i (1 2) exit",
        "() { exit }",
        "setopt ERR_EXIT",
        "setopt err_exit",
        "setopt -e",
        "setopt -o ErrExit",
        "setopt -m 'err*'",
        "unsetopt no_err_exit",
        "set -o Err_Exit",
        "set +o noerrexit",
        "options[errexit]=on",
        "emulate sh",
        "emulate -L ksh",
        "emulate -R zsh -e",
        "emulate sh -c 'exit'",
        "TRAPEXIT() { echo bye; }",
        "function TRAPEXIT { echo bye }",
    ] {
        assert!(is_contained(Shell::Zsh, text), "{text}");
    }
    for text in [
        "setopt extended_glob",
        "setopt no_err_exit",
        "unsetopt errexit",
        "emulate",
        "emulate sh -c 'x=1'",
        "set -A x -e",
    ] {
        assert!(!is_contained(Shell::Zsh, text), "{text}");
    }
    assert!(!is_contained(Shell::Bash, "bye; setopt err_exit; true | exit; emulate sh"));
}

#[test]
fn a_subshell_holds_the_whole_text_whatever_is_in_it() {
    let text = "exit 3\n) ; rm 'a b' ; (";
    let expected = "( eval -- 'exit 3\n) ; rm '\\''a b'\\'' ; (' )";
    assert_eq!(containment(Shell::Bash, text), Containment::Subshell(expected.into()));
}

#[test]
fn what_ends_fish_is_refused() {
    for text in [
        "exit",
        "exit 3",
        "true; exit",
        "echo a;exit",
        "true\nexit",
        "and exit",
        "; or exit",
        "not exit",
        "! exit",
        "time exit",
        "builtin exit",
        "true && exit",
        "false || exit",
        "if true; exit; end",
        "if exit; end",
        "if false; true; else if true; exit; end",
        "begin; exit; end",
        "begin; exit; end | cat",
        "for i in 1 2; exit; end",
        "while true; exit; end",
        "switch a; case a; exit; end",
        "exit | cat",
        "true | exit",
        "exit &",
        "echo (exit)",
        "echo \"$(exit)\"",
        "echo a(true; exit)b",
        "FOO=1 exit",
        "'exit'",
        "ex\\it",
        "\"ex\"it",
        "exit>/dev/null",
        "exec true",
        "exec fish",
        "exec >x true",
        "eval exit",
        "eval 'true; exit'",
        "function f; exit; end; exit",
        "function f; if true; exit; end; end\nexit",
        "true # comment\nexit",
        "echo 'a\\' '; exit",
        "trap 'echo bye' EXIT",
        "ex\\\nit",
    ] {
        assert!(matches!(containment(Shell::Fish, text), Containment::Refused(_)), "{text}");
    }
}

#[test]
fn what_leaves_fish_alone_runs() {
    for text in [
        "",
        "ls",
        "echo exit",
        "echo 'a; exit'",
        "echo \"a; exit (exit)\"",
        "fish -c 'exit'",
        "bash -c 'set -e; exit 3'",
        "function f; exit; end",
        "function f\n  if true\n    exit\n  end\nend\necho ok",
        "# exit\nls",
        "ls # ; exit",
        "echo a; # exit",
        "command -v exit",
        "type exit",
        "exec",
        "grep exit < exit > exec",
        "echo 'x\\'; exit'",
        "case exit",
        "eval 'echo exit'",
        "set -e exit",
        "trap - EXIT_",
        "echo \\x65xit",
        "systemctl restart exit",
    ] {
        assert_eq!(containment(Shell::Fish, text), Containment::Live, "{text}");
    }
}

#[test]
fn what_would_stop_the_shell_is_refused_wherever_it_runs() {
    for text in [
        "suspend",
        "builtin suspend -f",
        "s\\uspend",
        "( suspend )",
        "true && suspend",
        "suspend &",
        "if true; then suspend; fi",
        "eval 'true; suspend'",
        "echo a | suspend",
        "suspend; exit",
    ] {
        for shell in [Shell::Bash, Shell::Zsh] {
            assert_eq!(containment(shell, text), Containment::Refused(SUSPENDS), "{shell:?} {text}");
        }
    }
    for text in ["echo suspend", "systemctl suspend", "f() { suspend; }", "true # suspend", "grep suspend log"] {
        for shell in [Shell::Bash, Shell::Zsh] {
            assert_eq!(containment(shell, text), Containment::Live, "{shell:?} {text}");
        }
    }
    assert!(matches!(containment(Shell::Fish, "true; suspend"), Containment::Refused(_)));
    assert_eq!(containment(Shell::Fish, "systemctl suspend"), Containment::Live);
}

#[test]
fn long_and_deep_texts_are_taken_at_their_words() {
    for (text, is_dangerous) in [
        (format!("{}exit", "(".repeat(100_000)), true),
        (format!("{}exit", "if ".repeat(20_000)), true),
        ("(".repeat(100_000), false),
        (format!("{}exit", "eval ".repeat(1_000)), true),
    ] {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert_eq!(is_contained(shell, &text), is_dangerous, "{shell:?} {}", &text[..20]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_text_makes_it_panic(text in "(exit|set -e|eval|end|function|begin|[(){};|&'\"$<>#\\\\\n a-z]){0,40}", shell in prop::sample::select(vec![Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Other])) {
        let _ = containment(shell, &text);
    }
}
