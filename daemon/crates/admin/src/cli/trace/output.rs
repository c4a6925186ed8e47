//! `cohab trace --output` prints the whole output of a tool or command of a conversation.

use cohab_agent::{builtin_tools::output_of, port::StepResult};
use cohab_protocol::Paths;
use cohab_store::{
    sessions::steps::{CheckpointStore, Step, StepType},
    spool::Spool,
};
use cohab_text::sanitize::{one_line, sanitize};

use super::{
    super::{
        Failure,
        record::{self, time},
    },
    TraceArgs,
};

/// Turns that are looked through, the last ones.
const MAX_TURNS: usize = 100;

/// The step with output that is the `number`-th from the end, in a line, and its output.
pub fn read(number: u32, args: &TraceArgs, paths: &Paths) -> Result<String, Failure> {
    let (store, key) = match &args.session {
        Some(key) => (record::open(paths)?.ok_or_else(|| missing(0))?, key.clone()),
        None => {
            let (store, session) = record::session(paths, &args.id)?;
            (store, session.key)
        }
    };
    let unreadable = record::unreadable(paths);
    let mut left = number;
    for turn in store.turns(&key, MAX_TURNS).map_err(&unreadable)? {
        let steps = store.steps(&key, &turn.turn).map_err(&unreadable)?;
        for step in steps.iter().rev().filter(|step| has_output(step)) {
            left -= 1;
            if left == 0 {
                return Ok(text(step, &Spool::at(&paths.state_dir), &key));
            }
        }
    }
    Err(missing(number - left))
}

/// Whether a tool has answered; the reason of a refusal is no output.
fn has_output(step: &Step) -> bool {
    step.kind == StepType::ToolCall && step.output.is_some() && step.metadata.outcome != Some(StepResult::Refused)
}

/// The step in a line, and its output.
fn text(step: &Step, spool: &Spool, key: &str) -> String {
    let metadata = &step.metadata;
    let facts =
        [Some(metadata.summary.clone()).filter(|summary| !summary.is_empty()), step.duration_ms.map(time::took)];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let head = format!("{}  {}", metadata.tool.as_deref().unwrap_or_default(), metadata.title);
    let head = one_line(&if facts.is_empty() { head } else { format!("{head}  ({facts})") }, usize::MAX);
    let output = step.output.as_deref().unwrap_or_default();
    let whole = spool.whole(key, output);
    let output = sanitize(output_of(whole.as_deref().unwrap_or(output)));
    format!("{head}\n\n{}\n", if output.trim().is_empty() { "(no output)" } else { output.trim_end() })
}

fn missing(found: u32) -> Failure {
    let message = match found {
        0 => "no step of this conversation has output yet".to_owned(),
        1 => "only 1 step of this conversation has output".to_owned(),
        found => format!("only {found} steps of this conversation have output"),
    };
    Failure::Other(message, Some("`cohab trace` shows the steps of a turn".to_owned()))
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
