//! Tests for reports about a command apart from its output: the shell's next action, and never the nonce.

use std::time::Duration;

use cohab_types::command::{Ending, Mode, StateAfter};

use crate::terminal::{Kind, Terminal};

const KINDS: [Kind; 3] = [Kind::Bash, Kind::Zsh, Kind::Fish];

fn installed() -> impl Iterator<Item = Kind> {
    KINDS.into_iter().filter(|kind| kind.program().is_some())
}

#[test]
fn the_shell_waits_for_the_next_command_or_a_named_program_has_it() {
    for kind in installed() {
        let mut t = Terminal::of(kind);
        assert_eq!(t.run("false").state_after, StateAfter::Prompt, "{kind:?}");
        let mut cases = vec![
            ("sleep 60", "sleep", false),
            // A program that reads keys has the screen.
            ("sh -c 'stty -icanon; printf \"\\033[?1049h\"; sleep 60'", "sh", true),
        ];
        if kind == Kind::Bash {
            cases.push(("read -r answer", "bash", false));
        }
        for (text, program, is_full_screen) in cases {
            let mut request = t.request(text);
            request.timeout = Duration::from_millis(400);
            let id = t.begin_request(request);
            let outcome = t.result(&id).unwrap();
            assert_eq!(outcome.ending, Ending::StillRunning, "{kind:?}: {text}");
            let expected = StateAfter::InFront { program: program.into(), is_full_screen };
            assert_eq!(outcome.state_after, expected, "{kind:?}: {text}");
            t.cancel(&id);
            assert_eq!(t.run("echo on").output, "on\n", "{kind:?}");
        }
        // The text as it is, without the subshell that would catch it.
        let id = t.begin_as("exit 3", Mode::Live);
        assert_eq!(t.result(&id).unwrap().state_after, StateAfter::Ended, "{kind:?}");
    }
}

/// Ways to make reports contain the nonce: in the environment, the folder, apart as bytes and together as text, in pieces.
fn ways(kind: Kind) -> &'static [&'static str] {
    if kind.is_fish() {
        return &[
            "set -gx SEEN_VALUE $__cohab_nonce",
            "mkdir \"at $__cohab_nonce\"; and cd \"at $__cohab_nonce\"",
            "printf '%s\\033[0m%s\\n' (string sub -l 16 $__cohab_nonce) (string sub -s 17 $__cohab_nonce)",
            "printf %s (string sub -l 9 $__cohab_nonce); sleep 0.1; printf '%s\\n' (string sub -s 10 $__cohab_nonce)",
            "set --show __cohab_nonce",
        ];
    }
    &[
        "export SEEN_VALUE=$__cohab_nonce",
        "export SEEN_$__cohab_nonce=1",
        "mkdir \"at $__cohab_nonce\" && cd \"at $__cohab_nonce\"",
        "printf '%s\\033[0m%s\\n' \"${__cohab_nonce:0:16}\" \"${__cohab_nonce:16}\"",
        "printf 'x%s\\b\\b%s\\n' \"${__cohab_nonce:0:31}-\" \"${__cohab_nonce:30}\"",
        "printf %s \"${__cohab_nonce:0:9}\"; sleep 0.1; printf '%s\\n' \"${__cohab_nonce:9}\"",
        "f() { :; }; sleep 0.2 & jobs; wait; typeset -p __cohab_nonce",
    ]
}

#[test]
fn no_way_of_telling_holds_the_nonce() {
    for kind in installed() {
        let mut t = Terminal::of(kind);
        let nonce = t.nonce.clone();
        for text in ways(kind) {
            let mut request = t.request(text);
            request.wants_env_delta = true;
            let id = t.begin_request(request);
            let outcome = t.result(&id).unwrap();
            t.settle();
            let told = format!("{outcome:?}");
            assert!(!told.contains(&nonce), "{kind:?}: {text}: {told}");
            // Not every shell lists its environment.
            let is_told = !text.contains("SEEN_") || kind == Kind::Bash;
            assert!(!is_told || told.contains("[redacted]"), "{kind:?}: {text}: {told}");
        }
        let command = t.line("env | grep SEEN_VALUE");
        assert_eq!(command.output_tail.trim_end(), "SEEN_VALUE=[redacted]", "{kind:?}");
        assert_eq!(command.cwd, t.home_path().join("at [redacted]"), "{kind:?}");
        let events = format!("{:?}", t.events);
        assert!(!events.contains(&nonce), "{kind:?}: {events}");
    }
}
