//! Searches stored conversations for the model.

use std::{collections::HashMap, sync::Arc};

use cohab_memory::{past::store::PastStore as _, record::LEAST_TRUST};
use cohab_protocol::Paths;
use cohab_store::{
    StoreError,
    past::SqlitePast,
    sessions::{EventRow, Found, SqliteStore, StateStore, event::Event},
};
use cohab_text::sanitize::sanitize;
use cohab_tools::{ConversationHit, ConversationLookup, FoundConversations, SearchConversations};

/// Most texts that one search looks at.
const MAX_TEXTS: usize = 5_000;
/// Digits of a conversation's id that are shown.
const ID_DIGITS: usize = 8;

/// The search of the tool. The conversation `own` is left out unless it is asked for: the model has it.
pub(super) fn searching(paths: &Paths, own: Option<String>) -> SearchConversations {
    let paths = paths.clone();
    Arc::new(move |wanted| {
        let failed = |error: StoreError| format!("stored conversations cannot be read: {error}");
        let Some(store) = SqliteStore::open_existing(&paths.sessions_file()).map_err(failed)? else {
            return Ok(FoundConversations::default());
        };
        let key = match &wanted.conversation {
            None => None,
            Some(id) => match store.find(id).map_err(failed)? {
                Found::One(session) => Some(session.key),
                Found::None => return Err(format!("no conversation has the id `{id}`")),
                Found::Several(_) => return Err(format!("several conversations have an id that begins with `{id}`")),
            },
        };
        // It knows which turns had read text of strangers; without it none is trusted.
        let past = SqlitePast::open_existing(&paths.past_file(), &paths.memory_key_dir()).ok().flatten();
        let trusted = |turn: &str| {
            let trust = past.as_ref().and_then(|past| past.trust(turn).ok().flatten());
            trust.is_some_and(|trust| trust >= LEAST_TRUST)
        };
        found(&store, wanted, key.as_deref(), own.as_deref(), &trusted).map_err(failed)
    })
}

/// Searches. The user's own words are always shown, what came of a turn only if it is `trusted`.
fn found(
    store: &impl StateStore,
    wanted: &ConversationLookup,
    key: Option<&str>,
    own: Option<&str>,
    trusted: &dyn Fn(&str) -> bool,
) -> Result<FoundConversations, StoreError> {
    let (mut found, mut rows, mut seen, mut looked_at) = (FoundConversations::default(), Vec::new(), 0, 0);
    store.matching(&wanted.words, key, &mut |row| {
        looked_at += 1;
        if key.is_some() || own != Some(row.session.as_str()) {
            match said(&row) {
                Some((_, true)) => {}
                Some((_, false)) if trusted(&row.turn) => {}
                Some(_) => {
                    found.left_out += 1;
                    return looked_at < MAX_TEXTS;
                }
                None => return looked_at < MAX_TEXTS,
            }
            seen += 1;
            if rows.len() == wanted.limit {
                found.has_more = true;
                return false;
            }
            if seen > wanted.skipped {
                rows.push(row);
            }
        }
        looked_at < MAX_TEXTS
    })?;
    let mut sessions = HashMap::new();
    for row in rows {
        if !sessions.contains_key(&row.session) {
            sessions.insert(row.session.clone(), store.session(&row.session)?);
        }
        let Some(Some(session)) = sessions.get(&row.session) else { continue };
        let Some((speaker, _)) = said(&row) else { continue };
        found.hits.push(ConversationHit {
            conversation: session.id.chars().take(ID_DIGITS).collect(),
            title: sanitize(&session.title),
            at: row.at,
            speaker,
            text: sanitize(row.event.searchable().unwrap_or_default()),
        });
    }
    Ok(found)
}

/// Who spoke, and whether these are the user's own words.
fn said(row: &EventRow) -> Option<(&'static str, bool)> {
    match &row.event {
        Event::Question { .. } | Event::Added { .. } => Some(("the user", true)),
        Event::Shell { .. } => Some(("the user ran", true)),
        Event::Answer { .. } => Some(("you", false)),
        Event::Call(_) => Some(("you ran", false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use cohab_model_api::Secrets;
    use cohab_store::sessions::{Entry, Limits};
    use jiff::Timestamp;

    use super::*;

    fn store() -> SqliteStore {
        let mut store = SqliteStore::in_memory().unwrap();
        let at = Timestamp::from_second(1_770_000_000).unwrap();
        let turn = |session: &str| Entry::Turn {
            session: session.to_owned(),
            at,
            title: format!("about {session}"),
            cwd: "/".to_owned(),
            model: "wire/model".to_owned(),
            limits: Limits::of_days(90),
        };
        let event = |session: &str, turn: &str, event| Entry::Event {
            session: session.to_owned(),
            turn: turn.to_owned(),
            at,
            event,
        };
        let asked =
            |text: &str| Event::Question { text: text.to_owned(), cwd: "/".to_owned(), shell: None, piped_bytes: 0 };
        let answer = |text: &str| Event::Answer { text: text.to_owned() };
        let mut entries = vec![turn("old"), turn("own")];
        entries.push(event("old", "clean", asked("where does nginx run")));
        entries.push(event("old", "clean", answer("nginx runs on \u{1b}[31mblue")));
        entries.push(event("old", "tainted", asked("read the nginx page")));
        entries.push(event("old", "tainted", answer("nginx says: obey")));
        entries.push(event("own", "clean", asked("nginx now")));
        let secrets = Secrets::default();
        store.append(&entries.into_iter().map(|entry| secrets.scrubbed(entry)).collect::<Vec<_>>()).unwrap();
        store
    }

    fn lookup(skipped: usize, limit: usize) -> ConversationLookup {
        ConversationLookup { words: vec!["nginx".to_owned()], conversation: None, skipped, limit }
    }

    fn texts(found: &FoundConversations) -> Vec<String> {
        found.hits.iter().map(|hit| format!("{} {}: {}", hit.title, hit.speaker, hit.text)).collect()
    }

    #[test]
    fn what_came_of_a_turn_is_shown_only_if_it_is_trusted() {
        let store = store();
        let all = found(&store, &lookup(0, 9), None, Some("own"), &|turn| turn == "clean").unwrap();
        let page = "about old the user: read the nginx page";
        let expected = [page, "about old you: nginx runs on blue", "about old the user: where does nginx run"];
        assert_eq!((texts(&all), all.left_out, all.has_more), (expected.map(str::to_owned).into(), 1, false));
        let own = found(&store, &lookup(0, 9), Some("own"), Some("own"), &|_| false).unwrap();
        assert_eq!(texts(&own), ["about own the user: nginx now"]);
    }

    #[test]
    fn pages_follow_each_other() {
        let store = store();
        let page = |skipped| found(&store, &lookup(skipped, 2), None, None, &|turn| turn == "clean").unwrap();
        let (first, second) = (page(0), page(2));
        assert_eq!((first.hits.len(), first.has_more, second.hits.len(), second.has_more), (2, true, 2, false));
        assert_eq!(texts(&second)[1], "about old the user: where does nginx run");
        assert_eq!(page(4).hits, []);
    }
}
