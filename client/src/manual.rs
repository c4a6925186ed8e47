//! `cohab man`: the manual page, made of the same definitions as the command line.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Command;
use clap_mangen::Man;
use cohab_conversation::ui::key_table;
use cohab_text::terminal_safe_writer::HarmlessWriter;

use crate::definitions::{self, AllCommands};

/// What no definition says.
const CLOSING: &str = include_str!("manual/closing.roff");
const OPENING: &str = include_str!("manual/opening.roff");

/// Prints the page of all commands, or of one.
pub async fn run(command: Option<String>, all: AllCommands) -> ExitCode {
    let whole = definitions::whole(all).await;
    let printed = match page(&whole, command.as_deref()) {
        Ok(Some(page)) => io::stdout().write_all(&page),
        Ok(None) => {
            let name = command.unwrap_or_default();
            Err(io::Error::other(format!("there is no command `{}`; `cohab --help` lists them", name.escape_debug())))
        }
        Err(error) => Err(error),
    };
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With standard error gone, the exit status is all that is left.
            let _ = writeln!(HarmlessWriter::new(io::stderr()), "cohab: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The page in roff; nothing if there is no such command.
///
/// # Errors
/// Never for a page in memory.
pub fn page(whole: &Command, only: Option<&str>) -> io::Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    if let Some(only) = only {
        let Some(command) = whole.find_subcommand(only) else { return Ok(None) };
        title(&format!("cohab-{only}"), whole, &mut out)?;
        writeln!(out, ".SH NAME")?;
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(out, "cohab {} \\- {}", escaped(only), escaped(&about))?;
        sections(command, "cohab", "SH", &mut out)?;
        return Ok(Some(out));
    }
    title("cohab", whole, &mut out)?;
    let root = Man::new(whole.clone());
    root.render_name_section(&mut out)?;
    out.extend_from_slice(OPENING.as_bytes());
    root.render_options_section(&mut out)?;
    writeln!(out, ".SH COMMANDS")?;
    for command in whole.get_subcommands() {
        sections(command, "cohab", "SS", &mut out)?;
    }
    keys(&mut out)?;
    out.extend_from_slice(CLOSING.as_bytes());
    Ok(Some(out))
}

fn title(name: &str, whole: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    let version = whole.get_version().unwrap_or_default();
    writeln!(out, ".TH {name} 1 \"\" \"cohab {version}\" \"cohab\"")
}

fn keys(out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, ".SH KEYS")?;
    for place in &key_table::PLACES {
        writeln!(out, ".PP\n{}:", escaped(place.name))?;
        for (keys, meaning) in place.keys {
            writeln!(out, ".TP\n\\fB{}\\fR\n{}", escaped(keys), escaped(&key_table::sentence(meaning)))?;
        }
    }
    writeln!(out, ".PP\n{}", escaped(key_table::SETTINGS))
}

/// A command and those below it, each under a heading of this kind.
fn sections(command: &Command, above: &str, heading: &str, out: &mut Vec<u8>) -> io::Result<()> {
    let name = format!("{above} {}", command.get_name());
    // Its own options only: those that hold everywhere stand at the top.
    let built = command.clone().bin_name(name.clone()).disable_help_flag(true);
    let man = Man::new(built.clone());
    writeln!(out, ".{heading} \"{}\"", escaped(&name))?;
    body(out, |part| man.render_synopsis_section(part))?;
    writeln!(out, ".PP")?;
    body(out, |part| man.render_description_section(part))?;
    if built.get_arguments().any(|argument| !argument.is_hide_set()) {
        body(out, |part| man.render_options_section(part))?;
    }
    if built.get_after_help().is_some() {
        writeln!(out, ".PP\n.nf")?;
        body(out, |part| man.render_extra_section(part))?;
        writeln!(out, ".fi")?;
    }
    built.get_subcommands().try_for_each(|below| sections(below, &name, heading, out))
}

/// A part without its heading, which is ours.
fn body(out: &mut Vec<u8>, render: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut part = Vec::new();
    render(&mut part)?;
    for line in part.split_inclusive(|byte| *byte == b'\n') {
        // Definitions of letters stand at the top of each part; one of them is enough.
        if !line.starts_with(b".SH ") && !line.starts_with(b".ie ") && !line.starts_with(b".el ") {
            out.extend_from_slice(line);
        }
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('"', "\\(dq")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::all_commands;

    fn text(only: Option<&str>) -> Option<String> {
        page(&definitions::merged(None, all_commands), only).unwrap().map(|page| String::from_utf8(page).unwrap())
    }

    #[test]
    fn the_page_has_every_command_and_the_usual_sections() {
        let page = text(None).unwrap();
        for name in crate::cli::SUBCOMMANDS.iter().filter(|name| **name != "help") {
            let name = name.replace('-', "\\-");
            assert!(page.contains(&format!(".SS \"cohab {name}")), "{name}:\n{page}");
        }
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "KEYS", "ENVIRONMENT", "FILES"] {
            assert_eq!(page.matches(&format!("\n.SH {section}\n")).count(), 1, "{section}:\n{page}");
        }
        assert!(page.starts_with(".TH cohab 1") || page.contains("\n.TH cohab 1"), "{page}");
    }

    #[test]
    fn the_page_names_every_file_and_every_approval_mode() {
        let page = text(None).unwrap();
        let files =
            ["config.toml", "keys.toml", "rules.toml", "models.toml", "sessions.db", "usage.db", "audit/", "backups/"];
        for word in files.iter().chain(&["\\fBauto\\fR"]) {
            assert!(CLOSING.contains(word) && page.contains(word), "{word}");
        }
    }

    #[test]
    fn a_page_of_one_command_has_those_below_it_and_an_unknown_one_has_none() {
        let page = text(Some("daemon")).unwrap();
        assert!(page.contains("cohab daemon restart") && !page.contains("cohab ask"), "{page}");
        assert_eq!(text(Some("nonsense")), None);
    }
}
