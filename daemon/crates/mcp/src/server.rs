//! One server: its definition, who wrote it, and its names.

use std::path::PathBuf;

use cohab_config::mcp::McpServer;
use cohab_text::sanitize::one_line;
use serde_json::json;

use crate::{
    digest,
    expand::has_reference,
    named_files::{self, NamedFile},
};

/// Who wrote the definition of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// The user, in the settings.
    User,
    /// A project, whose folder this is.
    Project(PathBuf),
}

/// A server that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name, as [`cohab_config::mcp::is_name`] allows.
    pub name: String,
    /// Who wrote the definition.
    pub author: Author,
    /// The definition.
    pub settings: McpServer,
    /// The files of the project that its command line names, once they were read. Their content is part of the digest.
    pub files: Vec<NamedFile>,
}

/// Why a project's server is not used: it names a key.
pub(crate) const NO_KEYS: &str = "a project cannot use keys of the key store; `${NAME}` names a variable";

/// Returns why these arguments cannot be used, as a sentence: they name variables or keys.
#[must_use]
pub fn argument_problem(args: &[String]) -> Option<String> {
    let at_fault = args.iter().find(|argument| has_reference(argument))?;
    let shown = one_line(at_fault, 60);
    Some(format!("its argument `{shown}` is not filled in: all users of this machine can read arguments; use `env`"))
}

impl Server {
    /// The name that no other server has, also none of another project.
    #[must_use]
    pub fn id(&self) -> String {
        match &self.author {
            Author::User => self.name.clone(),
            Author::Project(folder) => format!("{}@{}", self.name, folder.display()),
        }
    }

    /// Who acts, for people: `MCP server time`.
    #[must_use]
    pub fn by(&self) -> String {
        match &self.author {
            Author::User => format!("MCP server {}", self.name),
            Author::Project(folder) => format!("MCP server {} of {}", self.name, folder.display()),
        }
    }

    /// The same server with the files of its project that its command line names. Blocks.
    ///
    /// # Errors
    /// A sentence: a file cannot be read, or is too large.
    pub fn with_files(self) -> Result<Self, String> {
        let files = match &self.author {
            Author::User => Vec::new(),
            Author::Project(folder) => named_files::read(&self.settings, folder)?,
        };
        Ok(Self { files, ..self })
    }

    /// The digest of what is started or reached.
    #[must_use]
    pub fn digest(&self) -> String {
        let McpServer { command, args, env, url, headers, .. } = &self.settings;
        let files: Vec<_> = self.files.iter().map(|file| (file.path.to_string_lossy(), &file.digest)).collect();
        digest::of(&json!({
            "command": command, "args": args, "env": env, "url": url, "headers": headers, "files": files,
        }))
    }

    /// What is started or reached, in one line: `uvx mcp-server-time`.
    #[must_use]
    pub fn target(&self) -> String {
        match (&self.settings.command, &self.settings.url) {
            (Some(command), _) => {
                let words = std::iter::once(command).chain(&self.settings.args);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            (None, url) => url.clone().unwrap_or_default(),
        }
    }
}
