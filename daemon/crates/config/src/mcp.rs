//! `[mcp.NAME]`: servers that give tools by the Model Context Protocol. Parses and checks them, and starts none.

use std::collections::BTreeMap;

use serde::{Deserialize, de::Error as _};

use crate::profile;

/// Name of the table.
pub const TABLE: &str = "mcp";
/// Rule for names of servers, as a hint.
pub const NAME_RULE: &str = "the name of a server is up to 40 letters, digits, `-` and `_`";
/// Most servers.
const MAX_SERVERS: usize = 100;
/// Most arguments, variables, headers or names of tools of a server.
const MAX_WORDS: usize = 200;
/// Longest command, argument, value or address, in bytes.
const WORD_MAX_BYTES: usize = 8 * 1024;
/// Longest description, in bytes.
const DESCRIPTION_MAX_BYTES: usize = 300;
/// Headers that hold secrets: their values come from a variable or the key store.
const SECRET_HEADERS: &[&str] = &["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"];

/// The servers of the settings, by name.
pub type McpServers = BTreeMap<String, McpServer>;

/// A server: a program that speaks on its standard input and output, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// The program: a name on PATH, or an absolute path.
    #[serde(default)]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables that the program gets in addition to those that hold no secret. `${NAME}` stands for a variable of the user's shell,
    /// `${key:ACCOUNT}` for a key of the key store.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The address of a server that speaks HTTP.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers of each request to it; values as in `env`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How cohab is known to the service where the user signs in, if it does not register itself.
    #[serde(default)]
    pub oauth: Option<OauthSettings>,
    /// Its purpose in one line, for the model.
    #[serde(default)]
    pub description: Option<String>,
    /// Tools that run without a question; `*` stands for any letters.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Tools that are always asked about; stronger than `allow`.
    #[serde(default)]
    pub ask: Vec<String>,
    /// Tools that are never called; stronger than both.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Whether it is used.
    #[serde(default = "enabled")]
    pub enabled: bool,
}

/// A client that a sign-in service knows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OauthSettings {
    /// Its id; or the address of its description, which starts with `https://`.
    pub client_id: String,
    /// Its secret: `${NAME}` or `${key:ACCOUNT}`.
    #[serde(default)]
    pub client_secret: Option<String>,
}

fn enabled() -> bool {
    true
}

impl McpServer {
    /// A program with its arguments.
    #[must_use]
    pub fn program(command: String, args: Vec<String>) -> Self {
        Self { command: Some(command), args, ..Self::none() }
    }

    /// A server at an address.
    #[must_use]
    pub fn at(url: String) -> Self {
        Self { url: Some(url), ..Self::none() }
    }

    fn none() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            url: None,
            headers: BTreeMap::new(),
            oauth: None,
            description: None,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            enabled: true,
        }
    }

    /// Returns the first defect, as a sentence.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        match (&self.command, &self.url) {
            (None, None) => return Some("it needs `command`, a program to start, or `url`, an address".into()),
            (Some(_), Some(_)) => return Some("it has both `command` and `url`; only one of them can be used".into()),
            (Some(command), None) if command.trim().is_empty() => {
                return Some("`command` is empty; it is the program that speaks the Model Context Protocol".into());
            }
            (None, Some(url)) if !url.starts_with("http://") && !url.starts_with("https://") => {
                return Some("`url` must start with `https://`, or `http://` for this machine".into());
            }
            (Some(_), None) if !self.headers.is_empty() => return Some("`headers` are for a server with `url`".into()),
            (Some(_), None) if self.oauth.is_some() => return Some("`oauth` is for a server with `url`".into()),
            (None, Some(_)) if !self.args.is_empty() || !self.env.is_empty() => {
                return Some("`args` and `env` are for a server with `command`".into());
            }
            _ => {}
        }
        let counts =
            [self.args.len(), self.env.len(), self.headers.len(), self.allow.len(), self.ask.len(), self.deny.len()];
        if counts.into_iter().any(|count| count > MAX_WORDS) {
            return Some(format!("a list or table of it has more than {MAX_WORDS} entries"));
        }
        if self.env.keys().chain(self.headers.keys()).any(|name| name.is_empty() || name.contains(['=', '\n', ' '])) {
            return Some("a name in `env` or `headers` is empty or contains `=` or a blank".into());
        }
        self.word_problem().or_else(|| self.header_problem())
    }

    fn word_problem(&self) -> Option<String> {
        let named = self.env.iter().chain(&self.headers).flat_map(|(name, value)| [name, value]);
        let lists = [&self.args, &self.allow, &self.ask, &self.deny].into_iter().flatten();
        let words = self.command.iter().chain(&self.url).chain(lists).chain(named);
        if !words.into_iter().all(|word| word.len() <= WORD_MAX_BYTES && !word.contains('\0')) {
            return Some(format!("a text has a NUL or more than {WORD_MAX_BYTES} bytes"));
        }
        let is_long = |text: &String| text.len() > DESCRIPTION_MAX_BYTES || text.contains(['\n', '\r']);
        self.description
            .as_ref()
            .filter(|text| is_long(text))
            .map(|_| format!("`description` must be one line of at most {DESCRIPTION_MAX_BYTES} bytes"))
    }

    /// Reports a secret that stands in the file itself.
    fn header_problem(&self) -> Option<String> {
        let secret = self.oauth.as_ref().and_then(|oauth| oauth.client_secret.as_deref());
        if secret.is_some_and(|secret| !secret.contains("${")) {
            return Some("write `client_secret` as `${NAME}`, a variable of your shell, or `${key:ACCOUNT}`".into());
        }
        let holds_secret = |name: &str| SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str());
        let (name, _) = self.headers.iter().find(|(name, value)| holds_secret(name) && !value.contains("${"))?;
        Some(format!(
            "the header `{name}` holds a secret: write its value as `${{NAME}}`, a variable of your shell, or \
             `${{key:ACCOUNT}}`, a key of the key store"
        ))
    }
}

