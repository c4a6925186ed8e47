//! Questions for consent that the daemon sends to a client.

use serde::{Deserialize, Serialize};

use crate::{ApprovalId, RunMode, TurnId, WirePath};

/// A question for consent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Chosen by the daemon.
    pub approval_id: ApprovalId,
    /// The turn that waits.
    pub turn_id: TurnId,
    /// The proposed action.
    pub subject: ApprovalSubject,
    /// Whether the action is known to do harm, or only new.
    pub is_dangerous: bool,
    /// Reasons for the question, a short sentence each.
    pub reasons: Vec<String>,
    /// Whether a yes counts for this one time only: no longer answer is worth offering.
    pub is_each_time: bool,
}

/// The subject of a question for consent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalSubject {
    /// Run a command.
    Command {
        /// The exact text.
        command: String,
        /// The folder in which it would run.
        cwd: WirePath,
        /// The live shell or a separate one.
        mode: RunMode,
    },
    /// Write a file.
    FileChange {
        /// `write` or `edit`.
        tool: String,
        /// The file.
        path: WirePath,
        /// Unified diff of the change.
        diff: String,
    },
    /// Read a file that may hold secrets.
    FileRead {
        /// The tool that would read.
        tool: String,
        /// The file.
        path: WirePath,
    },
    /// Send questions to a model server that was found on this machine.
    LocalServer {
        /// The server's base URL.
        url: String,
        /// The likely kind of server, for example `Ollama`.
        server: String,
        /// The model that would be used.
        model: String,
    },
    /// Several commands of one answer, to be decided in one go. Each has its own id, under which consent to it is kept; the request's
    /// own id is that of the question.
    Commands(Vec<ProposedCommand>),
    /// Continue the turn, although there is a reason to stop. Refusing ends it.
    GoOn {
        /// The next action, or the observation: one sentence.
        what: String,
    },
    /// Search files that may hold secrets.
    Search {
        /// The tool that would search: `grep` for text in files, `glob` for names of files.
        tool: String,
        /// The folder or file that is searched.
        path: WirePath,
        /// The expression to find.
        pattern: String,
    },
    /// Several changes of files of one answer, to be decided in one go, as [`Commands`](Self::Commands) are.
    FileChanges(Vec<ProposedChange>),
    /// Have something done by a program that is not part of cohab, such as an MCP server.
    Foreign {
        /// Who acts, in one line: `MCP server time`.
        by: String,
        /// Name of the action there.
        action: String,
        /// What the user should see of the action, such as its arguments.
        details: String,
    },
    /// Tell a program that is not part of cohab something. [`Edited`](crate::ApprovalDecision::Edited) has what the user typed instead
    /// of the value.
    Input {
        /// Who asks, in one line: `MCP server notes`.
        by: String,
        /// What the program says.
        message: String,
        /// What is asked for, in one line.
        label: String,
        /// The value that stands there; absent if a yes or a no is the answer.
        value: Option<String>,
    },
}

/// One of several changes of files that are asked about together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedChange {
    /// The id under which it is decided, if each is decided by itself.
    pub approval_id: ApprovalId,
    /// `write` or `edit`.
    pub tool: String,
    /// The file.
    pub path: WirePath,
    /// Unified diff of the change.
    pub diff: String,
    /// Reasons for the question.
    pub reasons: Vec<String>,
}

/// One of several commands that are asked about together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedCommand {
    /// The id under which consent to this command is kept, also named in its `ExecuteCommand`.
    pub approval_id: ApprovalId,
    /// The exact text.
    pub command: String,
    /// The folder in which it would run.
    pub cwd: WirePath,
    /// The live shell or a separate one.
    pub mode: RunMode,
    /// Reasons for the question.
    pub reasons: Vec<String>,
}
