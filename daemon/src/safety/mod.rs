//! What stands between the model and the world.

pub mod gate;
pub mod inbound;
pub mod known_servers;
pub mod label;
pub mod old_yes;
pub mod pipeline;
pub mod repository;
pub mod spotlight;
pub mod taint;
pub mod unfilled;
