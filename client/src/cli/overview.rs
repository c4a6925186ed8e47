//! The help of `cohab` itself: the keys, and all commands in groups.

use clap::Command;

/// Keys at the prompt of the shell, each with what it does.
const KEYS: &[(&str, &str)] = &[("? question", "Ask; Alt-Enter asks any line, Esc stops")];

/// A group of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Ask,
    LookBack,
    LookAfter,
    Tools,
}

/// The groups in their order, with their headings.
const GROUPS: &[(Group, &str)] = &[
    (Group::Ask, "Ask and go on"),
    (Group::LookBack, "Look back"),
    (Group::LookAfter, "Look after"),
    (Group::Tools, "For scripts and programs; `cohab NAME --help` explains"),
];

/// Columns of a name.
const NAME_COLUMNS: usize = 11;

/// The template of the help with these commands, by their groups: the parts in braces are clap's. As tight as it is, it fits a screen of 50 rows.
pub(super) fn template(commands: &Command, grouped: &[(Group, &str)]) -> String {
    let about = |name: &str| {
        let about = commands.find_subcommand(name).and_then(Command::get_about);
        about.map(ToString::to_string).unwrap_or_default()
    };
    let row = |name: &str, about: &str| format!("  {name:NAME_COLUMNS$}  {about}\n");
    let mut text = "{about}\n{usage-heading} {usage}\nAt the prompt of the shell (? /help lists all):\n".to_owned();
    text.extend(KEYS.iter().map(|(key, about)| row(key, about)));
    for (group, heading) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        let names: Vec<&str> = grouped.iter().filter(|(of, _)| of == group).map(|(_, name)| *name).collect();
        if *group == Group::Tools {
            text.push_str(&format!("  {}\n", names.join("  ")));
        } else {
            text.extend(names.into_iter().map(|name| row(name, &about(name))));
        }
    }
    text + "Options:\n{options}"
}

#[cfg(test)]
mod tests {
    use clap::Subcommand as _;

    use super::*;
    use crate::cli;

    fn whole() -> String {
        template(&cli::Command::augment_subcommands(Command::new("cohab")), cli::GROUPED)
    }

    #[test]
    fn every_command_has_one_line_or_a_place_among_those_for_programs() {
        let text = whole();
        let for_programs = text.lines().skip_while(|row| !row.starts_with("For scripts")).nth(1).unwrap();
        for (group, name) in cli::GROUPED {
            let lines = text.lines().filter(|row| row.starts_with(&format!("  {name}  "))).count();
            let is_named = for_programs.split_whitespace().any(|word| word == *name);
            assert_eq!(is_named, *group == Group::Tools, "{name}: {text}");
            assert!(is_named || lines == 1, "{name}: {text}");
        }
    }

    #[test]
    fn the_rows_fit_a_narrow_terminal() {
        let text = whole();
        assert!(text.lines().all(|row| row.chars().count() <= 60 && row.trim_end() == row), "{text}");
    }
}
