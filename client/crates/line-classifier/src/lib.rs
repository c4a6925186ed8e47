//! Decides whether a line is natural language or a command, one line at a time, before Enter takes effect.
//!
//! [`judge()`] reads the line once ([mod@line]). The first of the [`rules`] with an opinion decides; for all other lines a linear model
//! decides, over [`features`] and hashed words ([`hashing`]), with [`weights`] that `scripts/train-gate` learned. The model also
//! overrules rules that saw no more than signs of a command. Near its threshold, files named in the line count, too. In doubt the shell
//! gets the line.
//!
//! - [`Names`] looks up words in the user's shell and folder; the caller implements it.
//! - [`corrections`] remembers lines that the user sent elsewhere; [`explain`] explains a decision to people.
//!
//! This crate is pure: it reads no file, no environment and no clock.

pub mod builtins;
pub mod corrections;
mod decision;
pub mod explain;
pub mod feature_names;
pub mod features;
pub mod first_word;
pub mod hashing;
mod judge;
pub mod line;
mod names;
pub mod reason;
pub mod rules;
mod score;
pub mod weights;
pub mod words;

#[cfg(test)]
mod adversarial_tests;
#[cfg(test)]
mod decision_tests;
#[cfg(test)]
mod held_out_tests;
#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod property_tests;
#[cfg(any(test, feature = "testing"))]
pub mod test_names;

pub use self::{
    decision::Decision,
    judge::{DecisionTrace, Judgement, decide, judge},
    names::Names,
    score::score,
};
