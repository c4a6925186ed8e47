//! Intents about disk space: the biggest files and folders, free space, mounts.

use super::{
    super::{
        answer::{code, counted, human_size, table},
        intent::{Intent, Topic},
        references::pointed_file,
        run::{Halt, Reply, Run, Step, Subject},
        shell_line::path,
        slots::Slots,
    },
    show, split_first,
};

const ROWS: usize = 15;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "disk.biggest",
        topic: Topic::Disk,
        example: "what is big here?",
        patterns: &[
            "big -process -memory -git ?use ?space ?disk ?file ?folder ?all ?<place> ?<num>",
            "use space|disk -free -process -memory ?most ?<place> ?<num> ?all ?folder",
            "why disk|folder full|big ?<place>",
            "cleanup space|disk ?<place>",
            "where space go ?all ?disk",
            "where go space ?all ?disk",
            "what|who use|cleanup space ?all ?<place>",
        ],
        plan: biggest,
    },
    Intent {
        name: "disk.biggest-folders",
        topic: Topic::Disk,
        example: "top 5 biggest folders in ~/src",
        patterns: &[
            "big folder -file -go ?<place> ?<num> ?space ?disk",
            "folder size sorted|by|sort ?show ?<place>",
            "folder use space most ?where ?<place> ?disk",
        ],
        plan: biggest_folders,
    },
    Intent {
        name: "disk.biggest-files",
        topic: Topic::Disk,
        example: "the 10 biggest files",
        patterns: &[
            "big file -folder ?find ?<place> ?<num> ?<ext> ?<date> ?disk",
            "big <ext> ?file ?<place> ?<num> ?<date>",
            "top big file ?<num> ?<place> ?<ext>",
            "file size sorted|sort ?show ?<place>",
        ],
        plan: biggest_files,
    },
    Intent {
        name: "disk.smallest-files",
        topic: Topic::Disk,
        example: "the smallest files here",
        patterns: &["small file ?<place> ?<num> ?<ext>"],
        plan: smallest_files,
    },
    Intent {
        name: "disk.free",
        topic: Topic::Disk,
        example: "how much free space is left?",
        patterns: &[
            "free space|disk -memory ?howmuch ?<place> ?space",
            "disk use|full|space|size -folder -file -big -most ?howmuch ?space",
            "df",
            "howmuch space ?disk ?use",
            "out space|disk",
            "howmuch space ?free ?use ?disk",
            "disk use overview|summary|total",
            "space left|free ?count ?disk",
            "size free ?disk ?space",
            "df overview|summary|total|show",
        ],
        plan: free,
    },
    Intent {
        name: "disk.size",
        topic: Topic::Disk,
        example: "how big is src?",
        patterns: &[
            "size -count <target> ?folder ?file ?disk",
            "size folder ?<place> ?all",
            "use space <target> ?folder -disk -most",
            "howmuch space use <target> ?disk ?folder",
            "du ?<place>",
            "df <target>",
            "size <place> ?folder ?file ?all ?total",
            "howmuch weigh <target> ?folder ?file",
            "count size <target> ?folder ?file",
            "size total <target> ?folder",
            "how heavy|big <target> ?folder ?file",
            "folder size <place> ?total",
            "du <target>",
            "size it ?file ?folder",
        ],
        plan: size,
    },
    Intent {
        name: "disk.mounts",
        topic: Topic::Disk,
        example: "what is mounted?",
        patterns: &["mount ?show ?filesystem ?disk ?device", "filesystem ?show ?type"],
        plan: |_, run| show(run, "findmnt -D", "Mounted file systems:", "Nothing is mounted."),
    },
    Intent {
        name: "disk.devices",
        topic: Topic::Disk,
        example: "list the disks",
        patterns: &[
            "show disk|device ?all ?device",
            "what|which|where disk -free -use -full -big -space -size -file -folder -clear",
            "disk device ?show",
            "lsblk",
        ],
        plan: |_, run| show(run, "lsblk -o NAME,SIZE,TYPE,MOUNTPOINTS", "Disks and partitions:", "I see no disks."),
    },
    Intent {
        name: "disk.inodes",
        topic: Topic::Disk,
        example: "how many inodes are free?",
        patterns: &["inode ?free ?use ?count ?disk", "inode out ?free ?it", "inode left|use|free ?count"],
        plan: |_, run| show(run, "df -i -h", "Inodes per file system:", "No file system reports inodes."),
    },
    Intent {
        name: "disk.by-size",
        topic: Topic::Disk,
        example: "files bigger than 100 MB",
        patterns: &["<size> ?file ?find ?all ?<ext> ?<place> ?<date> ?big"],
        plan: by_size,
    },
];

fn biggest(slots: &Slots, run: &mut Run<'_>) -> Step {
    usage_table(slots, run, "-a ", "Size of what is in")
}

fn biggest_folders(slots: &Slots, run: &mut Run<'_>) -> Step {
    usage_table(slots, run, "", "The biggest folders in")
}

fn usage_table(slots: &Slots, run: &mut Run<'_>, all: &str, head: &str) -> Step {
    let folder = slots.folder();
    let count = slots.count_or(ROWS);
    let line = format!("du {all}-h -d 1 {} 2> /dev/null | sort -rh | head -n {}", path(folder), count + 1);
    let output = run.shell(&line)?;
    let rows = usage_rows(&output.text);
    let (totals, parts): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| is_same_folder(&row[1], folder));
    let Some(largest) = parts.first() else {
        return Ok(Reply::new(match totals.first() {
            Some(total) => format!("{} holds {} and has no subfolders to compare.", code(folder), total[0]),
            None => format!("There is no folder {} that I can read.", code(folder)),
        }));
    };
    let of = totals.first().map(|total| format!(" ({} in all)", total[0])).unwrap_or_default();
    let text = format!(
        "{head} {}{of}; {} is the largest with {}:\n\n{}",
        code(folder),
        code(&largest[1]),
        largest[0],
        table(&["Size", "Name"], &parts[..parts.len().min(count)])
    );
    Ok(Reply::about(&largest[1], text))
}

