//! The agents that cohab knows, from `agents.table`, next to those of the settings. Starts and looks for none.

use std::sync::LazyLock;

use cohab_config::agents::{OwnAgent, OwnAgents};
use cohab_text::nearest;
use serde_json::Value;

/// An agent: how it is started and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name behind `@`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Command lines that start it, the program first.
    pub starts: Vec<Vec<String>>,
    /// Variables that it gets.
    pub variables: Vec<(String, String)>,
    /// Whether `variables` replace those of the shell.
    pub variables_win: bool,
    /// The `_meta` of `session/new`.
    pub meta: Option<Value>,
    /// What becomes of its own shell.
    pub own_shell: OwnShell,
    /// How a request for permission says that it is about a tool of the live shell.
    pub marks: Vec<PermissionMark>,
    /// Whether its requests for permission do not name the server of a tool: then the tools have the server's name in theirs.
    pub hides_server: bool,
    /// Methods of `authenticate`, each with the variable that it needs.
    pub sign_ins: Vec<(String, String)>,
    /// What installs it.
    pub install: Option<String>,
    /// What signs in.
    pub login: Option<String>,
    /// What a user has to know.
    pub note: Option<String>,
    /// Whether it comes from the settings.
    pub is_own: bool,
    /// Whether it stands for programs that come by themselves: it may be silent for as long as it likes.
    pub is_host: bool,
}

/// Stands for cohab's own program in the arguments of an agent.
pub(crate) const SHIM_MARK: &str = "{cohabd}";
/// Stands for the name of the MCP server of the live shell, in arguments and marks.
pub(crate) const SERVER_MARK: &str = "{server}";

impl Agent {
    /// The same agent, whose marks name this MCP server. Without a server there are no marks.
    pub(crate) fn with_server(&self, server: Option<&str>) -> Self {
        let filled = |mark: &PermissionMark| {
            let server = server?;
            let fill = |text: &String| text.replace(SERVER_MARK, server);
            Some(match mark {
                PermissionMark::Title(front) => PermissionMark::Title(fill(front)),
                PermissionMark::CallId(front) => PermissionMark::CallId(fill(front)),
                PermissionMark::Raw(field, value) => PermissionMark::Raw(field.clone(), fill(value)),
            })
        };
        Self { marks: self.marks.iter().filter_map(filled).collect(), ..self.clone() }
    }

    /// Whether the agent starts the MCP server of the live shell by its command line.
    pub(crate) fn has_server_in_args(&self) -> bool {
        self.starts.iter().flatten().any(|arg| arg.contains(SHIM_MARK))
    }
}

/// A place in a request for permission, and what begins there if it is about a tool of the live shell. Agents write them by their own
/// code; no model does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionMark {
    /// The title, up to the name of the tool.
    Title(String),
    /// The id of the call, up to the name of the tool.
    CallId(String),
    /// A field of the raw input, which has this value.
    Raw(String, String),
}

/// What becomes of the shell that an agent has itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnShell {
    /// It is switched off: commands run in the live shell.
    Off,
    /// It cannot be switched off from outside, and the agent asks before it uses it.
    Asks,
    /// Nothing is known.
    Unknown,
}

impl OwnShell {
    /// The word for programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Asks => "asks",
            Self::Unknown => "unknown",
        }
    }
}

static KNOWN: LazyLock<Vec<Agent>> = LazyLock::new(|| read(include_str!("agents.table")));

/// All agents by name: those of the settings, which win, and those that cohab knows.
#[must_use]
pub fn all(own: &OwnAgents) -> Vec<Agent> {
    let known = KNOWN.iter().filter(|agent| !own.contains_key(&agent.name)).cloned();
    let mut agents: Vec<Agent> = own.iter().map(|(name, agent)| of_settings(name, agent)).chain(known).collect();
    agents.sort_by(|one, other| one.name.cmp(&other.name));
    agents
}

/// The agent of this name.
#[must_use]
pub fn find(name: &str, own: &OwnAgents) -> Option<Agent> {
    own.get(name)
        .map(|agent| of_settings(name, agent))
        .or_else(|| KNOWN.iter().find(|agent| agent.name == name).cloned())
}

/// The name of an agent that looks like `name`, if there is one.
#[must_use]
pub fn similar(name: &str, own: &OwnAgents) -> Option<String> {
    let names = own.keys().map(String::as_str).chain(KNOWN.iter().map(|agent| agent.name.as_str()));
    nearest::to(name, names).map(str::to_owned)
}

