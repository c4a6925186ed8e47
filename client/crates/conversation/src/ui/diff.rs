//! Draws a unified diff: numbered lines, and the words that a changed line differs in. Used by cards, finished steps and `cohab diff`.

use std::{collections::HashSet, ops::Range};

use cohab_protocol::FileDiff;
use cohab_term::{output_style::OutputStyle, theme, visible::visible, wrap::StyledRow};
use ratatui::{
    style::Style,
    text::{Line, Span},
};
use unicode_width::UnicodeWidthStr;

use super::status::fitted;

/// Rows of a diff that stay on the screen below a finished step.
const KEPT_ROWS: usize = 15;
/// Rows stand below the line of their step.
const INDENT: &str = "    ";
/// Between two parts of a file.
const GAP: &str = "⋯";
/// A tab leads to the next of these columns of the file.
const TAB_COLUMNS: usize = 4;
/// The words that differ are marked if at least one letter in so many is the same in both lines.
const LEAST_ALIKE: usize = 3;

/// A line of a diff, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffRow {
    /// Number and text.
    pub spans: StyledRow,
    /// Columns in front of the text.
    pub indent: usize,
}

/// The lines of a diff, safe to be shown. In sentences the lines are as they come: signs say what numbers and colours say otherwise.
#[must_use]
pub fn diff_rows(diff: &str, output_style: OutputStyle) -> Vec<DiffRow> {
    let lines: Vec<&str> = diff.trim_end_matches('\n').split('\n').collect();
    let blanks = BlankChanges::of(diff);
    let mut gutter = Gutter::of(&lines, output_style);
    let partners = if output_style == OutputStyle::Rich { partners(&lines) } else { Vec::new() };
    let texts: Vec<String> = lines.iter().map(|line| visible_line(line, blanks.contain(line))).collect();
    let mut rows = Vec::new();
    for (index, (line, text)) in lines.iter().zip(&texts).enumerate() {
        if gutter.begins_part(line) {
            let is_first = rows.is_empty();
            rows.extend((!is_first).then(|| gutter.row(None, vec![Span::styled(GAP, theme::DIM)])));
            continue;
        }
        let number = gutter.number(line);
        let partner = partners.get(index).copied().flatten();
        let words = partner.and_then(|partner| difference(text, &texts[partner]));
        rows.push(gutter.row(number, spans(text, words, styles(line))));
    }
    rows
}

/// The lines that were added and removed.
#[must_use]
pub fn counts(diff: &str) -> (usize, usize) {
    let hunks = diff.find("@@ -").map_or(diff, |start| &diff[start..]);
    let starting = |sign: char| hunks.split('\n').filter(|line| line.starts_with(sign)).count();
    (starting('+'), starting('-'))
}

/// A diff without the two lines that only say the file's name again.
#[must_use]
pub(crate) fn without_names<'a>(diff: &'a str, path: &str) -> &'a str {
    let rest = diff.strip_prefix(&format!("--- {path}\n")).or_else(|| diff.strip_prefix("--- /dev/null\n"));
    rest.and_then(|rest| rest.strip_prefix(&format!("+++ {path}\n"))).unwrap_or(diff)
}

/// The rows that stay below a step that has changed a file. `all` is the command that shows the whole change.
#[must_use]
pub fn kept_rows(change: &FileDiff, all: &str, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let indent = output_style.choose(INDENT, "");
    let rows = diff_rows(&change.diff, output_style);
    let left_out = rows.len().saturating_sub(KEPT_ROWS) + usize::try_from(change.left_out_lines).unwrap_or(usize::MAX);
    let shown = rows.into_iter().take(KEPT_ROWS).map(|DiffRow { mut spans, .. }| {
        spans.insert(0, Span::raw(indent));
        Line::from(spans)
    });
    let rest = (left_out > 0).then(|| {
        let lines = if left_out == 1 { "line" } else { "lines" };
        let mark = output_style.choose("… ", "And ");
        Line::styled(format!("{indent}{mark}{left_out} more {lines}: `{all}`"), theme::DIM)
    });
    shown.chain(rest).map(|line| fitted(&line, width)).collect()
}

/// The numbers in front of the lines. Without a first header, and in sentences, there are none.
struct Gutter {
    digits: usize,
    /// The numbers of the next lines: before and after the change.
    next: Option<(usize, usize)>,
}

impl Gutter {
    fn of(lines: &[&str], output_style: OutputStyle) -> Self {
        let is_numbered = output_style == OutputStyle::Rich && lines.first().is_some_and(|line| part(line).is_some());
        let last = lines.iter().filter_map(|line| part(line)).map(|part| part.old.end.max(part.new.end)).max();
        let digits = last.filter(|_| is_numbered).map_or(0, |last| last.saturating_sub(1).to_string().len());
        Self { digits, next: None }
    }

