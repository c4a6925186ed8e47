//! Puts an agent together for each turn: settings, model, tools, shell, and the behaviour around the loop.
//!
//! - [`wiring`] is the composition root: the only place that names which implementation stands behind which port.
//! - [`assembly::Assembly`] implements the port [`Assembler`](cohab_session::Assembler) of the sessions. Its children choose the models that
//!   answer, the shells that run commands, and the list of middleware and observers.
//! - [`tier_rules`] judges the tier of a question. [`temporary`] is the folder for temporary files of confined commands.
//!
//! Invariants: settings are read again when their file has changed, and a turn keeps those it began with; a local server is asked only
//! after the user agreed to it.
//!
//! Nothing here runs a turn, opens a socket or writes to a store by itself.

pub mod assembly;
pub mod temporary;
pub mod tier_rules;
pub mod wiring;
