//! The whole of cohab, from outside. One binary, so that it links once.

mod answer;
mod approval;
mod architecture;
mod aside;
mod ask;
mod citizenship;
mod commands;
mod daemon;
mod doctor;
mod harness;
mod init;
mod keys;
mod lease;
mod offline;
mod probe;
mod setup;
mod shell;
mod shell_check;
mod shells;
mod startup;
mod tools;
mod undo;
mod usage;
mod wires;
