//! What is told about a command beside its output: what the shell does then, and never the nonce.

use std::time::Duration;

use cohab_shell_relay::runner::{Ending, StateAfter};

use crate::terminal::Terminal;

#[test]
fn the_shell_waits_for_the_next_command_or_a_named_program_has_it() {
    let mut t = Terminal::bash();
    assert_eq!(t.run("false").state_after, StateAfter::Prompt);
    for (text, program, is_full_screen) in [
        ("sleep 60", "sleep", false),
        ("read -r answer", "bash", false),
        ("printf '\\033[?1049h'; sleep 60; printf '\\033[?1049l'", "sleep", true),
    ] {
        let mut request = t.request(text);
        request.timeout = Duration::from_millis(400);
        let id = t.begin_request(request);
        let outcome = t.result(&id).unwrap();
        assert_eq!(outcome.ending, Ending::StillRunning, "{text}");
        assert_eq!(outcome.state_after, StateAfter::InFront { program: program.into(), is_full_screen }, "{text}");
        t.cancel(&id);
        assert_eq!(t.run("echo on").output, "on\n");
    }
    // As it is, without the subshell that would catch it.
    let id = t.begin_as("exit 3", cohab_shell_relay::runner::Mode::Live);
    assert_eq!(t.result(&id).unwrap().state_after, StateAfter::Ended);
}

#[test]
fn no_way_of_telling_holds_the_nonce() {
    let mut t = Terminal::bash();
    let nonce = t.nonce.clone();
    for text in [
        "export SEEN_VALUE=$__cohab_nonce",
        "export SEEN_$__cohab_nonce=1",
        "mkdir \"at $__cohab_nonce\" && cd \"at $__cohab_nonce\"",
        // Apart as bytes, together as text.
        "printf '%s\\033[0m%s\\n' \"${__cohab_nonce:0:16}\" \"${__cohab_nonce:16}\"",
        "printf 'x%s\\b\\b%s\\n' \"${__cohab_nonce:0:31}-\" \"${__cohab_nonce:30}\"",
        "printf %s \"${__cohab_nonce:0:9}\"; sleep 0.1; printf '%s\\n' \"${__cohab_nonce:9}\"",
        "f() { :; }; sleep 0.2 & jobs; wait; declare -p __cohab_nonce",
    ] {
        let mut request = t.request(text);
        request.wants_env_delta = true;
        let id = t.begin_request(request);
        let outcome = t.result(&id).unwrap();
        t.settle();
        let told = format!("{outcome:?}");
        assert!(!told.contains(&nonce), "{text}: {told}");
        assert!(told.contains("[redacted]"), "{text}: {told}");
    }
    let command = t.line("echo \"${__cohab_nonce:0:16}\"$'\\033[0m'\"${__cohab_nonce:16}\"");
    assert!(!format!("{command:?}").contains(&nonce), "{command:?}");
    assert_eq!(command.cwd, t.home_path().join("at [redacted]"));
    let events = format!("{:?}", t.events);
    assert!(!events.contains(&nonce), "{events}");
}
