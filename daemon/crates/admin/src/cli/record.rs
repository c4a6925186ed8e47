//! Reads stored sessions for `cohab sessions`, `history`, `why` and `export`.

pub mod command;
pub mod time;
pub mod transcript;

use std::{io::IsTerminal, path::Path};

use cohab_protocol::Paths;
use cohab_store::{
    StoreError,
    sessions::{EventRow, Found, SessionRow, SqliteStore, StateStore, TITLE_MAX_CHARS, id},
};
use cohab_text::sanitize::{one_line, sanitize};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::Failure;

/// The remedy for an unknown id.
const LISTS: &str = "`cohab sessions` lists them";

/// Columns of the terminal, if the output goes to one.
pub fn terminal_columns() -> Option<usize> {
    let output = std::io::stdout();
    let size = output.is_terminal().then(|| rustix::termios::tcgetwinsize(&output).ok()).flatten()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// `words` on rows of `columns`: the first begins with `first`, all others with `next`. Blanks stay as they are; a word that exceeds a
/// row is left to the terminal.
pub fn paragraph((first, next): (&str, &str), words: &str, columns: Option<usize>, out: &mut String) {
    out.push_str(first);
    let (mut column, mut start) = (first.width(), first.width());
    for word in words.split_inclusive(' ') {
        let is_too_wide = columns.is_some_and(|columns| column + word.trim_end().width() > columns);
        if is_too_wide && column > start {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.push_str(next);
            start = next.width();
            column = start;
        }
        out.push_str(word);
        column += word.width();
    }
    out.push('\n');
}

/// The store, if it exists.
pub fn open(paths: &Paths) -> Result<Option<SqliteStore>, Failure> {
    SqliteStore::open_existing(&paths.sessions_file()).map_err(unreadable(paths))
}

/// The reason why the store cannot be used, for people.
pub fn unreadable(paths: &Paths) -> impl Fn(StoreError) -> Failure {
    let path = paths.sessions_file();
    move |error| {
        Failure::Other(format!("{} cannot be read: {error}", path.display()), error.remedy().map(str::to_owned))
    }
}

/// The store and the session whose id begins with `id`.
pub fn session(paths: &Paths, id: &str) -> Result<(SqliteStore, SessionRow), Failure> {
    let Some(store) = open(paths)? else { return Err(nobody(id)) };
    let session = find(paths, &store, id)?;
    Ok((store, session))
}

/// The session whose id begins with `id`.
pub fn find(paths: &Paths, store: &dyn StateStore, id: &str) -> Result<SessionRow, Failure> {
    match store.find(id).map_err(unreadable(paths))? {
        Found::One(session) => Ok(*session),
        Found::None => Err(nobody(id)),
        Found::Several(sessions) => {
            let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
            let digits = id::shown_digits(&ids).max(id.len() + 1);
            let named: Vec<&str> = ids.iter().map(|one| one.get(..digits).unwrap_or(one)).collect();
            let message = format!("several sessions begin with \"{}\": {}", visible(id), named.join(", "));
            Err(Failure::Other(message, Some("give at least one more digit".to_owned())))
        }
    }
}

fn nobody(id: &str) -> Failure {
    let message = match id {
        id::LAST => "there are no sessions yet".to_owned(),
        id => format!("no session begins with \"{}\"", visible(id)),
    };
    Failure::Other(message, Some(LISTS.to_owned()))
}

/// The user's text in a form that can be shown.
pub fn visible(text: &str) -> String {
    one_line(text, TITLE_MAX_CHARS)
}

/// The shown part of an id.
pub fn short(id: &str) -> &str {
    id.get(..id::SHOWN_DIGITS).unwrap_or(id)
}

/// A folder, with `~` for the home.
pub fn folder(path: &str, home: &Path) -> String {
    let below = Path::new(path).strip_prefix(home).ok().filter(|_| home.parent().is_some());
    let text = match below {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.to_owned(),
    };
    sanitize(&text).replace('\n', " ")
}

/// The user's home with links resolved, as the shell reports folders.
pub fn home() -> std::path::PathBuf {
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    home.canonicalize().unwrap_or(home)
}

/// A session as JSON.
pub fn session_json(session: &SessionRow) -> Value {
    json!({
        "id": session.id,
        "name": session.key,
        "title": session.title,
        "created_at": session.created.to_string(),
        "active_at": session.active.to_string(),
        "cwd": session.cwd,
        "model": session.model,
        "questions": session.turns,
        "forked_from": session.forked_from,
    })
}

/// An event as JSON.
pub fn event_json(row: &EventRow) -> Value {
    let mut value = serde_json::to_value(&row.event).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("number".to_owned(), row.number.into());
        fields.insert("turn".to_owned(), row.turn.clone().into());
        fields.insert("at".to_owned(), row.at.to_string().into());
    }
    value
}
