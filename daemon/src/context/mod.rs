//! What the model gets to see.

pub mod analysis;
pub mod fit;
pub mod gap;
pub mod git_state;
pub mod identity_files;
pub mod meanwhile;
pub mod outline;
pub mod project_notes;
pub mod query;
pub mod report;
pub mod sections;
pub mod short_result;
pub mod skills;
pub mod surroundings;
pub mod text_file;
pub mod trust;
