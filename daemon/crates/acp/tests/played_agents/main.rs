//! Agents that are real processes, in the place of a model.

mod agents;
mod played;
mod processes;
mod prompts;
