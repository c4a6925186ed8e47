//! Checks the installation (`cohab doctor`) and how well a shell works with cohab (`cohab shell-check`).
//!
//! - [`doctor`] runs one check per file: terminal, daemon, settings, model, sandbox and others. Each gathers what it needs, then a pure
//!   function judges it. With `--latency` it also measures, in a private home with a daemon of its own.
//! - [`shell_check`] starts the user's shell in a hidden terminal, tries it out and reports what works. Its
//!   [`facts`](shell_check::facts) are judged by [`findings`](shell_check::findings), which is pure.
//! - [`Finding`](shell_check::finding::Finding) is one line of either report.
//!
//! Invariants: the doctor starts no daemon of the user's and changes nothing; the one request that may leave the machine is the list of
//! models of the configured service, and the report says so. A hidden shell is killed when its check ends; every wait has a limit.
//!
//! This crate does not open the user's shell and knows no question, answer or approval; the client hands in which shell is examined
//! and how it is started.

pub mod doctor;
pub mod shell_check;
