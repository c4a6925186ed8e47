//! Tests of the live shell against real shells in a real PTY.

#![expect(clippy::print_stderr, reason = "a skipped test says why")]

#[cfg(test)]
mod cases;
mod questions;
mod safety;
#[cfg(test)]
mod shells;
mod state;
mod states;
#[cfg(test)]
mod terminal;
mod told;
