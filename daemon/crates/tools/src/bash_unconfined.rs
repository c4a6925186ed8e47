//! `bash_unconfined` runs a command without the sandbox, in sessions where commands run in a separate confined shell.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    builtin_tools::UNCONFINED,
    port::{Intent, Tool, ToolContext, ToolOutput},
    runner::CommandRunner,
};
use cohab_model_api::{JsonObject, ToolSpec};

const DESCRIPTION: &str = "Runs a command as `bash` does, but outside of the sandbox: it may write anywhere and use the network. \
The user is asked each time. Only for what `bash` said the sandbox may have stopped, and only the part that still has to be done.";

pub(super) struct BashUnconfined {
    bash: Arc<dyn Tool>,
    runner: Arc<dyn CommandRunner>,
}

impl BashUnconfined {
    pub(super) fn new(bash: Arc<dyn Tool>, runner: Arc<dyn CommandRunner>) -> Self {
        Self { bash, runner }
    }
}

#[async_trait]
impl Tool for BashUnconfined {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: UNCONFINED.into(), description: DESCRIPTION.into(), ..self.bash.spec() }
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        self.bash.intent(args, cwd)
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let (approval, run_id) = (context.approval.clone(), context.run_id.clone());
        let (is_check, cancel, sink) = (context.is_check, context.cancel, context.sink);
        let outside = ToolContext { runner: self.runner.as_ref(), approval, run_id, is_check, cancel, sink };
        self.bash.call(args, &outside).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::super::testing::{ScriptedRunner, call_with, options};
    use super::*;
    use crate::{registry, unconfined};

    #[tokio::test]
    async fn its_commands_run_in_the_other_shell() {
        let (confined, free) = (ScriptedRunner::new(Path::new("/w")), Arc::new(ScriptedRunner::new(Path::new("/w"))));
        let tools = registry(&options(Path::new("/home/me")));
        let tool = unconfined(&tools, Arc::clone(&free) as _).unwrap();
        assert_eq!((tool.spec().name.as_str(), tool.spec().parameters), (UNCONFINED, tools[0].spec().parameters));
        call_with(tool.as_ref(), &confined, &CancellationToken::new(), &json!({"command": "ls"})).await.unwrap();
        assert_eq!((confined.asked.lock().unwrap().len(), free.asked.lock().unwrap()[0].text.as_str()), (0, "ls"));
        assert!(unconfined(&tools[1..], free).is_none());
    }
}
