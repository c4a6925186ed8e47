//! The harness of the end-to-end tests and the bench: a scripted model server, a readable terminal, and a home that holds nothing of
//! the user's.
//!
//! No helper sleeps: each wait has a condition and a deadline ([`deadline`]), and a missed deadline panics with the content of the
//! screen. The harness drives cohab from outside.

pub mod binaries;
pub mod deadline;
pub mod emulation;
pub mod home;
pub mod model_server;
pub mod peer;
pub mod processes;
pub mod session;
mod shells;
pub mod side_by_side;
pub mod terminal;

pub use home::Home;
pub use model_server::{Answer, ModelServer, Request, Wire};
pub use session::Session;
pub use terminal::{Size, Terminal, keys};
