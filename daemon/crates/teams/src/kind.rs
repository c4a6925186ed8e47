//! The kinds of subagents, delivered or written by the user: a Markdown file each, with a front matter.

use std::sync::LazyLock;

use cohab_text::{
    front_matter::{field, list, split},
    sanitize::one_line,
};

/// Longest file of a kind that is read, in bytes.
pub const MAX_KIND_BYTES: usize = 32 * 1024;
/// Longest name, in characters: letters, digits, `-` and `_`.
const MAX_NAME_CHARS: usize = 40;
/// Longest description, in columns.
const MAX_DESCRIPTION_COLUMNS: usize = 200;

/// The files of the delivered kinds.
const DELIVERED: [&str; 3] =
    [include_str!("kinds/explore.md"), include_str!("kinds/verify.md"), include_str!("kinds/worker.md")];

/// The file of the kind that works on a question behind the prompt.
const BACKGROUND: &str = include_str!("kinds/background.md");

/// The tools that a subagent can have, sorted, with the names that files for other assistants give them.
const TOOLS: [(&str, &[&str]); 6] = [
    ("bash", &["bash", "shell"]),
    ("edit", &["edit", "multiedit"]),
    ("glob", &["glob"]),
    ("grep", &["grep", "search"]),
    ("read", &["read", "ls", "view"]),
    ("write", &["write"]),
];
/// The tools that change files.
const CHANGING: [&str; 2] = ["edit", "write"];

/// Where a subagent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// In the user's folder, where it can only read.
    Reads,
    /// In a copy of the repository, which it can change.
    OwnCopy,
}

/// What a subagent is for, and what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentKind {
    /// The name by which a model orders one.
    pub name: String,
    /// What it is for, one line.
    pub description: String,
    /// The instructions for its model.
    pub instructions: String,
    /// Names of its tools, sorted.
    pub tools: Vec<&'static str>,
    /// Names of the agents that it may hand a turn over to, if it has one.
    pub handoffs: Vec<String>,
    /// The role whose model it has, by its name in the settings; the main model if there is none.
    pub role: Option<String>,
}

impl SubagentKind {
    /// Reads the file of a kind; `file_name`, without its ending, names it where the front matter does not. A file without `tools` gets all
    /// of them, as other assistants do it.
    ///
    /// # Errors
    /// A phrase that follows the file's name and says what is wrong.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, String> {
        let (head, body) = split(text).ok_or("does not begin with `---`, a description and `---`")?;
        let name = field(head, "name").unwrap_or_else(|| file_name.to_owned());
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.chars().all(is_of_name) {
            return Err(format!("its name is not made of up to {MAX_NAME_CHARS} letters, digits, `-` and `_`"));
        }
        let description = one_line(&field(head, "description").unwrap_or_default(), MAX_DESCRIPTION_COLUMNS);
        if description.trim().is_empty() {
            return Err("has no description".to_owned());
        }
        let instructions = body.trim();
        if instructions.is_empty() {
            return Err("has no instructions behind its front matter".to_owned());
        }
        let tools = list(head, "tools")
            .map_or_else(|| TOOLS.iter().map(|(name, _)| *name).collect(), |names| tools_named(&names));
        if tools.is_empty() {
            let known: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
            return Err(format!("names no tool that a subagent can have: {}", known.join(", ")));
        }
        let handoffs = list(head, "handoffs").unwrap_or_default();
        Ok(Self {
            name,
            description,
            instructions: instructions.to_owned(),
            tools,
            handoffs,
            role: field(head, "role"),
        })
    }

    /// Where it works: whoever has a tool that changes files gets a copy.
    #[must_use]
    pub fn access(&self) -> Access {
        if self.tools.iter().any(|tool| CHANGING.contains(tool)) { Access::OwnCopy } else { Access::Reads }
    }

    /// The same kind without the tools that change files, for folders without a repository.
    #[must_use]
    pub fn only_reading(mut self) -> Self {
        self.tools.retain(|tool| !CHANGING.contains(tool));
        self
    }

    /// One line for a model: name, purpose, tools.
    #[must_use]
    pub fn line(&self) -> String {
        format!("`{}`: {} ({})", self.name, self.description, self.tools.join(", "))
    }
}

/// The kinds that every user has.
#[must_use]
pub fn delivered() -> &'static [SubagentKind] {
    static KINDS: LazyLock<Vec<SubagentKind>> =
        LazyLock::new(|| DELIVERED.iter().filter_map(|text| SubagentKind::parse(text, "").ok()).collect());
    &KINDS
}

/// The kind that works on a question behind the prompt. No model orders it.
#[must_use]
pub fn background() -> Option<SubagentKind> {
    SubagentKind::parse(BACKGROUND, "").ok()
}

/// The tools that such names mean, as `Read` or `Bash(git:*)`, sorted. Tools of other assistants that cohab has none for are left out.
#[must_use]
pub fn tools_named(names: &[String]) -> Vec<&'static str> {
    let bare = |name: &String| name.split('(').next().unwrap_or_default().to_ascii_lowercase();
    let names: Vec<String> = names.iter().map(bare).collect();
    let is_named = |(_, others): &&(&str, &[&str])| names.iter().any(|name| others.contains(&name.as_str()));
    TOOLS.iter().filter(is_named).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_delivered_kinds_can_be_read_and_only_the_worker_changes_files() {
        let kinds: Vec<(&str, Access)> = delivered().iter().map(|kind| (kind.name.as_str(), kind.access())).collect();
        assert_eq!(background().unwrap().access(), Access::OwnCopy);
        assert_eq!(kinds, [("explore", Access::Reads), ("verify", Access::Reads), ("worker", Access::OwnCopy)]);
    }

    #[test]
    fn a_file_for_another_assistant_is_a_kind() {
        let text = "---\nname: code-reviewer\ndescription: Reviews code.\n  Use it after changes.\ntools: Read, Grep, Glob, Bash, WebFetch\nmodel: sonnet\n---\n\nYou review.\n";
        let kind = SubagentKind::parse(text, "x").unwrap();
        assert_eq!(kind.tools, ["bash", "glob", "grep", "read"]);
        assert_eq!(kind.access(), Access::Reads);
        assert_eq!(kind.line(), "`code-reviewer`: Reviews code. Use it after changes. (bash, glob, grep, read)");
        let all = SubagentKind::parse("---\ndescription: d\n---\nDo.", "fixer").unwrap();
        assert_eq!((all.name.as_str(), all.access()), ("fixer", Access::OwnCopy));
        assert_eq!(all.only_reading().access(), Access::Reads);
    }

    #[test]
    fn a_file_that_is_no_kind_says_what_is_wrong() {
        for (text, part) in [
            ("You review.", "does not begin with"),
            ("---\nname: a b\ndescription: d\n---\nx", "its name"),
            ("---\nname: a\n---\nx", "no description"),
            ("---\nname: a\ndescription: d\n---\n \n", "no instructions"),
            ("---\nname: a\ndescription: d\ntools: WebFetch\n---\nx", "names no tool"),
        ] {
            let error = SubagentKind::parse(text, "f").unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_file_makes_a_kind_with_an_odd_name_or_a_second_line(text in "(---\n)?(name: .{0,50}\n)?(description: .{0,300}\n)?(tools: .{0,40}\n)?---\n.{0,40}", name in ".{0,50}") {
            if let Ok(kind) = SubagentKind::parse(&text, &name) {
                prop_assert!(kind.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'));
                prop_assert!(!kind.line().contains('\n') && !kind.tools.is_empty());
            }
        }
    }
}
