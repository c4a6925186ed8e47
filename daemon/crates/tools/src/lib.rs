//! The tools that a model can call, one per file.
//!
//! - [`registry`] makes the tools that every session has, [`session_tools`] those that belong to one session and its question,
//!   [`unconfined`] the tool that runs commands without the sandbox, [`text_reader`] the one that reads files exactly for other agents. [`ToolOptions`] is what they need to know of their user.
//! - Commands (`bash`), files (`read`, `write`, `edit`), search (`glob`, `grep`), tasks (`todo_read`, `todo_write`), skills (`skill`),
//!   what was done before and the user's documents (`memory_search`), what was said before (`conversation_search`), proposals of facts (`memory_propose`) and of changes of memory blocks
//!   (`memory_append`, `memory_replace`), subagents (`delegate`), other agents for the running turn (`handoff_to_NAME`). [`Learner`] reads the documents into their store.
//!
//! Arguments are typed structs; their schema is what the model sees and what every call is checked against. A failure is text for the
//! model that says what to do instead.
//!
//! Invariants: what is judged is what is touched, as an intent names paths with their links resolved; `edit` and `write` change a file
//! only if it still is what they showed; results are bounded.
//!
//! A new tool is one file and one row of `tools!` below.
//!
//! Nothing here asks for consent: the intent of a call says what would happen, and the caller decides.

use std::sync::Arc;

use cohab_agent::port::Tool;

/// Declares the tools that every session has: one row for the file of a tool and the type in it, made by its `new`.
macro_rules! tools {
    ($($file:ident::$tool:ident;)+) => {
        $(mod $file;)+

        fn tools(options: &ToolOptions) -> Vec<Arc<dyn Tool>> {
            vec![$(Arc::new($file::$tool::new(options))),+]
        }
    };
}

// Sorted by name.
tools! {
    bash::Bash;
    edit::Edit;
    glob::Glob;
    grep::Grep;
    read::Read;
    write::Write;
}

mod arguments;
mod bash_unconfined;
mod blocking;
mod change;
mod conversation_search;
mod delegate;
mod handoff;
mod learn;
mod matches;
mod memory_edit;
mod memory_propose;
mod memory_search;
mod options;
mod path;
mod read_text;
mod render;
mod skill;
#[cfg(test)]
mod testing;
mod todo_read;
mod todo_write;
mod toolset;
mod walk;

pub use self::{
    conversation_search::{ConversationHit, ConversationLookup, FoundConversations, SearchConversations},
    learn::{LearnFault, LearnReport, Learner, refresh_before_search},
    memory_edit::ProposeEdit,
    memory_propose::{ProposeFact, ProposedFact},
    memory_search::{SearchDocuments, SearchPast},
    options::ToolOptions,
    todo_write::KeepTasks,
    toolset::{
        conversation_search, delegate, handoffs, memory_edits, memory_propose, memory_search, registry, session_tools,
        text_reader, unconfined,
    },
};
