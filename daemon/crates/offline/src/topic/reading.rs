//! Intents that look into files: content, type, checksum, differences.

use super::{
    super::{
        answer::{block, block_tail, code, counted},
        intent::{Intent, Topic},
        references::pointed_file,
        run::{Reply, Run, Step},
        shell_line::{is_variable_name, path, paths},
        slots::Slots,
    },
    archives, people, show, split_first,
};

/// Lines fetched of a file that is shown.
const SHOWN_LINES: usize = 40;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "files.show",
        topic: Topic::Files,
        example: "show Cargo.toml",
        patterns: &[
            "show|read|content|what|open <path> ?content ?file ?it -first -last -line",
            "show|read|content file <name> ?content -name",
            "file <path> -name -use -own -permission",
            "content <target> ?file ?show ?all -folder -commit -archive",
            "contain <path> what|show ?file ?content",
            "read|show file <target> -name -big -newest -oldest -hidden -empty",
            "show|read|open it|ordinal file|content ?it ?first",
            "show|read|open ordinal ?it ?file",
            "show|read it ?content ?file",
        ],
        plan: show_file,
    },
    Intent {
        name: "files.head",
        topic: Topic::Files,
        example: "first 20 lines of main.rs",
        patterns: &[
            "first -commit -last <target> ?line ?show ?file ?<num> -journal -login -reboot",
            "first <path> ?line ?show ?file ?<num> -commit -last -journal -login -reboot",
            "start <path> show ?line -journal -login -reboot",
        ],
        plan: |slots, run| part(slots, run, "head", "first"),
    },
    Intent {
        name: "files.tail",
        topic: Topic::Files,
        example: "last 10 lines of server.log",
        patterns: &["last -commit -undo <target> ?line ?show ?file ?<num> -journal -login -reboot"],
        plan: |slots, run| part(slots, run, "tail", "last"),
    },
    Intent {
        name: "files.line-count",
        topic: Topic::Files,
        example: "how many lines has main.rs?",
        patterns: &[
            "count line <target> ?file ?size",
            "line size <target> ?file",
            "count line <path> ?file ?it ?in",
            "howlong <path> ?line ?file",
            "howlong line <target> ?file",
        ],
        plan: |slots, run| tally(slots, run, "-l", "line"),
    },
    Intent {
        name: "files.code-lines",
        topic: Topic::Files,
        example: "count lines in all rust files",
        patterns: &["count line <ext> ?file ?all ?<place>", "count line code ?file ?all ?<place> ?project ?it"],
        plan: code_lines,
    },
    Intent {
        name: "files.word-count",
        topic: Topic::Files,
        example: "how many words are in notes.txt?",
        patterns: &["count word <sure> ?file ?it", "count word file <target>", "word <path> count ?file"],
        plan: |slots, run| tally(slots, run, "-w", "word"),
    },
    Intent {
        name: "files.type",
        topic: Topic::Files,
        example: "what kind of file is data.bin?",
        patterns: &["type <path> ?file -command -count", "type file <target> -command -count -all", "file <path> type"],
        plan: |slots, run| about(slots, run, "file -b", "is"),
    },
    Intent {
        name: "files.checksum",
        topic: Topic::Files,
        example: "sha256 of disk.iso",
        patterns: &["checksum <target> ?file ?show", "checksum <sure> ?file ?check ?show ?compute ?verify"],
        plan: checksum,
    },
    Intent {
        name: "files.compare",
        topic: Topic::Files,
        example: "compare old.txt with new.txt",
        patterns: &[
            "compare|diff|same <path2> ?file ?show -git -branch",
            "compare|diff|same file <name2> ?show -git",
            "duplicate <path2> is|are ?file ?it",
        ],
        plan: compare,
    },
    Intent {
        name: "files.details",
        topic: Topic::Files,
        example: "when was notes.txt changed?",
        patterns: &[
            "changed <path> ?file ?last ?time ?date when",
            "stat <path>",
            "date|time <path> ?last ?changed ?file",
            "date changed <target> ?file ?it",
            "when <path> changed|made|created|make ?file ?last",
            "when <path> last ?changed ?file",
            "last changed <path> ?file ?when",
        ],
        plan: |slots, run| {
            let target = slots.target();
            show(
                run,
                &format!("stat -- {}", path(target)),
                &format!("{}:", code(target)),
                "There is nothing to report.",
            )
        },
    },
];

pub(super) fn show_file(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = pointed_file(slots, run)?;
    let name = name.as_str();
    if name.strip_prefix('$').is_some_and(is_variable_name) {
        return people::variable(slots, run);
    }
    if archives::is_archive(name) {
        return archives::list_archive(name, run);
    }
    let output = run.attempt(&format!("head -n {} {}", SHOWN_LINES + 1, path(name)))?;
    if output.failed && output.text.to_lowercase().contains("is a directory") {
        return show(
            run,
            &format!("ls -l -h -A {}", path(name)),
            &format!("{} is a folder:", code(name)),
            "The folder is empty.",
        );
    }
    if output.failed {
        return Ok(Reply::new(output.failure()));
    }
    let lines: Vec<&str> = output.text.lines().collect();
    if lines.is_empty() {
        return Ok(Reply::about(name, format!("{} is empty.", code(name))));
    }
    let more = if lines.len() > SHOWN_LINES { format!(", the first {SHOWN_LINES} lines") } else { String::new() };
    let shown = &lines[..lines.len().min(SHOWN_LINES)];
    Ok(Reply::about(name, format!("{}{more}:\n\n{}", code(name), block(shown, language_of(name)))))
}

