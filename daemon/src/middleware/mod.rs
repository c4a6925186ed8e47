//! Behaviour around the loop, one per file.
//!
//! Order in a turn, outermost first: [`accounting::Accounting`] (what an answer took is kept), [`window::Window`] (what is sent
//! fits the model), [`checkpoint::Checkpoint`] (an interrupted turn loses nothing), `safety::inbound` (what tools return is
//! harmless text), [`meanwhile::Meanwhile`] (what the user ran is told), `safety::gate` (may it run?).

pub mod accounting;
pub mod budget;
pub mod checkpoint;
pub mod last_answer;
pub mod meanwhile;
pub mod pause;
pub mod self_correction;
pub mod step_rules;
pub mod turn_clock;
pub mod window;
