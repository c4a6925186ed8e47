//! Behaviour around the loop, one per file.
//!
//! Order in a turn, outermost first: [`pause::Pause`] (the user holds it), [`accounting::Accounting`] (what an answer took is kept),
//! [`budget::Budget`] (may more be spent?), [`response_cache::GivenAgain`] (an answer is given again), [`window::Window`] (what is sent
//! fits the model), [`naming::Naming`] (the conversation gets a name), [`compaction::Compaction`] (a conversation that grows too long becomes shorter), [`escalation::Escalation`] (a model
//! that gets nowhere gives way), [`checkpoint::Checkpoint`] (an interrupted turn loses nothing), [`step_rules::StepRules`] (the user's
//! rules for steps), [`spooling::Spooling`] (a long result is cut, and kept whole in a file), `safety::inbound` (what tools return is
//! harmless text), [`meanwhile::Meanwhile`] (what the user ran is told), [`self_correction::SelfCorrection`] (a model that is stuck is
//! told, then the user is asked), [`last_answer::LastAnswer`] (why no tool runs any more), `safety::gate` (may it run?),
//! [`backups::KeepFiles`] (what a file holds is kept before it is changed), [`audit::Audit`] (what is done, and who agreed, is recorded),
//! [`spans::Spans`] (what goes on is shown to whoever subscribes).

pub mod accounting;
pub mod audit;
pub mod backups;
pub mod budget;
pub mod checkpoint;
pub mod compaction;
pub mod escalation;
pub mod last_answer;
pub mod meanwhile;
pub mod naming;
pub mod pause;
pub mod response_cache;
pub mod self_correction;
pub mod spans;
pub mod spooling;
pub mod step_rules;
pub mod turn_clock;
pub mod window;

#[cfg(test)]
mod outcomes_tests;
