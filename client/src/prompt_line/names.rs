//! Resolves the words of a line. For the first word the shell's own answer counts; otherwise the names that the shell has listed,
//! `PATH` and the folder are searched. Reads the disk.

use std::{
    cell::OnceCell,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use cohab_conversation::line_question::{LineQuestion, QuestionId, first_word};
use cohab_line_classifier::Names;
use memchr::memmem;
use rustix::fs::Access;

use super::{places, world::World};

/// Longer names are no names.
const NAME_MAX_BYTES: usize = 1024;
/// Folders of `PATH` that are looked at.
const PATH_MAX_FOLDERS: usize = 64;

/// So much is read of what the shell has named.
const NAMED_MAX_BYTES: u64 = 1024 * 1024;

/// See the module's description.
#[derive(Debug)]
pub struct ShellNames<'a> {
    first: &'a str,
    is_command: Option<bool>,
    /// The shell has just said it, and not at an earlier line.
    is_said_now: bool,
    cwd: &'a Path,
    world: &'a World,
    /// A line feed, and each name with one behind it.
    named: OnceCell<Vec<u8>>,
    targets: OnceCell<Vec<String>>,
    repository: OnceCell<Option<places::Repository>>,
}

impl<'a> ShellNames<'a> {
    /// For the line of `question`.
    #[must_use]
    pub fn new(question: &'a LineQuestion, world: &'a World) -> Self {
        Self {
            first: first_word(&question.line),
            is_command: question.is_command,
            is_said_now: matches!(question.id, QuestionId::Enter(_)),
            cwd: &question.cwd,
            world,
            named: OnceCell::new(),
            targets: OnceCell::new(),
            repository: OnceCell::new(),
        }
    }

    fn place_of(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(rest) => self.world.home.join(rest),
            None => self.cwd.join(name),
        }
    }

    fn is_named(&self, name: &str) -> bool {
        let named = self.named.get_or_init(|| self.world.names.as_deref().map(read_names).unwrap_or_default());
        memmem::find(named, format!("\n{name}\n").as_bytes()).is_some()
    }
}

/// A file that cannot be read names nothing.
fn read_names(file: &Path) -> Vec<u8> {
    let mut bytes = vec![b'\n'];
    if file.metadata().is_ok_and(|metadata| metadata.is_file())
        && let Ok(file) = File::open(file)
    {
        let _ = file.take(NAMED_MAX_BYTES).read_to_end(&mut bytes);
    }
    bytes
}

