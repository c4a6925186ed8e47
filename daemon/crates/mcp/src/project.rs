//! Reads the servers that a project proposes in `.mcp.json`. They are proposals: the user allows each one.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use cohab_config::mcp::{self, McpServer};
use cohab_system::files::{self, FileError};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    expand::has_key,
    server::{NO_KEYS, argument_problem},
};

/// Name of the file, in the project's folder.
pub(crate) const FILE: &str = ".mcp.json";
/// Largest valid file, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Most servers of a project.
const MAX_SERVERS: usize = 50;

/// A server that a project proposes: valid, or why not.
pub(crate) type Proposed = (String, Result<McpServer, String>);

#[derive(Deserialize)]
struct ProjectFile {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, Value>,
}

/// As other assistants write it, too. What is not known here is ignored.
#[derive(Deserialize)]
struct ProjectServer {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// The servers of this project, by name. Blocks.
///
/// # Errors
/// A sentence: the file cannot be read or is not valid.
pub(crate) fn read(folder: &Path) -> Result<Vec<Proposed>, String> {
    let file: PathBuf = folder.join(FILE);
    match files::read_regular(&file, MAX_FILE_BYTES) {
        Ok((bytes, _)) => parse(&bytes).map_err(|reason| format!("{}: {reason}", file.display())),
        Err(FileError::Missing) => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn parse(bytes: &[u8]) -> Result<Vec<Proposed>, String> {
    let ProjectFile { servers } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if servers.len() > MAX_SERVERS {
        return Err(format!("it has more than {MAX_SERVERS} servers"));
    }
    Ok(servers.into_iter().map(|(name, value)| (name.clone(), proposed(&name, value))).collect())
}

fn proposed(name: &str, value: Value) -> Result<McpServer, String> {
    if !mcp::is_name(name) {
        return Err(mcp::NAME_RULE.to_owned());
    }
    let ProjectServer { kind, command, args, env, url, headers } =
        serde_json::from_value(value).map_err(|error| error.to_string())?;
    if kind.as_deref() == Some("sse") {
        return Err("its transport `sse` is out of date and not supported; ask its authors for `http`".into());
    }
    let base = McpServer::program(String::new(), args);
    let server = McpServer { command, env, url, headers, ..base };
    if server.env.values().chain(server.headers.values()).chain(&server.url).any(|value| has_key(value)) {
        return Err(NO_KEYS.to_owned());
    }
    if let Some(problem) = argument_problem(&server.args) {
        return Err(problem);
    }
    server.problem().map_or(Ok(server), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_other_assistants_is_understood() {
        let text = r#"{"mcpServers": {
            "db": {"command": "npx", "args": ["-y", "db-server"], "env": {"URL": "${DB_URL}"}, "disabled": false},
            "docs": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${T}"}},
            "old": {"type": "sse", "url": "https://example.org/sse"},
            "a b": {"command": "x"},
            "key": {"command": "x", "env": {"K": "${key:openai}"}},
            "key_in_url": {"url": "https://example.org/${key:openai}"},
            "key_in_args": {"command": "x", "args": ["${key:openai}"]},
            "variable_in_args": {"command": "x", "args": ["--token=${TOKEN}"]},
            "none": {}
        }}"#;
        let servers = parse(text.as_bytes()).unwrap();
        let problem = |name: &str| servers.iter().find(|one| one.0 == name).unwrap().1.clone().err();
        assert_eq!((problem("db"), problem("docs")), (None, None));
        assert!(problem("old").unwrap().contains("out of date"));
        assert!(problem("a b").unwrap().contains("40 letters"));
        assert!(problem("key").unwrap().contains("key store"));
        assert!(problem("key_in_url").unwrap().contains("key store"));
        assert!(problem("key_in_args").unwrap().contains("all users of this machine"));
        assert!(problem("variable_in_args").unwrap().contains("all users of this machine"));
        assert!(problem("none").unwrap().contains("needs `command`"));
    }

    #[test]
    fn a_file_that_is_no_list_of_servers_is_an_error_and_none_is_no_server() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), Ok(Vec::new()));
        std::fs::write(folder.path().join(FILE), "[").unwrap();
        assert!(read(folder.path()).unwrap_err().contains(FILE));
        assert_eq!(parse(b"{}"), Ok(Vec::new()));
    }
}
