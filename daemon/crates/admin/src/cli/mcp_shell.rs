//! `cohabd mcp-shell` connects an agent's MCP client with a live shell: it passes bytes between its own streams and a socket.

use std::{env, io::Write, path::PathBuf, process::ExitCode};

use clap::Args;
use cohab_acp::shim;
use cohab_protocol::Paths;

use super::Failure;

/// Connect an agent with a live shell; cohab starts it for agents
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct McpShellArgs {
    /// Socket of the shell [default: COHAB_MCP_SOCKET]
    #[arg(long)]
    pub socket: Option<PathBuf>,
}

/// Runs it until one side ends. Writes to standard output itself: what passes is JSON of another program.
pub fn run(args: &McpShellArgs, _paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let token = env::var(shim::TOKEN_VARIABLE).unwrap_or_default();
    let socket = args.socket.clone().or_else(|| env::var_os(shim::SOCKET_VARIABLE).map(PathBuf::from));
    let passed = shim::run(&socket.unwrap_or_default(), &token).map_err(|error| {
        let message = format!("the live shell cannot be reached: {error}");
        Failure::Other(message, Some("ask the agent again: each start of it has a new socket".to_owned()))
    });
    super::finish(passed, output, errors)
}
