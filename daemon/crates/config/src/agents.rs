//! `[agents.NAME]`: programs of the user's own that speak the Agent Client Protocol. Parses and checks them, and starts none.

use std::collections::BTreeMap;

use serde::{Deserialize, de::Error as _};

use crate::profile;

/// Name of the table.
pub(super) const TABLE: &str = "agents";
/// Most agents.
const MAX_AGENTS: usize = 50;
/// Most arguments or variables of an agent.
const MAX_WORDS: usize = 100;
/// Longest command, argument or value, in bytes.
const WORD_MAX_BYTES: usize = 8 * 1024;

/// The agents of the settings, by name.
pub type OwnAgents = BTreeMap<String, OwnAgent>;

/// The command that starts an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnAgent {
    /// The program: a name on PATH, or an absolute path.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables that it gets in addition to those of the shell.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

impl OwnAgent {
    /// The first defect, as a sentence.
    fn problem(&self) -> Option<String> {
        let is_sane = |word: &String| word.len() <= WORD_MAX_BYTES && !word.contains('\0');
        if self.command.trim().is_empty() {
            return Some("`command` is empty; it is the program that speaks the Agent Client Protocol".into());
        }
        if self.args.len() > MAX_WORDS || self.env.len() > MAX_WORDS {
            return Some(format!("it has more than {MAX_WORDS} arguments or variables"));
        }
        if self.env.keys().any(|name| name.is_empty() || name.contains('=')) {
            return Some("a name in `env` is empty or contains `=`".into());
        }
        let words = [&self.command].into_iter().chain(&self.args).chain(self.env.keys()).chain(self.env.values());
        (!words.into_iter().all(is_sane)).then(|| format!("a text has a NUL or more than {WORD_MAX_BYTES} bytes"))
    }
}

/// Returns the first error in the agents of this file, if any.
pub(super) fn problem(text: &str) -> Option<toml::de::Error> {
    #[derive(Deserialize)]
    struct OnlyAgents {
        #[serde(default)]
        agents: OwnAgents,
    }
    let agents = match toml::from_str::<OnlyAgents>(text) {
        Err(error) => return Some(error),
        Ok(OnlyAgents { agents }) => agents,
    };
    if agents.len() > MAX_AGENTS {
        return Some(toml::de::Error::custom(format!("there are more than {MAX_AGENTS} agents")));
    }
    agents.iter().find_map(|(name, agent)| {
        if !profile::is_name(name) {
            let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            let rule = "the name of an agent is up to 40 letters, digits, `-` and `_`";
            return Some(toml::de::Error::custom(format!("`{TABLE}.{shown}`: {rule}")));
        }
        agent.problem().map(|problem| toml::de::Error::custom(format!("`{TABLE}.{name}`: {problem}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_a_command_with_arguments_and_variables() {
        let text = "command = 'mine'\nargs = ['--acp']\nenv = { KEY = 'v' }";
        let agent: OwnAgent = toml::from_str(text).expect(text);
        assert_eq!((agent.command.as_str(), agent.args.len(), agent.env["KEY"].as_str()), ("mine", 1, "v"));
        assert!(problem("[agents.mine]\ncommand = 'mine'\n[limits]\nsteps_per_turn = 3").is_none());
    }

    #[test]
    fn what_cannot_start_is_refused_with_the_reason() {
        for (text, reason) in [
            ("[agents.a]", "missing field `command`"),
            ("[agents.a]\ncommand = ' '", "`command` is empty"),
            ("[agents.a]\ncommand = 'x'\ncmd = 'y'", "unknown field `cmd`"),
            ("[agents.'a b']\ncommand = 'x'", "up to 40 letters"),
            ("[agents.a]\ncommand = 'x'\nenv = { 'A=B' = 'c' }", "contains `=`"),
            ("[agents.a]\ncommand = \"x\\u0000\"", "has a NUL"),
            ("agents = 3", "invalid type"),
        ] {
            let error = problem(text).expect(text);
            assert!(error.message().contains(reason), "{text}: {}", error.message());
        }
    }
}
