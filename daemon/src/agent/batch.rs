//! The calls of one answer together, before the first of them runs.

use tokio_util::sync::CancellationToken;

use super::{hook::PlannedCall, port::ToolCall, turn::Agent};

impl Agent {
    /// Shows the middleware what all calls of an answer would do, as of now; each is shown again before it runs.
    pub(super) async fn foresee(&self, calls: &[ToolCall], cancel: &CancellationToken) {
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
        let show = async {
            for middleware in &self.middleware {
                if middleware.before_tools(&planned).await.is_break() {
                    return cancel.cancel();
                }
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => {}
            () = show => {}
        }
    }
}
