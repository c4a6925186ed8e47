//! Where `cohab usage`, `stats` and `trace` draw: at a terminal, or in a file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;

use super::{Failure, record};

/// Where a picture is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct PictureArgs {
    /// Write a picture (SVG) to FILE, and replace an older one
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub svg: Option<PathBuf>,
}

/// Columns of the terminal for a picture; `None` for people who have their terminal read to them.
pub fn columns() -> Option<usize> {
    let is_accessible = std::env::var("COHAB_ACCESSIBLE").is_ok_and(|value| value != "0" && !value.is_empty());
    record::terminal_columns().filter(|_| !is_accessible)
}

/// Writes a picture and returns a sentence that says so.
pub fn write(file: &Path, picture: &str) -> Result<String, Failure> {
    let shown = record::visible(&file.to_string_lossy());
    fs::write(file, picture).map_err(|error| Failure::Other(format!("{shown} cannot be written: {error}"), None))?;
    Ok(format!("Wrote {shown}.\n"))
}
