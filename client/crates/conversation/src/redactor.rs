//! Removes secrets from messages to the daemon, and fills them in again in commands that the daemon wants typed. One memory lasts for
//! the life of a client: the same value always has the same placeholder, and the values behind placeholders stay in the client. Pure.
//!
//! Input that a program read without echo was never kept: the relay shows no keys to any other party.

use std::sync::Arc;

use cohab_policy::{NotFilled, can_fill, fill};
use cohab_protocol::{
    ApprovalDecision, CommandExecutionResult, MAX_OUTPUT_TAIL_BYTES, MAX_PIPED_INPUT_BYTES, ShellEvent, UserQuery,
};
use cohab_secrets::{ExactValues, FilledLine, Mark, Scrubber, Settings};
use cohab_shell_state::shell::Shell;
use cohab_term::wrap::char_boundary;

/// Takes secrets out of what leaves, and fills them in where they are typed.
#[derive(Debug)]
pub struct Redactor(Scrubber);

impl Redactor {
    /// A memory without any value yet; `exact` are secret even if they do not look so.
    #[must_use]
    pub fn new(exact: Arc<ExactValues>) -> Self {
        Self(Scrubber::new(Settings { exact, mark: Some(Mark::fresh()), ..Settings::default() }))
    }

    fn text(&mut self, text: &mut String) {
        let clean = self.0.text(text).into_owned();
        *text = clean;
    }

    /// Words that the user adds to a question.
    pub fn words(&mut self, words: &mut String) {
        self.text(words);
    }

    /// A question with what was piped into it.
    pub fn query(&mut self, query: &mut UserQuery) {
        self.text(&mut query.text);
        if let Some(piped) = &mut query.piped_input {
            self.text(piped);
            piped.truncate(char_boundary(piped, MAX_PIPED_INPUT_BYTES));
        }
    }

    /// The result of a command of the agent. A variable with a secret in it is reported without its value.
    pub(crate) fn result(&mut self, result: &mut CommandExecutionResult) {
        self.text(&mut result.output);
        result.first_run.iter_mut().for_each(|why| self.text(why));
        for change in &mut result.env_delta.set {
            // As a line of a file, so that the name counts, too.
            let line = change.value.as_ref().map(|value| format!("{}={value}", change.name));
            if line.is_some_and(|line| self.0.text(&line) != line) {
                change.value = None;
            }
        }
    }

    /// A command of the user, with the end of its output.
    pub(crate) fn shell_event(&mut self, event: &mut ShellEvent) {
        event.line.iter_mut().for_each(|line| self.text(line));
        let tail = &mut event.output_tail;
        self.text(tail);
        let excess = tail.len().saturating_sub(MAX_OUTPUT_TAIL_BYTES);
        tail.drain(..(excess..=tail.len()).find(|at| tail.is_char_boundary(*at)).unwrap_or(excess));
    }

    /// The user's answer to a question. A command that they typed themselves stays as it is: it comes back to be run.
    pub fn decision(&mut self, decision: &mut ApprovalDecision) {
        if let ApprovalDecision::Refused { note } = decision {
            self.text(note);
        }
    }

    /// Whether `command` could be filled in.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn can_fill(&self, command: &str, shell: Shell) -> Result<(), NotFilled> {
        can_fill(&self.0, command, shell)
    }

    /// `command` as it is to be typed, if there are placeholders in it. This is the last word: nothing else fills them in, and nothing is
    /// typed that has one left.
    ///
    /// # Errors
    /// Why it is not filled in, and so not typed.
    pub(crate) fn filled(&mut self, command: &str, shell: Shell) -> Result<Option<FilledLine>, NotFilled> {
        fill(&mut self.0, command, shell)
    }
}

#[cfg(test)]
impl Redactor {
    /// One whose placeholders bear `mark`, and the first of which stands for `value`.
    pub(crate) fn that_knows(mark: &str, value: &str) -> Self {
        let mark = Some(Mark::of(mark).expect("a mark"));
        let mut scrubber = Scrubber::new(Settings { mark, ..Settings::default() });
        assert_ne!(scrubber.text(value), value);
        Self(scrubber)
    }
}

#[cfg(test)]
mod tests {
    use cohab_protocol::{CallId, CommandEnding, EnvChange, EnvDelta, RunMode, StateAfter, TurnId};

    use super::*;

