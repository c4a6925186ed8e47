//! Looks up the remembered facts and the memory blocks for a question, and names the facts to the user.

use std::path::Path;

use cohab_agent::port::{EventSink, TurnEvent};
use cohab_context::sections::{memory::not_listed, memory_blocks};
use cohab_memory::record::{Memory, Origin};
use cohab_model_api::Message;
use cohab_protocol::UserQuery;
use cohab_text::sanitize::one_line;
use jiff::{Zoned, civil::Date, tz::TimeZone};

use crate::{Assembler, Daemon, Recollection};

/// Longest fact in the line, in columns.
const FACT_COLUMNS: usize = 80;

/// What a question is given of what is remembered, on top of a conversation.
#[derive(Default)]
pub struct Remembered {
    /// The facts that the conversation does not list yet.
    pub memories: Vec<Memory>,
    /// The section with the memory blocks, if the conversation does not have it like this.
    pub blocks: Option<String>,
}

impl Remembered {
    /// That of a question in a folder.
    pub async fn of(assembler: &dyn Assembler, question: &str, folder: &Path, conversation: &[Message]) -> Self {
        let Recollection { memories, blocks } = assembler.recollect(question, folder).await;
        Self {
            memories: not_listed(memories, conversation),
            blocks: blocks.and_then(|blocks| memory_blocks::text(&blocks, conversation)),
        }
    }

    /// That of a client's question; the facts are named to the user.
    pub(crate) async fn announced(
        daemon: &Daemon,
        query: &UserQuery,
        conversation: &[Message],
        sink: &dyn EventSink,
    ) -> Self {
        let remembered = Self::of(daemon.assembler.as_ref(), &query.text, &query.cwd.to_path_buf(), conversation).await;
        if let Some(notice) = notice(&remembered.memories, Zoned::now().date(), &TimeZone::system()) {
            sink.emit(TurnEvent::Notice(notice)).await;
        }
        remembered
    }
}

/// One line, for example `memory: staging is on host blue · from you, 3 Nov`; with the year if it is not that of `today`. `None` without
/// facts.
fn notice(memories: &[Memory], today: Date, time_zone: &TimeZone) -> Option<String> {
    let (first, rest) = memories.split_first()?;
    let day = first.stated.to_zoned(time_zone.clone()).date();
    let day = day.strftime(if day.year() == today.year() { "%-d %b" } else { "%-d %b %Y" });
    let source = match first.origin {
        Origin::Prompt | Origin::CommandLine => "from you",
        Origin::Import => "imported",
        Origin::Accepted => "accepted by you",
    };
    let more = if rest.is_empty() { String::new() } else { format!(" · {} more", rest.len()) };
    Some(format!("memory: {} · {source}, {day}{more}", one_line(&first.text, FACT_COLUMNS)))
}

#[cfg(test)]
mod tests {
    use cohab_memory::conformance::memory;
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_fact_is_told_with_source_and_day() {
        let stated = memory(1, "staging is on blue");
        let imported = Memory { origin: Origin::Import, ..memory(2, "tea at four") };
        let told = |memories: &[Memory], year| notice(memories, date(year, 12, 1), &TimeZone::UTC);
        assert_eq!(told(&[], 2026), None);
        assert_eq!(told(std::slice::from_ref(&stated), 2026).unwrap(), "memory: staging is on blue · from you, 3 Nov");
        assert_eq!(
            told(std::slice::from_ref(&stated), 2027).unwrap(),
            "memory: staging is on blue · from you, 3 Nov 2026"
        );
        let both = told(&[imported, stated], 2026).unwrap();
        assert_eq!(both, "memory: tea at four · imported, 3 Nov · 1 more");
    }

    #[test]
    fn a_long_fact_is_cut() {
        let told = notice(&[memory(1, &"long ".repeat(100))], date(2026, 12, 1), &TimeZone::UTC).unwrap();
        assert!(told.chars().count() < 120 && told.contains('…'), "{told}");
    }
}
