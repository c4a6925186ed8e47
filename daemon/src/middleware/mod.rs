//! Middleware adds behaviour around the agent loop, one per file. The loop itself is in `cohab-agent`.
//!
//! Order in a turn, outermost first (`assembly/around.rs` is the list). Around the whole:
//!
//! 1. `recording::step_hooks` (steps are recorded), `safety::taint` (untrusted texts are noticed), `safety::spotlight` (results are
//!    marked as data)
//! 2. [`pause`] (the user holds it), [`accounting`] (usage is recorded), [`budget`] (the limits are enforced),
//!    [`response_cache`] (a cached answer is repeated), [`naming`] (the conversation gets a name)
//! 3. [`window`] (requests fit the model), [`compaction`] (a conversation that grows too long becomes shorter), [`escalation`]
//!    (a model without progress is replaced), [`checkpoint`] (an interrupted turn loses nothing)
//! 4. [`step_rules`] (the user's rules for steps), [`spooling`] (a long result is cut, and kept whole in a file), `safety::inbound`
//!    (results become harmless text)
//! 5. [`meanwhile`] (the user's commands are reported), [`self_correction`] (a stuck model gets a note, then the user is asked),
//!    [`last_answer`] (the reason why no tool runs any more)
//!
//! Around a call, inside of all that: `safety::unfilled` (no placeholder is typed), `safety::gate` (permission), [`pause`] again,
//! `safety::doubt` (the call may have run before), [`spans`] (events are shown to subscribers), `recording::hooks` (calls are
//! recorded), [`backups`] (a file's content is kept before it is changed), [`audit`] (actions and consents are recorded).

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
