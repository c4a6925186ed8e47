//! The protocol between the cohab client and its daemon.
//!
//! # Transport
//! A Unix stream socket in a folder of mode 0700; both sides check that the peer has their uid. Same uid is the trust
//! boundary: who can write to the socket could as well attach a debugger. Each message is one frame: a `u32` length in big
//! endian, then the message in bincode ([`FrameCodec`]).
//!
//! # Handshake
//! ```text
//! client                                   daemon
//!   Hello{version, schema, build}     -->
//!                                     <--  Welcome{version, schema, build}     or  Error(Version), close
//!   SessionRequest(Attach{..})        -->
//!                                     <--  SessionReply(Attached{..})          or  Error(Settings)
//! ```
//! A side that sees another version or schema hash says so and closes: nothing is decoded on hope. Frames are limited to
//! [`MAX_HANDSHAKE_FRAME_BYTES`] until the handshake is over, to [`MAX_FRAME_BYTES`] afterwards. A connection that does not
//! finish its handshake within [`HANDSHAKE_TIMEOUT_MS`] is closed.
//!
//! # A turn
//! ```text
//!   UserQuery{turn}                   -->
//!                                     <--  TurnStarted{turn}
//!                                     <--  StepStarted, AgentStreamChunk{seq 0..}, StepFinished   (any number)
//!                                     <--  ApprovalRequest{approval}
//!   ApprovalReply{approval}           -->
//!                                     <--  ExecuteCommand{call}
//!   CommandOutput{call, empty}        -->  (started: the timer runs)
//!   CommandOutput{call, bytes}*       -->
//!   CommandWaiting{call}              -->  (for the user: the timer stops)
//!   CommandExecutionResult{call}      -->
//!   PauseTurn{turn}                   -->
//!                                     <--  TurnPaused{turn}                    once it holds, and when it continues
//!                                     <--  TurnProgress{turn}, BudgetUsed{turn}  after each model call
//!                                     <--  TurnEnded{turn}                     nothing about the turn follows
//! ```
//! One turn at a time per session; a second `UserQuery` is answered with `Error(Busy)`. `CancelTurn` may come at any time. The side that
//! opens an exchange chooses its id, which comes back in every reply. `seq` counts the chunks of a turn from 0 without gaps, so a client
//! that lost its connection can ask for the rest ([`Attach::resume`]). If a daemon ends during a turn, the next daemon knows the finished
//! steps: it sends `TurnUnfinished`, and `ResumeTurn` in the place of `UserQuery` continues the turn. It asks the client
//! for the result of a command that ran meanwhile by an `ExecuteCommand` of the old turn with the same id; the client never runs that
//! command again.
//!
//! A client that sends `AwaitFirings` gets a `WatcherFired` at any time and answers it with `FiringShown`. A question that comes with it
//! is asked by a `UserQuery` like any other, at a moment of the client's choice.
//!
//! # What either side must expect
//! Everything: a peer may be hostile, slow, cut short or of another version. A frame that cannot be decoded ends the
//! connection with an error that says why. A message that makes no sense now (a result for an unknown call, a reply to an
//! expired question) is ignored and logged.
//!
//! # Wire rules
//! Messages never change in place: append variants, raise [`PROTOCOL_VERSION`], renew `tests/golden.txt` (its hash is
//! [`SCHEMA_HASH`]). No `skip_serializing_if`, `flatten`, `untagged`, internal `tag`, `serde_json::Value` and no vectors of
//! zero-size elements: bincode encodes them and cannot decode them. JSON travels as `String`, bytes as `ByteBuf`.

pub mod amount;
mod approval_request;
mod background_task;
mod client_message;
pub mod codec;
mod context_report;
mod daemon_message;
mod ids;
mod limits;
mod paths;
pub mod socket;
mod subagent;
mod version;
mod watcher_fired;
mod wire_error;
mod wire_path;

pub use approval_request::{ApprovalRequest, ApprovalSubject, ProposedChange, ProposedCommand};
pub use background_task::{TaskDetails, TaskEnd, TaskEnded, TaskStatus, TaskSummary};
pub use client_message::*;
pub use codec::{FrameCodec, FrameError};
pub use cohab_types::approval_mode::ApprovalMode;
pub use context_report::{ContextReport, ContextRoom, ContextSection};
pub use daemon_message::*;
pub use ids::{ApprovalId, CallId, RequestId, SessionKey, TurnId};
pub use limits::*;
pub use paths::{HOME_VARIABLE, Paths};
pub use subagent::{SubagentProgress, SubagentState};
pub use version::{BUILD, Misfit, PROTOCOL_VERSION, SCHEMA_HASH};
pub use watcher_fired::WatcherFired;
pub use wire_error::{ErrorSubject, WireError, WireErrorKind};
pub use wire_path::WirePath;