fn of_settings(name: &str, agent: &OwnAgent) -> Agent {
    let start = [&agent.command].into_iter().chain(&agent.args).cloned().collect();
    // What is known of an agent of the same name still holds, except how it is started, and how it marks its requests: it may be
    // another program.
    let known = KNOWN.iter().find(|known| known.name == name).cloned().unwrap_or_else(|| blank(name));
    Agent {
        starts: vec![start],
        variables: agent.env.clone().into_iter().collect(),
        variables_win: true,
        own_shell: OwnShell::Unknown,
        marks: Vec::new(),
        hides_server: false,
        install: None,
        note: None,
        is_own: true,
        ..known
    }
}

/// What takes the place of an agent in a turn that shares the shell.
#[must_use]
pub fn host() -> Agent {
    Agent { is_host: true, ..blank("share") }
}

fn blank(name: &str) -> Agent {
    Agent {
        name: name.to_owned(),
        title: name.to_owned(),
        starts: Vec::new(),
        variables: Vec::new(),
        variables_win: false,
        meta: None,
        own_shell: OwnShell::Unknown,
        marks: Vec::new(),
        hides_server: false,
        sign_ins: Vec::new(),
        install: None,
        login: None,
        note: None,
        is_own: false,
        is_host: false,
    }
}

/// Reads the table. A line that is wrong is left out; a test reads all of them.
fn read(table: &str) -> Vec<Agent> {
    let mut agents: Vec<Agent> = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let Some((field, value)) = line.split_once(' ') else { continue };
        if field == "agent" {
            agents.push(blank(value));
            continue;
        }
        let Some(agent) = agents.last_mut() else { continue };
        let pair = || value.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        match field {
            "title" => value.clone_into(&mut agent.title),
            "start" => agent.starts.push(value.split(' ').map(str::to_owned).collect()),
            "env" => agent.variables.extend(pair()),
            "meta" => agent.meta = serde_json::from_str(value).ok(),
            "shell" => agent.own_shell = if value == "off" { OwnShell::Off } else { OwnShell::Asks },
            "hides-server" => agent.hides_server = value == "yes",
            "ours" => agent.marks.extend(mark(value)),
            "sign-in" => agent.sign_ins.extend(pair()),
            "install" => agent.install = Some(value.to_owned()),
            "login" => agent.login = Some(value.to_owned()),
            "note" => agent.note = Some(value.to_owned()),
            _ => {}
        }
    }
    agents
}

fn mark(text: &str) -> Option<PermissionMark> {
    let (place, value) = text.split_once(' ')?;
    Some(match place {
        "title" => PermissionMark::Title(value.to_owned()),
        "id" => PermissionMark::CallId(value.to_owned()),
        "raw" => {
            let (field, value) = value.split_once('=')?;
            PermissionMark::Raw(field.to_owned(), value.to_owned())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let fields = [
            "agent",
            "title",
            "start",
            "env",
            "meta",
            "shell",
            "hides-server",
            "ours",
            "sign-in",
            "install",
            "login",
            "note",
        ];
        for line in include_str!("agents.table").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (field, value) = line.split_once(' ').expect(line);
            assert!(fields.contains(&field) && !value.trim().is_empty(), "{line}");
            if field == "meta" {
                serde_json::from_str::<Value>(value).expect(line);
            }
            // A mark that does not name the server would match tools of others.
            assert!(field != "ours" || mark(value).is_some() && value.contains(SERVER_MARK), "{line}");
            assert!(field != "shell" || ["off", "asks"].contains(&value), "{line}");
            assert!(!["env", "sign-in"].contains(&field) || value.contains('='), "{line}");
        }
        for agent in KNOWN.iter() {
            assert!(!agent.starts.is_empty() && agent.install.is_some() && agent.note.is_some(), "{agent:?}");
        }
        assert_eq!(KNOWN.len(), 6);
    }

    #[test]
    fn an_agent_of_the_settings_wins_and_a_slip_has_a_neighbour() {
        let own = OwnAgents::from([(
            "codex".to_owned(),
            OwnAgent { command: "/opt/mine".into(), args: vec!["acp".into()], env: [("A".into(), "b".into())].into() },
        )]);
        let agent = find("codex", &own).expect("an own agent");
        assert_eq!(agent.starts, [["/opt/mine", "acp"]]);
        assert!(agent.is_own && agent.variables_win && agent.own_shell == OwnShell::Unknown);
        assert!(agent.marks.is_empty(), "it may be another program");
        assert_eq!(all(&own).iter().filter(|agent| agent.name == "codex").count(), 1);
        assert_eq!(find("nobody", &own), None);
        assert_eq!(similar("claud", &own).as_deref(), Some("claude"));
        assert_eq!(similar("zzzzzz", &own), None);
    }
}
