//! Reads the surroundings of a question from disk: the user's own instructions, and the project's notes and kind.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    git_state::{self, GitState},
    identity_files, project_notes,
    query::{Environment, Runtime},
    sections::SystemContext,
    skills::{self, SKILL_FILE, Skill},
    text_file::{self, Bounds, Skipped},
};
use crate::trust::TrustedFolders;

/// Folder of the user's skills, in the settings folder.
pub const OWN_SKILLS: &str = "skills";

/// Whether the user has a skill in a folder of this name, below the folder of the settings. Blocks.
#[must_use]
pub fn has_own_skill(settings: &Path, name: &str) -> bool {
    settings.join(OWN_SKILLS).join(name).join(SKILL_FILE).exists()
}
/// Folder of a project's skills.
const PROJECT_SKILLS: &str = ".cohab/skills";
/// Most folders above the working directory that are searched.
const MAX_ANCESTORS: usize = 64;
/// Bytes of the file with the system's name that are read.
const OS_RELEASE_BYTES: usize = 8 * 1024;

/// Files at the root of a project, and the kind that they indicate.
const KINDS: [(&str, &str); 14] = [
    ("Cargo.toml", "Rust"),
    ("package.json", "JavaScript"),
    ("tsconfig.json", "TypeScript"),
    ("pyproject.toml", "Python"),
    ("setup.py", "Python"),
    ("go.mod", "Go"),
    ("pom.xml", "Java"),
    ("build.gradle", "Java"),
    ("Gemfile", "Ruby"),
    ("composer.json", "PHP"),
    ("CMakeLists.txt", "CMake"),
    ("Makefile", "make"),
    ("Dockerfile", "Docker"),
    ("flake.nix", "Nix"),
];

/// The surroundings found.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// What of the system prompt is the user's.
    pub standing: SystemContext,
    /// Root of the project, links resolved; `None` if there is no folder to look around in.
    pub root: Option<PathBuf>,
    /// The repository's notes for assistants.
    pub project_notes: Option<String>,
    /// The project's identity files, if the user trusts the project.
    pub project_identity: Option<String>,
    /// The project's skills, if the user trusts the project.
    pub project_skills: Vec<Skill>,
    /// The used trusted parts, in words.
    pub trusted: Option<String>,
    /// State of the repository.
    pub git: Option<GitState>,
    /// The kind of the project, with the file that shows it.
    pub project: Vec<String>,
    /// The system's name for people, if it has one.
    pub os: Option<String>,
    /// Files that exist but are not used.
    pub skipped: Vec<Skipped>,
}

impl Surroundings {
    /// Reads the surroundings of `cwd`. `home` has its links resolved; nothing above it is read. Blocks: file systems may be slow.
    #[must_use]
    pub fn read(cwd: &Path, home: &Path, settings: &Path, trust: &TrustedFolders) -> Self {
        let mut found = Self::default();
        let skipped = &mut found.skipped;
        let own = identity_files::read(settings, Bounds::Own, skipped);
        found.standing = SystemContext {
            identity: own.map(|(text, _)| text).unwrap_or_default(),
            skills: skills::list(&settings.join(OWN_SKILLS), None, skipped),
        };
        found.os = os_name();
        let Ok(cwd) = cwd.canonicalize() else { return found };
        let root = root_of(&cwd, home);
        found.root = Some(root.clone());
        found.project_notes = project_notes::read(&root, skipped);
        found.git = git_state::read(&root);
        found.project = kinds(&root);
        // The settings folder is no project: its files were read above.
        if settings.canonicalize().is_ok_and(|settings| settings == root) {
            return found;
        }
        let identity = identity_files::of_project(&root, skipped);
        let skills = skills::list(&root.join(PROJECT_SKILLS), Some(&root), skipped);
        let instructions = instructions(&root, skills.len());
        if trust.covers(&root) {
            (found.project_identity, found.project_skills, found.trusted) = (identity, skills, instructions);
        } else if let Some(instructions) = instructions {
            let reason = format!("{instructions}, until you trust it: `cohab trust`");
            skipped.push(Skipped { path: root, reason });
        }
        found
    }

    /// The environment of a question asked now.
    #[must_use]
    pub fn environment(&self, cwd: PathBuf, shell: Option<String>, columns: u16) -> Environment {
        Environment {
            cwd,
            shell,
            os: self.os.clone().unwrap_or_else(|| std::env::consts::OS.to_owned()),
            date: jiff::Zoned::now().date().to_string(),
            columns,
            git: self.git.clone(),
            project: self.project.clone(),
        }
    }