impl Names for ShellNames<'_> {
    fn resolves(&self, name: &str) -> bool {
        if name.is_empty() || name.len() > NAME_MAX_BYTES || name.contains('\0') {
            return false;
        }
        match self.is_command {
            Some(is_command) if name == self.first && (is_command || self.is_said_now) => is_command,
            _ if self.is_named(name) => true,
            Some(is_command) if name == self.first => is_command,
            _ if name.contains('/') => is_program(&self.place_of(name)),
            _ => std::env::split_paths(&self.world.path).take(PATH_MAX_FOLDERS).any(|folder| {
                // An empty folder in it means the one where the shell is.
                is_program(&self.cwd.join(folder).join(name))
            }),
        }
    }

    fn is_own(&self, name: &str) -> bool {
        self.is_named(name)
    }

    fn exists(&self, argument: &str) -> bool {
        if argument.is_empty() || argument.len() > NAME_MAX_BYTES || argument.contains('\0') {
            return false;
        }
        std::fs::symlink_metadata(self.place_of(argument)).is_ok()
            || self.targets.get_or_init(|| places::targets(self.cwd)).iter().any(|target| target == argument)
            || self
                .repository
                .get_or_init(|| places::Repository::around(self.cwd))
                .as_ref()
                .is_some_and(|repository| repository.has_branch(argument))
    }

    fn subcommands_of_cohab(&self) -> &[&str] {
        self.world.subcommands
    }
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file()) && rustix::fs::access(file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn world(cwd: &Path) -> World {
        World {
            path: cwd.join("bin").into_os_string(),
            home: cwd.join("home"),
            corrections: cwd.join("corrections"),
            names: Some(cwd.join("names")),
            subcommands: &[],
        }
    }

    fn ask(line: &str, cwd: &Path, is_command: Option<bool>, look: impl Fn(&ShellNames<'_>) -> bool) -> bool {
        let question = LineQuestion { id: QuestionId::Enter(0), line: line.into(), cwd: cwd.into(), is_command };
        look(&ShellNames::new(&question, &world(cwd)))
    }

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("bin/sub")).unwrap();
        std::fs::create_dir_all(dir.path().join("home")).unwrap();
        for (file, mode) in [("bin/prog", 0o755), ("bin/text", 0o644), ("here", 0o755), ("home/mine", 0o644)] {
            std::fs::write(dir.path().join(file), "").unwrap();
            std::fs::set_permissions(dir.path().join(file), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        dir
    }

    #[test]
    fn the_shells_own_word_about_the_first_word_counts_and_path_for_all_others() {
        let dir = folder();
        let resolves = |line: &str, told, name: &str| ask(line, dir.path(), told, |names| names.resolves(name));
        assert!(resolves("gs now", Some(true), "gs"));
        assert!(!resolves("prog now", Some(false), "prog"));
        assert!(resolves("prog now", None, "prog"));
        assert!(resolves("sudo prog", Some(true), "prog"));
        for no in ["gs", "text", "sub", "here", "", "a\0b", "nothing"] {
            assert!(!resolves("x", None, no), "{no:?}");
        }
        assert!(resolves("x", None, "./here") && !resolves("x", None, "./bin/text"));
        assert!(!resolves("x", None, &"x".repeat(NAME_MAX_BYTES + 1)));
    }

    #[test]
    fn what_the_shell_has_named_counts_until_enter_says_otherwise() {
        let dir = folder();
        std::fs::write(dir.path().join("names"), b"hi\n\xff\nehco\n").unwrap();
        let world = world(dir.path());
        let resolves = |id, is_command, name: &str| {
            let question = LineQuestion { id, line: "hi there".into(), cwd: dir.path().into(), is_command };
            ShellNames::new(&question, &world).resolves(name)
        };
        let (hint, enter) = (QuestionId::Hint(0), QuestionId::Enter(0));
        assert!(resolves(hint, None, "hi") && resolves(hint, None, "ehco") && !resolves(hint, None, "there"));
        let question = LineQuestion { id: hint, line: "hi".into(), cwd: dir.path().into(), is_command: None };
        assert!(ShellNames::new(&question, &world).is_own("hi") && !ShellNames::new(&question, &world).is_own("prog"));
        assert!(resolves(hint, Some(false), "hi"), "it was not one at an earlier line");
        assert!(!resolves(enter, Some(false), "hi"));
        let nothing = World { names: None, ..world.clone() };
        let question = LineQuestion { id: hint, line: "hi".into(), cwd: dir.path().into(), is_command: None };
        assert!(!ShellNames::new(&question, &nothing).resolves("hi"));
    }

    #[test]
    fn files_targets_and_branches_are_there() {
        let dir = folder();
        std::fs::write(dir.path().join("Makefile"), "deploy: here\n").unwrap();
        std::fs::create_dir_all(dir.path().join(".git/refs/heads/topic")).unwrap();
        std::fs::write(dir.path().join(".git/refs/heads/topic/one"), "").unwrap();
        let exists = |name: &str| ask("x", dir.path(), None, |names| names.exists(name));
        for yes in ["here", "bin/text", "~/mine", "deploy", "topic/one"] {
            assert!(exists(yes), "{yes}");
        }
        for no in ["", "nothing", "~/nothing", "topic", "two", "a\0b"] {
            assert!(!exists(no), "{no}");
        }
    }
}