    /// Whether it is the header of a part, which the numbers stand for.
    fn begins_part(&mut self, line: &str) -> bool {
        let Some(part) = part(line).filter(|_| self.digits > 0) else { return false };
        self.next = Some((part.old.start, part.new.start));
        true
    }

    fn number(&mut self, line: &str) -> Option<usize> {
        let (old, new) = self.next.as_mut()?;
        let (shown, is_old, is_new) = match line.as_bytes().first() {
            Some(b'-') => (*old, true, false),
            Some(b'+') => (*new, false, true),
            Some(b'\\') => return None,
            _ => (*new, true, true),
        };
        *old += usize::from(is_old);
        *new += usize::from(is_new);
        Some(shown)
    }

    fn row(&self, number: Option<usize>, mut spans: StyledRow) -> DiffRow {
        if self.digits > 0 {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            spans.insert(0, Span::styled(format!("{number:>0$} ", self.digits), theme::DIM));
        }
        // The number, a blank and the sign.
        let indent = if self.digits > 0 { self.digits + 2 } else { 0 };
        DiffRow { spans, indent }
    }
}

/// Where a part of a file is, before and after the change.
struct PartPlace {
    old: Range<usize>,
    new: Range<usize>,
}

/// Reads the header of a part, as `@@ -1,3 +1,4 @@`.
fn part(line: &str) -> Option<PartPlace> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        let (start, count) = (start.parse::<usize>().ok()?, count.parse::<usize>().ok()?);
        Some(start..start.checked_add(count)?)
    };
    Some(PartPlace { old: range(old)?, new: range(new)? })
}

/// For each line that was replaced the line that stands for it on the other side, if lines were replaced one by one.
fn partners(lines: &[&str]) -> Vec<Option<usize>> {
    let mut partners = vec![None; lines.len()];
    let run = |start: usize, sign: char| lines[start..].iter().take_while(|line| line.starts_with(sign)).count();
    let mut start = 0;
    while start < lines.len() {
        let removed = run(start, '-');
        let added = run(start + removed, '+');
        if removed == added {
            for index in start..start + removed {
                (partners[index], partners[index + added]) = (Some(index + added), Some(index));
            }
        }
        start += (removed + added).max(1);
    }
    partners
}

/// The bytes of `line` that are not in `other`, in whole words; `None` if the two are not alike.
fn difference(line: &str, other: &str) -> Option<Range<usize>> {
    let (mine, others) = (words(&line[1..]), words(&other[1..]));
    let prefix = mine.iter().zip(&others).take_while(|(mine, other)| mine == other).count();
    let (mine, others) = (&mine[prefix..], &others[prefix..]);
    let suffix = mine.iter().rev().zip(others.iter().rev()).take_while(|(mine, other)| mine == other).count();
    let changed: usize = mine[..mine.len() - suffix].iter().map(|word| word.len()).sum();
    let end = line.len() - mine[mine.len() - suffix..].iter().map(|word| word.len()).sum::<usize>();
    let range = end - changed..end;
    let is_letter = |c: &char| !c.is_whitespace();
    let alike = line[1..range.start].chars().chain(line[range.end..].chars()).filter(is_letter).count();
    let all = line.chars().filter(is_letter).count().max(other.chars().filter(is_letter).count());
    (alike * LEAST_ALIKE >= all && !range.is_empty()).then_some(range)
}

/// Words and single signs.
fn words(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        words.push(word);
        rest = behind;
    }
    words
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

/// The text with the words that differ.
fn spans(text: &str, words: Option<Range<usize>>, (style, word_style): (Style, Style)) -> StyledRow {
    let Range { start, end } = words.unwrap_or(text.len()..text.len());
    let parts = [(&text[..start], style), (&text[start..end], word_style), (&text[end..], style)];
    let shown = parts.into_iter().filter(|(text, _)| !text.is_empty());
    shown.map(|(text, style)| Span::styled(text.to_owned(), style)).collect()
}

/// A line, safe to be shown. Tabs and the indentation behind the sign are everyday things in a file, unless the change is about them.
fn visible_line(line: &str, is_about_blanks: bool) -> String {
    let (sign, content) = line.split_at(usize::from(line.starts_with(['+', '-', ' '])));
    // A line without a sign is no row of the card's own.
    let sign = if sign.is_empty() && !line.starts_with(['@', '\\']) { " " } else { sign };
    let mut text = String::new();
    for (index, part) in content.split('\t').enumerate() {
        if index > 0 {
            text.push_str(if is_about_blanks { "→" } else { "" });
            // Numbers and signs do not shift the columns of the file.
            text.push_str(&" ".repeat(TAB_COLUMNS - text.width() % TAB_COLUMNS));
        }
        text.push_str(&visible(part));
    }
    format!("{sign}{text}")
}

