//! Lists the servers of the settings and of a project, and whether each can be used here.

use std::path::Path;

use cohab_config::mcp::McpServers;
use cohab_context::trust::TrustedFolders;

use crate::{
    consents::{ConsentFile, Consents, ServerConsent},
    project,
    server::{Author, Server},
};

/// The servers that can be used in a folder, and what was allowed of them.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The servers, by name; no name twice.
    pub servers: Vec<Server>,
    /// What the user allowed and denied; `None` if that cannot be read.
    pub consents: Option<Consents>,
}

/// A server, and whether it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The server; a project's may have no valid definition.
    pub server: Server,
    /// Whether it can be used.
    pub standing: Standing,
}

/// Whether a server can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can.
    Ready,
    /// The settings switch it off.
    Off,
    /// The project's folder is not trusted.
    NotTrusted,
    /// The user has not allowed this server of the project.
    NotAllowed,
    /// The definition is not the one that the user allowed.
    Changed,
    /// The user has a server of that name.
    Hidden,
    /// The definition is not valid: the reason.
    Invalid(String),
}

/// Whether a project has a file of servers. Blocks for a moment.
#[must_use]
pub fn has_servers(project: &Path) -> bool {
    project.join(project::FILE).exists()
}

/// All servers, those of the user first. `project` is the folder of the project. Blocks.
///
/// # Errors
/// A sentence, with the user's own servers: the project's file cannot be read.
pub fn list(
    own: &McpServers,
    project: Option<&Path>,
    trust: &TrustedFolders,
    consents: &Consents,
) -> (Vec<Listed>, Option<String>) {
    let own_servers = own.iter().map(|(name, settings)| {
        let server = Server { name: name.clone(), author: Author::User, settings: settings.clone(), files: Vec::new() };
        let standing = if settings.enabled { Standing::Ready } else { Standing::Off };
        Listed { server, standing }
    });
    let mut listed: Vec<Listed> = own_servers.collect();
    let Some(folder) = project else { return (listed, None) };
    let proposed = match project::read(folder) {
        Ok(proposed) => proposed,
        Err(reason) => return (listed, Some(reason)),
    };
    let is_trusted = proposed.is_empty() || trust.covers(folder);
    for (name, settings) in proposed {
        let is_hidden = own.contains_key(&name);
        let (settings, fault) = match settings {
            Ok(settings) => (settings, None),
            Err(reason) => (cohab_config::mcp::McpServer::program(String::new(), Vec::new()), Some(reason)),
        };
        let server = Server { name, author: Author::Project(folder.to_owned()), settings, files: Vec::new() };
        let allowed = consents.servers.get(&server.id()).and_then(|consent| consent.definition.as_ref());
        listed.push(match (fault, allowed) {
            (Some(reason), _) => Listed { server, standing: Standing::Invalid(reason) },
            _ if is_hidden => Listed { server, standing: Standing::Hidden },
            _ if !is_trusted => Listed { server, standing: Standing::NotTrusted },
            (None, None) => Listed { server, standing: Standing::NotAllowed },
            (None, Some(allowed)) => compared(server, allowed),
        });
    }
    (listed, None)
}

/// A server that the user allowed once, and whether it is the same. Its files are read only now: most projects are not allowed.
fn compared(server: Server, allowed: &str) -> Listed {
    match server.clone().with_files() {
        Ok(server) if server.digest() == allowed => Listed { server, standing: Standing::Ready },
        Ok(server) => Listed { server, standing: Standing::Changed },
        Err(reason) => Listed { server, standing: Standing::Invalid(reason) },
    }
}

impl Catalog {
    /// The servers that can be used. A project's file that cannot be read has none. Blocks.
    #[must_use]
    pub fn read(own: &McpServers, project: Option<&Path>, trust: &TrustedFolders, file: &ConsentFile) -> Self {
        let consents = file.read().inspect_err(|error| {
            tracing::warn!(%error, "what was allowed of MCP servers cannot be read; all their tools are asked about");
        });
        let consents = consents.ok();
        let (listed, fault) = list(own, project, trust, consents.as_ref().unwrap_or(&Consents::default()));
        if let Some(fault) = fault {
            tracing::warn!(fault, "the servers of a project cannot be read");
        }
        let is_ready = |one: &Listed| one.standing == Standing::Ready;
        Self { servers: listed.into_iter().filter(is_ready).map(|one| one.server).collect(), consents }
    }

