//! What services say when they refuse or fail, and what it means. Pure.

mod body;
mod kind;
mod sizes;
mod subject;

pub use self::{body::ErrorBody, subject::Subject};

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
