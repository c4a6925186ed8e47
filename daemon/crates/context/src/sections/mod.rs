//! Prompt sections: the texts for the model besides tools and conversation, one per file, in one list.
//!
//! Text that is the same for all questions belongs to the system prompt. The parts that depend only on the build come first: providers
//! cache the first bytes. Text that changes belongs to the question ([`super::query`]), so that the bytes before it stay the same.

mod answers;
mod environment;
mod identity;
mod instructions;
pub mod memory;
pub mod memory_blocks;
mod own_identity;
mod piped_input;
mod project_identity;
mod project_notes;
mod project_skills;
mod runtime;
mod safety;
mod skills;
pub mod tasks;
pub mod timeline;
pub mod tone;
mod tools;

pub use tasks::text as tasks_text;

use super::{
    query::{
        ADDED, ATTACHED, DOUBTFUL_MEMORY, EARLIER, INSTRUCTIONS, MEMORY, MEMORY_BLOCKS, PROJECT_INSTRUCTIONS, Query,
    },
    skills::Skill,
};

/// A section of the model's texts.
pub struct Section {
    /// Its name, for people.
    pub name: &'static str,
    place: SectionPlace,
}

enum SectionPlace {
    /// In the system prompt; nothing if it is empty.
    Standing(fn(&SystemContext) -> String),
    /// In the text of a question, between tags of this name; left out if it is empty.
    Asked { tag: &'static str, text: fn(&Query<'_>) -> String },
}

/// The user's parts of the system prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemContext {
    /// Their identity files, as one text.
    pub identity: String,
    /// Their skills, by name.
    pub skills: Vec<Skill>,
}

/// All sections, in the order in which the model reads them.
pub const SECTIONS: &[Section] = &[
    standing("identity and capabilities", identity::text),
    standing("how to use tools", tools::text),
    standing("safety rules", safety::text),
    standing("how to answer", answers::text),
    standing("your identity files", own_identity::text),
    standing("your skills", skills::text),
    // A question does not fill it: it is added when messages before the question are dropped.
    asked("earlier conversation", EARLIER, |_| String::new()),
    asked("environment", "environment", environment::text),
    asked("runtime", "runtime", runtime::text),
    asked("shell history", "shell-history", timeline::text),
    asked("project notes", "project-notes", project_notes::text),
    asked("project identity", "project-identity", project_identity::text),
    asked("project skills", "project-skills", project_skills::text),
    asked("memory blocks", MEMORY_BLOCKS, |query| query.memory_blocks.unwrap_or_default().to_owned()),
    asked("memory", MEMORY, memory::text),
    asked("doubtful memory", DOUBTFUL_MEMORY, memory::doubtful_text),
    asked("tasks", "tasks", |query| tasks_text(query.tasks)),
    asked("tone", "tone", |query| tone::text(query.question)),
    asked("piped input", "piped-input", piped_input::text),
    asked("called instructions", INSTRUCTIONS, |query| instructions::text(query, false)),
    asked("called project instructions", PROJECT_INSTRUCTIONS, |query| instructions::text(query, true)),
    // Filled when what the question names was read.
    asked("attached files", ATTACHED, |_| String::new()),
    // A message of its own.
    asked("your additions", ADDED, |_| String::new()),
];

const fn standing(name: &'static str, text: fn(&SystemContext) -> String) -> Section {
    Section { name, place: SectionPlace::Standing(text) }
}

const fn asked(name: &'static str, tag: &'static str, text: fn(&Query<'_>) -> String) -> Section {
    Section { name, place: SectionPlace::Asked { tag, text } }
}

/// The non-empty sections of the system prompt, with their names.
#[must_use]
pub fn system_sections(standing: &SystemContext) -> Vec<(&'static str, String)> {
    let sections = SECTIONS.iter().filter_map(|section| match section.place {
        SectionPlace::Standing(text) => Some((section.name, text(standing))),
        SectionPlace::Asked { .. } => None,
    });
    sections.filter(|(_, text)| !text.is_empty()).collect()
}

/// The system prompt.
#[must_use]
pub fn system_prompt(standing: &SystemContext) -> String {
    let texts: Vec<String> = system_sections(standing).into_iter().map(|(_, text)| text).collect();
    texts.join("\n")
}

/// The sections of a question: tag and text, empty ones included.
pub(super) fn asked_sections(query: &Query<'_>) -> Vec<(&'static str, String)> {
    let sections = SECTIONS.iter().filter_map(|section| match section.place {
        SectionPlace::Standing(_) => None,
        SectionPlace::Asked { tag, text } => Some((tag, text(query))),
    });
    sections.collect()
}

/// Tag and name of each section of a question.
pub(super) fn tags() -> impl Iterator<Item = (&'static str, &'static str)> {
    SECTIONS.iter().filter_map(|section| match section.place {
        SectionPlace::Standing(_) => None,
        SectionPlace::Asked { tag, .. } => Some((tag, section.name)),
    })
}

#[cfg(test)]
mod tests;
