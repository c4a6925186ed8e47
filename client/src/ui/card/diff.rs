//! The rows of a diff, for questions of consent.

use std::collections::HashSet;

use cohab_term::{theme, visible::visible};
use ratatui::{style::Style, text::Span};

/// The lines of a diff, safe to be shown, each in its style.
pub fn diff_rows(diff: &str) -> Vec<Span<'static>> {
    let blanks = BlankChanges::of(diff);
    diff.split('\n').map(|line| Span::styled(visible_line(line, &blanks), style(line))).collect()
}

/// Lines that change in nothing but their blanks: tabs are to be seen in them.
struct BlankChanges(HashSet<String>);

impl BlankChanges {
    fn of(diff: &str) -> Self {
        let changed = |sign: char| diff.split('\n').filter_map(move |line| line.strip_prefix(sign)).map(without_blanks);
        let removed: HashSet<String> = changed('-').filter(|text| !text.is_empty()).collect();
        Self(changed('+').filter(|text| removed.contains(text)).collect())
    }

    fn contain(&self, line: &str) -> bool {
        line.strip_prefix(['-', '+']).is_some_and(|content| self.0.contains(&without_blanks(content)))
    }
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Tabs and the indentation behind the sign are everyday things in a file, unless the change is about them.
fn visible_line(line: &str, blanks: &BlankChanges) -> String {
    let (sign, content) = line.split_at(usize::from(line.starts_with(['+', '-', ' '])));
    // A line without a sign is no row of the card's own.
    let sign = if sign.is_empty() && !line.starts_with(['@', '\\']) { " " } else { sign };
    let parts: Vec<String> = content.split('\t').map(visible).collect();
    format!("{sign}{}", parts.join(if blanks.contain(line) { "→\t" } else { "\t" }))
}

fn style(line: &str) -> Style {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => theme::STRONG,
        [b'+', ..] => theme::GOOD,
        [b'-', ..] => theme::BAD,
        [b'@', b'@', ..] => theme::ACCENT,
        _ => theme::PLAIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_keeps_its_indentation_and_shows_what_hides() {
        let shown = |line| visible_line(line, &BlankChanges::of(line));
        assert_eq!(shown("+\t\tx"), "+\t\tx");
        assert_eq!(shown("! all is well"), " ! all is well");
        assert_eq!(shown("-        y\u{202e}"), "-        y\\u{202e}");
    }

    #[test]
    fn a_tab_is_seen_where_the_change_is_about_blanks() {
        let diff = " \tall:\n-        cc x\n-\told\n+\tcc x\n+\tnew\n";
        let blanks = BlankChanges::of(diff);
        let shown: Vec<String> = diff.lines().map(|line| visible_line(line, &blanks)).collect();
        assert_eq!(shown, [" \tall:", "-        cc x", "-\told", "+→\tcc x", "+\tnew"]);
    }
}
