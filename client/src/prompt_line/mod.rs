//! Judges the line at the prompt, as far as its [text alone](cohab_conversation::line_question) does not: the
//! [classifier](cohab_line_classifier) runs on a separate [thread](classifier_thread), which may look at the disk.

pub mod classifier_thread;
pub mod corrections_store;
pub mod names;
pub mod places;
pub mod world;
