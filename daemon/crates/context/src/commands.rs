//! Commands are Markdown files that the user calls by name: `NAME.md` is `? /NAME ARGUMENTS`. The model is not told of them until then.
//!
//! ```text
//! ---
//! description: How it goes with an issue
//! argument-hint: NUMBER
//! ---
//! Look at issue $1, then tell me what is left of it.
//! ```
//! The front matter may be missing: the first line of the text then describes the command.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use cohab_text::front_matter::{self, field};

use super::{
    skills::{self, HEAD_BYTES, MAX_ENTRIES, MAX_SKILLS, Skill},
    text_file::{self, Bounds, Skipped},
};

/// The commands in these folders, sorted by name, at most [`MAX_SKILLS`]; those of `project` if that is given. Blocks.
#[must_use]
pub fn list_all(folders: &[PathBuf], project: Option<&Path>, skipped: &mut Vec<Skipped>) -> Vec<Skill> {
    let listed = folders.iter().map(|folder| list(folder, project, skipped)).collect();
    skills::merged(listed, skipped)
}

fn list(folder: &Path, project: Option<&Path>, skipped: &mut Vec<Skipped>) -> Vec<Skill> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let bounds = project.map_or(Bounds::Own, Bounds::Within);
    if skills::leads_out(folder, bounds, skipped) {
        return Vec::new();
    }
    let is_markdown = |path: &PathBuf| path.extension() == Some(OsStr::new("md"));
    let paths = entries.flatten().take(MAX_ENTRIES).map(|entry| entry.path()).filter(is_markdown);
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    let mut commands = Vec::new();
    for path in paths {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let reason = match text_file::read(&path, bounds, HEAD_BYTES) {
            // A note about the folder, not a command.
            Ok(None) => continue,
            Ok(Some(_)) if name.eq_ignore_ascii_case("readme") => continue,
            Ok(Some(_)) if commands.len() == MAX_SKILLS => format!("there are already {MAX_SKILLS} commands before it"),
            Ok(Some(_)) if !skills::is_name(&name) => {
                "its name is not made of up to 64 letters, digits, `-` and `_`".to_owned()
            }
            Ok(Some(file)) => {
                commands.push(command(name, path, project, &file.text));
                continue;
            }
            Err(one) => one.reason,
        };
        skipped.push(Skipped { path, reason });
    }
    commands
}

fn command(name: String, path: PathBuf, project: Option<&Path>, text: &str) -> Skill {
    let (head, body) = front_matter::split(text).unwrap_or(("", text));
    let first_line = || body.trim().lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned();
    let description = skills::description(&field(head, "description").unwrap_or_else(first_line));
    Skill { name, description, path, project: project.map(Path::to_owned), ..Skill::default() }.with_head(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_command_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (first, second) = (root.join("a"), root.join("b"));
        fs::create_dir_all(&first).unwrap();
        fs::create_dir_all(second.join("sub.md")).unwrap();
        let head = "---\ndescription: \"Looks: at it\"\nargument-hint: [pr-number]\nallowed-tools: Read, Bash(gh pr view:*)\n---\n";
        fs::write(first.join("review.md"), format!("{head}Look at $1.")).unwrap();
        fs::write(first.join("README.md"), "about these").unwrap();
        fs::write(second.join("review.md"), "another").unwrap();
        fs::write(second.join("plain.md"), "# Say it plainly\nShort.").unwrap();
        fs::write(second.join("no name.md"), "x").unwrap();
        fs::write(second.join("notes.txt"), "x").unwrap();
        let mut skipped = Vec::new();
        let commands = list_all(&[first, second.clone(), root.join("missing")], Some(&root), &mut skipped);
        let told: Vec<_> = commands.iter().map(|one| (one.name.as_str(), one.description.as_str())).collect();
        assert_eq!(told, [("plain", "Say it plainly"), ("review", "Looks: at it")]);
        assert_eq!(commands[1].argument_hint.as_deref(), Some("[pr-number]"));
        assert_eq!(commands[1].tools.as_deref(), Some(&["bash", "read"][..]));
        assert_eq!(commands[1].text().unwrap(), "Look at $1.");
        let skipped: Vec<_> = skipped.iter().map(|one| one.path.clone()).collect();
        assert_eq!(skipped, [second.join("no name.md"), second.join("sub.md")]);
    }
}
