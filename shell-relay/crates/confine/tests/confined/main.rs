//! Tests of the launcher with real programs and the real kernel. If the kernel cannot confine, the tests say so and end.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test may fail; one part prints what it could do")]

mod harm;
mod launcher;
mod names;
mod reading;
mod support;
