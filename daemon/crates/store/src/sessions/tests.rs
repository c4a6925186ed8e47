pub(super) mod checkpoints;
mod conformance;
mod damage;
mod file;
mod long_turn;
