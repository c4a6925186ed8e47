//! `cohab undo` takes back changes of files: outside the prompt of a shell that cohab opened, and on behalf of that prompt.

pub(super) mod told;

use std::{
    io::{self, BufRead, IsTerminal, Write},
    process::ExitCode,
};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::{
    audit::{
        Journal, Places,
        record::{Event, Note},
    },
    backups::{Backups, Restored, Taken, TurnSummary, Word},
};
use jiff::{Timestamp, Zoned};

use super::{Failure, record};

/// Days that the record of an undo is kept at least.
const KEEP_DAYS: u32 = 90;

/// Undo the changes of a turn
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    hide = true,
    group = clap::ArgGroup::new("what").multiple(false),
    after_help = "Typed alone on a line at the prompt of a shell that cohab opened, it reverts what the last turn \
        changed there: files that `write`, `edit` and known commands changed (rm, mv, cp, sed -i, redirections), the \
        current folder, exported variables, aliases, options, the umask and the prompt. It names what it cannot \
        revert. Right after the turn, Ctrl-_ does the same. In other shells it shows the last turn that changed files, \
        and asks."
)]
pub struct UndoArgs {
    /// List the turns that can be undone
    #[arg(long, group = "what")]
    pub list: bool,
    /// Undo this turn, by its number in the list; later turns stay
    #[arg(long, value_name = "N", group = "what")]
    pub turn: Option<String>,
    /// Bring back the files as they were before the last undo
    #[arg(long, group = "what")]
    pub redo: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 a file was left alone, or nothing was agreed to, or the copies cannot be read, 3 the output is closed.
pub fn run(args: &UndoArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let stdin = io::stdin();
    let asks = stdin.is_terminal() && io::stdout().is_terminal();
    run_with_input(args, paths, asks.then_some(&mut stdin.lock()), output, errors)
}

/// `input` is where the user answers, if anybody can.
fn run_with_input(
    args: &UndoArgs,
    paths: &Paths,
    input: Option<&mut dyn BufRead>,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> ExitCode {
    let backups = Backups::at(&paths.state_dir);
    let result = match args {
        UndoArgs { list: true, .. } => list(args, &backups, output),
        UndoArgs { redo: true, .. } => backups
            .redo()
            .map_err(|error| unreadable(&error))
            .and_then(|redone| tell(args, redone.as_ref(), paths, output)),
        _ => undo(args, &backups, paths, input, output),
    };
    super::finish(result, output, errors)
}

pub(super) fn unreadable(error: &io::Error) -> Failure {
    Failure::Other(format!("the saved files cannot be read: {error}"), None)
}

fn list(args: &UndoArgs, backups: &Backups, output: &mut dyn Write) -> Result<(), Failure> {
    let turns = backups.turns().map_err(|error| unreadable(&error))?;
    let text = if args.json { told::list_json(&turns) } else { told::list(&turns, &Zoned::now()) };
    Ok(output.write_all(text.as_bytes())?)
}

fn undo(
    args: &UndoArgs,
    backups: &Backups,
    paths: &Paths,
    input: Option<&mut dyn BufRead>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let turns = backups.turns().map_err(|error| unreadable(&error))?;
    let turn = match &args.turn {
        Some(named) => find(&turns, named)?,
        None => turns.first(),
    };
    if let Some(turn) = turn
        && args.turn.is_none()
        && !args.yes
    {
        agree(turn, input, output)?;
    }
    let restored =
        turn.map(|turn| backups.restore(Some(&turn.turn))).transpose().map_err(|error| unreadable(&error))?.flatten();
    tell(args, restored.as_ref(), paths, output)
}

/// The turn of a number in the list, or of an id, which is how the client names it.
///
/// # Errors
/// The number is not in the list.
fn find<'a>(turns: &'a [TurnSummary], named: &str) -> Result<Option<&'a TurnSummary>, Failure> {
    match named.parse::<usize>() {
        Ok(number) => match number.checked_sub(1).and_then(|index| turns.get(index)) {
            Some(turn) => Ok(Some(turn)),
            None => {
                let hint = "`cohab undo --list` lists the turns that can be undone".to_owned();
                Err(Failure::Other(format!("no turn has the number {number}"), Some(hint)))
            }
        },
        Err(_) => Ok(turns.iter().find(|turn| turn.turn == named)),
    }
}

/// # Errors
/// The user does not agree, or nobody can be asked.
fn agree(turn: &TurnSummary, input: Option<&mut dyn BufRead>, output: &mut dyn Write) -> Result<(), Failure> {
    let Some(input) = input else {
        let hint = "`--yes` undoes it without asking, `--turn N` another one".to_owned();
        let name = told::name(turn, &Zoned::now());
        return Err(Failure::Other(format!("there is no terminal to ask whether to undo {name}"), Some(hint)));
    };
    write!(output, "{}Undo it? [y/N] ", told::proposal(turn, &Zoned::now()))?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    writeln!(output, "Nothing was undone. `cohab undo --list` shows earlier turns.")?;
    Err(Failure::Told)
}

fn tell(args: &UndoArgs, restored: Option<&Restored>, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    if let Some(restored) = restored {
        put_on_record(restored, paths);
    }
    // The client names a turn of which perhaps nothing is kept.
    let is_silent = restored.is_none() && args.turn.is_some();
    let text = match (args.json, is_silent) {
        (true, _) => told::json(restored),
        (false, true) => String::new(),
        (false, false) => told::text(restored, args.redo),
    };
    output.write_all(text.as_bytes())?;
    let mut words = restored.iter().flat_map(|restored| &restored.files).map(|taken| &taken.word);
    if words.any(|word| matches!(word, Word::Refused { .. })) { Err(Failure::Told) } else { Ok(()) }
}

