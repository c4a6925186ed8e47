//! Reads a flow from TOML. Every fault has its line and column and says what to do. Pure.
//!
//! [`read`] gives a [`Flow`] that can run: all names are known, types fit, every node can be reached, branches are apart
//! (`structure`).

mod keys;
mod node;
mod problem;
mod reader;
mod structure;
mod table;

use self::reader::{FlowPlace, Reader};
pub use self::{
    problem::Problem,
    reader::{FILE_MAX_BYTES, Files},
};
use crate::flow::Flow;

/// Reads a flow. `file` is its name in messages; `files` gives the texts of subgraphs in other files.
///
/// # Errors
/// All faults that were found, in the order of the lines.
pub fn read(file: &str, text: &str, files: Files<'_>) -> Result<Flow, Vec<Problem>> {
    let mut reader = Reader::new(files);
    let stem = file.rsplit('/').next().unwrap_or(file);
    let name = stem.strip_suffix(".toml").unwrap_or(stem).to_owned();
    let outline = reader.file(file, text, &FlowPlace { prefix: String::new(), name, enter: None });
    let Reader { mut problems, keys, nodes, spots, .. } = reader;
    let Some(outline) = outline.filter(|_| problems.is_empty()) else { return Err(problems.sorted()) };
    let mut flow = Flow { name: outline.name, max_steps: outline.max_steps, keys, nodes, start: outline.start };
    structure::check(&mut flow, &spots, &mut problems);
    if problems.is_empty() { Ok(flow) } else { Err(problems.sorted()) }
}

#[cfg(test)]
mod tests;