/// Rows `[size, path]` of `du -h`.
fn usage_rows(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .filter_map(split_first)
        .filter(|(size, _)| size.starts_with(|letter: char| letter.is_ascii_digit()))
        .map(|(size, name)| vec![size.to_owned(), name.trim_end().to_owned()])
        .collect()
}

fn is_same_folder(shown: &str, asked: &str) -> bool {
    let bare = |text: &str| text.trim_end_matches('/').trim_start_matches("./").to_owned();
    // The shell expands `~`, so the total of a home folder is the row that is not below any other.
    bare(shown) == bare(asked)
        || shown == asked
        || asked.strip_prefix('~').is_some_and(|below| shown.starts_with('/') && ends_at(shown, below))
}

fn ends_at(shown: &str, below: &str) -> bool {
    let below = below.trim_end_matches('/');
    if below.is_empty() { shown.matches('/').count() <= 2 } else { shown.ends_with(below) }
}

/// The biggest folder directly in `folder`, as a path below it.
pub(super) fn biggest_subfolder(folder: &str, run: &mut Run<'_>) -> Result<(String, String), Halt> {
    let line = format!("du -h -d 1 {} 2> /dev/null | sort -rh | head -n 5", path(folder));
    let output = run.shell(&line)?;
    let found =
        usage_rows(&output.text).into_iter().find(|row| !is_same_folder(&row[1], folder) && is_below(&row[1], folder));
    match found {
        Some(row) => Ok((row[0].clone(), row[1].clone())),
        None => Err(Halt::Over(format!("There is no folder in {}.", code(folder)))),
    }
}

/// Follows only direct children, since a name with a line break could smuggle another path into the listing.
fn is_below(shown: &str, folder: &str) -> bool {
    let is_child = folder.starts_with('~') || shown.starts_with(path_start(folder).as_str());
    is_child && !shown.split('/').any(|part| part == "..")
}

fn path_start(folder: &str) -> String {
    let dashed = if folder.starts_with('-') { "./" } else { "" };
    format!("{dashed}{}/", folder.trim_end_matches('/'))
}

fn biggest_files(slots: &Slots, run: &mut Run<'_>) -> Step {
    files_by_size(slots, run, "-rn", "biggest")
}

/// Rows `[size, path]` of lines `BYTES PATH`.
fn size_rows(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .filter_map(split_first)
        .filter_map(|(bytes, name)| Some(vec![human_size(bytes.parse().ok()?), name.to_owned()]))
        .collect()
}

fn smallest_files(slots: &Slots, run: &mut Run<'_>) -> Step {
    files_by_size(slots, run, "-n", "smallest")
}

fn files_by_size(slots: &Slots, run: &mut Run<'_>, order: &str, word: &str) -> Step {
    let line = format!(
        "find {} -type f{} -printf '%s %p\\n' 2> /dev/null | sort {order} | head -n {}",
        path(slots.folder()),
        slots.find_tests(),
        slots.count_or(10)
    );
    let output = run.shell(&line)?;
    let rows = size_rows(&output.text);
    let Some(first) = rows.first() else {
        return Ok(Reply::new(format!("There are no such files in {}.", code(slots.folder()))));
    };
    let text = format!(
        "The {word} file in {} is {} with {}:\n\n{}",
        code(slots.folder()),
        code(&first[1]),
        first[0],
        table(&["Size", "File"], &rows)
    );
    Ok(Reply::about(&first[1], text))
}

fn by_size(slots: &Slots, run: &mut Run<'_>) -> Step {
    const MAX_FOUND: usize = 200;
    let line = format!(
        "find {} -type f{} -printf '%s %p\\n' 2> /dev/null | sort -rn | head -n {MAX_FOUND}",
        path(slots.folder()),
        slots.find_tests()
    );
    let rows = size_rows(&run.shell(&line)?.text);
    let Some(first) = rows.first() else {
        return Ok(Reply::new(format!("There are no files {} in {}.", slots.find_words(), code(slots.folder()))));
    };
    let at_least = if rows.len() >= MAX_FOUND { "At least " } else { "" };
    let count = counted(rows.len(), "file", "files");
    let text = format!("{at_least}{count} {}:\n\n{}", slots.find_words(), table(&["Size", "File"], &rows));
    Ok(if rows.len() == 1 { Reply::about(&first[1], text) } else { Reply::new(text) })
}

fn free(slots: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell(&format!("df -h {}", path(slots.folder())))?;
    let row: Option<Vec<&str>> = output.lines().last().map(|line| line.split_whitespace().collect());
    match row.as_deref() {
        Some([_, total, used, left, share, mount @ ..]) => Ok(Reply::new(format!(
            "**{left}** are free here: {used} of {total} are used ({share}) on the file system at {}.",
            code(&mount.join(" "))
        ))),
        _ => Ok(Reply::new(output.failure())),
    }
}

fn size(slots: &Slots, run: &mut Run<'_>) -> Step {
    let target = match run.subject {
        Subject::Nothing => slots.target().to_owned(),
        _ => pointed_file(slots, run)?,
    };
    let target = target.as_str();
    let output = run.shell(&format!("du -s -h {}", path(target)))?;
    match usage_rows(&output.text).last() {
        Some(row) => Ok(Reply::about(target, format!("{} takes **{}** on disk.", code(target), row[0]))),
        None => Ok(Reply::new(output.failure())),
    }
}
