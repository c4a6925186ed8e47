//! Finds the files that a question names by `@path`, and the calls that read them: the tool `read`, as if the model had called it.

use std::{fs, path::Path, sync::Arc, time::Duration};

use cohab_agent::{
    Agent,
    builtin_tools::READ,
    port::{Effect, EventSink, Tool, TurnEvent},
    state::Attachments,
};
use cohab_context::attachments::{MAX_ATTACHMENTS, mentions, with_attached};
use cohab_model_api::{JsonObject, ToolCall};
use tokio::{task::spawn_blocking, time::timeout};

/// A question waits at most this long for the search: a disk may hang.
const LOOK_WAIT: Duration = Duration::from_secs(2);

/// What this question names, if it names a file or folder that exists. The user is told what is left out.
pub async fn of_question(agent: &Agent, question: &str, sink: &dyn EventSink) -> Option<Attachments> {
    let named = mentions(question);
    if named.is_empty() {
        return None;
    }
    let (tool, cwd) = (Arc::clone(agent.tools.get(READ)?), agent.runner.cwd());
    let looking = spawn_blocking(move || existing(tool.as_ref(), &cwd, &named));
    let Ok(Ok(mut paths)) = timeout(LOOK_WAIT, looking).await else {
        sink.emit(TurnEvent::Notice("No file is attached: the disk does not answer.".to_owned())).await;
        return None;
    };
    if paths.len() > MAX_ATTACHMENTS {
        let left_out = paths.split_off(MAX_ATTACHMENTS).join(", ");
        let text = format!("Only {MAX_ATTACHMENTS} files are attached to a question, without {left_out}.");
        sink.emit(TurnEvent::Notice(text)).await;
    }
    let call = |(index, path): (usize, String)| {
        let args = JsonObject::from_iter([("path".to_owned(), path.into())]);
        ToolCall { id: format!("attached-{index}"), name: READ.to_owned(), args: Ok(args.into()) }
    };
    let calls: Vec<ToolCall> = paths.into_iter().enumerate().map(call).collect();
    (!calls.is_empty()).then_some(Attachments { calls, fold: with_attached, is_check: false })
}

/// Of each word the first reading that exists, each file once.
fn existing(tool: &dyn Tool, cwd: &Path, named: &[Vec<String>]) -> Vec<String> {
    let mut found = Vec::new();
    for readings in named {
        let resolved = readings.iter().find_map(|path| {
            let args = JsonObject::from_iter([("path".to_owned(), path.clone().into())]);
            match tool.intent(&args, cwd).ok()?.effect {
                Effect::Read { path: real, .. } => fs::symlink_metadata(&real).ok().map(|_| (real, path.clone())),
                Effect::Write { .. } | Effect::RunCommand { .. } | Effect::Internal | Effect::Foreign { .. } => None,
            }
        });
        found.extend(resolved.filter(|(real, _)| !found.iter().any(|(known, _)| known == real)));
    }
    found.into_iter().map(|(_, path)| path).collect()
}
