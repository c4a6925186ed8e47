//! Running commands in a shell, exactly; and guarding what goes in and what comes out.

pub mod policy;
pub mod runner;
pub mod sanitize;
