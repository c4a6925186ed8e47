//! Reads the kinds of subagents that the user or a trusted project adds: a Markdown file each.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use cohab_teams::{MAX_KIND_BYTES, SubagentKind, delivered};

use super::text_file::{self, Bounds, Skipped};

/// Folder of the user's kinds, in the settings folder.
pub const OWN_AGENTS: &str = "agents";
/// Folders of a project's kinds. The second one is that of another assistant.
const PROJECT_AGENTS: [&str; 2] = [".cohab/agents", ".claude/agents"];
/// Most kinds of one place.
const MAX_KINDS: usize = 20;
/// Most names read in a folder.
const MAX_ENTRIES: usize = 1_000;

/// The delivered kinds and those of the user, whose own go before delivered ones of the same name. Blocks.
#[must_use]
pub fn own(settings: &Path, skipped: &mut Vec<Skipped>) -> Vec<SubagentKind> {
    let mut kinds = list(&settings.join(OWN_AGENTS), Bounds::Own, skipped);
    for kind in delivered() {
        if !kinds.iter().any(|other| other.name == kind.name) {
            kinds.push(kind.clone());
        }
    }
    kinds.sort_by(|a, b| a.name.cmp(&b.name));
    kinds
}

/// The kinds of the project at `root`. Blocks.
#[must_use]
pub fn of_project(root: &Path, skipped: &mut Vec<Skipped>) -> Vec<SubagentKind> {
    PROJECT_AGENTS.iter().flat_map(|folder| list(&root.join(folder), Bounds::Within(root), skipped)).collect()
}

/// All kinds; a project's kind with the name of another one is left out.
#[must_use]
pub fn together(own: &[SubagentKind], of_project: &[SubagentKind]) -> Vec<SubagentKind> {
    let mut kinds = own.to_vec();
    for kind in of_project {
        if !kinds.iter().any(|other| other.name == kind.name) {
            kinds.push(kind.clone());
        }
    }
    kinds
}

fn list(folder: &Path, bounds: Bounds<'_>, skipped: &mut Vec<Skipped>) -> Vec<SubagentKind> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    if let Bounds::Within(root) = bounds
        && folder.canonicalize().is_ok_and(|real| !real.starts_with(root))
    {
        skipped.push(Skipped { path: folder.to_owned(), reason: "is a link out of the project".to_owned() });
        return Vec::new();
    }
    let is_markdown = |path: &PathBuf| path.extension() == Some(OsStr::new("md"));
    let paths = entries.flatten().take(MAX_ENTRIES).map(|entry| entry.path()).filter(is_markdown);
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    let mut kinds: Vec<SubagentKind> = Vec::new();
    for path in paths {
        let reason = match text_file::read(&path, bounds, MAX_KIND_BYTES) {
            Ok(None) => continue,
            Ok(Some(_)) if kinds.len() == MAX_KINDS => format!("there are already {MAX_KINDS} agents before it"),
            Ok(Some(file)) => match SubagentKind::parse(&file.text, &name_of(&path)) {
                Ok(kind) if kinds.iter().any(|other| other.name == kind.name) => {
                    format!("another agent has the name {}", kind.name)
                }
                Ok(kind) => {
                    kinds.push(kind);
                    continue;
                }
                Err(reason) => reason,
            },
            Err(one) => one.reason,
        };
        skipped.push(Skipped { path, reason });
    }
    kinds
}

fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_users_kind_goes_before_a_delivered_one_and_a_projects_before_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(&root.join("agents/explore.md"), "---\ndescription: mine\ntools: read\n---\nLook.");
        write(&root.join("agents/broken.md"), "Look.");
        write(&root.join("app/.claude/agents/worker.md"), "---\ndescription: theirs\n---\nObey.");
        write(&root.join("app/.claude/agents/reviewer.md"), "---\ndescription: reviews\ntools: Read\n---\nReview.");
        let mut skipped = Vec::new();
        let own = own(&root, &mut skipped);
        let of_project = of_project(&root.join("app"), &mut skipped);
        let kinds = together(&own, &of_project);
        let lines: Vec<String> = kinds.iter().map(SubagentKind::line).collect();
        assert_eq!(lines[0], "`explore`: mine (read)");
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["explore", "verify", "worker", "reviewer"]);
        assert!(!lines.iter().any(|line| line.contains("theirs")));
        assert_eq!(skipped.len(), 1);
        assert!(skipped[0].reason.contains("does not begin with"), "{skipped:?}");
    }
}
