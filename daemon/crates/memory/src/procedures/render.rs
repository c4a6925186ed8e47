//! Names a draft and writes it as a `SKILL.md`. Pure.

use cohab_text::sanitize::one_line;

use super::{Draft, template::Parameter};

/// Longest list of commands in a description, in characters.
const MAX_LIST_CHARS: usize = 160;
/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 40;

/// Name and purpose of a sequence with these commands: those of the first row of the table that one of them begins with.
pub(super) fn purpose(commands: &[String]) -> Option<(&'static str, &'static str)> {
    let rows = include_str!("purposes.table").lines().filter(|row| !row.starts_with('#'));
    let begins = |begin: &str| {
        let is =
            |command: &String| command.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        commands.iter().any(is)
    };
    rows.filter_map(|row| row.split_once(" : "))
        .find(|(_, telling)| telling.split(", ").any(begins))
        .and_then(|(head, _)| head.split_once(" | "))
}

/// A name of letters, digits and `-`, made of these words.
pub(super) fn slug(words: &str) -> String {
    let plain: String =
        words.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    let mut slug = String::new();
    for word in plain.split_whitespace() {
        if slug.len() + word.len() < MAX_NAME_BYTES {
            if !slug.is_empty() {
                slug.push('-');
            }
            slug.push_str(word);
        }
    }
    if slug.is_empty() { "steps".to_owned() } else { slug }
}

/// The commands in a row, as far as there is room.
pub(super) fn list(commands: impl IntoIterator<Item = String>) -> String {
    let mut list = String::new();
    for command in commands {
        let part = format!("{}{}", if list.is_empty() { "" } else { ", " }, code(&command));
        if list.chars().count() + part.chars().count() > MAX_LIST_CHARS {
            list.push_str(if list.is_empty() { "a long command" } else { ", ..." });
            break;
        }
        list.push_str(&part);
    }
    list
}

/// A text as code in Markdown, on one line.
fn code(text: &str) -> String {
    let text = one_line(text, usize::MAX);
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

impl Draft {
    /// The file of a skill: front matter with name and description, then the steps.
    #[must_use]
    pub fn skill(&self) -> String {
        let Self { name, description, root, trigger, steps, parameters, .. } = self;
        let mut text = format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n");
        text += &format!(
            "Use this only in {}, and only when the user asks to {trigger}. It was {}. Run the steps one after the other, and stop at the \
             first one that does not end as expected.\n\n",
            code(&root.to_string_lossy()),
            self.evidence()
        );
        if !parameters.is_empty() {
            text += "Replace what is between braces:\n\n";
            for Parameter { name, examples } in parameters {
                let examples: Vec<String> = examples.iter().map(|example| code(example)).collect();
                text += &format!("- `{{{name}}}`: was {}\n", examples.join(", "));
            }
            text.push('\n');
        }
        for (number, step) in (1..).zip(steps) {
            let folder = step.folder.as_ref().map(|folder| format!(" in {}", code(&folder.to_string_lossy())));
            text += &format!("{number}. {}{}: {}\n", code(&step.command), folder.unwrap_or_default(), step.expected);
        }
        text
    }

    /// One line about where it comes from, for people: `seen 4 times, last on 12 Nov 2026`.
    #[must_use]
    pub fn evidence(&self) -> String {
        let day = self.last.strftime("%-d %b %Y");
        format!("seen {} times, last on {day}", self.seen)
    }
}
