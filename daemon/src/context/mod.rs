//! The context builds the texts that a model reads, and keeps them within its size. It sends nothing: the providers do.

pub mod analysis;
pub mod fit;
pub mod gap;
pub mod git_state;
pub mod identity_files;
pub mod learned;
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
pub mod window_size;
