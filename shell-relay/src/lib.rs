//! Running commands in a shell, exactly; and guarding what goes in and what comes out.

pub mod files;
pub mod git_settings;
pub mod isolated;
pub mod leftovers;
pub mod live;
pub mod lock;
pub mod marks;
pub mod policy;
pub mod process;
pub mod rules_file;
pub mod runner;
pub mod sandbox;
pub mod scrub;
pub mod secret_names;
pub mod shell;
pub mod state;
pub mod subshell;
