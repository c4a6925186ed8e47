//! Describes what an agent asks permission for: an action of its own, which cohab can only allow or refuse.

use std::fmt::Write as _;

use cohab_text::{cut::cut_middle, sanitize::sanitize};
use serde_json::Value;

use crate::{
    failure::shown,
    wire::{ToolCallFields, ToolKind},
};

/// Longest description.
const DETAILS_MAX_BYTES: usize = 16 * 1024;
/// Longest value of one argument.
const VALUE_MAX_BYTES: usize = 4 * 1024;

/// The action in one line, and its details.
pub(crate) fn described(call: &ToolCallFields) -> (String, String) {
    let what = match call.kind.unwrap_or(ToolKind::Other) {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit files with its own tool",
        ToolKind::Delete => "delete files with its own tool",
        ToolKind::Move => "move files with its own tool",
        ToolKind::Search => "search",
        ToolKind::Execute => "run a command in its own shell",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch from the network",
        ToolKind::SwitchMode => "switch its mode",
        ToolKind::Other => "use a tool of its own",
    };
    let title = call.title.as_deref().or(call.name.as_deref()).map(shown).unwrap_or_default();
    let action = if title.is_empty() { what.to_owned() } else { format!("{what}: {title}") };
    let mut details = String::new();
    for location in call.locations.iter().flatten().filter_map(|location| location["path"].as_str()) {
        // Writing to a String cannot fail.
        let _ = writeln!(details, "file: {}", shown(location));
    }
    if let Value::Object(fields) = &call.raw_input {
        for (name, value) in fields {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(details, "{}: {}", shown(name), cut_middle(&sanitize(&text), VALUE_MAX_BYTES));
        }
    }
    for content in call.content.iter().flatten().filter(|content| content["type"] == "diff") {
        let text = |name: &str| cut_middle(&sanitize(content[name].as_str().unwrap_or_default()), VALUE_MAX_BYTES);
        let path = shown(content["path"].as_str().unwrap_or_default());
        let _ = writeln!(details, "new text of {path}:\n{}", text("newText"));
    }
    (action, cut_middle(details.trim_end(), DETAILS_MAX_BYTES))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_action_and_its_arguments_are_shown_without_escapes() {
        let call = json!({
            "toolCallId": "1", "title": "rm -rf \u{1b}[31mx", "kind": "execute",
            "rawInput": {"command": "rm -rf x", "n": 3}, "locations": [{"path": "/w/x"}],
            "content": [{"type": "diff", "path": "/w/a", "newText": "b\n"}],
        });
        let (action, details) = described(&serde_json::from_value(call).expect("a call"));
        assert!(action.starts_with("run a command in its own shell: rm -rf "), "{action}");
        assert!(!action.contains('\u{1b}'));
        assert!(details.contains("file: /w/x\ncommand: rm -rf x\nn: 3\nnew text of /w/a:\nb"), "{details}");
    }

    #[test]
    fn an_action_without_a_name_is_still_one() {
        assert_eq!(described(&ToolCallFields::default()), ("use a tool of its own".to_owned(), String::new()));
    }
}
