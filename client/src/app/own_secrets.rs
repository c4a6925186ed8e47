//! What the environment calls a secret does not leave the client: the daemon does not know these values, so it could not find them.
//! All that is secret by its form it finds itself. Pure.

use std::sync::Arc;

use cohab_protocol::CommandExecutionResult;
use cohab_shell_relay::{
    live::UserCommand,
    scrub::{ExactValues, Scrubber, Settings},
};

/// Takes these values out of what the daemon is told.
#[derive(Debug)]
pub(super) struct OwnSecrets(Option<Scrubber>);

impl OwnSecrets {
    pub(super) fn new(exact: Arc<ExactValues>) -> Self {
        let is_needed = !exact.is_empty();
        let settings = Settings { exact, is_exact_only: true, ..Settings::default() };
        Self(is_needed.then(|| Scrubber::new(settings)))
    }

    fn hide_in(&mut self, text: &mut String) {
        if let Some(scrubber) = &mut self.0 {
            let clean = scrubber.text(text).into_owned();
            *text = clean;
        }
    }

    /// In what came of a command of the agent. A variable with such a value is told without it.
    pub(super) fn hide(&mut self, result: &mut CommandExecutionResult) {
        self.hide_in(&mut result.output);
        for change in &mut result.env_delta.set {
            let mut clean = change.value.clone();
            clean.iter_mut().for_each(|value| self.hide_in(value));
            if clean != change.value {
                change.value = None;
            }
        }
    }

    /// In a command of the user.
    pub(super) fn hidden_in(&mut self, mut command: UserCommand) -> UserCommand {
        command.line.iter_mut().for_each(|line| self.hide_in(line));
        self.hide_in(&mut command.output_tail);
        command
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn own_values_stay_and_formats_are_left_to_the_daemon() {
        let token = ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
        let environment = [("DB_PASSWORD".into(), "open sesame".into()), ("EDITOR".into(), "a long editor".into())];
        let exact = Arc::new(ExactValues::of_environment(environment.into_iter()));
        let command = UserCommand {
            line: Some("psql 'open sesame'".into()),
            status: 0,
            cwd: "/".into(),
            duration: Duration::ZERO,
            output_tail: format!("b3BlbiBzZXNhbWU= a long editor {token} <secret:x#1>"),
            output_bytes: 0,
        };
        let clean = OwnSecrets::new(exact).hidden_in(command.clone());
        assert_eq!(clean.line.as_deref(), Some("psql '<secret:value#1>'"));
        assert_eq!(clean.output_tail, format!("<secret:value#2>U= a long editor {token} <secret:x#1>"));
        assert_eq!(OwnSecrets::new(Arc::default()).hidden_in(command.clone()), command);
    }
}
