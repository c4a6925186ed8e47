//! Holds the conversation between the user, their shell and the daemon, as a state machine without IO.
//!
//! [`app::App`] is the machine: an [`event::Event`] and the time go in, [`effect::Effect`]s come out as data. The driver in the crate
//! `cohab` waits for bytes, turns them into events and performs the effects, in order.
//!
//! What the machine decides:
//!
//! - [`approval::OpenQuestion`] is a question for consent while it is open: keys go in, a decision comes out. It judges the line again,
//!   against the client's own [`approval::ApprovalEnvironment`].
//! - `consent` records what the user agreed to, `shell_drift` what commands of the agent changed about the shell, `journal` what came of
//!   the commands.
//! - [`redactor::Redactor`] takes secrets out of what is sent, and puts them back into what is typed.
//! - [`line_question::LineQuestion`] is what the line classifier is asked, [`background_task::Task`] what is done on the side; both are
//!   answered by an event.
//! - [`session_override::SessionOverride`] changes how this shell is attached, [`slash`] reads commands such as `? /model`.
//!
//! What the machine shows, as styled lines: [`app::App::frame`] is the frame that is due; [`ui`] draws cards, steps, diffs, the
//! progress of a turn, errors and the table of keys. `cohab ask` draws with the same functions.
//!
//! Invariants: a command runs only if the client's own policy allows its exact bytes in this folder, or `consent` holds the user's yes to
//! them. The assistant draws only while it owns the terminal. Every wait has an end, and [`app::App::deadline`] is absent while nothing
//! waits, so that an idle client never wakes up.
//!
//! This crate does not read a clock, a disk or the environment, does not write to the terminal or to the shell, and knows neither
//! settings files nor the connection. What it needs of these comes in as [`app::Options`].

pub mod app;
pub mod approval;
pub mod background_task;
mod consent;
pub mod effect;
pub mod event;
mod journal;
pub mod line_question;
pub mod redactor;
pub mod session_override;
mod shell_drift;
pub mod silence;
pub mod slash;
#[cfg(any(test, feature = "testing"))]
pub mod test_messages;
pub mod ui;
