//! Checks repository settings before a read-only command runs: it may start git, and git starts programs that these settings name.

use cohab_agent::{Denial, PlannedCall, port::Effect};
use cohab_policy::{Caveat, Level, Verdict};
use cohab_protocol::ApprovalMode;

use super::{Gate, refusal};
use crate::repository;

impl Gate {
    /// The last check of a command that would run unasked in a separate shell.
    pub(super) async fn look_at_settings(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        let (Some(settings), Effect::RunCommand { command }) = (&self.settings, &call.intent.effect) else {
            return Ok(());
        };
        let mode = (self.mode)();
        if mode == ApprovalMode::All {
            return Ok(());
        }
        let command = command.clone();
        let caveats = settings.why_asked(&command, &call.cwd).await;
        if caveats.is_empty() {
            return Ok(());
        }
        let verdict = Verdict::new(Level::Ask, Caveat::question(&caveats));
        call.verdict = Some(verdict.clone());
        if mode == ApprovalMode::ReadOnly {
            return Err(refusal(format!("not run: {}", repository::joined(&caveats))));
        }
        self.ask(call, verdict, true).await?;
        // An edited command is another command.
        if matches!(&call.intent.effect, Effect::RunCommand { command: agreed } if *agreed == command) {
            settings.settle(caveats);
        }
        Ok(())
    }
}
