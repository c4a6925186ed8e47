//! Turns of agents that are not part of cohab: finds and starts the agent that a question names, and gives the loop the tools that it calls.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use cohab_acp::{
    AgentStart, AgentTurn, AgentTurnParts, Shares,
    find::{self, Launch},
    known::{self, Agent},
    tools::{AgentAction, ExactReader, KnownCommand, ShellInfo},
};
use cohab_agent::{TurnError, builtin_tools::LIVE, port::Tool};
use cohab_config::agents::OwnAgents;
use cohab_context::{ignore_rules::IgnoreRules, query::PastCommand, workspace::OWN_IGNORE};
use cohab_session::{KnownAgent, QuestionKind, TurnParts, session::Session};
use cohab_shell_state::shell::Shell;
use cohab_tools::ToolOptions;
use cohab_types::environment::Variables;

use super::{Assembly, TurnSettings};

/// The tools of cohab that agents call under their own names.
const SHARED_TOOLS: [&str; 3] = [LIVE, "read", "write"];

impl Assembly {
    /// Whether an agent has this name.
    pub(super) async fn known(&self, name: &str) -> KnownAgent {
        let paths = self.paths.clone();
        let name = name.to_owned();
        let looking = tokio::task::spawn_blocking(move || {
            // Wrong settings are reported when the turn begins.
            let own = cohab_config::load(&paths).map(|settings| settings.agents).unwrap_or_default();
            match (known::find(&name, &own), known::similar(&name, &own)) {
                (Some(_), _) => KnownAgent::Known,
                (None, Some(other)) => KnownAgent::Similar(other),
                (None, None) => KnownAgent::Unknown,
            }
        });
        looking.await.unwrap_or(KnownAgent::Unknown)
    }

    /// The turn of the agent that the question is for, if it is for one.
    ///
    /// # Errors
    /// The settings are wrong, or the agent is not installed.
    pub(super) async fn agent_turn(
        &self,
        parts: &TurnParts,
        shell: Shell,
    ) -> Result<Option<Arc<AgentTurn>>, TurnError> {
        let session = &parts.session;
        let is_share = parts.kind.is_share();
        let (agent, launch) = match &parts.kind {
            QuestionKind::Agent { name } => {
                // Keys of models are not among the variables of commands, and an agent asks a model.
                let environment = session.environment().into_iter().chain(session.variables()).collect();
                self.found(name, environment).await?
            }
            QuestionKind::Share { name } => (known::host(), self.host_launch(name, session, parts.memory.is_private)?),
            _ => return Ok(None),
        };
        // What it reads by its own means is not seen here. A new conversation begins without taint, so this comes later.
        let taint = parts.memory.consents.taint().clone();
        let source = if is_share { "a program elsewhere".to_owned() } else { format!("@{}", agent.name) };
        let here = Arc::clone(session);
        Ok(Some(AgentTurn::new(AgentTurnParts {
            start: AgentStart {
                agent,
                launch,
                session: session.key().to_string(),
                is_for_one_turn: parts.memory.is_private || is_share,
                shell,
                cwd: Box::new(move || here.cwd()),
            },
            secrets: Arc::clone(&self.parts.secrets),
            pool: Arc::clone(&self.agents),
            before_prompt: Box::new(move || taint.raise(&source)),
        })))
    }

    /// What shares the shell: a part of cohab's own program.
    fn host_launch(&self, name: &str, session: &Session, is_private: bool) -> Result<Launch, TurnError> {
        let settings =
            |message: &str, hint: &str| TurnError::Settings { message: message.into(), hint: Some(hint.into()) };
        if is_private {
            return Err(settings("a private question shares no shell", "ask `? /share`"));
        }
        let Some(shell) = session.live_shell() else {
            return Err(settings("there is no shell to share", "type `? /share` at the prompt of a shell with cohab"));
        };
        let Some(program) = self.agents.own_program() else {
            return Err(settings("cohab does not find its own program", "`cohab daemon restart` starts it again"));
        };
        let folder = Shares::of(&self.paths).folder().display().to_string();
        let args = ["mcp-share", "--folder", &folder, "--shell", &shell, "--name", name];
        let args = args.map(str::to_owned).to_vec();
        Ok(Launch { program: program.to_owned(), args, environment: BTreeMap::new() })
    }

    /// Ends the agents of a session whose conversation is over.
    pub(super) async fn forget_agents(&self, session: &Session, is_cleared: bool) {
        let (agents, key) = (Arc::clone(&self.agents), session.key().to_string());
        let forgetting = tokio::task::spawn_blocking(move || agents.forget(&key, is_cleared));
        // It fails only when the daemon ends.
        let _ = forgetting.await;
    }

