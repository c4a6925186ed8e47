//! Behaviour around the loop, one per file.
//!
//! Order in a turn, outermost first: [`window::Window`] (what is sent fits the model), [`checkpoint::Checkpoint`] (an
//! interrupted turn loses nothing), `safety::inbound` (what tools return is harmless text), `safety::gate` (may it run?).

pub mod checkpoint;
pub mod window;
