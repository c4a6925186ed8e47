//! Intents about archives: listing, unpacking, packing.

use super::super::{
    answer::{block, code, counted},
    intent::{Intent, Topic},
    references::pointed_file,
    run::{Reply, Run, Step, Subject},
    shell_line::path,
    slots::Slots,
};

/// Most names of an archive that are shown.
const MAX_LISTED: usize = 200;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "archives.list",
        topic: Topic::Archives,
        example: "what is in backup.tar.gz?",
        patterns: &[
            "show|content|contain archive <target> ?file ?all ?it",
            "archive <place> ?what ?file ?content -extract -make -compress",
            "contain archive <target> ?what",
            "what archive contain|content <target>",
            "contain <path> archive|what",
        ],
        plan: |slots, run| list_archive(slots.target(), run),
    },
    Intent {
        name: "archives.extract",
        topic: Topic::Archives,
        example: "extract backup.tar.gz",
        patterns: &[
            "extract <path> ?archive ?file ?all ?<place> ?it",
            "extract archive <name> ?file ?all ?<place>",
            "extract file <path> ?all ?<place> ?it",
            "extract file|all|content <place>",
        ],
        plan: extract,
    },
    Intent {
        name: "archives.create",
        topic: Topic::Archives,
        example: "make an archive backup.tar.gz of src",
        patterns: &[
            "compress <name> <place> ?archive ?folder ?file ?all",
            "make archive <name> <place> ?folder ?file ?all",
            "make <path> <place> ?archive ?folder ?file -folder ?all",
            "compress <target> ?archive ?folder ?file ?it",
            "make archive <target> ?folder ?file",
            "archive <name> ?folder ?file ?make -show -extract -what -find -big",
            "archive folder|file <target> ?make -show -extract -what -big",
            "compress it ?file ?folder ?ordinal",
        ],
        plan: create,
    },
];

/// Whether the name has the extension of an archive.
pub(super) fn is_archive(name: &str) -> bool {
    [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst", ".jar", ".7z"]
        .iter()
        .any(|end| name.to_lowercase().ends_with(end))
}

/// Lists the content of an archive with the matching program.
pub(super) fn list_archive(name: &str, run: &mut Run<'_>) -> Step {
    let line = match kind(name) {
        Some(ArchiveKind::Tar) => format!("tar -tf {}", path(name)),
        Some(ArchiveKind::Zip) => format!("unzip -l {}", path(name)),
        None => return unknown(name),
    };
    let output = run.shell(&format!("{line} | head -n {MAX_LISTED}"))?;
    let is_zip = matches!(kind(name), Some(ArchiveKind::Zip));
    let lines: Vec<&str> =
        output.text.lines().filter_map(|line| if is_zip { zip_entry(line) } else { Some(line) }).collect();
    if lines.is_empty() {
        return Ok(Reply::about(name, format!("{} is empty or not an archive.", code(name))));
    }
    let head = format!("{} holds {}:", code(name), counted(lines.len(), "entry", "entries"));
    Ok(Reply::about(name, format!("{head}\n\n{}", block(&lines, "text"))))
}

/// The name in a row `length date time name` of `unzip -l`; heading and totals are not names.
fn zip_entry(line: &str) -> Option<&str> {
    let (length, rest) = super::split_first(line)?;
    let (date, rest) = super::split_first(rest)?;
    let (time, name) = super::split_first(rest)?;
    (length.bytes().all(|byte| byte.is_ascii_digit()) && date.contains('-') && time.contains(':')).then_some(name)
}

enum ArchiveKind {
    Tar,
    Zip,
}

fn kind(name: &str) -> Option<ArchiveKind> {
    let lower = name.to_lowercase();
    let is = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
    if is(&[".zip", ".jar"]) {
        Some(ArchiveKind::Zip)
    } else if is(&[".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst"])
        && !name.contains(':')
    {
        // GNU tar takes a colon for a remote host.
        Some(ArchiveKind::Tar)
    } else {
        None
    }
}

fn unknown(name: &str) -> Step {
    Ok(Reply::new(format!("{} is not an archive that I can read: I read tar (gz, bz2, xz, zst) and zip.", code(name))))
}

fn extract(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.name();
    let into = slots.place.as_deref().filter(|place| *place != ".");
    let Some(kind) = kind(name) else { return unknown(name) };
    let is_zip = matches!(kind, ArchiveKind::Zip);
    let line = match (is_zip, into) {
        (true, None) => format!("unzip -n {}", path(name)),
        (true, Some(folder)) => format!("unzip -n {} -d {}", path(name), path(folder)),
        (false, None) => format!("tar --skip-old-files -xf {}", path(name)),
        (false, Some(folder)) => {
            format!("mkdir -p {} && tar --skip-old-files -xf {} -C {}", path(folder), path(name), path(folder))
        }
    };
    run.shell(&line)?;
    let place = into.unwrap_or(".");
    Ok(Reply::about(
        place,
        format!("I extracted {} into {}; files that were already there stayed.", code(name), code(place)),
    ))
}

fn create(slots: &Slots, run: &mut Run<'_>) -> Step {
    let mut slots = slots.clone();
    if slots.names.is_empty() && slots.place.is_none() && run.subject != Subject::Nothing {
        slots.names = vec![pointed_file(&slots, run)?];
    }
    let (archive, source) = match (slots.names.first(), slots.place.as_deref()) {
        (Some(name), Some(place)) if kind(name).is_some() => (name.clone(), place.to_owned()),
        (Some(name), _) => (format!("{}.tar.gz", name.trim_end_matches('/')), name.clone()),
        (None, Some(".")) | (None, None) => ("../archive.tar.gz".to_owned(), ".".to_owned()),
        (None, Some(place)) => (format!("{}.tar.gz", place.trim_end_matches('/')), place.to_owned()),
    };
    let line = match kind(&archive) {
        Some(ArchiveKind::Tar) => format!("tar -caf {} {}", path(&archive), path(&source)),
        Some(ArchiveKind::Zip) => format!("zip -r {} {}", path(&archive), path(&source)),
        None => return unknown(&archive),
    };
    // Both programs replace an archive without asking.
    if !run.attempt(&format!("ls -d {} 2> /dev/null", path(&archive)))?.failed {
        return Ok(Reply::new(format!("{} is already there; I did not replace it.", code(&archive))));
    }
    if source != "." && run.attempt(&format!("ls -d {}", path(&source)))?.failed {
        return Ok(Reply::new(format!("There is no {} here; nothing was packed.", code(&source))));
    }
    run.shell(&line)?;
    Ok(Reply::about(&archive, format!("I packed {} into {}.", code(&source), code(&archive))))
}
