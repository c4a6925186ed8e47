//! Where `cohab mcp` works: the user's files, and the project.

use std::{env, path::PathBuf, sync::Arc};

use cohab_assembly::wiring::home;
use cohab_config::{Settings, mcp::McpServers};
use cohab_context::{trust::TrustedFolders, workspace::root_of};
use cohab_mcp::{
    catalog::{self, Listed},
    consents::ConsentFile,
    sign_in::SignIns,
};
use cohab_protocol::Paths;
use cohab_text::{nearest, sanitize::one_line};

use crate::cli::Failure;

/// Where the command works: the user's files, and the project.
pub(super) struct McpFiles {
    pub(super) paths: Paths,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    pub(super) settings: McpServers,
    pub(super) consents: ConsentFile,
}

impl McpFiles {
    pub(super) fn here(paths: &Paths) -> Result<Self, Failure> {
        let home = home();
        let project = root_of(&env::current_dir()?.canonicalize()?, &home);
        Self::at(paths, home, project)
    }

    pub(super) fn at(paths: &Paths, home: PathBuf, project: PathBuf) -> Result<Self, Failure> {
        let Settings { mcp: settings, .. } = cohab_config::load(paths)?;
        Ok(Self { paths: paths.clone(), home, project, settings, consents: ConsentFile::of(paths) })
    }

    /// Where the user signed in.
    pub(super) fn sign_ins(&self) -> SignIns {
        SignIns::of(&self.paths, Arc::default())
    }

    /// All servers of the user and the project.
    pub(super) fn servers(&self) -> Result<Vec<Listed>, Failure> {
        let trust = TrustedFolders::new(self.paths.trusted_folders_file(), self.home.clone());
        let consents = self.consents.read().map_err(failed)?;
        let (listed, fault) = catalog::list(&self.settings, Some(&self.project), &trust, &consents);
        match fault {
            Some(fault) => Err(Failure::Other(one_line(&fault, usize::MAX), None)),
            None => Ok(listed),
        }
    }

    /// The server of this name; the user's own comes first.
    pub(super) fn find(&self, name: &str) -> Result<Listed, Failure> {
        let servers = self.servers()?;
        let known: Vec<String> = servers.iter().map(|one| one.server.name.clone()).collect();
        servers.into_iter().find(|one| one.server.name == name).ok_or_else(|| unknown(name, &known))
    }
}

fn unknown(name: &str, known: &[String]) -> Failure {
    let hint = match nearest::to(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`cohab mcp list` lists the servers".to_owned(),
    };
    Failure::Other(format!("there is no MCP server `{}` here", one_line(name, 60)), Some(hint))
}

pub(super) fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Other(one_line(&error.to_string(), usize::MAX), None)
}
