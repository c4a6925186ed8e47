//! Finds the program of an agent on PATH and puts its start together. Never downloads anything.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use cohab_types::environment::Variables;

use crate::known::Agent;

/// How an agent is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
}

/// The start of an agent in this environment; `None` if none of its programs is installed.
#[must_use]
pub fn launch(agent: &Agent, environment: &Variables, home: &Path) -> Option<Launch> {
    let path = environment.get("PATH").map_or("", String::as_str);
    let (program, args) = agent.starts.iter().find_map(|start| {
        let (program, args) = start.split_first()?;
        Some((program_on(path, program, home)?, args.to_vec()))
    })?;
    let mut environment: BTreeMap<String, String> =
        environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in &agent.variables {
        if agent.variables_win || !environment.contains_key(name) {
            environment.insert(name.clone(), value.clone());
        }
    }
    Some(Launch { program, args, environment })
}

/// The program of this name: a path as it is, `~` for the home, any other name in the absolute folders of PATH.
fn program_on(path: &str, name: &str, home: &Path) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if let Some(rest) = name.strip_prefix("~/") {
        return Some(home.join(rest)).filter(|path| is_program(path));
    }
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_program(path));
    }
    // A relative folder would be one of the project.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| is_program(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cohab_config::agents::{OwnAgent, OwnAgents};

    use super::*;
    use crate::known;

    #[test]
    fn programs_come_from_absolute_folders_of_path_and_may_be_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("opencode");
        fs::write(&program, "").expect("a file");
        let agent = known::find("opencode", &OwnAgents::new()).expect("known");
        let path = folder.path().display().to_string();
        let environment = Variables::from([("PATH".to_owned(), format!("bin:/nowhere:{path}"))]);
        assert_eq!(launch(&agent, &environment, Path::new("/")), None, "it is no program yet");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
        let found = launch(&agent, &environment, Path::new("/")).expect("a program");
        assert_eq!((found.program.as_path(), &found.args[..]), (program.as_path(), &["acp".to_owned()][..]));
        assert!(found.environment["OPENCODE_CONFIG_CONTENT"].contains("bash"));
        let set =
            Variables::from([("PATH".to_owned(), path), ("OPENCODE_CONFIG_CONTENT".to_owned(), "mine".to_owned())]);
        assert_eq!(
            launch(&agent, &set, Path::new("/")).expect("a program").environment["OPENCODE_CONFIG_CONTENT"],
            "mine"
        );
    }

    #[test]
    fn a_command_of_the_settings_is_a_path_or_a_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("mine");
        fs::write(&program, "").expect("a file");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
        let of = |command: &str| {
            let own = OwnAgent { command: command.into(), args: Vec::new(), env: BTreeMap::new() };
            let agent = known::find("mine", &OwnAgents::from([("mine".into(), own)])).expect("own");
            launch(&agent, &Variables::new(), folder.path()).map(|launch| launch.program)
        };
        assert_eq!(of(&program.display().to_string()), Some(program.clone()));
        assert_eq!(of("~/mine"), Some(program));
        assert_eq!((of("mine"), of("./mine"), of("/nowhere/mine")), (None, None, None));
    }
}
