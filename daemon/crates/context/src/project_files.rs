//! Reads the beginning of files in the root of a project.

use std::path::Path;

use super::text_file::{self, Bounds};

/// Most bytes of a file that are read.
const MAX_BYTES: usize = 64 * 1024;

/// Reads files of the project with this root by their paths in it: cleaned, and only regular files of the user or root. `None` for others, and
/// for links. Blocks.
pub fn reader(root: &Path) -> impl FnMut(&str) -> Option<String> + use<> {
    let root = root.canonicalize().ok();
    move |name| {
        let root = root.as_deref()?;
        Some(text_file::read(&root.join(name), Bounds::Within(root), MAX_BYTES).ok()??.text)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn the_beginning_of_a_regular_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(root.join("yarn.lock"), "lock \u{1b}[2J").unwrap();
        fs::write(root.join("long"), "x".repeat(1_000_000)).unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink(&root, folder.path().join("root")).unwrap();
        for root in [root.clone(), folder.path().join("root")] {
            let mut read = reader(&root);
            assert!(read("yarn.lock").is_some_and(|text| text.starts_with("lock") && !text.contains('\u{1b}')));
            assert_eq!(read("long").map(|text| text.len()), Some(MAX_BYTES));
            for none in ["link", "sub", "missing", "../secret", "yarn.lock/x"] {
                assert_eq!(read(none), None, "{none}");
            }
        }
    }
}