fn language_of(name: &str) -> &'static str {
    const LANGUAGES: [(&str, &str); 12] = [
        ("rs", "rust"),
        ("py", "python"),
        ("js", "javascript"),
        ("ts", "typescript"),
        ("c", "c"),
        ("go", "go"),
        ("sh", "bash"),
        ("json", "json"),
        ("toml", "toml"),
        ("yml", "yaml"),
        ("html", "html"),
        ("md", "markdown"),
    ];
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    LANGUAGES.iter().find(|(extension, _)| *extension == end).map_or("text", |(_, language)| language)
}

fn part(slots: &Slots, run: &mut Run<'_>, verb: &str, word: &str) -> Step {
    let count = slots.count_or(10);
    let name = slots.target();
    let output = run.shell(&format!("{verb} -n {count} {}", path(name)))?;
    let lines: Vec<&str> = output.text.lines().collect();
    if lines.is_empty() {
        return Ok(Reply::about(name, format!("{} is empty.", code(name))));
    }
    let body = if verb == "tail" { block_tail(&lines) } else { block(&lines, language_of(name)) };
    let head = format!("The {word} {} of {}", counted(lines.len(), "line", "lines"), code(name));
    Ok(Reply::about(name, format!("{head}:\n\n{body}")))
}

fn tally(slots: &Slots, run: &mut Run<'_>, option: &str, noun: &str) -> Step {
    let name = slots.target();
    let output = run.shell(&format!("wc {option} {}", path(name)))?;
    let count = output
        .lines()
        .last()
        .and_then(|line| line.split_whitespace().next())
        .and_then(|word| word.parse::<usize>().ok());
    Ok(match count {
        Some(count) => {
            Reply::about(name, format!("{} has **{}**.", code(name), counted(count, noun, &format!("{noun}s"))))
        }
        None => Reply::new(output.failure()),
    })
}

/// Counts the lines of files of a kind: `grep -c ''` prints each file's count after its name, so any name is safe.
fn code_lines(slots: &Slots, run: &mut Run<'_>) -> Step {
    const CODE: [&str; 26] = [
        "rs", "py", "js", "mjs", "ts", "tsx", "jsx", "java", "kt", "go", "rb", "c", "h", "cpp", "cc", "hpp", "cs",
        "php", "swift", "scala", "sh", "pl", "lua", "html", "css", "sql",
    ];
    let mut slots = slots.clone();
    if slots.extensions.is_empty() {
        slots.extensions = CODE.map(str::to_owned).to_vec();
    }
    let slots = &slots;
    let output = run.attempt(&super::text::grep(slots, "-c -I -H", ""))?;
    let counts: Vec<(usize, &str)> = output
        .text
        .lines()
        .filter_map(|line| line.rsplit_once(':'))
        .filter_map(|(name, count)| Some((count.parse().ok()?, name)))
        .collect();
    if counts.is_empty() {
        return Ok(Reply::new(format!("There are no such files in {}.", code(slots.folder()))));
    }
    let total: usize = counts.iter().map(|(count, _)| count).sum();
    let largest = counts
        .iter()
        .max()
        .map(|(count, name)| format!(" The longest is {} with {count}.", code(name)))
        .unwrap_or_default();
    Ok(Reply::new(format!("**{total}** lines in {}.{largest}", counted(counts.len(), "file", "files"))))
}

fn about(slots: &Slots, run: &mut Run<'_>, verb: &str, joint: &str) -> Step {
    let name = slots.target();
    let output = run.shell(&format!("{verb} {}", path(name)))?;
    Ok(match output.first() {
        Some(line) => Reply::about(name, format!("{} {joint}: {}", code(name), code(line))),
        None => Reply::new(output.failure()),
    })
}

fn checksum(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.target();
    let output = run.shell(&format!("sha256sum {}", path(name)))?;
    Ok(match output.first().and_then(split_first) {
        Some((hash, _)) => Reply::about(
            name,
            format!("SHA-256 of {}:\n\n{}", code(name), block(&[hash.trim_start_matches('\\')], "text")),
        ),
        None => Reply::new(output.failure()),
    })
}

fn compare(slots: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.attempt(&format!("diff -u {}", paths(&slots.names)))?;
    let lines = output.lines();
    let named = slots.names.iter().map(|name| code(name)).collect::<Vec<_>>().join(" and ");
    if lines.is_empty() {
        return Ok(Reply::new(if output.failed { output.failure() } else { format!("{named} are the same.") }));
    }
    if !lines[0].starts_with("---") {
        return Ok(Reply::new(output.failure()));
    }
    let (gone, new) = lines.iter().skip(2).fold((0, 0), |(gone, new), line| match line.as_bytes().first() {
        Some(b'-') => (gone + 1, new),
        Some(b'+') => (gone, new + 1),
        _ => (gone, new),
    });
    let head = format!(
        "{named} differ: {} only in the first, {} only in the second.",
        counted(gone, "line", "lines"),
        counted(new, "line", "lines")
    );
    Ok(Reply::new(format!("{head}\n\n{}", block(&lines, "diff"))))
}