    /// The server of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// What was allowed and denied of a server; `None` if that cannot be read.
    #[must_use]
    pub fn consent(&self, server: &Server) -> Option<ServerConsent> {
        Some(self.consents.as_ref()?.servers.get(&server.id()).cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cohab_config::mcp::McpServer;

    use super::*;

    #[test]
    fn a_projects_server_needs_trust_and_consent_to_its_exact_definition() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let project = home.join("shop");
        fs::create_dir(&project).unwrap();
        let trust = TrustedFolders::new(home.join("trusted"), home.clone());
        let write = |args: &str| {
            let text = format!(
                r#"{{"mcpServers": {{"db": {{"command": "x", "args": [{args}]}}, "time": {{"command": "evil"}}}}}}"#
            );
            fs::write(project.join(".mcp.json"), text).unwrap();
        };
        write("");
        let own = McpServers::from([
            ("time".to_owned(), McpServer::program("uvx".into(), Vec::new())),
            ("off".to_owned(), McpServer { enabled: false, ..McpServer::program("uvx".into(), Vec::new()) }),
        ]);
        let mut consents = Consents::default();
        let standings = |consents: &Consents| {
            let (listed, fault) = list(&own, Some(&project), &trust, consents);
            assert_eq!(fault, None);
            listed.into_iter().map(|one| (one.server.name, one.standing)).collect::<Vec<_>>()
        };
        let of = |name: &str, standing| (name.to_owned(), standing);
        let own_ones = [of("off", Standing::Off), of("time", Standing::Ready)];
        let with = |db| [own_ones.to_vec(), vec![of("db", db), of("time", Standing::Hidden)]].concat();
        assert_eq!(standings(&consents), with(Standing::NotTrusted));
        trust.add(&project).unwrap();
        assert_eq!(standings(&consents), with(Standing::NotAllowed));
        let db = list(&own, Some(&project), &trust, &consents).0.remove(2).server;
        consents.servers.entry(db.id()).or_default().definition = Some(db.digest());
        assert_eq!(standings(&consents), with(Standing::Ready));
        let file = ConsentFile::at(home.join("consents.json"));
        file.change(|all| *all = consents.clone()).unwrap();
        let catalog = Catalog::read(&own, Some(&project), &trust, &file);
        let names: Vec<&str> = catalog.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["time", "db"]);
        assert_eq!(catalog.find("time").unwrap().settings.command.as_deref(), Some("uvx"));
        write("\"--other\"");
        assert_eq!(standings(&consents), with(Standing::Changed));
        fs::write(project.join(".mcp.json"), "x").unwrap();
        assert_eq!(Catalog::read(&own, Some(&project), &trust, &file).servers.len(), 1, "the user's own stay");
    }

    #[test]
    fn a_changed_file_that_the_command_line_names_takes_the_consent_away() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let project = home.join("shop");
        fs::create_dir(&project).unwrap();
        let trust = TrustedFolders::new(home.join("trusted"), home.clone());
        trust.add(&project).unwrap();
        fs::write(project.join(".mcp.json"), r#"{"mcpServers": {"db": {"command": "node", "args": ["run.js"]}}}"#)
            .unwrap();
        fs::write(project.join("run.js"), "1").unwrap();
        let standing = |consents: &Consents| list(&McpServers::new(), Some(&project), &trust, consents).0.remove(0);
        let db = standing(&Consents::default()).server.with_files().unwrap();
        assert_eq!(db.files.len(), 1);
        let mut consents = Consents::default();
        consents.servers.entry(db.id()).or_default().definition = Some(db.digest());
        assert_eq!(standing(&consents).standing, Standing::Ready);
        fs::write(project.join("run.js"), "2").unwrap();
        assert_eq!(standing(&consents).standing, Standing::Changed);
    }

    #[test]
    fn unreadable_consents_are_unknown_and_give_no_right() {
        let folder = tempfile::tempdir().unwrap();
        let file = ConsentFile::at(folder.path().join("consents.json"));
        fs::write(folder.path().join("consents.json"), "{").unwrap();
        let own = McpServers::from([("time".to_owned(), McpServer::program("uvx".into(), Vec::new()))]);
        let trust = TrustedFolders::new(folder.path().join("trusted"), folder.path().to_owned());
        let catalog = Catalog::read(&own, None, &trust, &file);
        assert_eq!(catalog.consent(&catalog.servers[0]), None);
        file_is_mended(&file, folder.path());
        let catalog = Catalog::read(&own, None, &trust, &file);
        assert_eq!(catalog.consent(&catalog.servers[0]), Some(ServerConsent::default()));
    }

    fn file_is_mended(file: &ConsentFile, folder: &Path) {
        fs::remove_file(folder.join("consents.json")).unwrap();
        assert!(file.read().is_ok());
    }
}
