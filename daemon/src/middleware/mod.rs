//! Behaviour around the loop, one per file.
//!
//! Order in a turn, outermost first: [`accounting::Accounting`] (what an answer took is kept), [`window::Window`] (what is sent
//! fits the model), [`compaction::Compaction`] (a conversation that grows too long becomes shorter), [`escalation::Escalation`] (a model
//! that gets nowhere gives way), [`checkpoint::Checkpoint`] (an interrupted turn loses nothing), [`spooling::Spooling`] (a long result is
//! cut, and kept whole in a file), `safety::inbound` (what tools return is
//! harmless text), [`meanwhile::Meanwhile`] (what the user ran is told), `safety::gate` (may it run?).

pub mod accounting;
pub mod checkpoint;
pub mod compaction;
pub mod escalation;
pub mod meanwhile;
pub mod response_cache;
pub mod spooling;
pub mod window;
