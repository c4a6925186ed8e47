//! Intents that search and replace text.

use super::super::{
    answer::{block, code, counted, table},
    intent::{Intent, Topic},
    run::{Output, Reply, Run, Step},
    shell_line::{path, word},
    slots::Slots,
};

/// Folders with generated files.
const SKIPPED: &str = "--exclude-dir=.git --exclude-dir=target --exclude-dir=node_modules";
/// Most hits that are fetched.
const MAX_HITS: usize = 60;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "text.find",
        topic: Topic::Text,
        example: "find the text 'fn main' in src",
        patterns: &[
            "find text|word <text> ?file ?all ?<place> ?<ext> ?contain ?line -replace -count",
            "file contain <text> ?find ?all ?text ?word ?<place> ?<ext> ?show -count -name",
            "contain <text> <ext> ?find ?all ?text ?word ?<place> ?show -count",
            "find <text> <ext> ?all ?<place> ?file ?contain",
            "find <text> <place> -me ?line ?all ?contain -file -folder -name -empty -big",
            "line contain <text> ?find ?show ?all ?<place> ?<ext> ?word ?text -count",
            "where text|word <text> ?use ?<place> ?<ext>",
            "line <text> <place> ?show ?contain ?find -count -first -last -to",
            "find <quote> ?all ?<place> ?<ext> ?file ?line ?it",
            "where text <text> ?<place> ?define",
            "file contain <quote> ?where ?<place> ?find ?<ext>",
            "where file contain <quote> ?<place>",
            "file occur|occurs|appear|appears <quote> ?where ?<place> ?contain",
            "line with <text> <place> ?show ?find",
            "where function <text> ?use ?defined ?define ?call",
            "find function <text> ?<place> ?defined",
            "find text|word <text> <place> ?it",
        ],
        plan: find,
    },
    Intent {
        name: "text.count",
        topic: Topic::Text,
        example: "count matches of 'error' in server.log",
        patterns: &[
            "count match <text> ?<place> ?<ext> ?text ?word ?file",
            "count line match <text> ?<place> ?<ext> ?text ?word ?file",
            "count line contain <text> ?<place> ?<ext> ?text ?word ?file",
            "count text|word <text> <place> ?match",
            "count file contain <text> ?<place> ?<ext> ?text ?word ?all",
        ],
        plan: count,
    },
    Intent {
        name: "text.replace",
        topic: Topic::Text,
        example: "replace 'foo' with 'bar' in notes.txt",
        patterns: &[
            "replace <name2> <place> ?all ?text ?word ?file ?match",
            "replace|change|swap <path2> <place> ?text ?all ?word",
        ],
        plan: replace,
    },
    Intent {
        name: "text.todo",
        topic: Topic::Text,
        example: "show all TODOs",
        patterns: &["todo ?find ?show ?all ?<place> ?<ext> ?text ?file ?count ?where ?write ?written ?it"],
        plan: |slots, run| search(slots, run, "TODO|FIXME", "-E", "TODO or FIXME"),
    },
    Intent {
        name: "text.errors",
        topic: Topic::Text,
        example: "show the errors in the log files",
        patterns: &[
            "fail <ext> show|find|what ?all ?file ?<place> ?line ?contain -why -count -delete",
            "fail log file show|find|what ?all ?<place> ?line -why -count -delete",
        ],
        plan: |slots, run| search(slots, run, "error|fatal|panic|exception", "-i -E", "An error"),
    },
    Intent {
        name: "text.last-lines",
        topic: Topic::Text,
        example: "last 5 lines with 'ERROR' in server.log",
        patterns: &["last line with|contain|match|mention <text> <place> ?show ?find ?<num> ?file -commit"],
        plan: |slots, run| edge(slots, run, "tail", "last"),
    },
    Intent {
        name: "text.first-lines",
        topic: Topic::Text,
        example: "first 5 lines with 'ERROR' in server.log",
        patterns: &["first line with|contain|match|mention <text> <place> ?show ?find ?<num> ?file -commit"],
        plan: |slots, run| edge(slots, run, "head", "first"),
    },
];

fn find(slots: &Slots, run: &mut Run<'_>) -> Step {
    let text = slots.text.as_deref().unwrap_or_default();
    search(slots, run, text, "-F", &code(text))
}

/// The first or last lines that contain a text.
fn edge(slots: &Slots, run: &mut Run<'_>, verb: &str, word: &str) -> Step {
    let (text, count) = (slots.text.as_deref().unwrap_or_default(), slots.count_or(10));
    let output = run.attempt(&format!("{} | {verb} -n {count}", grep(slots, "-n -I -F", text)))?;
    let lines = output.lines();
    if lines.is_empty() {
        return Ok(Reply::new(none_found(&output, &code(text), slots)));
    }
    let place = slots.folder();
    let head = format!("The {word} {} of {} with {}:", counted(lines.len(), "line", "lines"), code(place), code(text));
    Ok(Reply::about(place, format!("{head}\n\n{}", block(&lines, "text"))))
}

