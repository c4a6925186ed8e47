//! Error messages between client and daemon. Each says which side is at fault, what happened and what to do.

use serde::{Deserialize, Serialize};

use crate::{CallId, RequestId, TurnId};

/// A failure that the other side, and in the end the user, must know of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireError {
    /// The exchange that this error answers.
    pub about: ErrorSubject,
    /// The family of the failure.
    pub kind: WireErrorKind,
    /// One sentence for the user, without a trailing line feed.
    pub message: String,
    /// Advice for the user, if anything is known to help.
    pub hint: Option<String>,
}

/// The exchange that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorSubject {
    /// The connection as a whole; it is closed after this message.
    Connection,
    /// A turn. `TurnEnded` follows.
    Turn(TurnId),
    /// A `SessionRequest`.
    Request(RequestId),
    /// A command in the live shell.
    Call(CallId),
}

/// Kinds of failure, for exit codes and for the decision to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WireErrorKind {
    /// The two sides speak different versions.
    Version,
    /// A message out of order, or one that breaks a limit.
    Protocol,
    /// A setting is missing or wrong.
    Settings,
    /// The model's service refused or failed.
    Provider,
    /// The other side is busy with something that excludes this.
    Busy,
    /// The object that the message names does not exist (any more).
    NotFound,
    /// A bug: details are in the daemon's log.
    Internal,
}