/// The style of a line, and of the words in it that differ.
fn styles(line: &str) -> (Style, Style) {
    match line.as_bytes() {
        [b'+', ..] => (theme::GOOD, theme::ADDED_WORD),
        [b'-', ..] => (theme::BAD, theme::REMOVED_WORD),
        [b'@', b'@', ..] => (theme::ACCENT, theme::ACCENT),
        [b'\\', ..] => (theme::DIM, theme::DIM),
        _ => (theme::PLAIN, theme::PLAIN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: &[DiffRow]) -> Vec<String> {
        rows.iter().map(|row| Line::from(row.spans.clone()).to_string()).collect()
    }

    fn shown(diff: &str) -> Vec<String> {
        text(&diff_rows(diff, OutputStyle::Rich))
    }

    /// The words of each line that are marked.
    fn marked(diff: &str) -> Vec<String> {
        let is_marked = |span: &&Span<'_>| [theme::ADDED_WORD, theme::REMOVED_WORD].contains(&span.style);
        let rows = diff_rows(diff, OutputStyle::Rich);
        rows.iter().map(|row| row.spans.iter().filter(is_marked).map(|span| &*span.content).collect()).collect()
    }

    #[test]
    fn lines_have_the_numbers_that_they_have_in_the_file() {
        let diff = "@@ -8,3 +8,3 @@\n a\n-b\n+c\n d\n@@ -120,2 +120 @@\n e\n-f\n\\ No newline at end of file\n";
        let rows =
            ["  8  a", "  9 -b", "  9 +c", " 10  d", "    ⋯", "120  e", "121 -f", "    \\ No newline at end of file"];
        assert_eq!(shown(diff), rows);
        assert_eq!(text(&diff_rows(diff, OutputStyle::Accessible)), diff.lines().collect::<Vec<_>>());
        assert_eq!(shown("@@ -0,0 +1,2 @@\n+a\n+b\n"), ["1 +a", "2 +b"]);
        assert_eq!(counts(diff), (1, 2));
    }

    #[test]
    fn a_header_that_says_nothing_is_a_row() {
        let huge = format!("@@ -{0},{0} +1 @@", usize::MAX);
        for header in ["@@ all is well", "@@ -1 +x @@", huge.as_str(), "--- a"] {
            assert_eq!(shown(&format!("{header}\n+b")), [header.to_owned(), "+b".to_owned()]);
        }
    }

    #[test]
    fn the_words_that_differ_are_marked() {
        let diff = "@@ -1,2 +1,2 @@\n-let total = price * count;\n-x = 1\n+let total = net * count;\n+x = 1 + y\n";
        assert_eq!(marked(diff), ["price", "", "net", " + y"]);
        assert_eq!(marked("-let total = price;\n+return;\n"), ["", ""], "the lines are not alike");
        assert_eq!(marked("-a b c\n+a b d\n+e\n"), ["", "", ""], "it is unknown which line became which");
        assert_eq!(marked("-größe = 1 + é;\n+größer = 1 + é;\n"), ["größe", "größer"]);
    }

    #[test]
    fn a_diff_keeps_its_indentation_and_shows_what_hides() {
        assert_eq!(shown("+\ta\tx"), ["+    a   x"]);
        assert_eq!(shown("! all is well"), [" ! all is well"]);
        assert_eq!(shown("-        y\u{202e}"), ["-        y\\u{202e}"]);
    }

    #[test]
    fn a_tab_is_seen_where_the_change_is_about_blanks() {
        let diff = " \tall:\n-        cc x\n-\told\n+\tcc x\n+\tnew\n";
        assert_eq!(shown(diff), ["     all:", "-        cc x", "-    old", "+→   cc x", "+    new"]);
    }

    #[test]
    fn of_a_long_change_the_rest_is_counted_and_a_long_row_is_cut() {
        let diff = (0..55).map(|number| format!("+{number}\u{202e}{}\n", "x".repeat(60))).collect::<String>();
        let rows = |left_out_lines| {
            let change = FileDiff { diff: diff.clone(), left_out_lines };
            let rows = kept_rows(&change, "? /diff", 40, OutputStyle::Rich);
            rows.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(rows(0).iter().all(|row| row.chars().count() <= 40 && !row.contains('\u{202e}')), "{:?}", rows(0));
        assert_eq!((rows(0).len(), rows(0)[KEPT_ROWS].as_str()), (KEPT_ROWS + 1, "    … 40 more lines: `? /diff`"));
        let indented = FileDiff { diff: "@@ -1 +1 @@\n-\tx\n+\t\ty\n".into(), left_out_lines: 0 };
        let rows_of_tabs = kept_rows(&indented, "? /diff", 40, OutputStyle::Rich);
        assert_eq!(
            rows_of_tabs.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["    1 -    x", "    1 +        y"]
        );
        assert_eq!(rows(200)[KEPT_ROWS], "    … 240 more lines: `? /diff`");
    }
}
