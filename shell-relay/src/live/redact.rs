//! Removes the nonce of the marks from all events, so that it stays in the client. A separate
//! [`Redactor`](cohab_text::capture::Redactor) cleans the stream of a command's bytes; this module cleans the texts made from them, in
//! which the nonce may have come together only by rendering. Pure.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

use cohab_types::command::{CommandOutcome, StateAfter};
use memchr::memmem;

use super::LiveEvent;

const REDACTED: &str = "[redacted]";

/// Takes `nonce` (not empty) out of every text and path of `event`.
pub(super) fn redact(event: &mut LiveEvent, nonce: &str) {
    match event {
        LiveEvent::LineEntered { text, cwd, .. } | LiveEvent::HotkeyPressed { text, cwd, .. } => {
            redact_text(text, nonce);
            redact_path(cwd, nonce);
        }
        LiveEvent::CommandFinished { outcome, .. } => redact_outcome(outcome, nonce),
        LiveEvent::UserCommandFinished(command) => {
            command.line.iter_mut().for_each(|line| redact_text(line, nonce));
            redact_text(&mut command.output_tail, nonce);
            redact_path(&mut command.cwd, nonce);
        }
        _ => {}
    }
}

fn redact_outcome(outcome: &mut CommandOutcome, nonce: &str) {
    redact_text(&mut outcome.output, nonce);
    redact_path(&mut outcome.cwd, nonce);
    for change in &mut outcome.env_delta {
        redact_text(&mut change.name, nonce);
        change.value.iter_mut().for_each(|value| redact_text(value, nonce));
    }
    if let StateAfter::InFront { program, .. } = &mut outcome.state_after {
        redact_text(program, nonce);
    }
}

fn redact_text(text: &mut String, nonce: &str) {
    if memmem::find(text.as_bytes(), nonce.as_bytes()).is_some() {
        *text = text.replace(nonce, REDACTED);
    }
}

fn redact_path(path: &mut PathBuf, nonce: &str) {
    let mut bytes = path.as_os_str().as_bytes();
    let mut kept = Vec::new();
    while let Some(at) = memmem::find(bytes, nonce.as_bytes()) {
        kept.extend_from_slice(&bytes[..at]);
        kept.extend_from_slice(REDACTED.as_bytes());
        bytes = &bytes[at + nonce.len()..];
    }
    if !kept.is_empty() {
        kept.extend_from_slice(bytes);
        *path = OsString::from_vec(kept).into();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cohab_types::command::{Ending, EnvChange, Mode};

    use super::*;
    use crate::live::UserCommand;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn holding_it() -> [LiveEvent; 4] {
        let path = || PathBuf::from(OsString::from_vec([b"/\xff", NONCE.as_bytes(), b"/", NONCE.as_bytes()].concat()));
        let text = || format!("a {NONCE} b{NONCE}");
        let outcome = CommandOutcome {
            ending: Ending::StillRunning,
            status: None,
            cwd: path(),
            output: text(),
            total_bytes: 0,
            truncated_bytes: 0,
            duration: Duration::ZERO,
            mode: Mode::Live,
            state_after: StateAfter::InFront { program: text(), is_full_screen: false },
            first_run: None,
            env_delta: vec![
                EnvChange { name: format!("X{NONCE}"), value: Some(text()) },
                EnvChange { name: format!("Y{NONCE}"), value: None },
            ],
        };
        [
            LiveEvent::LineEntered { text: text(), cursor: 0, cwd: path(), is_command: None, is_alone: true },
            LiveEvent::HotkeyPressed { text: text(), cwd: path(), is_command: None },
            LiveEvent::CommandFinished { id: "1".into(), outcome },
            LiveEvent::UserCommandFinished(UserCommand {
                line: Some(text()),
                status: 0,
                cwd: path(),
                duration: Duration::ZERO,
                output_tail: text(),
                output_bytes: 0,
            }),
        ]
    }

    #[test]
    fn no_event_that_leaves_the_client_holds_the_nonce() {
        for mut event in holding_it() {
            assert!(format!("{event:?}").contains(NONCE));
            redact(&mut event, NONCE);
            let told = format!("{event:?}");
            assert!(!told.contains(NONCE) && told.contains("[redacted]"), "{told}");
        }
    }

    #[test]
    fn what_does_not_hold_it_stays_as_it_is() {
        for event in holding_it() {
            let mut redacted = event.clone();
            redact(&mut redacted, "another");
            assert_eq!(redacted, event);
        }
    }
}
