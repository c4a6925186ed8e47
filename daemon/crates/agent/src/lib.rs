//! The agent loop: asks the model, runs the tools that it calls, and asks again until there is an answer.
//!
//! - [`Agent`] runs a turn. [`plan`], a pure function of the [`TurnState`], chooses each next step.
//! - [`port`] and [`runner`] are the ports: tools, commands, the sink of events, the person who approves. Models are behind
//!   `cohab-model-api`.
//! - [`Middleware`] is called at each step and may change it; a [`TurnObserver`] learns each [`Fact`] and changes nothing. All that goes
//!   beyond the loop is one of these; the [`TurnStack`] is their list.
//! - A [`Goal`] keeps a turn going until a check succeeds.
//! - [`completion`] asks a model one thing next to the conversation.
//! - [`tasks`] is the list of what a session means to do; [`builtin_tools`] is what others need to know of the built-in tools.
//! - [`TurnError`] and [`StopReason`] say how a turn ended.
//!
//! Invariants: calls run in the order in which the model made them; no call runs before its answer is complete; every call has exactly
//! one result in the conversation.
//!
//! This crate knows no model service, tool, store, socket or protocol; the daemon supplies them.

mod batch;
pub mod builtin_tools;
pub mod completion;
mod consent;
pub mod error;
pub mod goal;
pub mod hook;
mod observed_approver;
pub mod observer;
pub mod plan;
pub mod port;
pub mod runner;
pub mod stack;
pub mod state;
mod step;
pub mod tasks;
pub mod turn;
mod turn_ports;

pub use error::{StopReason, TurnError};
pub use goal::{Goal, GoalWish};
pub use hook::{Denial, Middleware, PlannedCall, TurnResult};
pub use observed_approver::ObservedApprover;
pub use observer::{Fact, TurnObserver};
pub use plan::TurnLimits;
pub use port::BeforeStop;
pub use stack::TurnStack;
pub use state::TurnState;
pub use turn::Agent;
pub use turn_ports::TurnPorts;
