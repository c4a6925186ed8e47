//! Reads a flow's file and the files of its parts.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use cohab_graph::{
    definition::{self, FILE_MAX_BYTES, Problem},
    flow::Flow,
};
use cohab_text::sanitize::one_line;

use super::super::Failure;

/// A flow with the files that it was read from.
pub(super) struct Loaded {
    /// The flow, or its faults.
    pub flow: Result<Flow, Vec<Problem>>,
    /// The file, its links resolved.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// The texts of its parts by their names in the flow.
    pub parts: BTreeMap<String, String>,
    /// The folders of all files, their links resolved.
    pub folders: Vec<PathBuf>,
}

/// Reads a flow. Parts are named from the folder of its file.
pub(super) fn load(file: &Path) -> Result<Loaded, Failure> {
    let shown = one_line(&file.to_string_lossy(), usize::MAX);
    let unreadable = |reason: String| Failure::Other(format!("{shown} cannot be read: {reason}"), None);
    let real = file.canonicalize().map_err(|error| unreadable(error.to_string()))?;
    let text = text_of(&real).map_err(unreadable)?;
    let folder = real.parent().unwrap_or(Path::new("/")).to_owned();
    let (parts, folders) = (RefCell::new(BTreeMap::new()), RefCell::new(vec![folder.clone()]));
    let part = |name: &str| {
        let of = |reason: String| format!("the file `{name}` cannot be read: {reason}");
        let real = folder.join(name).canonicalize().map_err(|error| of(error.to_string()))?;
        let text = text_of(&real).map_err(of)?;
        folders.borrow_mut().extend(real.parent().map(Path::to_owned));
        parts.borrow_mut().insert(name.to_owned(), text.clone());
        Ok(text)
    };
    let flow = definition::read(&shown, &text, &part);
    Ok(Loaded { flow, file: real, text, parts: parts.into_inner(), folders: folders.into_inner() })
}

/// The text of a regular file. Longer ones are refused when they are read as flows.
fn text_of(real: &Path) -> Result<String, String> {
    let text = |error: std::io::Error| error.to_string();
    // Opening a pipe would wait for its writer.
    if !fs::metadata(real).map_err(text)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let (mut content, limit) = (String::new(), FILE_MAX_BYTES as u64 + 1);
    File::open(real).and_then(|file| file.take(limit).read_to_string(&mut content)).map_err(text)?;
    Ok(content)
}
