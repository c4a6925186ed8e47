//! Copies hooks of other files into the user's own.

use std::path::Path;

use cohab_system::files::{self, Expected, FileError};
use serde_json::{Map, Value, json};

use crate::{
    file::{self, HookFile, MAX_FILE_BYTES},
    places::OWN_FILE,
};

/// The content of a file that is to be copied, and its hooks. `path` has no links. Blocks.
///
/// # Errors
/// The fault, a phrase.
pub fn read(path: &Path) -> Result<(Vec<u8>, HookFile), String> {
    let (bytes, _) = files::read_regular(path, MAX_FILE_BYTES).map_err(|error| error.to_string())?;
    let file = file::read(&bytes, path)?;
    Ok((bytes, file))
}

/// Adds the hooks of `content` to the user's own file in the folder `settings`; what it has already is left out. Blocks.
///
/// # Errors
/// The own file cannot be read or written, or would have too many hooks; a phrase.
pub fn add(settings: &Path, content: &[u8]) -> Result<(), String> {
    let own = settings.join(OWN_FILE);
    let (old, metadata) = match files::read_regular(&own, MAX_FILE_BYTES) {
        Ok((old, metadata)) => (Some(old), Some(metadata)),
        Err(FileError::Missing) => (None, None),
        Err(error) => return Err(error.to_string()),
    };
    let all = merged(old.as_deref(), content)?;
    file::read(all.as_bytes(), &own)?;
    files::make_folder(settings).map_err(|error| error.to_string())?;
    let expected = metadata.as_ref().map_or(Expected::Absent, Expected::Same);
    files::replace(&own, all.as_bytes(), expected, Some(0o600)).map_err(|error| error.to_string())
}

/// The old content with the hooks of the new one behind its own.
fn merged(old: Option<&[u8]>, new: &[u8]) -> Result<String, String> {
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string());
    let mut all = old.map_or(Ok(json!({})), parsed)?;
    let new = parsed(new)?;
    let empty = Map::new();
    let events = new.get("hooks").and_then(Value::as_object).unwrap_or(&empty);
    let not_hooks = || "it is not in the format of hooks".to_owned();
    let target = all.as_object_mut().ok_or_else(not_hooks)?.entry("hooks").or_insert_with(|| json!({}));
    let target = target.as_object_mut().ok_or_else(not_hooks)?;
    for (event, groups) in events {
        let known = target.entry(event.clone()).or_insert_with(|| json!([])).as_array_mut().ok_or_else(not_hooks)?;
        for group in groups.as_array().into_iter().flatten() {
            if !known.contains(group) {
                known.push(group.clone());
            }
        }
    }
    let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_added_once_and_the_rest_of_the_file_stays() {
        let hook = |command: &str| json!({"hooks": [{"type": "command", "command": command}]});
        let old = json!({"note": 1, "hooks": {"Stop": [hook("a")]}}).to_string();
        let new = json!({"model": "x", "hooks": {"Stop": [hook("a"), hook("b")], "Later": [hook("c")]}}).to_string();
        let all: Value = serde_json::from_str(&merged(Some(old.as_bytes()), new.as_bytes()).unwrap()).unwrap();
        let hooks = json!({"Stop": [hook("a"), hook("b")], "Later": [hook("c")]});
        assert_eq!(all, json!({"note": 1, "hooks": hooks}));
        assert!(
            merged(Some(b"[]"), new.as_bytes()).is_err() && merged(Some(b"{\"hooks\": 1}"), new.as_bytes()).is_err()
        );
    }
}
