//! `cohabd mcp-share` lets programs find a live shell until its user ends that. The daemon starts it, as it starts an agent.

use std::{env, io, io::Write, path::PathBuf, process::ExitCode};

use clap::Args;
use cohab_acp::{
    Shares,
    share_host::{self, HostArgs},
    shim,
};
use cohab_protocol::Paths;

use super::Failure;

/// Share a live shell; cohab starts it for `? /share`
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct McpShareArgs {
    /// Folder in which programs look for shells
    #[arg(long)]
    pub folder: PathBuf,
    /// Kind of the shell
    #[arg(long)]
    pub shell: String,
    /// Its name; may be empty
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub name: String,
}

/// Runs it until its input ends. The socket and its token are in variables, since all users can read arguments.
pub fn run(args: &McpShareArgs, _paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let host = HostArgs {
        name: args.name.clone(),
        shell: args.shell.clone(),
        shares: Shares::at(args.folder.clone()),
        socket: env::var_os(shim::SOCKET_VARIABLE).map(PathBuf::from).unwrap_or_default(),
        token: env::var(shim::TOKEN_VARIABLE).unwrap_or_default(),
    };
    let output = &mut &mut *output;
    let ran = share_host::run(&host, io::stdin().lock(), output).map_err(Failure::from);
    super::finish(ran, output, errors)
}
