//! Lists the names of the user's own skills and commands for the completion of `? /NAME`. The daemon reads what is in them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders of skills and commands, below the settings.
const SKILLS: &str = "skills";
const COMMANDS: &str = "commands";
/// The same for any assistant, below the home folder.
const SHARED: &str = ".agents";
/// Most names that are completed.
const MAX_NAMES: usize = 50;
/// Most entries of a folder that are looked at.
const MAX_ENTRIES: usize = 500;

/// The names, sorted, each with a slash in front. Blocks.
#[must_use]
pub fn names(settings: &Path, home: &Path) -> Vec<String> {
    let shared = home.join(SHARED);
    let mut names = Vec::new();
    for folder in [settings, shared.as_path()] {
        let skills = entries(&folder.join(SKILLS)).into_iter().filter(|path| path.join("SKILL.md").is_file());
        names.extend(skills.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
        let commands = entries(&folder.join(COMMANDS)).into_iter();
        let commands = commands.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        names.extend(commands.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())));
    }
    names.retain(|name| !name.eq_ignore_ascii_case("readme"));
    names.sort();
    names.dedup();
    names.truncate(MAX_NAMES);
    names.into_iter().map(|name| format!("/{name}")).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(MAX_ENTRIES).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_and_commands_of_both_places_are_named_once() {
        let home = tempfile::tempdir().unwrap();
        let settings = home.path().join("settings");
        for folder in ["settings/skills/release", "settings/skills/empty", ".agents/skills/pdf", "settings/commands"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        for file in [
            "settings/skills/release/SKILL.md",
            ".agents/skills/pdf/SKILL.md",
            "settings/commands/release.md",
            "settings/commands/fix.md",
            "settings/commands/README.md",
            "settings/commands/notes.txt",
        ] {
            fs::write(home.path().join(file), "x").unwrap();
        }
        assert_eq!(names(&settings, home.path()), ["/fix", "/pdf", "/release"]);
        assert!(names(Path::new("/nonexistent"), Path::new("/nonexistent")).is_empty());
    }
}
