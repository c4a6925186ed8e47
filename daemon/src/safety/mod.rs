//! Safety checks stand between the model and the world: [`gate`], [`taint`], [`pipeline`], [`secrets`]. They judge calls and texts;
//! they run no command.

pub mod doubt;
pub mod gate;
pub mod inbound;
pub mod known_servers;
pub mod label;
pub mod old_yes;
pub mod pipeline;
pub mod repository;
pub mod secrets;
pub mod spotlight;
pub mod taint;
pub mod trust;
pub mod unfilled;
