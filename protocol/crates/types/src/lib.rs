//! Types that several crates exchange.
//!
//! - [`approval_mode`]: how much the user is asked.
//! - [`client_settings`]: the client's own table of the settings.
//! - [`command`]: a command for a shell, its outcome, and why it did not run.
//! - [`confined_programs`]: which programs run unasked behind the lock.
//! - [`environment`]: the variables of a client.
//! - [`image_format`]: the images and PDFs that models read.
//! - [`picked_line`]: what a picker reports to the client.
//! - [`reasoning`]: how much a model thinks.
//! - [`refusal`]: why a command did not run, and the user's "no" to an action.
//! - [`sandbox_profile`]: what a shell of the daemon's may do.
//! - [`settings`]: how a setting is declared, once for its field, its default, its check and its documentation.
//!
//! They are plain data without behaviour: no wire format, no files. The protocol converts them at its codec.

pub mod approval_mode;
pub mod client_settings;
pub mod command;
pub mod confined_programs;
pub mod environment;
pub mod image_format;
pub mod picked_line;
pub mod place_in_answer;
pub mod reasoning;
pub mod refusal;
pub mod sandbox_profile;
pub mod settings;
