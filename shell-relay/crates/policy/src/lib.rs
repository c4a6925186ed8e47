//! Judges shell lines: [`Verdict`] says whether a line may run. Pure: no file is touched, no program started.
//!
//! `cohab-shell-syntax` reads the lines; this crate knows what their words do. Allow is a whitelist: of structure (plain commands on
//! which two parsers agree), of names and options (`options`, a table), of the small languages of some programs (`rules`), and of paths
//! (`paths`). Everything else is asked. Where a program is locked, more is allowed: a program in words in which nothing is known to act
//! (`inline_code`), and a shell whose text is judged like a line (`nested`). Apart from that, `danger` walks all of the text, nested and broken parts included, and looks for
//! known harm; it only ever makes the question louder.
//!
//! The parsers read bash. In zsh and fish the same text may mean something else: there a line is allowed only if all three shells read
//! it alike. What a name in a line stands for, the reader asks `known_names`.
//!
//! [`consent::decide`] says what follows from a verdict: by the mode and by what the user said before an action runs, is asked about or is
//! refused. Client and daemon both decide by it.
//!
//! [`Files`] resolves links and lists the files that a pattern matches. Two facts do not follow from the text and are left to the
//! caller that types the line: the meaning of a name in that shell, and programs that a repository's git configuration starts.

mod alone;
mod assess;
mod carriers;
mod caveat;
pub mod consent;
mod context;
mod danger;
mod egress;
mod encoders;
mod file_lookup_cache;
mod fill;
mod findings;
mod git_environment;
mod hardening;
mod hosts;
mod inline_code;
mod known_names;
mod launchable;
mod lock;
mod lookups;
mod names;
mod nested;
mod options;
mod ownership;
mod parts;
mod paths;
mod pattern_match;
mod provenance;
mod repository;
mod rules;
mod secret_use;
mod shell_options;
mod silent;
pub mod user_rules;
mod verdict;

use std::time::Duration;

pub use assess::{assess_line, assess_read, assess_write, in_words_of_bash};
pub use caveat::{Caveat, ProgramFault, SETTLES, Setting};
pub use context::{Context, Files, Program};
pub use danger::decides_what_runs;
pub use egress::{Outward, outward, reaches_out};
pub use fill::{NotFilled, can_fill, fill};
pub use git_environment::GitEnvironment;
#[cfg(any(test, feature = "testing"))]
pub use hardening::typed_form;
pub use hardening::{Unasked, keeps_shell, needs_lock, unasked};
pub use hosts::hosts;
pub use lock::Lock;
pub use names::why_not_themselves;
pub use parts::{Part, parts};
pub use provenance::{is_foreign_file, outside_source, why_asked_under_taint};
pub use repository::{git_variables, planted, why_planted};
pub use secret_use::hands_code_on;
pub use silent::brought_nothing;
pub use verdict::{Level, Verdict};

/// The time for which a yes to one run holds, for client and daemon alike. A question may stand for any time: the time counts from the
/// yes.
pub const YES_HOLDS: Duration = Duration::from_secs(10 * 60);

#[cfg(test)]
mod tests;
