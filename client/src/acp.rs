//! `cohab acp`: cohab as an agent for editors and harnesses.

use std::{process::ExitCode, sync::Arc};

use clap::Args;
use cohab_conversation::redactor::Redactor;
use cohab_protocol::Paths;
use cohab_rpc::{acp::Agent, desk::Desk, front_end};
use cohab_secrets::ExactValues;

use crate::complaint::complain;

/// Exit status for a wrong environment.
const USAGE: u8 = 2;

/// Be an agent for an editor
#[derive(Debug, Args)]
#[command(after_help = "Editors that speak the Agent Client Protocol start it; in Zed: \
    {\"agent_servers\": {\"cohab\": {\"command\": \"cohab\", \"args\": [\"acp\"]}}}\n\
    Commands run in a separate shell, and what the policy asks about is asked in the editor.")]
pub struct AcpArgs {}

/// Serves until standard input ends.
pub async fn run(_args: AcpArgs, paths: Paths) -> ExitCode {
    let desk = Desk::new(paths);
    match desk.usual_approval() {
        Ok(approval) => {
            let redactor = Redactor::new(Arc::new(ExactValues::of_environment(std::env::vars_os())));
            front_end::run(Agent::new(approval, redactor), desk).await
        }
        Err(error) => {
            complain(&error);
            ExitCode::from(USAGE)
        }
    }
}
