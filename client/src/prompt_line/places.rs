//! Names that mean something in a folder: targets of its build, branches of its repository. Reads files, starts nothing.

use std::{
    fs::File,
    io::Read,
    path::{Component, Path, PathBuf},
};

/// Of a file that names are read from.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// Folders above that are looked at for a repository.
const FOLDERS_MAX: usize = 64;
const TARGETS_MAX: usize = 10_000;
const BUILD_FILES: [&str; 6] = ["GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile"];
/// Where a branch may be listed, most likely first.
const BRANCH_FOLDERS: [&str; 3] = ["refs/heads", "refs/tags", "refs/remotes"];

/// The targets of the build files in a folder, in no order.
#[must_use]
pub fn targets(folder: &Path) -> Vec<String> {
    let texts = BUILD_FILES.iter().filter_map(|name| read(&folder.join(name)));
    texts.flat_map(|text| targets_in(&text)).take(TARGETS_MAX).collect()
}

/// Targets as make and just write them: a name, or some, at the beginning of a row before a colon.
fn targets_in(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for row in text.lines().filter(|row| !row.starts_with(['\t', ' ', '#', '.'])) {
        let Some((names, rest)) = row.split_once(':') else { continue };
        if rest.starts_with('=') || rest.starts_with(":=") || names.contains(['=', '"', '\'', '$', '%']) {
            continue;
        }
        let names = names.split_whitespace().map(|name| name.trim_start_matches('@').to_owned());
        all.extend(names.filter(|name| !name.is_empty()).take(TARGETS_MAX - all.len()));
    }
    all
}

/// A repository of git.
#[derive(Debug)]
pub struct Repository {
    /// Where its refs are.
    folder: PathBuf,
    packed: String,
}

impl Repository {
    /// The one that a folder is in.
    #[must_use]
    pub fn around(folder: &Path) -> Option<Self> {
        let dot_git =
            folder.ancestors().take(FOLDERS_MAX).map(|folder| folder.join(".git")).find(|path| path.exists())?;
        let folder = if dot_git.is_dir() { dot_git } else { linked(&dot_git)? };
        let packed = read(&folder.join("packed-refs")).unwrap_or_default();
        Some(Self { folder, packed })
    }

    /// Whether it has a branch or tag by this name, also a remote's.
    #[must_use]
    pub fn has_branch(&self, name: &str) -> bool {
        let is_plain =
            !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        is_plain
            && BRANCH_FOLDERS.iter().any(|folder| {
                self.folder.join(folder).join(name).is_file()
                    || self.packed.lines().any(|row| is_ref(row, folder, name))
            })
    }
}

/// A row of `packed-refs`: the commit, a blank, the name.
fn is_ref(row: &str, folder: &str, name: &str) -> bool {
    let found = row.split_once(' ').and_then(|(_, found)| found.strip_prefix(folder));
    found.and_then(|found| found.strip_prefix('/')) == Some(name)
}

/// Of a further working tree: the file names its own folder, which names the one that has the refs.
fn linked(dot_git: &Path) -> Option<PathBuf> {
    let own = read(dot_git)?;
    let own = dot_git.parent()?.join(own.strip_prefix("gitdir:")?.trim());
    match read(&own.join("commondir")) {
        Some(common) => Some(own.join(common.trim())),
        None => Some(own),
    }
}

/// A regular file as text; a pipe would be waited for.
fn read(file: &Path) -> Option<String> {
    let is_small = |metadata: &std::fs::Metadata| metadata.is_file() && metadata.len() <= FILE_MAX_BYTES;
    file.metadata().ok().filter(is_small)?;
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(FILE_MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_make_and_just_are_found_and_nothing_else() {
        let text = "CC := gcc\nX = a:b\n.PHONY: all\nall: build test\n\tgcc -o x: y\nbuild/out.o clean:\n# no: comment\n\
                    $(OBJ): x\n%.o: %.c\n@quiet:\ndeploy where='x': build\nserve port:\nA::=1\n";
        assert_eq!(targets_in(text), ["all", "build/out.o", "clean", "quiet", "serve", "port"]);
        assert_eq!(targets_in("\u{0}:\n:\n::\n"), ["\u{0}"]);
    }

    #[test]
    fn branches_are_found_loose_packed_and_from_a_further_working_tree() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join("main/.git");
        std::fs::create_dir_all(git.join("refs/heads/topic")).unwrap();
        std::fs::create_dir_all(git.join("worktrees/other")).unwrap();
        std::fs::write(git.join("refs/heads/topic/loose"), "").unwrap();
        std::fs::write(
            git.join("packed-refs"),
            "# pack-refs with: peeled\nabc refs/heads/packed\nabc refs/tags/v1\n^def\n",
        )
        .unwrap();
        std::fs::write(git.join("worktrees/other/commondir"), "../..\n").unwrap();
        let other = dir.path().join("other/deep/er");
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(dir.path().join("other/.git"), "gitdir: ../main/.git/worktrees/other\n").unwrap();
        for folder in [dir.path().join("main"), other] {
            let repository = Repository::around(&folder).unwrap();
            for yes in ["topic/loose", "packed", "v1"] {
                assert!(repository.has_branch(yes), "{yes} in {}", folder.display());
            }
            for no in ["", "topic", "pack", "../heads/packed", "/packed", "heads/packed", "loose"] {
                assert!(!repository.has_branch(no), "{no}");
            }
        }
        assert!(Repository::around(Path::new("/proc")).is_none());
    }

    #[test]
    fn a_pipe_is_not_waited_for_and_a_huge_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(dir.path().join("Makefile")).status();
        assert!(pipe.is_ok_and(|status| status.success()));
        File::create(dir.path().join("justfile")).unwrap().set_len(FILE_MAX_BYTES + 1).unwrap();
        assert_eq!(targets(dir.path()), Vec::<String>::new());
    }
}
