//! Intents about whole folder trees: their shape, and duplicate files in them.

use super::{
    super::{
        answer::{block, code, counted},
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        shell_line::{path, paths},
        slots::Slots,
    },
    files::NOT_GIT,
    split_first,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "files.duplicates",
        topic: Topic::Files,
        example: "find duplicate files",
        patterns: &["duplicate ?file ?find ?show ?<place> ?<ext> -line"],
        plan: duplicates,
    },
    Intent {
        name: "files.tree",
        topic: Topic::Files,
        example: "show the folder tree",
        patterns: &["tree -process ?show ?folder ?file ?<place> ?git", "tree folder|file ?show ?<place>"],
        plan: tree,
    },
];

/// Compares sizes first, then content, so that only possible duplicates are read.
fn duplicates(slots: &Slots, run: &mut Run<'_>) -> Step {
    const MAX_CANDIDATES: usize = 200;
    let folder = path(slots.folder());
    // Sizes have a fixed width, so that uniq can compare them and only candidates are printed.
    let line = format!(
        "find {folder} -type f -size +0{} {NOT_GIT} -printf '%15s %p\\n' 2> /dev/null | sort -rn | uniq -D -w 15 | head -n {MAX_CANDIDATES}",
        slots.find_tests()
    );
    let output = run.shell(&line)?;
    let candidates: Vec<&str> = output.text.lines().filter_map(split_first).map(|(_, name)| name).collect();
    if candidates.is_empty() {
        return Ok(Reply::new("There are no duplicate files: no two have the same size."));
    }
    let output = run.attempt(&format!("sha256sum {}", paths(&candidates)))?;
    let mut hashed: Vec<(&str, &str)> =
        output.text.lines().filter_map(split_first).filter(|(hash, _)| hash.len() == 64).collect();
    hashed.sort_unstable();
    let groups: Vec<Vec<&str>> = hashed
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group.len() > 1)
        .map(|group| group.iter().map(|(_, name)| *name).collect())
        .collect();
    if groups.is_empty() {
        return Ok(Reply::new("There are no duplicate files: those of equal size differ in content."));
    }
    let mut text = format!("{} of identical content:\n", counted(groups.len(), "group of files", "groups of files"));
    for group in groups.iter().take(10) {
        let names: Vec<String> = group.iter().map(|name| code(name)).collect();
        text.push_str(&format!("\n- {}", names.join(", ")));
    }
    if candidates.len() == MAX_CANDIDATES {
        text.push_str(&format!("\n\nOnly the {MAX_CANDIDATES} largest candidates were compared."));
    }
    Ok(Reply::new(text))
}

fn tree(slots: &Slots, run: &mut Run<'_>) -> Step {
    let folder = slots.folder();
    let line = format!(
        "find {} -maxdepth 3 -not -name '.*' -not -path '*/.*/*' -not -path '*/node_modules/*' -not -path '*/target/*' | sort | head -n 200",
        path(folder)
    );
    let output = run.shell(&line)?;
    let base = folder.trim_end_matches('/');
    let names: Vec<&str> = output
        .text
        .lines()
        .filter_map(|line| line.strip_prefix(base))
        .map(|rest| rest.trim_start_matches('/'))
        .filter(|rest| !rest.is_empty())
        .collect();
    if names.is_empty() {
        return Ok(Reply::new(format!("{} is empty or holds only hidden files.", code(folder))));
    }
    let drawn: Vec<String> = names
        .iter()
        .map(|name| {
            let depth = name.matches('/').count();
            format!("{}{}", "  ".repeat(depth), name.rsplit('/').next().unwrap_or(name))
        })
        .collect();
    let lines: Vec<&str> = drawn.iter().map(String::as_str).collect();
    Ok(Reply::new(format!("{}, three levels deep:\n\n{}", code(folder), block(&lines, "text"))))
}
