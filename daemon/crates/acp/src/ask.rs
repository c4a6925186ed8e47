//! The calls that an agent asks cohab to make, and the places where their answers go.

use std::path::PathBuf;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::wire::{CreateTerminal, OptionKind, PermissionOption};

/// A request that needs the loop: one tool call.
#[derive(Debug)]
pub(crate) struct Ask {
    /// Id of the tool call.
    pub call_id: String,
    pub wish: Wish,
    pub reply: Reply,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    /// `terminal/create`.
    Terminal(CreateTerminal),
    /// `fs/read_text_file`.
    Read { path: String, line: Option<u64>, limit: Option<u64> },
    /// `fs/write_text_file`.
    Write { path: String, content: String },
    /// `session/request_permission`.
    Permit { action: String, details: String },
    /// The tool `run` of the live shell.
    Run { command: String, timeout_ms: Option<u64> },
    /// The tools of the live shell that only look.
    Look(Value),
}

/// Where the answer goes.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A terminal: the request is answered once its command is allowed, its output is fetched later.
    Terminal { request: Value, terminal: String },
    /// The text of a file.
    Text { request: Value, place: FilePlace },
    /// A file was written.
    Written { request: Value },
    /// One of these options.
    Permission { request: Value, options: Vec<PermissionOption> },
    /// The result of a tool of the live shell.
    Tool(oneshot::Sender<ToolAnswer>),
    /// Nowhere.
    #[cfg(test)]
    None,
}

/// The file that a request reads.
#[derive(Debug, Default)]
pub(crate) struct FilePlace {
    /// Its path without links, once the loop has the call.
    pub path: PathBuf,
    /// Whether all of it is read.
    pub is_whole: bool,
}

impl Ask {
    /// The bytes that it holds, as far as the agent decides on them.
    pub(crate) fn bytes(&self) -> usize {
        let wish = match &self.wish {
            Wish::Terminal(CreateTerminal { command, args, env, cwd, .. }) => {
                let env = env.iter().map(|one| one.name.len() + one.value.len()).sum::<usize>();
                let cwd = cwd.as_ref().map_or(0, |cwd| cwd.as_os_str().len());
                command.len() + args.iter().map(String::len).sum::<usize>() + env + cwd
            }
            Wish::Read { path, .. } => path.len(),
            Wish::Write { path, content } => path.len() + content.len(),
            Wish::Permit { action, details } => action.len() + details.len(),
            Wish::Run { command, .. } => command.len(),
            Wish::Look(args) => args.to_string().len(),
        };
        let reply = match &self.reply {
            Reply::Permission { options, .. } => options.iter().map(|option| option.option_id.len()).sum(),
            _ => 0,
        };
        wish + reply
    }
}

/// The result of a tool of the live shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolAnswer {
    pub text: String,
    pub is_error: bool,
}

/// The id of the option that means this answer, and nothing that lasts: cohab's own rules last.
pub(crate) fn option_for(options: &[PermissionOption], is_allowed: bool) -> Option<&str> {
    let wanted: &[OptionKind] =
        if is_allowed { &[OptionKind::AllowOnce] } else { &[OptionKind::RejectOnce, OptionKind::RejectAlways] };
    let found = wanted.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    found.map(|option| option.option_id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_lasts_is_allowed() {
        let option = |id: &str, kind| PermissionOption { option_id: id.into(), kind };
        let all = [
            option("always", OptionKind::AllowAlways),
            option("once", OptionKind::AllowOnce),
            option("no", OptionKind::RejectOnce),
        ];
        assert_eq!((option_for(&all, true), option_for(&all, false)), (Some("once"), Some("no")));
        let lasting = [option("always", OptionKind::AllowAlways), option("never", OptionKind::RejectAlways)];
        assert_eq!((option_for(&lasting, true), option_for(&lasting, false)), (None, Some("never")));
        assert_eq!(option_for(&[option("x", OptionKind::Other)], false), None);
    }
}
