//! `cohab rpc`: sessions, questions and approvals for other programs.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use clap::Args;
use cohab_conversation::redactor::Redactor;
use cohab_protocol::Paths;
use cohab_rpc::{
    desk::Desk,
    front_end,
    rpc::{Beginning, Server, calls},
};
use cohab_secrets::ExactValues;

use crate::complaint::complain;

/// Exit status for a wrong environment.
const USAGE: u8 = 2;

/// Serve other programs over standard input and output
#[derive(Debug, Args)]
#[command(
    after_help = "It speaks JSON-RPC 2.0, one message a line: sessions/open, questions/ask and more. Events come as notifications, \
    questions for consent as requests. Commands run in a separate shell."
)]
pub struct RpcArgs {
    /// Print the JSON Schema of all messages
    #[arg(long)]
    pub schema: bool,
}

/// Serves until standard input ends.
pub async fn run(args: RpcArgs, paths: Paths) -> ExitCode {
    if args.schema {
        let schema = format!("{:#}\n", calls::schema());
        return io::stdout().write_all(schema.as_bytes()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let desk = Desk::new(paths);
    let beginning = std::env::current_dir()
        .map_err(|error| format!("the current folder is not there any more: {error}"))
        .and_then(|cwd| Ok(Beginning { cwd, approval: desk.usual_approval()? }));
    match beginning {
        Ok(beginning) => {
            let redactor = Redactor::new(Arc::new(ExactValues::of_environment(std::env::vars_os())));
            front_end::run(Server::new(beginning, redactor), desk).await
        }
        Err(error) => {
            complain(&error);
            ExitCode::from(USAGE)
        }
    }
}
