//! The user interface: lines and bytes, produced without any IO.

pub mod ansi;
pub mod card;
pub mod clipboard;
#[cfg(test)]
pub(crate) mod describe;
pub mod input;
pub mod keys;
pub mod link;
pub mod live_area;
pub mod long_command;
pub mod look;
pub mod notify;
pub mod pace;
pub mod progress;
pub mod receipt;
pub mod status;
pub mod theme;
pub mod visible;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
pub(crate) mod test_screen;
