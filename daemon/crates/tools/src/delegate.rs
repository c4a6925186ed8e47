//! `delegate` gives a task to a subagent and returns its report.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    builtin_tools::DELEGATE,
    port::{Effect, Intent, Tool, ToolContext, ToolOutput},
};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_teams::{Order, SubagentKind, Subagents};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{arguments, render};

/// Longest task, in bytes.
const MAX_TASK_BYTES: usize = 32 * 1024;
/// Longest label, in columns.
const LABEL_COLUMNS: usize = 40;

/// Orders subagents.
pub(super) struct Delegate {
    subagents: Arc<dyn Subagents>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DelegateArguments {
    /// Its kind.
    agent: String,
    /// The task, with all that it needs to know: it sees nothing of this conversation.
    task: String,
    /// The task in two to five words, for the user.
    label: Option<String>,
}

impl Delegate {
    /// Through this port.
    pub(super) fn new(subagents: Arc<dyn Subagents>) -> Self {
        Self { subagents }
    }

    fn order(&self, args: &JsonObject) -> Result<Order, String> {
        let DelegateArguments { agent, task, label } = arguments::parse(args)?;
        let kinds = self.subagents.kinds();
        let Some(kind) = kinds.iter().find(|kind| kind.name == agent) else {
            let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
            let shown = render::one_line(&agent, render::TITLE_MAX_CHARS);
            return Err(format!("there is no agent `{shown}`; the agents are: {}", names.join(", ")));
        };
        if task.trim().is_empty() || task.len() > MAX_TASK_BYTES {
            return Err(format!("argument `task` must have 1 to {MAX_TASK_BYTES} bytes"));
        }
        let label = label.filter(|label| !label.trim().is_empty());
        let words: Vec<&str> = label.as_deref().unwrap_or(&task).split_whitespace().collect();
        let label = render::one_line(&words.join(" "), LABEL_COLUMNS);
        Ok(Order { kind: kind.clone(), task, label })
    }
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> ToolSpec {
        let kinds: String = self.subagents.kinds().iter().map(|kind| format!("\n- {}", kind.line())).collect();
        let description = format!(
            "Gives a task to a subagent and returns its report. Worth it for independent questions about many files, which \
             several calls in one answer look into at the same time, and for a check of your work by another pair of eyes; not \
             for what one or two calls of yours would show. Agents:{kinds}"
        );
        ToolSpec { name: DELEGATE.into(), description, parameters: arguments::schema::<DelegateArguments>() }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let Order { kind: SubagentKind { name, .. }, label, .. } = self.order(args)?;
        // What it does is judged call by call, and changes nothing of the user's.
        Ok(Intent { title: format!("{name}: {label}"), effect: Effect::Internal })
    }

    fn runs_beside_others(&self) -> bool {
        true
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let report = self.subagents.run(self.order(args)?, context.cancel).await?;
        let summary = render::count(report.steps.len(), "step");
        Ok(ToolOutput { is_failure: !report.is_done(), ..ToolOutput::text(report.text(), summary) })
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, time::Duration};

    use cohab_model_api::TokenUsage;
    use cohab_teams::{ReportEnd, SubagentReport, delivered};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::{super::testing, *};

    #[derive(Default)]
    struct Answering(Mutex<Vec<Order>>);

    #[async_trait]
    impl Subagents for Answering {
        fn kinds(&self) -> &[SubagentKind] {
            delivered()
        }

        async fn run(&self, order: Order, _: &CancellationToken) -> Result<SubagentReport, String> {
            self.0.lock().unwrap().push(order);
            Ok(SubagentReport {
                name: "explore 1".into(),
                answer: "It is in a.rs.".into(),
                steps: vec!["read a.rs".into()],
                end: ReportEnd::Limit,
                usage: TokenUsage::default(),
                elapsed: Duration::ZERO,
                changes: None,
                outside: None,
            })
        }
    }

    #[tokio::test]
    async fn a_task_goes_to_a_subagent_and_its_report_comes_back() {
        let subagents = Arc::new(Answering::default());
        let tool = Delegate::new(Arc::clone(&subagents) as _);
        let order = json!({"agent": "explore", "task": "Find main.", "label": "main\nplease"});
        assert_eq!(testing::intent(&tool, Path::new("/"), &order).unwrap().title, "explore: main please");
        let output = testing::call(&tool, Path::new("/"), &order).await.unwrap();
        assert!(output.content.starts_with("[explore 1: stopped at its limit"), "{}", output.content);
        assert!(output.is_failure, "what is not done is never shown as done");
        assert_eq!((output.summary.as_str(), subagents.0.lock().unwrap()[0].task.as_str()), ("1 step", "Find main."));
    }

    #[test]
    fn a_wrong_order_says_what_is_wrong() {
        let tool = Delegate::new(Arc::new(Answering::default()));
        for (order, part) in [
            (json!({"agent": "explorer", "task": "x"}), "the agents are: explore, verify, worker"),
            (json!({"agent": "explore", "task": " "}), "`task`"),
            (json!({"agent": "explore"}), "`task` is missing"),
        ] {
            let error = testing::intent(&tool, Path::new("/"), &order).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(tool.spec().description.contains("- `worker`: changes files in a copy"));
    }
}
