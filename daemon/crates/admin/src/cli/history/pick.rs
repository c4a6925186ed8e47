//! Lets the user pick one of the assistant's commands at a terminal: Enter puts it on the prompt, unrun.

use std::{io::Write, path::Path, process::ExitCode};

use cohab_protocol::Paths;
use cohab_store::sessions::event::Approval;
use cohab_text::sanitize::sanitize;
use cohab_types::picked_line;
use jiff::Zoned;

use super::{
    super::{
        Failure,
        record::{self, command::Command, transcript},
        sessions::resume,
    },
    HistoryArgs, read,
};
use cohab_prompt::{
    Row, Stopped,
    picker::{self, Picker},
};

/// So many commands are read; what is older is found with `cohab history --plain -n`.
const MAX_COMMANDS: usize = 500;

/// Shows the picker and reports what was picked. `None` if there is no terminal to show it on, or nothing to pick from.
pub(super) fn run(
    args: &HistoryArgs,
    paths: &Paths,
    now: &Zoned,
    output: &mut dyn Write,
) -> Result<Option<ExitCode>, Failure> {
    let Some(terminal) = picker::terminal()? else { return Ok(None) };
    let mut commands = read(&HistoryArgs { number: args.number.max(MAX_COMMANDS), ..args.clone() }, paths)?;
    commands.reverse();
    if commands.is_empty() {
        return Ok(None);
    }
    let home = record::home();
    let rows: Vec<Row> = commands.iter().map(|command| row(command, now, &home)).collect();
    let picked = picker::pick(
        &terminal,
        &Picker {
            title: "The assistant's commands",
            rows: &rows,
            preselected: 0,
            enter: if resume::is_inside() { "puts it on the prompt" } else { "prints it" },
            preview: Some(&|row| preview(&commands[row])),
            remove: None,
        },
    );
    match picked {
        Ok(row) => {
            output.write_all(report(commands[row].text(), resume::is_inside()).as_bytes())?;
            Ok(Some(ExitCode::SUCCESS))
        }
        Err(Stopped::Cancelled) => Ok(Some(ExitCode::SUCCESS)),
        Err(Stopped::Gone(error)) => Err(error.into()),
    }
}

/// The output for a command. One of several lines is printed only: at a prompt each line would need to be entered.
pub(in crate::cli) fn report(command: &str, is_inside: bool) -> String {
    let clean = sanitize(command.trim_end());
    if is_inside && clean == command.trim_end() && !clean.contains('\n') {
        picked_line::report(&clean)
    } else {
        format!("{clean}\n")
    }
}

fn row(command: &Command, now: &Zoned, home: &Path) -> Row {
    let when = record::time::ago(command.row.at, now.timestamp(), now.time_zone());
    let remark = format!("{when} · {} · {}", command.went(), record::folder(&command.call.cwd, home));
    Row::new(command.text(), remark).found_by(command.question.as_deref().unwrap_or_default())
}

/// The question that a command belongs to, the whole command, its output and the consent to it.
fn preview(command: &Command) -> Vec<String> {
    let question = command.question.as_deref().map(|question| transcript::prose_lines("? ", question));
    let text = transcript::lines(&format!("#{} $ ", command.row.number), command.text());
    let consent = Some(command.call.approval).filter(|consent| *consent != Approval::NotNeeded);
    let outcome = command.result.as_ref().map(|result| transcript::outcome(result, consent));
    let whole: String = [question, Some(text), outcome].into_iter().flatten().collect();
    whole.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Home, now},
        *,
    };

    #[test]
    fn rows_and_previews_tell_commands_apart() {
        let home = Home::with_sessions();
        let mut seen = String::new();
        for command in read(&HistoryArgs { number: 9, session: None, plain: false, json: false }, &home.paths)
            .expect("they can be read")
        {
            let row = row(&command, &now(), "/srv".as_ref());
            seen += &format!("{} | {} | {}\n", row.name, row.remark, row.keywords);
            seen.extend(preview(&command).iter().map(|line| format!("    {line}\n")));
        }
        assert!(!seen.contains(['\u{1b}', '\u{7}']), "{seen:?}");
        insta::assert_snapshot!(seen);
    }

    #[test]
    fn only_a_plain_line_is_put_on_the_prompt() {
        assert_eq!(picked_line::picked(&report("git log\n", true)), Some("git log"));
        for (command, is_inside) in [("git log", false), ("a\nb", true), ("a \u{1b}[2J", true)] {
            let output = report(command, is_inside);
            assert!(picked_line::picked(&output).is_none() && !output.contains('\u{1b}'), "{output:?}");
        }
    }
}
