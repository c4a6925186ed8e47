//! Reads shell lines: into plain commands of which two parsers agree, and into everything that a text may run. Pure.
//!
//! Three readers, each for another question:
//!
//! - [`parse_plain`] reads a line of [`SimpleCommand`]s whose words are literal, by one parser; [`is_confirmed`] asks a second one,
//!   which shares no code with it. Text that nests, expands or is hidden reaches neither of them.
//! - [`reading`] first rewrites what only zsh or fish has in bash syntax, and reduces loops, conditions, variables and substitutions to
//!   the plain commands that they run ([`Structure`]). A value that is computed only when the line runs is a sample with a mark
//!   ([`Computed`]). [`why_read_otherwise`] says whether zsh or fish may read a plain line otherwise than bash.
//! - [`scan()`] finds the commands of any text, nested and broken parts included, and prefers one too many. It never fails.
//!
//! [`word_places()`] finds the words of a plain line in its bytes, [`hidden_characters`] what a person would not see, [`glob`] compares
//! patterns.
//!
//! What always holds:
//!
//! - A form that is not surely read as the shell reads it is refused. A refusal is a phrase about the line, for people: "uses braces".
//!   No code decides by its words.
//! - Any text is read in bounded time and depth, or refused. A panic of a foreign parser is [`caught`].
//! - What a name stands for is not in the text: [`reading`] asks a [`Vocabulary`]. The programs that this crate names itself are builtins
//!   of the shells, `git`, whose revisions hold signs of patterns, and `xargs`, which makes commands of words.
//!
//! This crate does not judge: it knows no verdict, no table of programs, options or paths, and no file. It changes no line; it quotes
//! none either (see `cohab-shell-state`).

mod bytes;
mod catch_panic;
mod command;
mod dialect;
pub mod glob;
mod parse;
mod scan;
mod structure;
mod vocabulary;
mod word_places;

pub use bytes::{MAX_LINE_BYTES, hidden_characters};
pub use catch_panic::caught;
pub use command::{Join, Redirect, RedirectKind, SimpleCommand, Word};
pub use dialect::{Reading, as_bash, looks_deep, reading, why_read_otherwise};
pub use parse::{is_confirmed, parse_plain};
pub use scan::{LooseCommand, LooseRedirect, LooseWord, MAX_SCAN_BYTES, Scan, scan, split_assignment};
pub use structure::{Computed, ComputedKind, Structure};
pub use vocabulary::Vocabulary;
pub use word_places::word_places;
