//! The parts of the client's state. None of these files names [`App`](super::App): the files next to this folder, each with its share of
//! `impl App`, import from here, and nothing here imports from them.

pub(super) mod activity;
pub(super) mod additions;
pub(super) mod agent_command;
pub(super) mod answer_text;
pub(super) mod asked;
pub(super) mod attention;
pub(super) mod background_turn;
pub(super) mod countdown;
pub(super) mod entered_line;
pub(super) mod failure;
pub(super) mod fired;
pub(super) mod progress;
pub(super) mod resume;
pub(super) mod shell_history;
pub(super) mod slash;
pub(super) mod stopped;
pub(super) mod subagents;
pub(super) mod thinking;
pub(super) mod turn;
pub(super) mod typed_lines;
pub(super) mod undo;
