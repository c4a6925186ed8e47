//! Builds the text of a session's next question.

use std::path::PathBuf;

use cohab_agent::tasks::Task;
use cohab_context::{
    called::Called,
    query::{Query, Runtime},
    workspace::Surroundings,
};
use cohab_model_api::Message;
use cohab_protocol::{MAX_PIPED_INPUT_BYTES, UserQuery};
use cohab_text::cut::cut_middle;

use super::{Daemon, recollection::Remembered, session::Session};

/// The question and its circumstances.
pub struct Asked<'a> {
    /// The user's words.
    pub text: &'a str,
    /// The shell's folder.
    pub cwd: PathBuf,
    /// Width of the terminal.
    pub columns: u16,
    /// Piped text.
    pub piped_input: Option<&'a str>,
    /// The tasks of the conversation.
    pub tasks: Vec<Task>,
    /// What is remembered for the question.
    pub remembered: Remembered,
    /// The skill or command that it calls.
    pub called: Option<&'a Called>,
}

impl<'a> Asked<'a> {
    /// The question of a client, with its text for the model and what it calls.
    pub fn by(
        query: &'a UserQuery,
        (text, called): (&'a str, Option<&'a Called>),
        tasks: Vec<Task>,
        remembered: Remembered,
    ) -> Self {
        let piped_input = query.piped_input.as_deref();
        Self { text, cwd: query.cwd.to_path_buf(), columns: query.columns, piped_input, tasks, remembered, called }
    }

    /// A question without words, to see its context.
    pub fn nothing(cwd: PathBuf, tasks: Vec<Task>, remembered: Remembered) -> Self {
        Self { text: "", cwd, columns: 0, piped_input: None, tasks, remembered, called: None }
    }
}

/// Builds the text, on top of a conversation.
pub fn question(
    daemon: &Daemon,
    session: &Session,
    surroundings: &Surroundings,
    conversation: &[Message],
    asked: &Asked<'_>,
) -> String {
    let piped_input = asked.piped_input.map(|text| cut_middle(text, MAX_PIPED_INPUT_BYTES));
    let history = session.history();
    let project_skills = surroundings.told_skills();
    let mut query = Query {
        environment: surroundings.environment(asked.cwd.clone(), session.live_shell(), asked.columns),
        runtime: Some(Runtime::now(session.key().to_string(), daemon.channels())),
        history: &history,
        project_notes: surroundings.project_notes.as_deref(),
        project_identity: surroundings.project_identity.as_deref(),
        project_skills: project_skills.as_deref(),
        memory_blocks: asked.remembered.blocks.as_deref(),
        memories: &asked.remembered.memories,
        tasks: &asked.tasks,
        piped_input: piped_input.as_deref(),
        called: asked.called,
        question: asked.text,
    };
    query.forget_told(conversation);
    query.to_text()
}