    /// One that has a form, and one that only the environment calls a secret.
    fn secrets() -> (String, Redactor) {
        let environment = [("DB_PASSWORD".into(), "open sesame".into()), ("EDITOR".into(), "a long editor".into())];
        let exact = Arc::new(ExactValues::of_environment(environment.into_iter()));
        (["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat(), Redactor::new(exact))
    }

    /// Without the mark, which is another one each time.
    fn unmarked(text: &str) -> String {
        let marks: Vec<&str> =
            text.split("#").skip(1).filter_map(|rest| rest.split_once('-')?.1.split('>').next()).collect();
        marks.iter().fold(text.to_owned(), |text, mark| text.replace(&format!("-{mark}>"), ">"))
    }

    #[test]
    fn what_the_user_ran_is_told_without_secrets() {
        let (token, mut redactor) = secrets();
        let mut event = ShellEvent {
            line: Some(format!("psql 'open sesame' {token}")),
            exit_code: 0,
            cwd: std::path::Path::new("/").into(),
            duration_ms: 0,
            output_tail: format!("b3BlbiBzZXNhbWU= a long editor {token} <secret:x#1>"),
            output_bytes: 0,
            ran_in: std::path::Path::new("/").into(),
            ended_ms: 0,
        };
        redactor.shell_event(&mut event);
        assert_eq!(unmarked(&event.line.expect("a line")), "psql '<secret:value#1>' <secret:gitlab-token#2>");
        let tail = "<secret:value#3>U= a long editor <secret:gitlab-token#2> <quoted-secret:x#1>";
        assert_eq!(unmarked(&event.output_tail), tail);
    }

    #[test]
    fn a_password_that_the_user_typed_and_saw_is_not_told() {
        let mut redactor = Redactor::new(Arc::default());
        let chosen = ["banane", "99"].concat();
        let mut event = ShellEvent {
            line: Some(format!("export DB_PASSWORD={chosen}")),
            exit_code: 0,
            cwd: std::path::Path::new("/").into(),
            duration_ms: 0,
            output_tail: format!("DB_PASSWORD={chosen}\nDATABASE_URL=mysql://root:{chosen}@db/x\n"),
            output_bytes: 0,
            ran_in: std::path::Path::new("/").into(),
            ended_ms: 0,
        };
        redactor.shell_event(&mut event);
        assert_eq!(unmarked(&event.line.expect("a line")), "export DB_PASSWORD=<secret:secret#1>");
        assert!(!event.output_tail.contains(&chosen), "{}", event.output_tail);
    }

    #[test]
    fn a_question_and_what_is_piped_into_it_are_told_without_secrets() {
        let (token, mut redactor) = secrets();
        let filler = "a: open sesame\n".repeat(MAX_PIPED_INPUT_BYTES / 15);
        let mut query = UserQuery {
            turn_id: TurnId::fresh(),
            text: format!("why is {token} refused?"),
            cwd: std::path::Path::new("/").into(),
            columns: 80,
            piped_input: Some(filler),
            is_private: false,
        };
        redactor.query(&mut query);
        assert_eq!(unmarked(&query.text), "why is <secret:gitlab-token#1> refused?");
        let piped = query.piped_input.expect("there is some");
        assert!(piped.len() <= MAX_PIPED_INPUT_BYTES && !piped.contains("sesame"), "{}", piped.len());
    }

    #[test]
    fn results_variables_and_notes_are_told_without_secrets() {
        let (token, mut redactor) = secrets();
        let set = [("A", "plain"), ("B", token.as_str()), ("C", "it is open sesame")];
        let set = set.map(|(name, value)| EnvChange { name: name.into(), value: Some(value.into()) }).into();
        let mut result = CommandExecutionResult {
            call_id: CallId::fresh(),
            ending: CommandEnding::Exited,
            exit_code: Some(0),
            output: format!("{token}\n"),
            total_bytes: 0,
            truncated_bytes: 0,
            cwd: std::path::Path::new("/").into(),
            env_delta: EnvDelta { set, unset: Vec::new() },
            duration_ms: 0,
            mode: RunMode::Live,
            state_after: StateAfter::Prompt,
            first_run: Some(format!("it wanted to write {token}")),
        };
        redactor.result(&mut result);
        assert_eq!(unmarked(&result.output), "<secret:gitlab-token#1>\n");
        let first_run = result.first_run.as_deref().map(unmarked);
        assert_eq!(first_run.as_deref(), Some("it wanted to write <secret:gitlab-token#1>"));
        let values: Vec<_> = result.env_delta.set.iter().map(|change| change.value.as_deref()).collect();
        assert_eq!(values, [Some("plain"), None, None]);
        let mut decision = ApprovalDecision::Refused { note: format!("use {token}") };
        redactor.decision(&mut decision);
        assert!(
            matches!(decision, ApprovalDecision::Refused { note } if unmarked(&note) == "use <secret:gitlab-token#1>")
        );
    }

    #[test]
    fn nothing_that_is_kept_shows() {
        let (token, mut redactor) = secrets();
        let mut query = ApprovalDecision::Refused { note: token.clone() };
        redactor.decision(&mut query);
        assert!(!format!("{redactor:?}").contains(&token));
    }
}
