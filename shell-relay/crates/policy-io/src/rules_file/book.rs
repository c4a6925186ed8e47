//! Reads all files of rules that hold in a folder: the system's, the user's, and those of the projects around it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use cohab_policy::user_rules::{Loaded, RuleSource};

use super::RulesFile;

/// The system's file.
const SYSTEM_FILE: &str = "/etc/cohab/rules.toml";
/// A project's file, below its folder.
const PROJECT_FILE: &str = ".cohab/rules.toml";
/// Largest number of nested folders in which a project's file is looked for.
const MAX_FOLDERS: usize = 40;
/// Project files that are kept after reading; if there are more, all are read again.
const MAX_PROJECTS: usize = 64;

/// The rules of all files.
#[derive(Debug)]
pub struct RuleBook {
    system: RulesFile,
    user: Arc<RulesFile>,
    projects: Mutex<Vec<Arc<RulesFile>>>,
}

impl RuleBook {
    /// The rules of this machine, with the user's own in `user`. Nothing is read yet.
    #[must_use]
    pub fn new(user: Arc<RulesFile>) -> Self {
        Self::with_system(SYSTEM_FILE.into(), user)
    }

    /// The same with another file of the system's.
    #[must_use]
    pub fn with_system(system: PathBuf, user: Arc<RulesFile>) -> Self {
        Self { system: RulesFile::new(system), user, projects: Mutex::default() }
    }

    /// The user's own file, the only one that is written.
    #[must_use]
    pub fn user(&self) -> &Arc<RulesFile> {
        &self.user
    }

    fn projects_around(&self, cwd: &Path) -> Vec<Arc<RulesFile>> {
        let mut known = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > MAX_PROJECTS {
            known.clear();
        }
        let paths = cwd.ancestors().take(MAX_FOLDERS).map(|folder| folder.join(PROJECT_FILE));
        let present = paths.filter(|path| path.symlink_metadata().is_ok());
        present
            .map(|path| match known.iter().find(|file| file.path() == path) {
                Some(file) => Arc::clone(file),
                None => {
                    let file = Arc::new(RulesFile::of_project(path));
                    known.push(Arc::clone(&file));
                    file
                }
            })
            .collect()
    }
}

impl RuleSource for RuleBook {
    fn loaded(&self, cwd: &Path) -> Arc<Loaded> {
        let user = self.user.loaded();
        let system = self.system.loaded();
        let projects = self.projects_around(cwd);
        if *system == Loaded::default() && projects.is_empty() {
            return user;
        }
        let mut all = Loaded::clone(&user);
        all.join(&system);
        projects.iter().for_each(|project| all.join(&project.loaded()));
        Arc::new(all)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cohab_policy::{
        Context, Level, assess_line,
        user_rules::{Injection, SafetyLevel},
    };

    use super::*;

    #[test]
    fn files_of_the_system_the_user_and_projects_count_together_and_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let cwd = path("src/app/deep");
        fs::create_dir_all(&cwd).unwrap();
        let book = RuleBook::with_system(path("system.toml"), Arc::new(RulesFile::new(path("user.toml"))));
        let judged = |line: &str| {
            let context = Context::new(&cwd, folder.path());
            let loaded = book.loaded(&cwd);
            let ruled = loaded.apply(line, context, assess_line(line, context));
            if ruled.allowed_by.is_some() { Level::Allow } else { ruled.verdict.level }
        };
        let write = |name: &str, text: &str| {
            let path = path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!((judged("just fmt"), judged("ls"), judged("make x")), (Level::Ask, Level::Allow, Level::Ask));
        write("user.toml", "[[rule]]\ndecision = \"allow\"\nprefix = [\"just\", [\"fmt\", \"test\"]]\n");
        assert_eq!(
            (judged("just fmt"), judged("just test"), judged("just test x")),
            (Level::Allow, Level::Allow, Level::Ask)
        );
        write("system.toml", "[[rule]]\ndecision = \"deny\"\nprefix = [\"make\"]\n");
        assert_eq!(judged("ls; sudo make x"), Level::Deny);
        write("src/.cohab/rules.toml", "[[rule]]\ndecision = \"ask\"\nprefix = [\"just\", \"fmt\"]\n");
        assert_eq!((judged("just fmt"), judged("just test")), (Level::Ask, Level::Allow));
        write("src/app/.cohab/rules.toml", "[[rule]]\ndecision = \"allow\"\nargv = [\"touch\", \"a\"]\n");
        assert_eq!((judged("touch a"), judged("ls")), (Level::Ask, Level::Allow), "a project only tightens");
        write("src/app/.cohab/rules.toml", "[[rule]]\ndecision = \"deny\"\nprefix = [\"ls\"\n");
        assert_eq!((judged("pwd"), judged("just test")), (Level::Ask, Level::Allow), "what is broken loosens nothing");
        fs::remove_file(path("src/app/.cohab/rules.toml")).unwrap();
        assert_eq!(judged("pwd"), Level::Allow);
        let safety = || book.loaded(&cwd).safety.in_force();
        assert_eq!(safety().level, SafetyLevel::Balanced);
        write("user.toml", "[safety]\nlevel = \"permissive\"\n");
        assert_eq!(safety().injection, Injection::Off, "at once");
        write("src/app/.cohab/rules.toml", "[safety]\nlevel = \"strict\"\npersonal = { ip = \"keep\" }\n");
        assert_eq!(safety().injection, Injection::Ask);
        assert!(safety().personal.contains("ip"), "a project keeps nothing that its own level takes out");
    }
}
