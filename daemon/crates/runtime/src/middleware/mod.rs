//! Behaviour around the loop, one per file: middleware changes a turn, observers look at it, some do both.
//!
//! Order in a turn, outermost first (`middleware_stack.rs` of `cohab-assembly` is the list). Around the whole:
//!
//! 1. `recording::step_hooks` (steps are kept), `cohab_guard::taint` (texts from elsewhere are noticed), `cohab_guard::spotlight` (results are
//!    marked as data)
//! 2. [`pause`] (the user holds it), [`accounting`] (what an answer took is kept), [`budget`] (may more be spent?),
//!    [`response_cache`] (an answer is given again), [`auto_title`] (the conversation gets a name)
//! 3. [`model_capacity`] (what is sent fits the model), [`compaction`] (a conversation that grows too long becomes shorter), [`escalation`]
//!    (a model that gets nowhere gives way), [`checkpoint`] (an interrupted turn loses nothing)
//! 4. [`step_rules`] (the user's rules for steps), [`spooling`] (a long result is cut, and kept whole in a file),
//!    `cohab_guard::sanitize_results` (what tools return is harmless text)
//! 5. [`user_activity`] (what the user ran is told), [`self_correction`] (a model that is stuck is told, then the user is asked),
//!    [`final_answer`] (why no tool runs any more)
//!
//! Around a call, inside of all that: `cohab_guard::placeholder_check` (no placeholder is typed), `cohab_guard::gate` (may it run?), [`pause`]
//! again, [`uncertain_calls`] (it may have run before), [`spans`] (what goes on is shown to whoever subscribes), `recording::hooks` (calls are
//! kept), [`backups`] (what a file holds is kept before it is changed), [`audit`] (what is done, and who agreed, is recorded).

pub mod accounting;
pub mod audit;
pub mod auto_title;
pub mod backups;
pub mod budget;
pub mod checkpoint;
pub mod compaction;
pub mod escalation;
pub mod final_answer;
pub mod model_capacity;
pub mod pause;
pub mod response_cache;
pub mod self_correction;
pub mod spans;
pub mod spooling;
pub mod step_rules;
pub mod turn_clock;
pub mod uncertain_calls;
pub mod user_activity;

#[cfg(test)]
mod outcomes_tests;
