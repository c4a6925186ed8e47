//! What the model gets to see.

pub mod analysis;
pub mod fit;
pub mod gap;
pub mod learned;
pub mod meanwhile;
pub mod model_table;
pub mod outline;
pub mod project_notes;
pub mod query;
pub mod system_prompt;
pub mod tokens;
pub mod window_size;
