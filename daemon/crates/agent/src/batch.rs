//! Plans the tool calls of one answer: shows all of them to the middleware before the first one runs, and counts the calls that can run at
//! the same time.

use std::path::Path;

use cohab_model_api::ToolCall;
use tokio_util::sync::CancellationToken;

use super::{hook::PlannedCall, port::Effect, turn::Agent};

impl Agent {
    /// Shows the middleware the intents of all calls of an answer, computed from the current state. Each call is shown again before it
    /// runs.
    pub(super) async fn preview_batch(&self, calls: &[ToolCall], cancel: &CancellationToken) {
        if calls.len() < 2 || cancel.is_cancelled() {
            return;
        }
        let cwd = self.runner.cwd();
        let planned = |call: &ToolCall| {
            let args = call.args.clone().ok()?;
            let intent = self.tools.get(&call.name)?.intent(&args, &cwd).ok()?;
            Some(PlannedCall::new(call, args, intent, cwd.clone()))
        };
        let planned: Vec<PlannedCall> = calls.iter().filter_map(planned).collect();
        tokio::select! {
            biased;
            () = cancel.cancelled() => {}
            flow = self.stack.before_tools(&planned) => if flow.is_break() {
                cancel.cancel();
            }
        }
    }

    /// Counts the calls at the start of `calls` that run at the same time: all reads and subagents before the first call that may change
    /// anything, or just that call. A command counts as a change: it may change the folder, and a shell runs commands one after the other
    /// anyway.
    pub(super) fn count_at_once(&self, calls: &[ToolCall]) -> usize {
        if calls.len() < 2 {
            return calls.len();
        }
        let cwd = self.runner.cwd();
        calls.iter().take_while(|call| self.runs_beside_others(call, &cwd)).count().max(1)
    }

    fn runs_beside_others(&self, call: &ToolCall, cwd: &Path) -> bool {
        let (Some(tool), Ok(args)) = (self.tools.get(&call.name), &call.args) else { return false };
        let may = |effect: &Effect| matches!(effect, Effect::Read { .. }) || tool.runs_beside_others();
        tool.intent(args, cwd).is_ok_and(|intent| may(&intent.effect))
    }
}
