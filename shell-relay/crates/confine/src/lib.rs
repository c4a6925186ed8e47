//! Confines a process by its kernel: a second lock behind the policy that depends on no table of programs.
//!
//! The program `cohab-confine -- PROGRAM ARGS` restricts itself and then becomes `PROGRAM`: same process, same terminal, same
//! signals and status, no process in between. A confined program reads the files that its user may read, except the places of
//! secrets, and writes to its terminal and to a private folder for temporary files. It reaches no network, no service of the user's,
//! and no process that it did not start; of the system's services it reaches only those that know users' names.
//!
//! `cohab-confine --line SHELL LINE` does the same to a shell that runs one line without its user's settings.
//!
//! - [`launch`] does that, step by step; the crate's program passes it the places of secrets, so this library knows no policy.
//! - [`enforce`] binds the calling thread by [`Rules`]. The sandbox of `cohab ask` uses it with separate rules.
//! - [`secrets`] finds the places of secrets that exist; [`hierarchies`] names all that lies around them, since the kernel takes
//!   permissions and no exceptions.
//! - [`names`] connects confined programs with the services that know users' names, from a process that is not confined.
//! - [`Support`] says what the kernel can keep, [`Record`] what a program was confined by, so that a failure can be explained.
//!
//! Invariants: the launcher starts no process and no thread, and what is enforced cannot be taken back. A launcher that cannot
//! confine does not start the program.
//!
//! Not done here: deciding which lines run confined. Programs that speak to a service by a Unix
//! socket (`docker`, `systemctl`, `tmux`, the agents of ssh and gpg) cannot do so confined: a service acts with the user's power.

mod bounds;
mod folders;
pub mod hierarchies;
pub mod launch;
mod line;
#[cfg(target_os = "linux")]
#[path = "linux/names/mod.rs"]
pub mod names;
#[cfg(not(target_os = "linux"))]
#[path = "names_elsewhere.rs"]
pub mod names;
mod record;
mod rules;
pub mod secrets;
mod support;
pub mod temporary;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
#[path = "elsewhere.rs"]
mod kernel;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod kernel;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod kernel;
/// Compiled for its tests: the text of the profile is the same on every system.
#[cfg(all(test, not(target_os = "macos")))]
#[expect(dead_code, reason = "only the text is tested here")]
mod macos;

pub use folders::Folders;
pub use kernel::{claimed, drop_capabilities, enforce, present};
pub use record::{Denied, REFUSALS, Record};
pub use rules::{Calls, Rules, Sockets};
pub use support::Support;
