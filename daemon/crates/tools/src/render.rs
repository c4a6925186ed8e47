//! Renders small texts for the model and the step line. Pure.

use std::{borrow::Cow, path::Path, time::Duration};

/// Longest title of a step, in characters.
pub(super) const TITLE_MAX_CHARS: usize = 200;

/// The first line of `text` that is not blank, without control characters, cut after `max_chars`; with the number of lines behind it.
pub(super) fn one_line(text: &str, max_chars: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().trim();
    let mut line: String = first.chars().take(max_chars).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if first.chars().nth(max_chars).is_some() {
        line.push('…');
    }
    match lines.count() {
        0 => line,
        more => format!("{line} (+{})", count(more, "line")),
    }
}

/// `1 line`, `2 lines`.
pub(super) fn count(number: usize, thing: &str) -> String {
    let plural = match thing.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if thing.ends_with("ch") => format!("{thing}es"),
        None => format!("{thing}s"),
    };
    if number == 1 { format!("1 {thing}") } else { format!("{number} {plural}") }
}

/// An amount of data: `900 bytes`, `12 kB`, `2.1 MB`.
pub(super) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{} kB", count / 1_000),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A duration with suitable precision: `0.04 s`, `12.3 s`, `3 min 20 s`.
pub(super) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.2} s", duration.as_secs_f64()),
        10..60 => format!("{:.1} s", duration.as_secs_f64()),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A path on one line: control characters are escaped, what is not UTF-8 is replaced.
pub(super) fn path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().any(char::is_control) {
        return text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.into() }).collect();
    }
    text.into_owned()
}

/// `text`, or its longest beginning that fits into `max_bytes` together with the number of omitted bytes.
pub(super) fn cut_end(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    let end = boundary_before(text, max_bytes);
    Cow::Owned(format!("{}… [{} bytes left out]", &text[..end], text.len() - end))
}

/// The last boundary between characters at or before `at`.
fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use cohab_agent::builtin_tools::without_duration;

    use super::*;

    #[test]
    fn amounts_are_told_in_the_unit_that_fits() {
        assert_eq!([900, 12_345, 2_188_895].map(bytes), ["900 bytes", "12 kB", "2.1 MB"]);
    }

    #[test]
    fn a_title_is_one_line_without_controls() {
        assert_eq!(one_line("\n  ls -l \n", 80), "ls -l");
        assert_eq!(one_line("cat <<E\na\n\nE", 80), "cat <<E (+2 lines)");
        assert_eq!(one_line("a\u{1b}[2Jb\rc", 80), "a [2Jb c");
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("", 3), "");
    }

    #[test]
    fn counts_and_durations_read_well() {
        assert_eq!(
            [count(0, "line"), count(1, "match"), count(2, "match"), count(2, "entry")].join(", "),
            "0 lines, 1 match, 2 matches, 2 entries"
        );
        let shown = [40, 12_340, 200_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(shown, ["0.04 s", "12.3 s", "3 min 20 s"]);
    }

    #[test]
    fn a_result_is_known_again_whatever_time_the_call_took() {
        for ms in [4, 11_000, 75_000] {
            let took = duration(Duration::from_millis(ms));
            let result = format!("[a; 1.0 s]\n3.0 s\n[exit 0; cwd /x; {took}; 5 of 9 bytes of output left out]");
            let timeless = "[a; 1.0 s]\n3.0 s\n[exit 0; cwd /x; 5 of 9 bytes of output left out]";
            assert_eq!(without_duration(&result), timeless);
        }
        for other in ["", "0.04 s", "a; 0.04 s; b", "[exit 0\n0.04 s]"] {
            assert_eq!(without_duration(other), other);
        }
    }

    #[test]
    fn what_is_cut_at_its_end_counts_what_is_missing() {
        assert_eq!(cut_end("äöü", 3), "ä… [4 bytes left out]");
    }
}
