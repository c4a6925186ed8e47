//! Resumes a conversation in a new shell, which the client opens. In a shell that cohab opened the client handles the line itself, so
//! this code runs only for lines that were typed elsewhere.

use std::{
    io::{IsTerminal, Write},
    os::unix::{ffi::OsStrExt, process::CommandExt},
    path::PathBuf,
    process::Command,
};

use cohab_protocol::Paths;
use cohab_store::sessions::{SessionRow, StateStore, id};
use cohab_types::picked_line;
use jiff::Timestamp;

use super::super::{Failure, record};

/// Names the terminal of a shell that cohab opened.
const INSIDE_VARIABLE: &str = "COHAB_TTY";

pub(in crate::cli) fn resume(id: &str, paths: &Paths) -> Result<(), Failure> {
    let (_, session) = record::session(paths, id)?;
    check_place(&format!("cohab sessions resume {}", record::short(&session.id)))?;
    Err(open_shell(&session.id))
}

pub(super) fn fork(id: &str, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let (mut store, session) = record::session(paths, id)?;
    let has_terminal = is_terminal();
    if has_terminal {
        check_place(&format!("cohab sessions fork {}", record::short(&session.id)))?;
    }
    let key = format!("shell:{}", uuid::Uuid::now_v7().as_simple());
    store.fork(&session.key, &key, Timestamp::now()).map_err(record::unreadable(paths))?;
    drop(store);
    let copy = id::of_key(&key);
    writeln!(output, "Copied {} to {}.", record::short(&session.id), record::short(&copy))?;
    output.flush()?;
    if has_terminal { Err(open_shell(&copy)) } else { Ok(()) }
}

/// Resumes the session that the user picked. In a shell that cohab opened the client does that, as if the line had been typed.
pub(super) fn picked(session: &SessionRow, output: &mut dyn Write) -> Result<(), Failure> {
    if !is_inside() {
        return Err(open_shell(&session.id));
    }
    let line = format!("cohab sessions resume {}", record::short(&session.id));
    Ok(output.write_all(picked_line::report(&line).as_bytes())?)
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

fn check_place(line: &str) -> Result<(), Failure> {
    if !is_terminal() {
        let hint = format!("type `{line}` in a terminal");
        return Err(Failure::Other("a conversation resumes in a shell, which needs a terminal".to_owned(), Some(hint)));
    }
    if is_inside() {
        let hint = format!("type `{line}` alone on a line at the prompt");
        return Err(Failure::Other("this shell already runs inside cohab".to_owned(), Some(hint)));
    }
    Ok(())
}

/// Whether this terminal is one of a shell that cohab opened.
pub(in crate::cli) fn is_inside() -> bool {
    let own = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok();
    let inside = std::env::var_os(INSIDE_VARIABLE);
    inside.is_some_and(|inside| own.is_some_and(|own| own.as_bytes() == inside.as_bytes()))
}

/// Replaces this process by the client. Returns only if that fails.
fn open_shell(id: &str) -> Failure {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("cohab")));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("cohab"));
    let error = Command::new(&program).args(["--session", id]).exec();
    Failure::Other(format!("{} cannot be started: {error}", program.display()), None)
}
