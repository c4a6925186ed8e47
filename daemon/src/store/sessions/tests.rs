pub(super) mod checkpoints;
mod conformance;
mod file;
mod measures;
