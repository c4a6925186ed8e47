//! Takes secrets, and personal data if asked to, out of bytes that are about to leave: to a model, a disk, a peer.
//!
//! - [`Scrubber`] is the memory of one conversation: the same value gets the same placeholder `<secret:KIND#N>` as long as it lives.
//!   It keeps keyed hashes of values; with a [`Mark`] also the values themselves, so that a placeholder can be looked up again.
//! - [`Scrubber::text`] and [`Scrubber::bytes`] take whole texts; a [`Stream`] takes pieces and holds back what may still turn out
//!   to be part of a secret. The result does not depend on where a stream was cut.
//! - [`secret_names`] decides by its name whether a variable holds a secret.
//!
//! Two automata look for the literals of all formats (`rules.table`). Where they find one, the rules of that literal look at a window
//! around it (`detect.rs`, `assignment.rs`, `block.rs`), and `likely.rs` judges how random the candidate looks. Where a name says password
//! or the like (`sense.rs`), any value counts that is no stand-in (`chosen.rs`, `unsigned.rs`, `stand_in.rs`). Overlapping finds are
//! replaced as a whole.
//!
//! This crate is pure: it reads no file and no environment and knows no shell. Where in a command line a value may be filled in is
//! decided by the policy.

mod assignment;
mod block;
mod chosen;
mod detect;
mod document;
mod exact;
mod filled_line;
mod likely;
mod lookup;
mod pii;
mod placeholder;
mod report;
mod rules;
mod scrubber;
pub mod secret_names;
mod sense;
mod stand_in;
mod stream;
#[cfg(test)]
mod tests;
mod unsigned;
mod values;
mod whole_text;

pub use self::{
    exact::ExactValues,
    filled_line::FilledLine,
    lookup::NoValue,
    pii::PersonalData,
    placeholder::{Mark, Placeholder, as_words, holds_placeholder, placeholders},
    report::Report,
    scrubber::{Scrubber, Settings},
    stream::{HELD_BACK_BYTES, MOST_BLOCK_BYTES, Stream},
};
