//! Tests the live shell as a state machine, from outside: without a shell, a kernel or a clock.

mod bench;
mod editor;
mod honest;
mod properties;
mod schedules;
mod states;
mod story;
mod table;
