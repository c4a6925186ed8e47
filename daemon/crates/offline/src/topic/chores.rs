//! Intents in two steps: list the matching files, then ask for one line that acts on exactly those.

use super::{
    super::{
        answer::{code, counted, human_size, list},
        dates::{Span, Unit},
        intent::{Intent, Topic},
        references::{MAX_ACTED, too_many},
        run::{Halt, Reply, Run, Step},
        shell_line::{path, paths},
        slots::Slots,
    },
    NO_CONTROL, split_first,
};

/// The age of "old" files in days, if the question names no age.
const OLD_DAYS: u64 = 7;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "shell.delete-kind",
        topic: Topic::Shell,
        example: "delete all .tmp files here",
        patterns: &[
            "delete|cleanup|prune <ext> ?file ?all ?<place> ?<size> ?deep ?unneeded -old -big -<date>",
            "cleanup <ext> ?file ?all ?<place> ?deep",
        ],
        plan: |slots, run| delete_found(slots, "", run),
    },
    Intent {
        name: "shell.delete-old",
        topic: Topic::Shell,
        example: "delete .log files older than two weeks",
        patterns: &[
            "delete|cleanup|prune <date> ?file ?all ?<ext> ?<place> ?<size> ?deep ?old ?log ?content",
            "delete|cleanup|prune old file ?all ?<place> ?deep ?log",
            "delete|cleanup|prune old <ext> ?file ?all ?<place> ?deep",
        ],
        plan: delete_old,
    },
    Intent {
        name: "shell.delete-big",
        topic: Topic::Shell,
        example: "delete files bigger than 1 GB in ~/Downloads",
        patterns: &["delete <size> ?file ?all ?<ext> ?<place> ?<date> ?deep"],
        plan: |slots, run| delete_found(slots, "", run),
    },
    Intent {
        name: "shell.delete-biggest",
        topic: Topic::Shell,
        example: "delete the largest log file here",
        patterns: &[
            "delete big file|folder -all ?<place> ?<ext> ?log ?single",
            "delete big <ext> -all ?file ?<place> ?single",
            "delete big <ext> -all ?file ?<place>",
        ],
        plan: delete_biggest,
    },
    Intent {
        name: "shell.delete-empty",
        topic: Topic::Shell,
        example: "delete the empty folders",
        patterns: &["delete|cleanup|prune empty file|folder ?all ?<place> ?deep ?<ext>"],
        plan: delete_empty,
    },
    Intent {
        name: "shell.move-kind",
        topic: Topic::Shell,
        example: "move all pdfs into documents",
        patterns: &["move <ext> <target> ?file ?all ?folder", "put <ext> <target> file ?all ?folder"],
        plan: |slots, run| gather(slots, run, "mv -n", "moved"),
    },
    Intent {
        name: "shell.copy-kind",
        topic: Topic::Shell,
        example: "copy all pdfs into backup",
        patterns: &["copy <ext> <target> ?file ?all ?folder"],
        plan: |slots, run| gather(slots, run, "cp -n", "copied"),
    },
    Intent {
        name: "archives.compress-biggest",
        topic: Topic::Archives,
        example: "compress the biggest folder",
        patterns: &["compress|archive big folder ?<place> ?make", "make archive big folder ?<place>"],
        plan: compress_biggest,
    },
];

/// The line that lists the files at the question's place, without subfolders unless the question includes them.
fn listing(slots: &Slots, tests: &str, kind: char) -> String {
    let depth = if slots.is_deep { "" } else { " -maxdepth 1" };
    format!(
        "find {} -mindepth 1{depth} -type {kind}{tests}{} -not -path '*/.git/*' {NO_CONTROL}",
        path(slots.folder()),
        slots.find_tests()
    )
}

/// Returns the names that the line lists, at most as many as fit into one command.
fn found(run: &mut Run<'_>, line: &str, slots: &Slots) -> Result<Vec<String>, Halt> {
    let output = run.shell(&format!("{line} 2> /dev/null | head -n {}", MAX_ACTED + 1))?;
    if output.is_cut {
        return Err(too_many(MAX_ACTED + 1));
    }
    let names: Vec<String> = output.lines().into_iter().map(str::to_owned).collect();
    match names.len() {
        0 => {
            let hint = if slots.is_deep { "" } else { " Say `recursively` to look into its subfolders, too." };
            Err(Halt::Over(format!("Nothing in {} matches, so nothing was done.{hint}", code(slots.folder()))))
        }
        count if count > MAX_ACTED => Err(too_many(MAX_ACTED + 1)),
        _ => Ok(names),
    }
}

fn delete_found(slots: &Slots, note: &str, run: &mut Run<'_>) -> Step {
    let names = found(run, &listing(slots, "", 'f'), slots)?;
    run.shell(&format!("rm {}", paths(&names)))?;
    let gone = if names.len() == 1 { "is gone" } else { "are gone" };
    Ok(Reply::new(format!("{} {gone}{note}:\n\n{}", counted(names.len(), "file", "files"), list(&names))))
}

