//! Translates tools and their arguments between cohab and the files of Claude Code. Pure.

use std::path::Path;

use cohab_agent::{
    builtin_tools::{LIVE, READ, UNCONFINED},
    port::Effect,
};
use cohab_model_api::JsonObject;
use serde_json::Value;

/// A tool: its name here and there, and the arguments whose names differ.
type NameRow = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The tools that both have. Arguments that are not named are the same.
const TOOLS: &[NameRow] = &[
    (LIVE, "Bash", &[("timeout_ms", "timeout")]),
    (UNCONFINED, "Bash", &[("timeout_ms", "timeout")]),
    (READ, "Read", &[(PATH, FILE_PATH)]),
    ("write", "Write", &[(PATH, FILE_PATH)]),
    ("edit", "Edit", &[(PATH, FILE_PATH)]),
    ("glob", "Glob", &[]),
    ("grep", "Grep", &[("ignore_case", "-i"), ("context", "-C"), ("max", "head_limit")]),
    ("todo_write", "TodoWrite", &[]),
    ("delegate", "Task", &[]),
    ("skill", "Skill", &[]),
];

const PATH: &str = "path";
const FILE_PATH: &str = "file_path";

fn row(tool: &str) -> Option<&'static NameRow> {
    TOOLS.iter().find(|(own, ..)| *own == tool)
}

/// The name that hooks get for a tool: that of Claude Code, if it has the tool.
///
/// ```
/// use cohab_hooks::tool_names::shown_name;
/// assert_eq!((shown_name("bash"), shown_name("mcp__time__now")), ("Bash", "mcp__time__now"));
/// ```
#[must_use]
pub fn shown_name(tool: &str) -> &str {
    row(tool).map_or(tool, |(_, shown, _)| *shown)
}

/// The tool of this name here or there.
#[must_use]
pub fn own_name(name: &str) -> &str {
    TOOLS.iter().find(|(own, shown, _)| *own == name || *shown == name).map_or(name, |(own, ..)| *own)
}

/// The arguments of a call as hooks get them. Files have absolute paths.
#[must_use]
pub fn shown_input(tool: &str, args: &JsonObject, effect: &Effect, cwd: &Path) -> JsonObject {
    let names = row(tool).map_or::<&[_], _>(&[], |(.., names)| *names);
    let shown = args.iter().map(|(name, value)| {
        let shown = names.iter().find(|(own, _)| own == name).map_or(name.as_str(), |(_, shown)| *shown);
        let path = match effect {
            Effect::Read { path, .. } | Effect::Write { path, .. } => path.clone(),
            Effect::RunCommand { .. } | Effect::Internal | Effect::Foreign { .. } => {
                cwd.join(value.as_str().unwrap_or_default())
            }
        };
        match shown {
            FILE_PATH => (FILE_PATH.to_owned(), Value::String(path.to_string_lossy().into_owned())),
            shown => (shown.to_owned(), value.clone()),
        }
    });
    shown.collect()
}

/// The arguments for the tool, of what a hook made of [`shown_input`].
#[must_use]
pub fn own_arguments(tool: &str, input: &JsonObject) -> JsonObject {
    let names = row(tool).map_or::<&[_], _>(&[], |(.., names)| *names);
    let own = input.iter().map(|(name, value)| {
        let own = names.iter().find(|(_, shown)| shown == name).map_or(name.as_str(), |(own, _)| *own);
        (own.to_owned(), value.clone())
    });
    own.collect()
}

/// What a call is about where only its effect is known.
#[must_use]
pub fn input_of_effect(effect: &Effect) -> JsonObject {
    let fields: Vec<(&str, String)> = match effect {
        Effect::RunCommand { command } => vec![("command", command.to_string())],
        Effect::Read { path, pattern } => {
            let path = path.to_string_lossy().into_owned();
            match pattern {
                Some(pattern) => vec![("pattern", pattern.clone()), (PATH, path)],
                None => vec![(FILE_PATH, path)],
            }
        }
        Effect::Write { path, diff } => {
            vec![(FILE_PATH, path.to_string_lossy().into_owned()), ("diff", diff.to_string())]
        }
        Effect::Internal => Vec::new(),
        Effect::Foreign { by, action, details, .. } => {
            vec![("by", by.clone()), ("action", action.clone()), ("details", details.to_string())]
        }
    };
    fields.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> JsonObject {
        value.as_object().cloned().unwrap()
    }

    fn write(path: &str) -> Effect {
        Effect::Write { path: path.into(), diff: "".into() }
    }

    #[test]
    fn arguments_go_there_and_back() {
        let command = Effect::RunCommand { command: "ls".into() };
        let search = Effect::Read { path: "/w/src".into(), pattern: Some("x".into()) };
        for (tool, effect, own, shown) in [
            ("bash", command, json!({"command": "ls", "timeout_ms": 5}), json!({"command": "ls", "timeout": 5})),
            (
                "edit",
                write("/w/a"),
                json!({"path": "/w/a", "old_string": "1", "new_string": "2"}),
                json!({"file_path": "/w/a", "old_string": "1", "new_string": "2"}),
            ),
            (
                "grep",
                search,
                json!({"pattern": "x", "path": "src", "ignore_case": true}),
                json!({"pattern": "x", "path": "src", "-i": true}),
            ),
            ("memory_search", Effect::Internal, json!({"query": "x"}), json!({"query": "x"})),
        ] {
            let own = object(&own);
            assert_eq!(Value::from(shown_input(tool, &own, &effect, Path::new("/w"))), shown, "{tool}");
            assert_eq!(own_arguments(tool, &object(&shown)), own, "{tool}");
        }
    }

    #[test]
    fn files_are_absolute() {
        let shown =
            shown_input("write", &object(&json!({"path": "a", "content": "x"})), &write("/w/a"), Path::new("/w"));
        assert_eq!(Value::from(shown), json!({"file_path": "/w/a", "content": "x"}));
    }

    #[test]
    fn names_are_found_in_both_tongues() {
        assert_eq!(
            [own_name("Bash"), own_name("bash"), own_name("Read"), own_name("other")],
            ["bash", "bash", "read", "other"]
        );
        assert_eq!([shown_name("bash_unconfined"), shown_name("grep"), shown_name("x")], ["Bash", "Grep", "x"]);
    }
}
