//! `cohab rewind` takes a conversation back to an earlier question, on behalf of `? /rewind`: it lets the user pick the question and what
//! goes back, brings the files back itself, and reports the rest to the client.

mod files;
mod moments;
mod shell;

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::{
    backups::{Backups, TurnSummary},
    sessions::StateStore,
};
use cohab_types::picked_line::{self, Rewind};
use jiff::Zoned;

use self::{
    moments::{Moment, moments},
    shell::{KnownTurns, ShellPart},
};
use super::{Failure, record, sessions::resume, undo};
use cohab_prompt::{
    Prompt as _, Row, Screen, Stopped, is_colored,
    picker::{self, Picker},
};

/// Later questions that a preview names.
const MOST_NAMED: usize = 4;

/// Take this conversation back to an earlier question
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    hide = true,
    after_help = "`? /rewind` at the prompt of a shell that cohab opened runs it. You pick a question, and whether the \
        chat, the files or the shell (folder, variables, aliases, options) go back to the moment before it. Files come back as `cohab undo` brings \
        them back; `cohab undo --redo` takes that back, turn by turn."
)]
pub struct RewindArgs {
    /// Name of the session
    #[arg(long, value_name = "NAME")]
    pub session: String,
    /// Turns whose changes of the shell are known, with * behind those that changed it
    #[arg(long, value_name = "TURNS", default_value = "")]
    pub shell: String,
}

/// Runs it. Exit status: 0 done or left, 1 failed, 3 the output is closed.
pub fn run(args: &RewindArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    super::finish(rewind(args, paths, &Zoned::now(), output), output, errors)
}

fn rewind(args: &RewindArgs, paths: &Paths, now: &Zoned, output: &mut dyn Write) -> Result<(), Failure> {
    let terminal = picker::terminal()?.filter(|_| resume::is_inside());
    let Some(terminal) = terminal else {
        let hint = "`? /rewind` at its prompt begins it; `cohab undo --list` lists what can be undone elsewhere";
        let message = "a conversation is taken back in the shell that cohab opened for it";
        return Err(Failure::Other(message.to_owned(), Some(hint.to_owned())));
    };
    let found = read(&args.session, paths)?;
    let backups = Backups::at(&paths.state_dir);
    let kept = backups.turns().map_err(|error| undo::unreadable(&error))?;
    if found.is_empty() {
        return Ok(writeln!(output, "This conversation has no question on record.")?);
    }
    let known = KnownTurns::read(&args.shell);
    let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    let rows: Vec<Row> = found.iter().map(|moment| row(moment, &kept, now)).collect();
    let picked = picker::pick(
        &terminal,
        &Picker {
            title: "Take the conversation back to before",
            rows: &rows,
            preselected: 0,
            enter: "continues",
            preview: Some(&|row| preview(&found[..=row], &kept, &known, &here)),
            remove: None,
        },
    );
    let moment = match stopped(picked)? {
        Some(row) => &found[row],
        None => return Ok(()),
    };
    let part = known.part(moment, &here);
    let ways = ways(moment, &kept, part);
    let rows: Vec<Row> = ways.iter().map(|way| Row::new(way.name(part), "")).collect();
    let question = format!("Before \"{}\": what goes back?", record::visible(&moment.question));
    let mut screen = Screen::new(terminal, is_colored());
    let Some(way) = stopped(screen.choose(&question, &rows, 0))? else { return Ok(()) };
    drop(screen);
    carry_out(ways[way], part, moment, &backups, paths, output)
}

/// The answer; `None` if the user left.
fn stopped<T>(answer: Result<T, Stopped>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Stopped::Cancelled) => Ok(None),
        Err(Stopped::Gone(error)) => Err(error.into()),
    }
}

