//! The port of the server to what answers.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use cohab_agent::{Agent, TurnError, port::EventSink};
use cohab_context::{compaction::Shortened, report::Fixed, workspace::Surroundings};
use cohab_memory::{blocks::record::Block, record::Memory};
use cohab_model_api::{Message, ModelInfo, TokenUsage};
use cohab_protocol::{ApprovalMode, TurnId};
use cohab_runtime::{middleware::uncertain_calls::UncertainCalls, recording::TurnRecorder};
use cohab_types::environment::Variables;

use crate::{
    memory::TurnMemory,
    session::{RanCommand, Session},
};

/// Puts together what a turn works with. The server knows no provider, tool or setting.
#[async_trait]
pub trait Assembler: Send + Sync {
    /// Who would answer a client with these variables, and what the settings let it do unasked.
    ///
    /// # Errors
    /// `TurnError::Settings` when the settings are wrong.
    async fn introduce(&self, variables: &Variables) -> Result<Introduction, TurnError>;

    /// Checks the model that these variables name against the list of its service. False if that list is not known soon.
    ///
    /// # Errors
    /// `TurnError::Settings` when the service has no such model.
    async fn check_model(&self, _variables: &Variables) -> Result<bool, TurnError> {
        Ok(true)
    }

    /// An agent for one turn.
    ///
    /// # Errors
    /// When the settings are wrong, or the user ended the turn at a question.
    async fn assemble(&self, parts: TurnParts) -> Result<Agent, TurnError>;

    /// What is sent to whoever would answer beside the conversation, and how much that takes.
    ///
    /// # Errors
    /// `TurnError::Settings` when the settings are wrong.
    async fn outlook(&self, variables: &Variables, surroundings: &Surroundings) -> Result<Fixed, TurnError>;

    /// The conversation of this session, shorter: at most half of what it was, or what is short enough. With what that took.
    ///
    /// # Errors
    /// `TurnError::Settings` when the settings are wrong.
    async fn shorten(&self, session: &Session, messages: &[Message]) -> Result<(Shortened, TokenUsage), TurnError>;

    /// What lies around this folder; nothing if that is not known soon.
    async fn surroundings(&self, cwd: PathBuf) -> Arc<Surroundings>;

    /// What is remembered for this question in this folder; nothing if it cannot be read soon.
    async fn recollect(&self, _question: &str, _folder: &Path) -> Recollection {
        Recollection::default()
    }

    /// The line that proposals to be remembered wait for the user of this folder; `None` on most calls.
    async fn waiting_line(&self, _folder: &Path) -> Option<String> {
        None
    }

    /// A turn that was not private is over, and no other one runs. Nobody waits for what is done here; the daemon's end stops it.
    async fn turn_ended(&self, _session: &Session) {}

    /// Keeps a command of the user, if the settings say so. Never waits.
    fn command_ran(&self, _ran: &RanCommand) {}

    /// What has gone wrong with what is kept of model calls since this was asked last, as a sentence for the user.
    fn store_trouble(&self) -> Option<String>;
}

/// What is remembered for a question.
#[derive(Debug, Default)]
pub struct Recollection {
    /// The facts that are relevant to it, the most relevant first.
    pub memories: Vec<Memory>,
    /// The memory blocks that hold in its folder; `None` if memory is off, or they cannot be read.
    pub blocks: Option<Vec<Block>>,
}

/// Who would answer.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// The model.
    pub model: ModelInfo,
    /// What may be done unasked, if the client does not say.
    pub approval: ApprovalMode,
}

/// What an agent is put together for.
pub struct TurnParts {
    /// Whose turn it is.
    pub session: Arc<Session>,
    /// The turn.
    pub turn_id: TurnId,
    /// The user's own words.
    pub question: String,
    /// What it reads and leaves behind.
    pub memory: TurnMemory,
    /// Takes what happens.
    pub sink: Arc<dyn EventSink>,
    /// Keeps what happens.
    pub recorder: Arc<TurnRecorder>,
    /// Steps of an earlier daemon's turn of which nobody knows whether they were done.
    pub doubts: Arc<UncertainCalls>,
    /// What lies around the question.
    pub surroundings: Arc<Surroundings>,
}

/// Where the daemon keeps things, for people.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Folder of the log files.
    pub log_dir: PathBuf,
    /// The settings file.
    pub config_path: PathBuf,
}