fn delete_old(slots: &Slots, run: &mut Run<'_>) -> Step {
    match slots.span {
        Some(Span::OlderThan(..) | Span::Before(_) | Span::Yesterday) => delete_found(slots, "", run),
        None => {
            let slots = Slots { span: Some(Span::OlderThan(OLD_DAYS, Unit::Day)), ..slots.clone() };
            delete_found(&slots, &format!(" (I took \"old\" for not changed in {OLD_DAYS} days)"), run)
        }
        // "Delete the files of the last week" and "older than" are easily mixed up, and the new files are the valuable ones.
        Some(_) => {
            Ok(Reply::new("I delete by age only what is older than a given time: `delete files older than 2 weeks`."))
        }
    }
}

fn delete_empty(slots: &Slots, run: &mut Run<'_>) -> Step {
    let (kind, verb) = if slots.is_of_folders { ('d', "rmdir") } else { ('f', "rm") };
    let names = found(run, &listing(slots, " -empty", kind), slots)?;
    run.shell(&format!("{verb} {}", paths(&names)))?;
    Ok(Reply::new(format!("These were empty and are gone:\n\n{}", list(&names))))
}

fn delete_biggest(slots: &Slots, run: &mut Run<'_>) -> Step {
    let (bytes, name) = if slots.is_of_folders { biggest_folder(slots, run)? } else { biggest_file(slots, run)? };
    run.shell(&format!("rm {}{}", if slots.is_of_folders { "-r " } else { "" }, path(&name)))?;
    Ok(Reply::new(format!("{} is gone; it held {}.", code(&name), human_size(bytes))))
}

fn biggest_file(slots: &Slots, run: &mut Run<'_>) -> Result<(u64, String), Halt> {
    let mut slots = slots.clone();
    slots.is_deep = true;
    let line = format!("{} -printf '%s %p\\n' 2> /dev/null | sort -rn | head -n 3", listing(&slots, "", 'f'));
    let output = run.shell(&line)?;
    biggest(output.lines().into_iter().filter_map(split_first), 1, slots.folder())
}

/// `du` gets the folders by name, so that no name can pass for two.
fn biggest_folder(slots: &Slots, run: &mut Run<'_>) -> Result<(u64, String), Halt> {
    let slots = Slots { is_deep: false, ..slots.clone() };
    let names = found(run, &listing(&slots, "", 'd'), &slots)?;
    let output = run.shell(&format!("du -s -k {} 2> /dev/null | sort -rn | head -n 3", paths(&names)))?;
    let lines = output.lines();
    let rows = lines.iter().filter_map(|line| line.split_once('\t')).filter(|(_, name)| is_one_of(name, &names));
    biggest(rows, 1024, slots.folder())
}

fn is_one_of(shown: &str, names: &[String]) -> bool {
    names.iter().any(|name| name == shown)
}

/// The first of the rows `(size, name)`, with sizes in units of `unit_bytes`, unless another is equally big.
fn biggest<'a>(
    rows: impl Iterator<Item = (&'a str, &'a str)>,
    unit_bytes: u64,
    folder: &str,
) -> Result<(u64, String), Halt> {
    let rows: Vec<(u64, &str)> =
        rows.filter_map(|(size, name)| Some((size.parse::<u64>().ok()?.checked_mul(unit_bytes)?, name))).collect();
    match rows.as_slice() {
        [] => Err(Halt::Over(format!("Nothing in {} matches, so nothing was done.", code(folder)))),
        [first, second, ..] if first.0 == second.0 => Err(Halt::Over(format!(
            "{} and {} are equally big ({}), so I do not know which you mean; nothing was done.",
            code(first.1),
            code(second.1),
            human_size(first.0)
        ))),
        [first, ..] => Ok((first.0, first.1.to_owned())),
    }
}

/// Moves or copies all files of a kind into an existing folder.
fn gather(slots: &Slots, run: &mut Run<'_>, verb: &str, done: &str) -> Step {
    let into = slots.target().trim_end_matches('/').to_owned();
    let here = Slots { place: None, names: Vec::new(), ..slots.clone() };
    let names = found(run, &listing(&here, "", 'f'), &here)?;
    if run.attempt(&format!("test -d {}", path(&into)))?.failed {
        return Ok(Reply::new(format!(
            "There is no folder {}, so nothing was {done}. `make a folder {into}` creates it.",
            code(&into)
        )));
    }
    run.shell(&format!("{verb} {} {}/", paths(&names), path(&into)))?;
    let text = format!(
        "{} {done} into {}; what was already there stayed:\n\n{}",
        counted(names.len(), "file was", "files were"),
        code(&into),
        list(&names)
    );
    Ok(Reply::about(&into, text))
}

fn compress_biggest(slots: &Slots, run: &mut Run<'_>) -> Step {
    let (bytes, folder) = biggest_folder(slots, run)?;
    let archive = format!("{folder}.tar.gz");
    // tar replaces an archive without asking.
    if !run.attempt(&format!("ls -d {} 2> /dev/null", path(&archive)))?.failed {
        return Ok(Reply::new(format!("{} is already there; I did not replace it.", code(&archive))));
    }
    run.shell(&format!("tar -caf {} {}", path(&archive), path(&folder)))?;
    let text = format!("I packed {} ({}) into {}; the folder stays.", code(&folder), human_size(bytes), code(&archive));
    Ok(Reply::about(&archive, text))
}
