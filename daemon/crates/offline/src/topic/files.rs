//! Intents about finding files by name, time of change, or kind.

use super::{
    super::{
        answer::{code, counted, table},
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        shell_line::{escape_pattern, path, word},
        slots::Slots,
    },
    archives, list_files, reading, show, split_first,
};

/// Excludes the files of git, which users do not search for by hand.
pub(super) const NOT_GIT: &str = "-not -path '*/.git/*'";

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "files.by-name",
        topic: Topic::Files,
        example: "find files named report",
        patterns: &[
            "find file <name> ?name ?all ?<place> -word -text -line -folder -contain",
            "find file name contain <name> ?all ?<place> -word -text -line -folder",
            "file name <name> ?find ?contain ?<place> -line -word -text",
            "where file <name> ?<place>",
            "it file <name> ?<place> ?name",
            "find|where <path> ?name ?<place> ?it -use -line -word -text -contain",
            "find|where <path> ?file ?name ?<place> ?it i",
            "have file <name> ?name ?somewhere ?where",
            "it file name <name>",
        ],
        plan: by_name,
    },
    Intent {
        name: "files.folders-by-name",
        topic: Topic::Files,
        example: "find the folder named build",
        patterns: &["find|where folder <name> ?name ?all ?<place>"],
        plan: folders_by_name,
    },
    Intent {
        name: "files.by-extension",
        topic: Topic::Files,
        example: "find all .rs files",
        patterns: &[
            "<ext> ?find ?file ?show ?all ?<place> ?<size> ?<date> ?where ?extension -count -delete -line -move -copy -compress -prune -cleanup -rename -extract -kill -executable -archive -download",
        ],
        plan: by_extension,
    },
    Intent {
        name: "files.count",
        topic: Topic::Files,
        example: "how many files are in src?",
        patterns: &[
            "count file ?<place> ?<ext> ?<size> ?<date> ?all -contain",
            "count <ext> ?file ?<place> ?<date> ?<size>",
        ],
        plan: |slots, run| count(slots, run, "f", "file"),
    },
    Intent {
        name: "files.count-folders",
        topic: Topic::Files,
        example: "how many folders are here?",
        patterns: &["count folder ?<place> ?all"],
        plan: |slots, run| count(slots, run, "d", "folder"),
    },
    Intent {
        name: "files.newest",
        topic: Topic::Files,
        example: "newest files here",
        patterns: &[
            "newest file|<ext> ?<place> ?<num> ?show ?changed -download",
            "newest <ext> ?file ?<place> ?<num> -download",
            "last file changed ?<place> ?<num> -download",
            "newest changed ?<place> ?<num> -download",
            "newest <ext> ?file ?<place> ?<num> ?show -download",
            "last <ext> ?file ?<place> -<num> -line -download",
            "what last file changed ?it i -download",
        ],
        plan: |slots, run| by_age(slots, run, "-rn", "newest"),
    },
    Intent {
        name: "files.oldest",
        topic: Topic::Files,
        example: "the oldest file in this folder",
        patterns: &["oldest file ?<place> ?<num>", "oldest <ext> ?file ?<place> ?<num>"],
        plan: |slots, run| by_age(slots, run, "-n", "oldest"),
    },
    Intent {
        name: "files.changed",
        topic: Topic::Files,
        example: "which files changed in the last 2 days?",
        patterns: &[
            "<date> file ?changed ?find ?all ?<place> ?<ext> ?<size> ?make ?where",
            "<date> changed ?<place> ?<ext> -git -commit -log",
            "<date> diff ?<place> -git -commit -log -file",
            "file not changed <date> ?find ?<place> ?<ext>",
            "changed newest file <date>",
        ],
        plan: changed,
    },
    Intent {
        name: "files.newer",
        topic: Topic::Files,
        example: "which files are newer than notes.txt?",
        patterns: &["newer <path> file ?find ?all ?<place> ?where"],
        plan: newer,
    },
    Intent {
        name: "files.empty",
        topic: Topic::Files,
        example: "find empty files",
        patterns: &[
            "empty file ?find ?all ?<place> ?<ext> -make -folder -delete",
            "empty <ext> ?file ?find ?all ?<place> -make -folder -delete",
            "file empty with ?find ?show ?<place>",
        ],
        plan: |slots, run| {
            list_files(
                run,
                &format!("find {} -type f -empty {NOT_GIT}{}", path(slots.folder()), slots.find_tests()),
                "that are empty",
            )
        },
    },
    Intent {
        name: "files.empty-folders",
        topic: Topic::Files,
        example: "find empty folders",
        patterns: &["empty folder ?find ?all ?<place> -make -delete"],
        plan: |slots, run| {
            list_files(run, &format!("find {} -type d -empty {NOT_GIT}", path(slots.folder())), "that are empty")
        },
    },
    Intent {
        name: "files.broken-links",
        topic: Topic::Files,
        example: "find broken symlinks",
        patterns: &["broken symlink|link ?find ?all ?<place>"],
        plan: |slots, run| list_files(run, &format!("find {} -xtype l", path(slots.folder())), "that are broken links"),
    },
    Intent {
        name: "files.links",
        topic: Topic::Files,
        example: "list the symlinks here",
        patterns: &["symlink ?find ?show ?all ?<place>", "symlink ?find ?show ?all ?<place> -make -broken"],
        plan: |slots, run| list_files(run, &format!("find {} -type l", path(slots.folder())), "that are links"),
    },
    Intent {
        name: "files.hidden",
        topic: Topic::Files,
        example: "show hidden files",
        patterns: &["hidden ?file ?folder ?show ?find ?all ?<place>"],
        plan: |slots, run| {
            list_files(
                run,
                &format!("find {} -mindepth 1 -maxdepth 1 -name '.*'", path(slots.folder())),
                "that are hidden",
            )
        },
    },
    Intent {
        name: "files.list",
        topic: Topic::Files,
        example: "list the files here",
        patterns: &[
            "show file|folder ?all ?<place> ?size -compress -delete",
            "what <place> ?file ?content ?it -compress -delete",
            "file <place> ?where -compress -delete",
            "ls ?<place> ?file -compress -delete",
            "content folder ?<place> ?show ?all -compress -delete",
            "show <place> ?all -compress -delete",
            "ls -compress -delete",
            "ls <target> ?file ?folder -compress -delete",
            "show content folder <target> -compress -delete",
            "what <place> ?folder ?it ?file -compress -delete",
            "show pwd -compress -delete",
        ],
        plan: list_folder,
    },
];

