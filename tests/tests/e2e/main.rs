//! The whole of cohab, from outside. One binary, so that it links once.

mod architecture;
mod harness;
