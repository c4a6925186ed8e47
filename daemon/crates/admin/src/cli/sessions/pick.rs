//! Lets the user pick a session at a terminal: Enter resumes it, Ctrl-D deletes it.

use std::{cell::RefCell, collections::HashMap, io::Write, process::ExitCode};

use cohab_protocol::Paths;
use cohab_store::{
    sessions::{EventRow, SessionRow, StateStore, event::Event},
    spool::Spool,
};
use jiff::Zoned;

use super::{
    super::{Failure, record},
    ListArgs, head, list, resume,
};
use cohab_prompt::{
    Row, Stopped,
    picker::{self, Picker},
};

/// Shows the picker and does what was picked. `None` if there is no terminal to show it on, or nothing to pick from.
pub(super) fn run(
    args: &ListArgs,
    paths: &Paths,
    now: &Zoned,
    output: &mut dyn Write,
) -> Result<Option<ExitCode>, Failure> {
    let Some(terminal) = picker::terminal()? else { return Ok(None) };
    let Some(store) = record::open(paths)? else { return Ok(None) };
    let (sessions, hidden) = list::listed(args, &store, paths)?;
    if sessions.is_empty() {
        return Ok(None);
    }
    let rows = rows(&sessions, &store.first_questions().map_err(record::unreadable(paths))?, now);
    let store = RefCell::new(store);
    let preview = |row: usize| preview(&sessions[row], &*store.borrow(), now);
    let remove = |row: usize| {
        let mut store = store.borrow_mut();
        let removed = store.remove(std::slice::from_ref(&sessions[row].key)).map(drop);
        let removed = removed.and_then(|()| Spool::at(&paths.state_dir).sweep(&store).map(drop));
        removed.map_err(|error| format!("It cannot be deleted: {error}"))
    };
    let without = if hidden > 0 { " (those of `cohab ask`: --all)" } else { "" };
    let picked = picker::pick(
        &terminal,
        &Picker {
            title: &format!("Conversations{without}"),
            rows: &rows,
            preselected: 0,
            enter: "resumes",
            preview: Some(&preview),
            remove: Some(&remove),
        },
    );
    match picked {
        Ok(row) => resume::picked(&sessions[row], output).map(|()| Some(ExitCode::SUCCESS)),
        Err(Stopped::Cancelled) => Ok(Some(ExitCode::SUCCESS)),
        Err(Stopped::Gone(error)) => Err(error.into()),
    }
}

/// A row for each session, found by its title, its folder and its first question.
fn rows(sessions: &[SessionRow], first: &[EventRow], now: &Zoned) -> Vec<Row> {
    let home = record::home();
    let first: HashMap<&str, &str> = first
        .iter()
        .filter_map(|row| match &row.event {
            Event::Question { text, .. } => Some((row.session.as_str(), text.as_str())),
            _ => None,
        })
        .collect();
    let row = |session: &SessionRow| {
        let when = record::time::ago(session.active, now.timestamp(), now.time_zone());
        let questions =
            if session.turns == 1 { "1 question".to_owned() } else { format!("{} questions", session.turns) };
        let remark = format!("{when} · {} · {questions}", record::folder(&session.cwd, &home));
        Row::new(&session.title, remark).found_by(first.get(session.key.as_str()).unwrap_or(&""))
    };
    sessions.iter().map(row).collect()
}

/// The facts about a session, its last question and the answer to it.
fn preview(session: &SessionRow, store: &dyn StateStore, now: &Zoned) -> Vec<String> {
    let head = head(session, now);
    let events = match store.events(&session.key, None) {
        Ok(events) => events,
        Err(error) => return vec![format!("It cannot be read: {error}")],
    };
    let asked = events.iter().rposition(|row| matches!(row.event, Event::Question { .. }));
    let last = &events[asked.unwrap_or(events.len())..];
    let answer = last.iter().rev().find_map(|row| match &row.event {
        Event::Answer { text } => Some(record::transcript::prose_lines("", text)),
        _ => None,
    });
    let question = last.first().map(|row| record::transcript::plain(std::slice::from_ref(row)));
    let facts = head.lines().skip(1).map(str::to_owned);
    let parts = [question, Some(answer.unwrap_or_else(|| "It has no answer yet.".to_owned()))];
    let text = parts.into_iter().flatten().flat_map(|part| [vec![String::new()], lines(&part)].concat());
    facts.chain(text).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Home, now},
        *,
    };

    #[test]
    fn rows_and_previews_tell_sessions_apart() {
        let home = Home::with_sessions();
        home.turn("shell:3", "t3", 3_000, "no answer", &[]);
        let (store, now) = (home.store(), now());
        let sessions = store.sessions(&[], 9).expect("they can be read");
        let first = store.first_questions().expect("they can be read");
        let mut seen = String::new();
        for (row, session) in rows(&sessions, &first, &now).iter().zip(&sessions) {
            seen += &format!("{} | {} | {}\n", row.name, row.remark, row.keywords);
            seen.extend(preview(session, &store, &now).iter().map(|line| format!("    {line}\n")));
        }
        assert!(!seen.contains(['\u{1b}', '\u{7}']), "{seen:?}");
        insta::assert_snapshot!(seen);
    }
}