fn by_name(slots: &Slots, run: &mut Run<'_>) -> Step {
    named(slots, run, "-not -type d", "with that name")
}

fn folders_by_name(slots: &Slots, run: &mut Run<'_>) -> Step {
    named(slots, run, "-type d", "with that name")
}

fn named(slots: &Slots, run: &mut Run<'_>, kind: &str, what: &str) -> Step {
    let name = slots.name();
    // A star is a wildcard; without a star any name that contains the text matches.
    let pattern = if name.contains(['*', '?']) { name.to_owned() } else { format!("*{}*", escape_pattern(name)) };
    let line = format!("find {} {kind} -iname {} {NOT_GIT} 2> /dev/null", path(slots.folder()), word(&pattern));
    list_files(run, &line, what)
}

fn by_extension(slots: &Slots, run: &mut Run<'_>) -> Step {
    let line = format!("find {} -type f{} {NOT_GIT} 2> /dev/null", path(slots.folder()), slots.find_tests());
    list_files(run, &line, &slots.find_words())
}

fn changed(slots: &Slots, run: &mut Run<'_>) -> Step {
    let line = format!("find {} -type f{} {NOT_GIT} 2> /dev/null", path(slots.folder()), slots.find_tests());
    list_files(run, &line, &slots.find_words())
}

fn newer(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.name();
    let line = format!("find {} -type f -newer {} {NOT_GIT}", path(slots.folder()), path(name));
    list_files(run, &line, &format!("changed after {}", code(name)))
}

fn count(slots: &Slots, run: &mut Run<'_>, kind: &str, noun: &str) -> Step {
    let line = format!(
        "find {} -mindepth 1 -type {kind}{} {NOT_GIT} 2> /dev/null | wc -l",
        path(slots.folder()),
        slots.find_tests()
    );
    let output = run.shell(&line)?;
    let Some(count) = output.first().and_then(|line| line.parse::<usize>().ok()) else {
        return Ok(Reply::new(output.failure()));
    };
    let kind = match slots.extensions.as_slice() {
        [] => String::new(),
        extensions => format!(" ending in .{}", extensions.join(", .")),
    };
    Ok(Reply::new(format!(
        "There are **{}**{kind} in {}, subfolders included.",
        counted(count, noun, &format!("{noun}s")),
        code(slots.folder())
    )))
}

fn by_age(slots: &Slots, run: &mut Run<'_>, order: &str, word: &str) -> Step {
    let line = format!(
        "find {} -type f{} {NOT_GIT} -printf '%T@ %TY-%Tm-%Td %TH:%TM %p\\n' 2> /dev/null | sort {order} | head -n {}",
        path(slots.folder()),
        slots.find_tests(),
        slots.count_or(10)
    );
    let output = run.shell(&line)?;
    let rows: Vec<Vec<String>> = output
        .text
        .lines()
        .filter_map(|line| {
            let (day, rest) = split_first(split_first(line)?.1)?;
            let (time, name) = split_first(rest)?;
            Some(vec![format!("{day} {time}"), name.to_owned()])
        })
        .collect();
    let Some(first) = rows.first() else {
        return Ok(Reply::new(format!("There are no such files in {}.", code(slots.folder()))));
    };
    let text = format!(
        "The {word} file is {}, changed {}:\n\n{}",
        code(&first[1]),
        first[0],
        table(&["Changed", "File"], &rows)
    );
    Ok(Reply::about(&first[1], text))
}

fn list_folder(slots: &Slots, run: &mut Run<'_>) -> Step {
    let place = slots.folder();
    if archives::is_archive(place) {
        return archives::list_archive(place, run);
    }
    if is_document(place) {
        return reading::show_file(slots, run);
    }
    show(
        run,
        &format!("ls -l -h -A {}", path(place)),
        &format!("In {}:", code(place)),
        &format!("{} is empty.", code(place)),
    )
}

/// Whether the name has an ending that is common for files and rare for folders.
fn is_document(name: &str) -> bool {
    const LETTERS: std::ops::RangeInclusive<usize> = 1..=5;
    let last = name.rsplit('/').next().unwrap_or(name);
    last.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty()
            && end != "d"
            && LETTERS.contains(&end.len())
            && end.starts_with(|first: char| first.is_ascii_alphabetic())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