/// Whether `name` is valid for a server.
#[must_use]
pub fn is_name(name: &str) -> bool {
    profile::is_name(name)
}

/// Returns the first error in the servers of this file, if any.
pub(super) fn problem(text: &str) -> Option<toml::de::Error> {
    #[derive(Deserialize)]
    struct OnlyServers {
        #[serde(default)]
        mcp: McpServers,
    }
    let servers = match toml::from_str::<OnlyServers>(text) {
        Err(error) => return Some(error),
        Ok(OnlyServers { mcp }) => mcp,
    };
    if servers.len() > MAX_SERVERS {
        return Some(toml::de::Error::custom(format!("there are more than {MAX_SERVERS} servers")));
    }
    servers.iter().find_map(|(name, server)| {
        if !is_name(name) {
            let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            return Some(toml::de::Error::custom(format!("`{TABLE}.{shown}`: {NAME_RULE}")));
        }
        server.problem().map(|problem| toml::de::Error::custom(format!("`{TABLE}.{name}`: {problem}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_program_or_an_address() {
        let text = "command = 'uvx'\nargs = ['mcp-server-time']\nenv = { TZ = 'UTC' }\nallow = ['get_*']";
        let server: McpServer = toml::from_str(text).expect(text);
        assert_eq!((server.command.as_deref(), server.args.len(), server.enabled), (Some("uvx"), 1, true));
        assert!(problem("[mcp.time]\ncommand = 'uvx'\n[limits]\nsteps_per_turn = 3").is_none());
        let text = "[mcp.docs]\nurl = 'https://example.org/mcp'\nheaders = { Authorization = 'Bearer ${TOKEN}' }";
        assert!(problem(text).is_none());
        assert_eq!(McpServer::program("a".into(), vec!["b".into()]).problem(), None);
        assert_eq!(McpServer::at("http://127.0.0.1:1".into()).problem(), None);
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_the_reason() {
        for (text, reason) in [
            ("[mcp.a]", "it needs `command`"),
            ("[mcp.a]\ncommand = 'x'\nurl = 'https://x'", "both `command` and `url`"),
            ("[mcp.a]\ncommand = ' '", "`command` is empty"),
            ("[mcp.a]\nurl = 'file:///x'", "must start with `https://`"),
            ("[mcp.a]\nurl = 'https://x'\nargs = ['y']", "for a server with `command`"),
            ("[mcp.a]\ncommand = 'x'\nheaders = { A = 'y' }", "for a server with `url`"),
            ("[mcp.a]\ncommand = 'x'\ncmd = 'y'", "unknown field `cmd`"),
            ("[mcp.'a b']\ncommand = 'x'", "up to 40 letters"),
            ("[mcp.a]\ncommand = 'x'\nenv = { 'A=B' = 'c' }", "contains `=`"),
            ("[mcp.a]\ncommand = \"x\\u0000\"", "has a NUL"),
            ("[mcp.a]\ncommand = 'x'\ndescription = \"a\\nb\"", "must be one line"),
            ("[mcp.a]\nurl = 'https://x'\nheaders = { Authorization = 'Bearer abc' }", "holds a secret"),
            ("[mcp.a]\nurl = 'https://x'\noauth = { client_id = 'a', client_secret = 'b' }", "`client_secret` as"),
            ("[mcp.a]\ncommand = 'x'\noauth = { client_id = 'a' }", "for a server with `url`"),
            ("mcp = 3", "invalid type"),
        ] {
            let error = problem(text).expect(text);
            assert!(error.message().contains(reason), "{text}: {}", error.message());
        }
    }
}
