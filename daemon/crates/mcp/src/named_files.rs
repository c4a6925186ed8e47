//! Finds the files of a project that the command line of its server names, and reads their digests. What they load in turn is not
//! followed.

use std::path::{Path, PathBuf};

use cohab_config::mcp::McpServer;
use cohab_system::files;

use crate::digest;

/// Largest such file, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Most such files of a server.
const MAX_FILES: usize = 16;

/// A file of a project that a command line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// The digest of its content.
    pub digest: String,
}

/// The files that the command and its arguments name, in their order. Blocks.
///
/// # Errors
/// A sentence: there are too many, or one cannot be read or is too large.
pub(crate) fn read(settings: &McpServer, project: &Path) -> Result<Vec<NamedFile>, String> {
    let Ok(root) = project.canonicalize() else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = Vec::new();
    for word in settings.command.iter().chain(&settings.args) {
        let unquoted = word.replace(['"', '\'', '\\'], "");
        // The whole word is a path, or a line for a shell has one, or an option such as `--config=FILE`.
        let parts = unquoted.split(|c: char| c.is_whitespace() || ";|&<>()=`,".contains(c));
        for part in std::iter::once(word.as_str()).chain(parts) {
            let Some(path) = named(part, &root) else { continue };
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    if paths.len() > MAX_FILES {
        return Err(format!("its command line names more than {MAX_FILES} files of the project"));
    }
    paths.into_iter().map(read_one).collect()
}

/// The file of the project that a word names.
fn named(word: &str, root: &Path) -> Option<PathBuf> {
    if word.is_empty() {
        return None;
    }
    let path = root.join(word).canonicalize().ok()?;
    (path.starts_with(root) && path.is_file()).then_some(path)
}

fn read_one(path: PathBuf) -> Result<NamedFile, String> {
    let (bytes, _) =
        files::read_regular(&path, MAX_FILE_BYTES).map_err(|error| format!("its file {}: {error}", path.display()))?;
    Ok(NamedFile { digest: digest::of_bytes(&bytes), path })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn named_by(words: &[&str], project: &Path) -> Vec<String> {
        let [command, args @ ..] = words else { panic!("no command") };
        let args = args.iter().map(|&word| word.to_owned()).collect();
        let files = read(&McpServer::program((*command).to_owned(), args), project).unwrap();
        files.iter().map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn files_are_found_in_words_options_and_lines_for_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("shop");
        fs::create_dir_all(project.join("tools")).unwrap();
        for file in ["tools/server.js", "a b.sh", "set.json", "../outside"] {
            fs::write(project.join(file), file).unwrap();
        }
        for (words, expected) in [
            (&["node", "tools/server.js"] as &[&str], &["server.js"] as &[&str]),
            (&["./tools/server.js", "tools", "none"], &["server.js"]),
            (&["x", "a b.sh", "--config=set.json"], &["a b.sh", "set.json"]),
            (&["sh", "-c", "cd . && './tools/server.js'; cat set.json"], &["server.js", "set.json"]),
            (&["x", "../outside"], &[]),
        ] {
            assert_eq!(named_by(words, &project), expected, "{words:?}");
        }
    }

    #[test]
    fn a_file_that_is_too_large_and_too_many_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let large = fs::File::create(folder.path().join("large")).unwrap();
        large.set_len(MAX_FILE_BYTES + 1).unwrap();
        let error = read(&McpServer::program("./large".into(), Vec::new()), folder.path()).unwrap_err();
        assert!(error.contains("large"), "{error}");
        let args: Vec<String> = (0..=MAX_FILES).map(|number| format!("f{number}")).collect();
        args.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        let error = read(&McpServer::program("x".into(), args), folder.path()).unwrap_err();
        assert!(error.contains("more than 16 files"), "{error}");
    }
}
