//! Subagents: turns that work for another turn, each with a conversation, a shell and limits of its own.
//!
//! - [`SubagentKind`] says what a subagent is for, which tools it has and which instructions. Three kinds are delivered; the user and
//!   trusted projects add their own as Markdown files.
//! - [`Subagents`] is the port that runs one; [`Order`] goes in, [`SubagentReport`] comes out.
//! - [`Team`] holds what the subagents of one turn share: numbers, limits, what they took.
//! - [`ProgressSink`] turns the events of a subagent's turn into short news for the turn that it works for.
//! - A [`Debate`] decides what several models are asked about one question, and what they agree on.
//! - [`winner`] is the best of several attempts at one task.
//! - [`Handoffs`] give the running turn to another agent, which then answers the user.
//! - [`WorkingCopy`] is the copy of a repository that a subagent may change.
//!
//! Invariants: a subagent may do at most what its kind allows, and asks nobody; only its report reaches the conversation that ordered it,
//! cut to [`REPORT_TOKENS`]; a report says how the work ended by its type, never by its words; a working copy changes nothing in the
//! repository that it was made of.
//!
//! This crate knows no session, model service or store. Whoever assembles a turn implements [`Subagents`].

mod best;
mod debate;
mod handoff;
mod kind;
mod port;
mod progress;
mod report;
mod team;
mod working_copy;

pub use self::{
    best::{MAX_ATTEMPTS, judge_task, winner},
    debate::{Debate, DebateStep, MAX_CALLS, Statement, debate_wish},
    handoff::{HANDOFF_TOOL, Handoffs},
    kind::{Access, MAX_KIND_BYTES, SubagentKind, background, delivered, tools_named},
    port::{Order, Subagents},
    progress::ProgressSink,
    report::{
        CopyChanges, KeptDiff, REPORT_TOKENS, ReportEnd, SubagentReport, outside_line, outside_source, report_steps,
    },
    team::Team,
    working_copy::{CopyError, WorkingCopy},
};
