//! Formats answers as Markdown. All text from outside passes `code`, `block` or a table cell.

/// The end of every answer.
pub(super) const LABEL: &str = "*built-in assistant, no language model*";

/// Most rows of a list or table that are shown.
pub(super) const MAX_ROWS: usize = 25;
/// Most lines of a block that are shown.
const MAX_BLOCK_LINES: usize = 40;
/// Most characters of a table cell that are shown.
const MAX_CELL_CHARS: usize = 120;

/// Formats any text as inline code.
pub(super) fn code(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    let longest = longest_run(&line, '`');
    let fence = "`".repeat(longest + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    if line.is_empty() { "``(empty)``".to_owned() } else { format!("{fence}{pad}{line}{pad}{fence}") }
}

/// A fenced block of the first lines, with a note of the number of omitted lines.
pub(super) fn block(lines: &[&str], language: &str) -> String {
    let shown = &lines[..lines.len().min(MAX_BLOCK_LINES)];
    let longest = shown.iter().map(|line| longest_run(line, '`')).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut text = format!("{fence}{language}\n{}\n{fence}", shown.join("\n"));
    if lines.len() > shown.len() {
        text.push_str(&format!("\n\n{} more lines are not shown.", lines.len() - shown.len()));
    }
    text
}

/// A block of the last lines.
pub(super) fn block_tail(lines: &[&str]) -> String {
    block(&lines[lines.len().saturating_sub(MAX_BLOCK_LINES)..], "text")
}

/// A bullet list of inline code, with a note of the number of omitted items.
pub(super) fn list<S: AsRef<str>>(items: &[S]) -> String {
    let mut text: String = items.iter().take(MAX_ROWS).map(|item| format!("- {}\n", code(item.as_ref()))).collect();
    if items.len() > MAX_ROWS {
        text.push_str(&format!("\n{} more are not shown.\n", items.len() - MAX_ROWS));
    }
    text.trim_end().to_owned()
}

/// A table; every cell of the last column is inline code.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for row in rows.iter().take(MAX_ROWS) {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(column, cell)| if column + 1 == row.len() { code_cell(cell) } else { plain_cell(cell) })
            .collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    if rows.len() > MAX_ROWS {
        text.push_str(&format!("\n{} more rows are not shown.\n", rows.len() - MAX_ROWS));
    }
    text.trim_end().to_owned()
}

fn code_cell(text: &str) -> String {
    code(&shorten(text)).replace('|', "\\|")
}

fn plain_cell(text: &str) -> String {
    let short = shorten(text);
    let mut cell = String::with_capacity(short.len());
    for letter in short.chars() {
        if matches!(letter, '|' | '*' | '_' | '`' | '<' | '[' | '\\') {
            cell.push('\\');
        }
        cell.push(if letter.is_control() { ' ' } else { letter });
    }
    cell
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= MAX_CELL_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CELL_CHARS - 1).chain(['…']).collect()
}

fn longest_run(text: &str, mark: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// `a`, `b` or `c`, each as inline code.
pub(super) fn human_list<S: AsRef<str>>(items: &[S], joint: &str) -> String {
    let shown: Vec<String> = items.iter().map(|item| code(item.as_ref())).collect();
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} {joint} {last}", before.join(", ")),
        None => String::new(),
    }
}

/// `1 file`, `3 files`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Bytes in the unit that keeps at most four digits, powers of 1024.
pub(super) fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_and_pipes_in_names_stay_inside_their_cell() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        let text = table(&["Size", "Name"], &[vec!["1".into(), "a|b\nc".into()]]);
        assert_eq!(text.lines().count(), 3);
        assert!(text.ends_with("| 1 | `a\\|b\u{fffd}c` |"), "{text}");
    }

    #[test]
    fn a_fence_in_the_text_does_not_end_the_block() {
        assert!(block(&["```", "x"], "text").starts_with("````text\n"));
    }

    #[test]
    fn long_lists_say_how_much_is_missing() {
        let names: Vec<String> = (0..MAX_ROWS + 7).map(|n| n.to_string()).collect();
        assert!(list(&names).ends_with("7 more are not shown."));
    }

    #[test]
    fn sizes_read_like_sizes() {
        assert_eq!([human_size(0), human_size(1023), human_size(1536)], ["0 B", "1023 B", "1.5 KiB"]);
        assert_eq!(human_size(u64::MAX), "16777216.0 TiB");
    }
}
