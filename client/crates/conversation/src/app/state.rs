//! The parts of the client's state. None of these files names [`App`](super::App): the files next to this folder, each with its share of
//! `impl App`, import from here, and nothing here imports from them.

pub mod activity;
pub mod additions;
pub mod agent_command;
pub mod answer_text;
pub mod asked;
pub mod attention;
pub mod background_turn;
pub mod countdown;
pub mod entered_line;
pub mod failure;
pub mod progress;
pub mod resume;
pub mod shell_history;
pub mod slash;
pub mod stopped;
pub mod thinking;
pub mod turn;
pub mod typed_lines;
pub mod undo;