    /// The block about the project's skills.
    #[must_use]
    pub fn told_skills(&self) -> Option<String> {
        skills::of_project(&self.project_skills)
    }

    /// All skills, the user's own first: of two with the same name the user's counts.
    #[must_use]
    pub fn skills(&self) -> Vec<Skill> {
        self.standing.skills.iter().chain(&self.project_skills).cloned().collect()
    }
}

impl Runtime {
    /// The runtime of this program, now.
    #[must_use]
    pub fn now(session: String, channels: Vec<(String, usize)>) -> Self {
        Self {
            time: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            version: env!("CARGO_PKG_VERSION"),
            session,
            channels,
        }
    }
}

/// The nearest folder with a `.git`, or `cwd` itself, which has its links resolved.
pub fn root_of(cwd: &Path, home: &Path) -> PathBuf {
    let has_git = |folder: &&Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    let is_within_home = cwd.starts_with(home);
    let mut folders =
        cwd.ancestors().take(MAX_ANCESTORS).take_while(|folder| !is_within_home || folder.starts_with(home));
    folders.find(has_git).unwrap_or(cwd).to_owned()
}

/// The instructions of the project at `root`, in words; `skills` is the number of its usable skills.
#[must_use]
pub fn instructions(root: &Path, skills: usize) -> Option<String> {
    let names = identity_files::NAMES.iter().filter(|name| root.join(name).is_file()).map(|name| (*name).to_owned());
    let skills = match skills {
        0 => None,
        1 => Some("1 skill".to_owned()),
        many => Some(format!("{many} skills")),
    };
    let all: Vec<String> = names.chain(skills).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The number of skills of the project at `root`. Blocks.
#[must_use]
pub fn count_project_skills(root: &Path) -> usize {
    skills::list(&root.join(PROJECT_SKILLS), Some(root), &mut Vec::new()).len()
}

fn kinds(root: &Path) -> Vec<String> {
    let is_there = |name: &str| fs::symlink_metadata(root.join(name)).is_ok_and(|metadata| metadata.is_file());
    KINDS.iter().filter(|(file, _)| is_there(file)).map(|(file, kind)| format!("{kind} ({file})")).collect()
}

fn os_name() -> Option<String> {
    let text = text_file::read(Path::new("/etc/os-release"), Bounds::Own, OS_RELEASE_BYTES).ok()??.text;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_words_and_the_projects_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let (settings, project) = (home.join("settings"), home.join("app"));
        for path in [
            settings.join("skills/mine"),
            project.join(".cohab/skills/theirs"),
            project.join(".git"),
            project.join("src"),
        ] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(settings.join("SOUL.md"), "my soul").unwrap();
        fs::write(settings.join("skills/mine/SKILL.md"), "---\ndescription: mine\n---\n").unwrap();
        fs::write(project.join("SOUL.md"), "their soul").unwrap();
        fs::write(project.join("AGENTS.md"), "their notes").unwrap();
        fs::write(project.join("Cargo.toml"), "").unwrap();
        fs::write(project.join(".cohab/skills/theirs/SKILL.md"), "---\ndescription: theirs\n---\n").unwrap();
        let trust = TrustedFolders::new(home.join("trusted"), home.clone());
        let found = Surroundings::read(&project.join("src"), &home, &settings, &trust);
        assert_eq!((&found.project_identity, found.skills().len(), &found.trusted), (&None, 1, &None));
        assert!(found.project_notes.is_some(), "notes are data");
        let told: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains("/app: SOUL.md, 1 skill, until you trust it"), "{told:?}");
        trust.add(&project).unwrap();
        let found = Surroundings::read(&project.join("src"), &home, &settings, &trust);
        assert_eq!(found.trusted.as_deref(), Some("SOUL.md, 1 skill"));
        assert_eq!(found.standing.identity, "my soul");
        assert!(found.project_identity.is_some_and(|text| text.ends_with("their soul") && !text.contains("my soul")));
        assert!(found.project_notes.is_some_and(|text| text.ends_with("their notes")));
        assert_eq!(found.project, ["Rust (Cargo.toml)"]);
        assert_eq!((found.standing.skills.len(), found.project_skills.len(), found.skipped.len()), (1, 1, 0));
        let at_home = Surroundings::read(&settings, &home, &settings, &trust);
        assert_eq!((at_home.standing.identity.as_str(), at_home.project_identity), ("my soul", None));
        assert!(Surroundings::read(Path::new("/nonexistent"), &home, &settings, &trust).project.is_empty());
    }
}
