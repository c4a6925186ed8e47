//! Reads the surroundings of a question from disk: the user's own instructions, and the project's notes and kind.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    agent_files, commands,
    git_state::{self, GitState},
    identity_files,
    ignore_rules::IgnoreRules,
    project_notes,
    query::{Environment, Runtime},
    sections::SystemContext,
    skills::{self, SKILL_FILE, Skill},
    text_file::{self, Bounds, Skipped},
};
use crate::trust::TrustedFolders;
use cohab_teams::SubagentKind;

/// Folder of the user's skills, in the settings folder.
pub const OWN_SKILLS: &str = "skills";
/// Folder of the user's commands, in the settings folder.
pub const OWN_COMMANDS: &str = "commands";
/// The user's rules about files that are kept from the assistant, in the settings folder.
pub const OWN_IGNORE: &str = "ignore";

/// Whether the user has a skill in a folder of this name, below the folder of the settings. Blocks.
#[must_use]
pub fn has_own_skill(settings: &Path, name: &str) -> bool {
    settings.join(OWN_SKILLS).join(name).join(SKILL_FILE).exists()
}
/// Folders of the user's skills and commands for any assistant, in the home folder.
const SHARED_SKILLS: &str = ".agents/skills";
const SHARED_COMMANDS: &str = ".agents/commands";
/// Folders of a project's skills and commands, best first. The last ones are those of another assistant.
const PROJECT_SKILLS: [&str; 3] = [".cohab/skills", SHARED_SKILLS, ".claude/skills"];
const PROJECT_COMMANDS: [&str; 3] = [".cohab/commands", SHARED_COMMANDS, ".claude/commands"];
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
    /// The commands: the user's own, then the project's if the user trusts the project.
    pub commands: Vec<Skill>,
    /// The kinds of subagents: the delivered ones, the user's, and the project's if the user trusts the project.
    pub agents: Vec<SubagentKind>,
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
            skills: skills::list_all(&[settings.join(OWN_SKILLS), home.join(SHARED_SKILLS)], None, skipped),
        };
        let own_commands = [settings.join(OWN_COMMANDS), home.join(SHARED_COMMANDS)];
        found.commands = commands::list_all(&own_commands, None, skipped);
        found.agents = agent_files::own(settings, skipped);
        found.os = os_name();
        let Ok(cwd) = cwd.canonicalize() else { return found };
        let root = root_of(&cwd, home);
        found.root = Some(root.clone());
        let rules = IgnoreRules::new(home.to_owned(), settings.join(OWN_IGNORE));
        found.project_notes = project_notes::read(&root, &cwd, &rules, skipped);
        found.git = git_state::read(&root);
        found.project = kinds(&root);
        // The settings folder is no project: its files were read above.
        if settings.canonicalize().is_ok_and(|settings| settings == root) {
            return found;
        }
        let identity = identity_files::of_project(&root, skipped);
        let skills = skills_of(&root, home, skipped);
        let commands = commands_of(&root, home, skipped);
        let agents = agent_files::of_project(&root, skipped);
        let instructions = instructions(&root, [skills.len(), commands.len(), agents.len()]);
        if trust.covers(&root) {
            (found.project_identity, found.project_skills, found.trusted) = (identity, skills, instructions);
            found.commands.extend(commands);
            found.agents = agent_files::together(&found.agents, &agents);
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

    /// What the user can call by its name, best first: of two with the same name the user's own counts, and of these a command.
    pub fn callable(&self) -> impl Iterator<Item = &Skill> {
        let is_own = |skill: &&Skill| skill.project.is_none();
        let own = self.commands.iter().filter(is_own).chain(&self.standing.skills);
        let of_project = self.commands.iter().filter(move |skill| !is_own(skill)).chain(&self.project_skills);
        own.chain(of_project)
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

/// The skills of the project at `root`. Those of the home folder are the user's own.
fn skills_of(root: &Path, home: &Path, skipped: &mut Vec<Skipped>) -> Vec<Skill> {
    skills::list_all(&folders(root, home, &PROJECT_SKILLS), Some(root), skipped)
}

/// The commands of the project at `root`.
fn commands_of(root: &Path, home: &Path, skipped: &mut Vec<Skipped>) -> Vec<Skill> {
    commands::list_all(&folders(root, home, &PROJECT_COMMANDS), Some(root), skipped)
}

fn folders(root: &Path, home: &Path, names: &[&str]) -> Vec<PathBuf> {
    let is_own = |name: &str| root == home && [SHARED_SKILLS, SHARED_COMMANDS].contains(&name);
    names.iter().filter(|name| !is_own(name)).map(|name| root.join(name)).collect()
}

/// The instructions of the project at `root`, in words; with the number of its usable skills, commands and kinds of subagents.
fn instructions(root: &Path, counts: [usize; 3]) -> Option<String> {
    let names = identity_files::NAMES.iter().filter(|name| root.join(name).is_file()).map(|name| (*name).to_owned());
    let counted = counts.into_iter().zip(["skill", "command", "agent"]).filter(|(count, _)| *count > 0);
    let counted = counted.map(|(count, of)| format!("{count} {of}{}", if count == 1 { "" } else { "s" }));
    let all: Vec<String> = names.chain(counted).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The instructions of the project at `root`, in words; `None` if it has none. Blocks.
#[must_use]
pub fn instructions_of(root: &Path) -> Option<String> {
    let (home, skipped) = (Path::new(""), &mut Vec::new());
    let (skills, commands) = (skills_of(root, home, skipped), commands_of(root, home, skipped));
    instructions(root, [skills.len(), commands.len(), agent_files::of_project(root, skipped).len()])
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
            project.join(".agents/skills/mine"),
            project.join(".agents/commands"),
            home.join(".agents/skills/shared"),
            home.join(".agents/skills/mine"),
            settings.join("commands"),
            project.join(".git"),
            project.join("src"),
        ] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(settings.join("SOUL.md"), "my soul").unwrap();
        fs::write(settings.join("skills/mine/SKILL.md"), "---\ndescription: mine\n---\n").unwrap();
        fs::write(home.join(".agents/skills/shared/SKILL.md"), "---\ndescription: shared\n---\n").unwrap();
        fs::write(home.join(".agents/skills/mine/SKILL.md"), "---\ndescription: another mine\n---\n").unwrap();
        fs::write(settings.join("commands/fix.md"), "fix").unwrap();
        fs::write(project.join(".agents/skills/mine/SKILL.md"), "---\ndescription: not mine\n---\n").unwrap();
        fs::write(project.join(".agents/commands/theirs.md"), "go").unwrap();
        fs::write(project.join("SOUL.md"), "their soul").unwrap();
        fs::write(project.join("AGENTS.md"), "their notes").unwrap();
        fs::write(project.join("Cargo.toml"), "").unwrap();
        fs::write(project.join(".cohab/skills/theirs/SKILL.md"), "---\ndescription: theirs\n---\n").unwrap();
        let trust = TrustedFolders::new(home.join("trusted"), home.clone());
        let found = Surroundings::read(&project.join("src"), &home, &settings, &trust);
        assert_eq!((&found.project_identity, found.skills().len(), &found.trusted), (&None, 2, &None));
        let called = |found: &Surroundings| found.callable().map(|one| one.description.clone()).collect::<Vec<_>>();
        assert_eq!(called(&found), ["fix", "mine", "shared"]);
        assert!(found.project_notes.is_some(), "notes are data");
        let told: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
        assert!(
            told.len() == 1 && told[0].contains("/app: SOUL.md, 2 skills, 1 command, until you trust it"),
            "{told:?}"
        );
        trust.add(&project).unwrap();
        let found = Surroundings::read(&project.join("src"), &home, &settings, &trust);
        assert_eq!(found.trusted.as_deref(), Some("SOUL.md, 2 skills, 1 command"));
        assert_eq!(
            called(&found),
            ["fix", "mine", "shared", "go", "not mine", "theirs"],
            "of the same name the first counts"
        );
        assert_eq!(found.standing.identity, "my soul");
        assert!(found.project_identity.is_some_and(|text| text.ends_with("their soul") && !text.contains("my soul")));
        assert!(found.project_notes.is_some_and(|text| text.ends_with("their notes")));
        assert_eq!(found.project, ["Rust (Cargo.toml)"]);
        assert_eq!((found.standing.skills.len(), found.project_skills.len(), found.skipped.len()), (2, 2, 0));
        let at_home = Surroundings::read(&settings, &home, &settings, &trust);
        assert_eq!((at_home.standing.identity.as_str(), at_home.project_identity), ("my soul", None));
        assert!(Surroundings::read(Path::new("/nonexistent"), &home, &settings, &trust).project.is_empty());
    }
}
