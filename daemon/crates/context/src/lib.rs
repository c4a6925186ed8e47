//! Composes what a model is told: the prompt, what lies around a question, and a conversation cut so that it fits.
//!
//! - [`sections`]: the system prompt, one section a file. [`query::Query`] and [`query_text`]: the text of a question with what changes from one question
//!   to the next, so that the bytes before it stay and providers can cache them.
//!   [`attachments`] finds the files that it names and writes them into it; [`addition`] is what the user says while it is answered.
//! - [`workspace::Surroundings`]: what the disk says around a question. [`identity_files`], [`skills`], [`commands`], [`agent_files`] and
//!   [`project_notes`] are read as untrusted text by [`text_file`]; [`called`] fills in the skill or command that a question names;
//!   [`ignore_rules`] say what is kept from the assistant; [`git_state`] reads the repository; [`trust`] names the folders whose own instructions are used.
//! - [`fit`]: the estimate of a request, and the cuts that make it fit. [`elision`] decides which messages go, [`short_result`] how a result
//!   becomes shorter, [`outline`] and [`compaction`] what stands in the place of the rest.
//! - [`analysis`] and [`report`]: how full a context is, for people. [`user_activity`]: what the user ran between two questions.
//!
//! Invariants: the same input gives the same bytes; no call is parted from its result; text of a project never stands outside the marks
//! of its section.
//!
//! This crate sends nothing and stores no conversation. Only the strategy [`compaction::Summarize`] asks a model, through its port.

pub mod addition;
pub mod agent_files;
pub mod analysis;
pub mod attachments;
pub mod called;
pub mod commands;
pub mod compaction;
pub mod elision;
pub mod fit;
pub mod git_state;
pub mod identity_files;
pub mod ignore_rules;
pub mod outline;
pub mod project_files;
pub mod project_notes;
pub mod query;
pub mod query_text;
pub mod report;
pub mod sections;
pub mod short_result;
pub mod skills;
pub mod text_file;
pub mod trust;
pub mod user_activity;
pub mod workspace;
