//! The whole of cohab, from outside. One binary, so that it links once.

mod answer;
mod approval;
mod architecture;
mod ask;
mod commands;
mod daemon;
mod harness;
mod offline;
mod shell;
mod tools;
mod undo;
mod wires;
