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
use cohab_teams::{KeptDiff, SubagentKind, Subagents, Team};
use cohab_types::environment::Variables;
use tokio_util::sync::CancellationToken;

use crate::{
    memory::TurnMemory,
    question_kind::QuestionKind,
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

    /// The conversation of this session is over: the user cleared it, or the session ends. May take as long as the user's hooks.
    async fn conversation_ended(&self, _session: &Session, _is_cleared: bool) {}

    /// Keeps a command of the user, if the settings say so. Never waits.
    fn command_ran(&self, _ran: &RanCommand) {}

    /// The folder for copies of repositories that subagents change; `None` if it cannot be made. Not one of cohab's own folders.
    fn place_for_copies(&self) -> Option<PathBuf> {
        None
    }

    /// Keeps a diff without secrets as an output of the session of this name, where the model can read it; `None` if the disk refuses.
    async fn keep_diff(&self, _session: &str, _diff: String) -> Option<KeptDiff> {
        None
    }

    /// Whether an agent that is not part of cohab has this name.
    async fn known_agent(&self, _name: &str) -> KnownAgent {
        KnownAgent::Unknown
    }

    /// What has gone wrong with what is kept of model calls since this was asked last, as a sentence for the user.
    fn store_trouble(&self) -> Option<String>;
}

/// Whether an agent has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownAgent {
    /// One has.
    Known,
    /// None has, and this one has a similar name.
    Similar(String),
    /// None has.
    Unknown,
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
    /// The session of the turn.
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
    /// Whose turn it is.
    pub part: TurnPart,
    /// What its question asks for beside an answer.
    pub kind: QuestionKind,
    /// Runs subagents for it, with what they share; `None` if it may order none.
    pub team: Option<(Arc<dyn Subagents>, Team)>,
}

impl TurnParts {
    /// The session and the turn that its usage is counted for.
    #[must_use]
    pub fn accounted(&self) -> Accounted {
        match &self.part {
            TurnPart::Question => Accounted { session: self.session.key().to_string(), turn: self.turn_id.to_string() },
            TurnPart::Subagent(subagent) => subagent.accounted.clone(),
        }
    }

    /// The kind of the subagent whose turn it is.
    #[must_use]
    pub fn subagent(&self) -> Option<&SubagentKind> {
        match &self.part {
            TurnPart::Question => None,
            TurnPart::Subagent(subagent) => Some(&subagent.kind),
        }
    }
}

/// Whose turn it is.
#[derive(Clone, Debug)]
pub enum TurnPart {
    /// The user's: it answers their question.
    Question,
    /// A subagent's: it works for another turn.
    Subagent(Box<SubagentTurn>),
}

/// The session and the turn that a subagent works for in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounted {
    /// Name of the session.
    pub session: String,
    /// The turn.
    pub turn: String,
}

/// What a turn of a subagent has beside the parts of each turn.
#[derive(Clone, Debug)]
pub struct SubagentTurn {
    /// Its kind.
    pub kind: SubagentKind,
    /// Whom it works for.
    pub accounted: Accounted,
    /// Root of the user's project, of which it may have a copy.
    pub project: Option<PathBuf>,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// Where the daemon keeps things, for people.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Folder of the log files.
    pub log_dir: PathBuf,
    /// The settings file.
    pub config_path: PathBuf,
}
