//! Reads the errors of services and gives them a family, sizes and a message. Pure; retries are not decided here.

mod body;
mod kind;
mod sizes;
mod subject;

pub use self::{body::ErrorBody, subject::Subject};

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