/// The files come back before the report: a file that is left alone is told, and the rest goes back all the same.
fn carry_out(
    way: Way,
    part: ShellPart,
    moment: &Moment,
    backups: &Backups,
    paths: &Paths,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    if way.files {
        output.write_all(files::restore(backups, &moment.turns, paths)?.as_bytes())?;
    }
    if !way.chat && !way.shell {
        return Ok(());
    }
    let report = Rewind {
        questions: if way.chat { moment.questions } else { 0 },
        shell: moment.turns.last().filter(|_| way.shell && part == ShellPart::State).cloned(),
        folder: way.shell.then(|| moment.cwd.clone()),
    };
    Ok(output.write_all(picked_line::report(&report.to_string()).as_bytes())?)
}

/// The moments of a session, the last one first.
fn read(session: &str, paths: &Paths) -> Result<Vec<Moment>, Failure> {
    let Some(store) = record::open(paths)? else { return Ok(Vec::new()) };
    let unreadable = record::unreadable(paths);
    let events = store.events(session, None).map_err(&unreadable)?;
    Ok(moments(&store.conversation(session).map_err(unreadable)?, &events))
}

/// The turns of a moment of which something is kept, the last one first.
fn kept_of<'a>(moment: &Moment, kept: &'a [TurnSummary]) -> Vec<&'a TurnSummary> {
    moment.turns.iter().filter_map(|turn| kept.iter().find(|one| one.turn == *turn)).collect()
}

fn row(moment: &Moment, kept: &[TurnSummary], now: &Zoned) -> Row {
    let when = record::time::ago(moment.at, now.timestamp(), now.time_zone());
    let files: usize = kept_of(moment, kept).iter().map(|turn| turn.paths.len()).sum();
    let files = match files {
        0 => "no files".to_owned(),
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    Row::new(&moment.question, format!("{when} · {files}"))
}

/// What goes back with the last of these moments.
fn preview(until: &[Moment], kept: &[TurnSummary], known: &KnownTurns, here: &str) -> Vec<String> {
    let Some((moment, later)) = until.split_last() else { return Vec::new() };
    let mut lines = match later.len() {
        0 => vec!["Chat: this question and its answer go.".to_owned()],
        1 => vec!["Chat: this question and a later one go:".to_owned()],
        count => vec![format!("Chat: this question and {count} later ones go:")],
    };
    let named = later.iter().rev().take(MOST_NAMED).map(|one| format!("  {}", record::visible(&one.question)));
    lines.extend(named);
    if later.len() > MOST_NAMED {
        lines.push(format!("  and {} more", later.len() - MOST_NAMED));
    }
    lines.push(String::new());
    lines.extend(files::preview(&kept_of(moment, kept)));
    lines.push(String::new());
    let folder = record::folder(&moment.cwd, &record::home());
    lines.push(if moment.cwd == here { format!("Folder: {folder}, as now.") } else { format!("Folder: {folder}.") });
    lines.push(known.told(moment).to_owned());
    lines
}

/// What goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    chat: bool,
    files: bool,
    shell: bool,
}

impl Way {
    fn name(self, part: ShellPart) -> String {
        let shell = if part == ShellPart::State { "shell" } else { "folder" };
        let parts = [(self.chat, "chat"), (self.files, "files"), (self.shell, shell)];
        let parts: Vec<&str> = parts.into_iter().filter_map(|(is_in, name)| is_in.then_some(name)).collect();
        match parts.as_slice() {
            [only] => format!("only the {only}"),
            [first, second] => format!("{first} and {second}"),
            _ => parts.join(", "),
        }
    }
}

/// The choices at a moment: all that can go back first, then less and less.
fn ways(moment: &Moment, kept: &[TurnSummary], part: ShellPart) -> Vec<Way> {
    let (has_files, has_shell) = (!kept_of(moment, kept).is_empty(), part != ShellPart::Nothing);
    let all = [(true, true, true), (true, true, false), (true, false, true), (false, true, true), (true, false, false)];
    let all = all.into_iter().chain([(false, true, false), (false, false, true)]);
    all.filter(|(_, files, shell)| (has_files || !files) && (has_shell || !shell))
        .map(|(chat, files, shell)| Way { chat, files, shell })
        .collect()
}

#[cfg(test)]
#[path = "rewind_tests.rs"]
mod tests;
