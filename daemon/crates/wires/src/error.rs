//! Reads the errors of services and gives them a family, sizes and a message. Pure; retries are not decided here.

mod body;
mod error_context;
mod kind;
mod sizes;

pub use self::{body::ErrorBody, error_context::ErrorContext};

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
