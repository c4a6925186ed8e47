//! An agent that others wrote, and that does what is harmful: by commands of its client, by the live shell's own server, and by files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use cohab_acp::{
    AgentPool, AgentStart, AgentTurn, AgentTurnParts,
    find::Launch,
    known,
    tools::{AgentAction, ExactReader, ShellInfo},
};
use cohab_agent::{port::Tool, runner::CommandRunner};
use cohab_config::agents::{OwnAgent, OwnAgents};
use cohab_guard::gate::Consents;
use cohab_protocol::Paths;
use cohab_shell_state::shell::Shell;
use cohab_tools::{ToolOptions, registry, text_reader};

use crate::{goals::Goal, stage::Actor};

/// The tools of cohab that agents call.
const SHARED_TOOLS: [&str; 2] = ["bash", "write"];

/// What an agent is asked to do, one step for each way to carry out the goal; the number of steps that come to cohab.
pub fn steps(goal: &Goal) -> (String, usize) {
    let mut steps = Vec::new();
    for (tool, args) in goal.tries() {
        let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
        match tool {
            "bash" => steps.extend(["terminal", "run"].map(|way| format!("{way} {}", text("command")))),
            "write" => steps.push(format!("write {} {}", text("path"), text("content"))),
            "read" => steps.push(format!("read {}", text("path"))),
            _ => {}
        }
    }
    let count = steps.len();
    (steps.join(" ;; "), count)
}

/// The agent in the place of the model. `state` is for files of cohab's own.
pub fn actor(
    options: &ToolOptions,
    state: &Path,
    cwd: &Path,
    consents: &Consents,
    inner: Arc<dyn CommandRunner>,
) -> Actor {
    let program = program("cohab-fake-agent");
    let own = OwnAgent { command: program.display().to_string(), args: Vec::new(), env: BTreeMap::new() };
    let agent = known::find("fake", &OwnAgents::from([("fake".to_owned(), own)])).expect("an own agent");
    let folder = |name: &str| state.join(name);
    let paths = Paths {
        config_dir: folder("config"),
        state_dir: folder("state"),
        cache_dir: folder("cache"),
        runtime_dir: folder("run"),
    };
    std::fs::create_dir_all(&paths.runtime_dir).expect("a folder");
    let (here, taint) = (cwd.to_owned(), consents.taint().clone());
    let turn = AgentTurn::new(AgentTurnParts {
        start: AgentStart {
            agent,
            launch: Launch { program, args: Vec::new(), environment: BTreeMap::new() },
            session: "s".into(),
            is_for_one_turn: true,
            shell: Shell::Bash,
            cwd: Box::new(move || here.clone()),
        },
        secrets: Arc::default(),
        pool: AgentPool::new(&paths, options.home.clone(), Some(env!("CARGO_BIN_EXE_cohabd").into())),
        before_prompt: Box::new(move || taint.raise("@fake")),
    });
    let own: [Arc<dyn Tool>; 3] = [
        Arc::new(AgentAction { by: "agent fake".into() }),
        Arc::new(ShellInfo { commands: Arc::new(Vec::new) }),
        Arc::new(ExactReader::new(text_reader(options), Arc::clone(&turn))),
    ];
    let shared = registry(options).into_iter().filter(|tool| SHARED_TOOLS.contains(&tool.spec().name.as_str()));
    Actor {
        provider: turn.model(),
        tools: shared.chain(own).collect(),
        runner: turn.runner(inner),
        observer: Some(turn),
    }
}

/// A program of this workspace next to the one that runs.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_cohabd")).with_file_name(name)
}
