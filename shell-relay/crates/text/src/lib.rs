//! Makes text from programs and models safe to print, to keep and to send.
//!
//! - [`sanitize`] replaces control and invisible characters in text for the model and for the screen.
//! - [`terminal_safe_writer`] writes lines to a terminal without letting an escape sequence through.
//! - [`capture`] keeps the head and the tail of a command's output and turns it into text for the model.
//! - [`cut`] cuts text to size in whole characters or lines; [`tokens`] estimates how many tokens a text is.
//! - [`front_matter`] reads the fields at the start of a Markdown file.
//! - [`nearest`] finds the name that a mistyped word means.
//!
//! Nothing here reads a file, waits or knows what a shell is. Secrets are removed by another crate.

pub mod capture;
pub mod cut;
pub mod front_matter;
pub mod nearest;
pub mod sanitize;
pub mod terminal_safe_writer;
pub mod tokens;

#[cfg(any(test, feature = "testing"))]
pub mod terminal_attack_fixtures;