    async fn found(&self, name: &str, environment: Variables) -> Result<(Agent, Launch), TurnError> {
        let (paths, home, wanted) = (self.paths.clone(), self.parts.home.clone(), name.to_owned());
        let looking = tokio::task::spawn_blocking(move || {
            let own = cohab_config::load(&paths).map_err(|error| TurnError::Settings {
                message: error.to_string(),
                hint: error.hint.or_else(|| Some("`cohab config check` shows all that is wrong".into())),
            })?;
            look(&wanted, &own.agents, environment, &home)
        });
        looking.await.unwrap_or(Err(TurnError::Internal))
    }

    /// The tools of an agent's turn: its commands and files, a look at the shell, its own actions.
    pub(super) fn agent_tools(
        &self,
        turn: &Arc<AgentTurn>,
        parts: &TurnParts,
        settings: &TurnSettings,
    ) -> BTreeMap<String, Arc<dyn Tool>> {
        let name = turn.name();
        let options = ToolOptions {
            home: self.parts.home.clone(),
            // The tool reads files only.
            command_timeout: std::time::Duration::ZERO,
            output_max_bytes: settings.output_max_bytes,
            ignore: IgnoreRules::new(self.parts.home.clone(), self.paths.config_dir.join(OWN_IGNORE)),
        };
        let session = Arc::clone(&parts.session);
        let own: [Arc<dyn Tool>; 3] = [
            Arc::new(AgentAction { by: format!("agent {name}") }),
            Arc::new(ShellInfo { commands: Arc::new(move || commands(&session)) }),
            Arc::new(ExactReader::new(cohab_tools::text_reader(&options), Arc::clone(turn))),
        ];
        let shared = settings.tools.iter().filter(|tool| SHARED_TOOLS.contains(&tool.spec().name.as_str())).cloned();
        shared.chain(own).map(|tool| (tool.spec().name, tool)).collect()
    }
}

fn look(name: &str, own: &OwnAgents, environment: Variables, home: &Path) -> Result<(Agent, Launch), TurnError> {
    // Without a client's environment there is the daemon's.
    let environment = if environment.is_empty() {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    } else {
        environment
    };
    let Some(agent) = known::find(name, own) else {
        let hint = Some("`cohab agents` lists the agents".into());
        return Err(TurnError::Settings { message: format!("no agent is called @{name}"), hint });
    };
    match find::launch(&agent, &environment, home) {
        Some(launch) => Ok((agent, launch)),
        None => Err(not_installed(&agent)),
    }
}

fn not_installed(agent: &Agent) -> TurnError {
    let programs: Vec<String> =
        agent.starts.iter().filter_map(|start| start.first()).map(|name| format!("`{name}`")).collect();
    let (what, programs) = (&agent.title, programs.join(" or "));
    let message = format!("@{} cannot be asked: {what} is not installed, {programs} is not on PATH", agent.name);
    let hint = match &agent.install {
        Some(address) if address.starts_with("https://") => format!("{address} says how to install it"),
        Some(command) => format!("install it with `{command}`, then ask again"),
        None => format!("`[agents.{}]` in config.toml names its command", agent.name),
    };
    TurnError::Settings { message, hint: Some(hint) }
}

/// The commands of the session, oldest first.
fn commands(session: &Session) -> Vec<KnownCommand> {
    let known = |past: PastCommand| KnownCommand {
        line: past.line,
        exit: past.exit_code,
        cwd: past.cwd.display().to_string(),
        output: past.output_tail,
    };
    session.history().into_iter().map(known).collect()
}

#[cfg(test)]
mod tests {
    use cohab_config::agents::OwnAgent;

    use super::*;

    #[test]
    fn an_agent_that_is_missing_says_what_installs_it() {
        let environment = Variables::from([("PATH".to_owned(), "/nowhere".to_owned())]);
        let own = OwnAgents::from([(
            "mine".to_owned(),
            OwnAgent { command: "mine-acp".into(), args: Vec::new(), env: BTreeMap::new() },
        )]);
        let error = |name: &str| match look(name, &own, environment.clone(), Path::new("/")) {
            Err(error) => (error.to_string(), error.hint().unwrap_or_default()),
            Ok(found) => panic!("found: {found:?}"),
        };
        let (message, hint) = error("codex");
        assert_eq!(message, "@codex cannot be asked: Codex is not installed, `codex-acp` is not on PATH");
        assert_eq!(hint, "install it with `npm install -g @zed-industries/codex-acp`, then ask again");
        assert_eq!(error("mine").1, "`[agents.mine]` in config.toml names its command");
        assert!(error("goose").1.starts_with("https://"));
        assert_eq!(error("nobody").0, "no agent is called @nobody");
    }
}
