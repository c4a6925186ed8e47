//! Finds what a question names: files by `@path`, resources of servers by `@server:address`, a prompt of a server by `/server:name`; and
//! the calls that read it, as if the model had made them.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_agent::{
    Agent,
    builtin_tools::{PROMPT_TOOL, READ, RESOURCE_TOOL},
    port::{Effect, EventSink, Tool, TurnEvent},
    state::Attachments,
};
use cohab_context::{
    attachments::{MAX_ATTACHMENTS, mentions, resource_name, with_attached},
    called::{ServerPrompt, server_prompt},
};
use cohab_model_api::{JsonObject, ToolCall};
use tokio::{task::spawn_blocking, time::timeout};

/// A question waits at most this long for the search: a disk may hang.
const LOOK_WAIT: Duration = Duration::from_secs(2);

/// What this question names, if it names a file or folder that exists, or a server. `words` are the user's own, `named` also those of
/// what they call. The user is told what is left out.
pub async fn of_question(agent: &Agent, words: &str, named: &str, sink: &dyn EventSink) -> Option<Attachments> {
    let prompt = server_prompt(words).filter(|_| agent.tools.contains_key(PROMPT_TOOL));
    let prompt = prompt.map(|ServerPrompt { server, prompt, words }| {
        (PROMPT_TOOL, object([("server", server), ("prompt", prompt), ("words", words)]))
    });
    let mut found = found(agent, mentions(named), sink).await;
    if found.len() > MAX_ATTACHMENTS {
        let left_out: Vec<String> = found.split_off(MAX_ATTACHMENTS).iter().map(Named::shown).collect();
        let text = format!("Only {MAX_ATTACHMENTS} files are attached to a question, without {}.", left_out.join(", "));
        sink.emit(TurnEvent::Notice(text)).await;
    }
    let call = |(index, (name, args)): (usize, (&str, JsonObject))| ToolCall {
        id: format!("attached-{index}"),
        name: name.to_owned(),
        args: Ok(args.into()),
    };
    let calls: Vec<ToolCall> =
        prompt.into_iter().chain(found.into_iter().map(Named::call)).enumerate().map(call).collect();
    (!calls.is_empty()).then_some(Attachments { calls, fold: with_attached, is_check: false })
}

/// What a word names.
enum Named {
    /// A file or folder, as it is written.
    File(String),
    /// A resource of a server.
    Resource { server: String, uri: String },
}

impl Named {
    /// The tool that reads it, with its arguments.
    fn call(self) -> (&'static str, JsonObject) {
        match self {
            Self::File(path) => (READ, object([("path", &path)])),
            Self::Resource { server, uri } => (RESOURCE_TOOL, object([("server", &server), ("uri", &uri)])),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Resource { server, uri } => resource_name(server, uri),
        }
    }
}

fn object<const N: usize>(fields: [(&str, &str); N]) -> JsonObject {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// What these words name, each once.
async fn found(agent: &Agent, mentions: Vec<Vec<String>>, sink: &dyn EventSink) -> Vec<Named> {
    let Some(read) = agent.tools.get(READ).filter(|_| !mentions.is_empty()).cloned() else { return Vec::new() };
    let (resource, cwd) = (agent.tools.get(RESOURCE_TOOL).cloned(), agent.runner.cwd());
    let looking = spawn_blocking(move || existing(read.as_ref(), resource.as_deref(), &cwd, &mentions));
    match timeout(LOOK_WAIT, looking).await {
        Ok(Ok(found)) => found,
        _ => {
            sink.emit(TurnEvent::Notice("No file is attached: the disk does not answer.".to_owned())).await;
            Vec::new()
        }
    }
}

/// Of each word the first reading that exists, or the first that names a known server; each once.
fn existing(read: &dyn Tool, resource: Option<&dyn Tool>, cwd: &Path, mentions: &[Vec<String>]) -> Vec<Named> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for readings in mentions {
        let file = readings.iter().find_map(|path| match read.intent(&object([("path", path)]), cwd).ok()?.effect {
            Effect::Read { path: real, .. } => {
                fs::symlink_metadata(&real).ok().map(|_| (real, Named::File(path.clone())))
            }
            Effect::Write { .. } | Effect::RunCommand { .. } | Effect::Internal | Effect::Foreign { .. } => None,
        });
        // The signs of a sentence at its end are no part of an address.
        let kept = || {
            let name = readings.last()?;
            let (server, uri) = name.split_once(':').filter(|(_, uri)| !uri.is_empty())?;
            resource?.intent(&object([("server", server), ("uri", uri)]), cwd).ok()?;
            Some((PathBuf::from(name), Named::Resource { server: server.to_owned(), uri: uri.to_owned() }))
        };
        found.extend(file.or_else(kept).filter(|(place, _)| known.insert(place.clone())));
    }
    found.into_iter().map(|(_, named)| named).collect()
}
