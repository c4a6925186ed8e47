//! Asks the person at the terminal: for answers of flows, and for consent.

use std::{collections::VecDeque, io, sync::Mutex};

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Effect, Lasts};
use cohab_graph::port::HumanQuestion;
use cohab_text::sanitize::{one_line, sanitize, visible_controls};
use rustix::{
    stdio,
    termios::{QueueSelector, isatty, tcflush},
};
use tokio::sync::{Mutex as Turn, mpsc::Sender};

/// Longest answer, in bytes.
const ANSWER_MAX_BYTES: u64 = 64 * 1024;
/// Why nothing is approved where nobody can be asked.
const NO_TERMINAL: &str = "no terminal is attached to approve this; `--approve all` would allow it";
/// Wrong answers before a question waits.
const MAX_TRIES: u32 = 3;

/// Where answers come from.
pub(super) enum AnswerSource {
    /// Nobody is there.
    Nobody,
    /// The terminal.
    Terminal,
    /// A test.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests have a script"))]
    Script(Mutex<VecDeque<String>>),
}

/// The terminal of a run. One question is open at a time.
pub(super) struct Console {
    answers: AnswerSource,
    /// What is printed. Text of others in it is harmless.
    lines: Sender<String>,
    turn: Turn<()>,
}

impl Console {
    /// The terminal, if a person sits at it.
    pub fn of_this_process(lines: Sender<String>) -> Self {
        let is_there = isatty(stdio::stdin()) && isatty(stdio::stdout());
        Self::new(if is_there { AnswerSource::Terminal } else { AnswerSource::Nobody }, lines)
    }

    pub fn new(answers: AnswerSource, lines: Sender<String>) -> Self {
        Self { answers, lines, turn: Turn::new(()) }
    }

    pub async fn say(&self, text: String) {
        // Without a reader nothing has to be printed any more.
        let _ = self.lines.send(text).await;
    }

    /// Asks a question of a flow. `None` if no one is there, or gave no answer.
    pub async fn answer(&self, node: &str, question: &HumanQuestion) -> Option<String> {
        let _turn = self.turn.lock().await;
        let choices =
            if question.choices.is_empty() { String::new() } else { format!(" [{}]", question.choices.join("/")) };
        let words = format!("{}: {}{choices} ", one_line(node, usize::MAX), sanitize(&question.text));
        for _ in 0..MAX_TRIES {
            let text = self.line(&words).await?;
            match question.answer(&text) {
                Ok(answer) => return Some(answer),
                Err(reason) => self.say(format!("{}.\n", one_line(&reason, usize::MAX))).await,
            }
        }
        None
    }

    /// Prints a question and reads a line. Typed text that came before the question is no answer to it.
    async fn line(&self, question: &str) -> Option<String> {
        match &self.answers {
            AnswerSource::Nobody => None,
            AnswerSource::Script(answers) => {
                self.say(format!("{question}\n")).await;
                answers.lock().ok()?.pop_front()
            }
            AnswerSource::Terminal => {
                // If this fails, the terminal is gone, and reading says so.
                let _ = tcflush(stdio::stdin(), QueueSelector::IFlush);
                self.say(question.to_owned()).await;
                tokio::task::spawn_blocking(read_line).await.ok().flatten()
            }
        }
    }
}

fn read_line() -> Option<String> {
    use std::io::{BufRead as _, Read as _};

    let mut line = String::new();
    let read = io::stdin().lock().take(ANSWER_MAX_BYTES).read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}

#[async_trait]
impl Approver for Console {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        let refused = |reason: &str| ApprovalAnswer::Refused { reason: reason.to_owned() };
        if matches!(question.subject, ApprovalSubject::Input { .. }) {
            return refused("a flow sends programs no answers");
        }
        let _turn = self.turn.lock().await;
        let (wanted, prompt) = match question.is_dangerous {
            true => ("yes", "Dangerous. Type yes to run it: "),
            false => ("y", "Run it? [y/N] "),
        };
        let reasons: String =
            question.reasons.iter().map(|reason| format!("  {}\n", one_line(reason, usize::MAX))).collect();
        let text = match &question.subject {
            ApprovalSubject::GoOn { what } => format!("{}\n{reasons}Go on? [y/N] ", visible_controls(what)),
            other => format!("The flow wants to {}\n{reasons}{prompt}", subject(other)),
        };
        match self.line(&text).await {
            None if matches!(self.answers, AnswerSource::Nobody) => refused(NO_TERMINAL),
            Some(answer) if answer.trim().eq_ignore_ascii_case(wanted) => {
                ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once }
            }
            Some(_) | None => refused("the user refused"),
        }
    }
}

/// What is asked about, whole.
pub(in crate::cli) fn subject(subject: &ApprovalSubject) -> String {
    let indented = |text: &str| visible_controls(text).lines().map(|line| format!("\n  {line}")).collect::<String>();
    match subject {
        ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => format!("run:{}", indented(command)),
        ApprovalSubject::Effect { effect: Effect::Write { path, diff }, .. } => {
            format!("write {}:{}", visible_controls(&path.to_string_lossy()), indented(diff))
        }
        ApprovalSubject::Effect { effect: Effect::Read { path, .. }, .. } => {
            format!("read {}", visible_controls(&path.to_string_lossy()))
        }
        ApprovalSubject::Effect { tool, effect: Effect::Internal } => format!("use {}", one_line(tool, usize::MAX)),
        ApprovalSubject::Effect { effect: Effect::Foreign { by, action, details, .. }, .. } => {
            format!("let {} do {}:{}", one_line(by, usize::MAX), one_line(action, usize::MAX), indented(details))
        }
        ApprovalSubject::LocalServer { url, .. } => format!("ask {}", visible_controls(url)),
        ApprovalSubject::GoOn { what } => visible_controls(what),
        ApprovalSubject::Input { by, message, .. } => {
            format!("answer {}:{}", one_line(by, usize::MAX), indented(message))
        }
    }
}