/// A search below the place in the question; `text` is literal with `-F`.
pub(super) fn grep(slots: &Slots, options: &str, text: &str) -> String {
    let includes: String =
        slots.extensions.iter().map(|extension| format!(" --include={}", word(&format!("*.{extension}")))).collect();
    format!("grep -r {options} {SKIPPED}{includes} -e {} {} 2> /dev/null", word(text), path(slots.folder()))
}

/// Searches for `text`, which the answer calls `wanted`; `kind` is the option that says how to read it.
fn search(slots: &Slots, run: &mut Run<'_>, text: &str, kind: &str, wanted: &str) -> Step {
    let output = run.attempt(&format!("{} | head -n {MAX_HITS}", grep(slots, &format!("-n -I -H {kind}"), text)))?;
    let hits: Vec<(&str, &str, &str)> = output.text.lines().filter_map(read_hit).collect();
    let Some(first) = hits.first() else {
        return Ok(Reply::new(none_found(&output, wanted, slots)));
    };
    let rows: Vec<Vec<String>> =
        hits.iter().map(|(name, line, text)| vec![format!("{name}:{line}"), text.trim().to_owned()]).collect();
    let at_least = if hits.len() >= MAX_HITS { "at least " } else { "" };
    let mut names: Vec<&str> = hits.iter().map(|(name, _, _)| *name).collect();
    names.dedup();
    let head = format!(
        "{wanted} occurs in {at_least}{} of {}:",
        counted(hits.len(), "line", "lines"),
        counted(names.len(), "file", "files")
    );
    Ok(Reply::about(first.0, format!("{head}\n\n{}", table(&["Where", "Line"], &rows))))
}

/// Reads `name:line:text`; a colon in the name moves the number to the right.
fn read_hit(line: &str) -> Option<(&str, &str, &str)> {
    line.match_indices(':').find_map(|(at, _)| {
        let (number, text) = line[at + 1..].split_once(':')?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((&line[..at], number, text))
    })
}

fn none_found(output: &Output, wanted: &str, slots: &Slots) -> String {
    if output.failed && !output.text.trim().is_empty() {
        output.failure()
    } else {
        format!("I did not find {wanted} in {}.", code(slots.folder()))
    }
}

fn count(slots: &Slots, run: &mut Run<'_>) -> Step {
    let text = slots.text.as_deref().unwrap_or_default();
    let output = run.attempt(&grep(slots, "-c -I -H -F", text))?;
    let mut counts: Vec<(usize, &str)> = output
        .text
        .lines()
        .filter_map(|line| line.rsplit_once(':'))
        .filter_map(|(name, count)| Some((count.parse().ok()?, name)))
        .filter(|(count, _)| *count > 0)
        .collect();
    if counts.is_empty() {
        return Ok(Reply::new(none_found(&output, &code(text), slots)));
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let total: usize = counts.iter().map(|(count, _)| count).sum();
    let rows: Vec<Vec<String>> =
        counts.iter().map(|(count, name)| vec![count.to_string(), (*name).to_owned()]).collect();
    let head = format!(
        "{} occurs in **{}** of {}:",
        code(text),
        counted(total, "line", "lines"),
        counted(counts.len(), "file", "files")
    );
    Ok(Reply::new(format!("{head}\n\n{}", table(&["Lines", "File"], &rows))))
}

/// Shows the change before asking to make it.
fn replace(slots: &Slots, run: &mut Run<'_>) -> Step {
    let [old, new] = slots.names.as_slice() else { return Ok(Reply::new("Please name both texts and the file.")) };
    let file = slots.folder();
    if old.contains('\n') || new.contains('\n') {
        return Ok(Reply::new("I only replace text within a line."));
    }
    let found = run.attempt(&format!("grep -n -F -e {} {}", word(old), path(file)))?;
    let lines = found.lines();
    if lines.is_empty() || found.failed {
        return Ok(Reply::new(if lines.is_empty() {
            format!("{} is not in {}; nothing was changed.", code(old), code(file))
        } else {
            found.failure()
        }));
    }
    let script = format!("s/{}/{}/g", escape_sed(old, "\\/.*[]^$"), escape_sed(new, "\\/&"));
    run.shell(&format!("sed -i -e {} {}", word(&script), path(file)))?;
    let shown = block(&lines, "text");
    Ok(Reply::about(
        file,
        format!("I replaced {} by {} in {}; these lines had it:\n\n{shown}", code(old), code(new), code(file)),
    ))
}

fn escape_sed(text: &str, special: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if special.contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_is_read_though_its_name_has_a_colon() {
        assert_eq!(read_hit("a:b.rs:12:fn x() {}"), Some(("a:b.rs", "12", "fn x() {}")));
        assert_eq!(read_hit("Binary file x matches"), None);
    }

    #[test]
    fn text_is_literal_in_the_script() {
        assert_eq!(escape_sed("a.b/c", "\\/.*[]^$"), "a\\.b\\/c");
    }
}
