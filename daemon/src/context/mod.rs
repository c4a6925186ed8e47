//! What the model gets to see.

pub mod query;
pub mod system_prompt;
pub mod tokens;
