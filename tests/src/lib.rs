//! What the end-to-end tests and the bench stand on: a scripted model server, a terminal that can be read, and a home
//! that holds nothing of the user's.
//!
//! Nothing here sleeps: whatever is waited for has a condition and a deadline ([`deadline`]), and a missed deadline panics
//! with what the screen showed.

pub mod binaries;
pub mod deadline;
pub mod emulation;
pub mod home;
pub mod model_server;
pub mod processes;
pub mod session;
pub mod side_by_side;
pub mod terminal;

pub use home::Home;
pub use model_server::{Answer, ModelServer, Request, Wire};
pub use session::Session;
pub use terminal::{Size, Terminal, keys};
