//! `cohab agents` lists the agents that a question can name, whether they are installed, and how they would be started. Starts none.

use std::{io::Write, path::Path, process::ExitCode};

use clap::Args;
use cohab_acp::{
    find::{self, Launch},
    known::{self, Agent, OwnShell},
};
use cohab_assembly::wiring::home;
use cohab_config::agents::OwnAgents;
use cohab_protocol::Paths;
use cohab_text::sanitize::{escaped_json, one_line};
use cohab_types::environment::Variables;
use serde_json::json;

use super::{Failure, ModelFlags};

/// Longest shown text of the settings, in columns.
const SHOWN_COLUMNS: usize = 200;

/// List the agents that a question can name: `? @codex fix the test`
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    after_help = "An agent works in your live shell: cohab judges and asks about its commands as about its own. \
        cohab starts only what is installed and downloads nothing.\n\n\
        Agents of your own are in config.toml:\n  \
        [agents.mine]\n  command = \"mine\"\n  args = [\"--acp\"]\n  env = { KEY = \"value\" }"
)]
pub struct AgentsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 the settings are wrong, 3 the output is closed.
pub fn run(args: &AgentsArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let listed = cohab_config::load(paths).map_err(Failure::from).and_then(|settings| {
        let text = listing(&settings.agents, &ModelFlags::default().variables(), &home(), args.json);
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(listed, output, errors)
}

fn listing(own: &OwnAgents, environment: &Variables, home: &Path, as_json: bool) -> String {
    let found = known::all(own).into_iter().map(|agent| {
        let launch = find::launch(&agent, environment, home);
        (agent, launch)
    });
    if as_json {
        let agents: Vec<_> = found.map(|(agent, launch)| as_value(&agent, launch.as_ref())).collect();
        return escaped_json(&json!({ "agents": agents }).to_string()) + "\n";
    }
    let (here, missing): (Vec<_>, Vec<_>) = found.partition(|(_, launch)| launch.is_some());
    let mut text = String::new();
    for (agent, launch) in here.iter().chain(&missing) {
        text += &described(agent, launch.as_ref());
    }
    let example = here.first().map_or("codex", |(agent, _)| agent.name.as_str());
    text + &format!("\nAsk one with: ? @{example} fix the failing test\n")
}

fn described(agent: &Agent, launch: Option<&Launch>) -> String {
    let title = if agent.is_own { "from config.toml" } else { agent.title.as_str() };
    let mut text = format!("@{}  {title}\n", agent.name);
    let mut line = |name: &str, value: &str| text += &format!("  {name:<10}{}\n", one_line(value, SHOWN_COLUMNS));
    match launch {
        Some(launch) => {
            line("starts", &command_of(launch));
            line("own shell", shell_of(agent.own_shell));
            agent.note.iter().for_each(|note| line("note", note));
        }
        None if agent.is_own => {
            line(
                "missing",
                &format!("its command `{}` is not there", agent.starts.concat().first().map_or("", |name| name)),
            );
        }
        None => line("install", agent.install.as_deref().unwrap_or_default()),
    }
    text
}

fn command_of(launch: &Launch) -> String {
    let program = launch.program.to_string_lossy();
    [program.as_ref()].into_iter().chain(launch.args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

fn shell_of(shell: OwnShell) -> &'static str {
    match shell {
        OwnShell::Off => "switched off: its commands run in your shell",
        OwnShell::Asks => "stays: it asks you before it uses it",
        OwnShell::Unknown => "not known to cohab",
    }
}

fn as_value(agent: &Agent, launch: Option<&Launch>) -> serde_json::Value {
    json!({
        "name": agent.name,
        "title": agent.title,
        "installed": launch.is_some(),
        "own": agent.is_own,
        "command": launch.map(|launch| {
            let program = launch.program.to_string_lossy().into_owned();
            [program].into_iter().chain(launch.args.iter().cloned()).collect::<Vec<_>>()
        }),
        "variables": agent.variables.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "own_shell": agent.own_shell.word(),
        "install": agent.install,
        "note": agent.note,
    })
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