/// Only into an existing audit log: the settings decide about having one.
pub(super) fn put_on_record(Restored { turn, files, .. }: &Restored, paths: &Paths) {
    let is_undone = |taken: &&Taken| matches!(taken.word, Word::Restored | Word::Removed | Word::MovedBack(_));
    let undone: Vec<String> =
        files.iter().filter(is_undone).map(|taken| taken.path.to_string_lossy().into_owned()).collect();
    let places = Places::of(paths);
    if undone.is_empty() || !places.head_file().exists() {
        return;
    }
    let event = Event::Undone { paths: undone };
    let note = Note { at: Timestamp::now(), session: String::new(), turn: turn.clone(), keep_days: KEEP_DAYS, event };
    if let Err(error) = Journal::at(places).append(&[note]) {
        tracing::warn!(%error, "an undo is not in the audit log");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cohab_store::backups::CommandChanges;
    use serde_json::{Value, json};

    use super::super::testing::Home;
    use super::*;

    const PLAIN: UndoArgs = UndoArgs { list: false, turn: None, redo: false, yes: false, json: false };

    fn run_as(home: &Home, args: &UndoArgs, answer: Option<&str>) -> (ExitCode, String) {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let mut answer = answer.map(str::as_bytes);
        let input = answer.as_mut().map(|answer| answer as &mut dyn BufRead);
        let code = run_with_input(args, &home.paths, input, &mut output, &mut errors);
        output.extend(errors);
        (code, String::from_utf8(output).expect("text"))
    }

    /// The turn writes this file.
    fn write(home: &Home, turn: &str, path: &std::path::Path) {
        let backups = Backups::at(&home.paths.state_dir);
        backups.keep("shell:1", turn, &format!("the question of {turn}"), path).expect("kept");
        fs::write(path, "new").expect("written");
        backups.changed("shell:1", turn, path).expect("noted");
    }

    #[test]
    fn each_file_is_told_and_one_that_is_left_alone_is_a_failure() {
        let (home, work) = Home::with_work_folder();
        let yes = UndoArgs { yes: true, ..PLAIN };
        assert_eq!(run_as(&home, &yes, None).1, "Nothing to undo: no file changes are recorded.\n");
        ["a", "b"].iter().for_each(|name| fs::write(work.join(name), "old").expect("written"));
        ["a", "b", "made"].iter().for_each(|name| write(&home, "t1", &work.join(name)));
        fs::write(work.join("b"), "mine").expect("written");
        let (code, text) = run_as(&home, &yes, None);
        assert_eq!(code, ExitCode::FAILURE);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("/made: removed, the assistant had created it"), "{text}");
        assert!(lines[1].contains("/b: left alone, it was changed since; its earlier content is in "), "{text}");
        assert!(lines[2].ends_with("/a: restored"), "{text}");
        let (code, json) = run_as(&home, &UndoArgs { json: true, ..yes }, None);
        let value: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!((code, &value["files"][0]["outcome"]), (ExitCode::FAILURE, &json!("refused")));
    }

    #[test]
    fn the_turn_is_named_before_it_is_undone_and_another_can_be_chosen() {
        let (home, work) = Home::with_work_folder();
        let [older, newer] = ["older", "newer"].map(|name| work.join(name));
        write(&home, "0001", &older);
        write(&home, "0002", &newer);
        let (code, text) = run_as(&home, &PLAIN, None);
        assert!(
            code == ExitCode::FAILURE
                && text.contains("there is no terminal to ask whether to undo \"the question of 0002\"")
        );
        let (code, text) = run_as(&home, &PLAIN, Some("\n"));
        assert!(text.starts_with("\"the question of 0002\", now:\n  ") && text.contains("/newer\n"), "{text}");
        assert!(code == ExitCode::FAILURE && newer.exists());
        let (_, text) = run_as(&home, &UndoArgs { list: true, ..PLAIN }, None);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[0], "#  when  files  turn");
        assert!(rows[1] == "1  now       1  the question of 0002" && rows[2].ends_with("of 0001"), "{text}");
        let (code, text) = run_as(&home, &UndoArgs { turn: Some("2".into()), ..PLAIN }, None);
        assert!(code == ExitCode::SUCCESS && !older.exists() && newer.exists(), "{text}");
        let (code, text) = run_as(&home, &UndoArgs { turn: Some("2".into()), ..PLAIN }, None);
        assert!(code == ExitCode::FAILURE && text.contains("no turn has the number 2"), "{text}");
        assert_eq!(run_as(&home, &PLAIN, Some("y\n")).0, ExitCode::SUCCESS);
        assert!(!newer.exists());
        let (code, text) = run_as(&home, &UndoArgs { redo: true, ..PLAIN }, None);
        assert!(code == ExitCode::SUCCESS && newer.exists() && text.contains("/newer: restored"), "{text}");
    }

    #[test]
    fn what_commands_changed_elsewhere_is_said() {
        let (home, _work) = Home::with_work_folder();
        let changes = CommandChanges {
            line: "make install".to_owned(),
            uncovered: vec!["what `make` changes in files".to_owned()],
            ..CommandChanges::default()
        };
        let backups = Backups::at(&home.paths.state_dir);
        let deadline = std::time::Instant::now();
        backups.keep_for_command(("shell:1", "t1"), "install it", &changes, deadline).expect("kept");
        let (_, text) = run_as(&home, &UndoArgs { yes: true, ..PLAIN }, None);
        assert_eq!(text, "Not undone: what `make` changes in files.\n");
    }
}
