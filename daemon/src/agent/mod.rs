//! The agent core: a pure planner, plain async execution, and a loop that joins them.

mod batch;
mod consent;
pub mod error;
pub mod hook;
pub mod plan;
pub mod port;
pub mod runner;
pub mod state;
mod step;
pub mod turn;

pub use error::{StopReason, TurnError};
pub use hook::{Denial, Middleware, PlannedCall, TurnResult};
pub use plan::TurnLimits;
pub use state::TurnState;
pub use turn::Agent;
