//! Recognizes the blocks that a line of markdown can begin or end. Pure; follows CommonMark's rules for the start of a line.

use super::{math::Formula, title::CodeTitle};

/// Columns from which on a line is indented code, unless something else is open.
pub(super) const CODE_INDENT: usize = 4;
const TAB_STOP: usize = 4;
const MAX_ORDINAL_DIGITS: usize = 9;

/// An opened fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    symbol: char,
    length: usize,
    indent: usize,
    /// What the words after the fence say.
    pub(super) title: CodeTitle,
}

impl Fence {
    /// The fence that `line` opens.
    pub(super) fn open(line: &str) -> Option<Self> {
        let (indent, rest) = split_indent(line)?;
        let symbol = rest.chars().next().filter(|symbol| matches!(symbol, '`' | '~'))?;
        let length = rest.chars().take_while(|&c| c == symbol).count();
        let info = rest[length..].trim();
        if length < 3 || (symbol == '`' && info.contains('`')) {
            return None;
        }
        Some(Self { symbol, length, indent, title: CodeTitle::of_fence(info) })
    }

    /// Whether `line` ends the code.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let Some((_, rest)) = split_indent(line) else { return false };
        let rest = rest.trim_end();
        rest.len() >= self.length && rest.chars().all(|c| c == self.symbol)
    }

    /// Whether this start of a line may yet end the code.
    pub(super) fn may_be_closed_by(&self, start: &str) -> bool {
        let signs = start.trim();
        signs.chars().all(|c| c == self.symbol)
    }

    /// A line of code without the blanks that the fence itself was indented by.
    pub(super) fn content<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.bytes().take(self.indent).take_while(|&b| b == b' ').count();
        &line[blanks..]
    }

    /// A line that opens the same fence again.
    pub(super) fn reopening(&self) -> String {
        format!("{}{}\n", String::from(self.symbol).repeat(self.length), self.title.language)
    }
}

/// What makes two items neighbours in one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    /// `-`, `+` or `*`.
    Bullet(char),
    /// The sign after the number.
    Ordered(char),
}

/// The marker that begins a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) kind: ListKind,
    /// For ordered lists.
    pub(super) number: Option<u64>,
    /// Column at which the item's content starts.
    pub(super) content_column: usize,
    is_empty: bool,
}

impl Marker {
    /// The marker at the start of `line`.
    pub(super) fn of(line: &str) -> Option<Self> {
        let (indent, rest) = split_indent(line)?;
        if is_rule(line) {
            return None;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let symbol = rest[digits..].chars().next()?;
        let (kind, number) = match (digits, symbol) {
            (0, '-' | '+' | '*') => (ListKind::Bullet(symbol), None),
            (1..=MAX_ORDINAL_DIGITS, '.' | ')') => (ListKind::Ordered(symbol), rest[..digits].parse().ok()),
            _ => return None,
        };
        let content = &rest[digits + 1..];
        let is_empty = content.trim().is_empty();
        if !is_empty && !content.starts_with([' ', '\t']) {
            return None;
        }
        let gap = indent_columns(content);
        let gap = if is_empty || gap > CODE_INDENT { 1 } else { gap };
        Some(Self { kind, number, content_column: indent + digits + 1 + gap, is_empty })
    }

    /// Whether it may follow a paragraph without a blank line between.
    fn interrupts_paragraph(&self) -> bool {
        !self.is_empty && self.number.is_none_or(|number| number == 1)
    }
}

/// Columns of white space at the start.
pub(super) fn indent_columns(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += TAB_STOP - columns % TAB_STOP,
            _ => break,
        }
    }
    columns
}

/// A line without up to `columns` of its white space.
pub(super) fn dedent(line: &str, columns: usize) -> &str {
    let mut seen = 0;
    for (index, byte) in line.bytes().enumerate() {
        if seen >= columns {
            return &line[index..];
        }
        match byte {
            b' ' => seen += 1,
            b'\t' => seen += TAB_STOP - seen % TAB_STOP,
            _ => return &line[index..],
        }
    }
    ""
}

pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// `# Heading`.
pub(super) fn is_heading(line: &str) -> bool {
    let Some((_, rest)) = split_indent(line) else { return false };
    let level = rest.bytes().take_while(|&b| b == b'#').count();
    (1..=6).contains(&level) && rest[level..].chars().next().is_none_or(char::is_whitespace)
}

/// `---`, `***`, `___`, blanks allowed.
pub(super) fn is_rule(line: &str) -> bool {
    let Some((_, rest)) = split_indent(line) else { return false };
    let Some(symbol) = rest.chars().next().filter(|c| matches!(c, '-' | '*' | '_')) else { return false };
    rest.chars().all(|c| c == symbol || c == ' ' || c == '\t') && rest.chars().filter(|&c| c == symbol).count() >= 3
}

/// The line that turns the paragraph before it into a heading.
pub(super) fn is_setext_underline(line: &str) -> bool {
    let Some((_, rest)) = split_indent(line) else { return false };
    let rest = rest.trim_end();
    !rest.is_empty() && (rest.bytes().all(|b| b == b'=') || rest.bytes().all(|b| b == b'-'))
}

pub(super) fn is_quote(line: &str) -> bool {
    split_indent(line).is_some_and(|(_, rest)| rest.starts_with('>'))
}

/// Whether a formula on lines of its own begins.
fn is_formula(line: &str) -> bool {
    split_indent(line).is_some_and(|(_, rest)| Formula::start(rest).is_some())
}

/// Whether `line` begins a block of its own right after a line of a paragraph.
pub(super) fn interrupts_paragraph(line: &str) -> bool {
    is_heading(line)
        || is_rule(line)
        || is_quote(line)
        || Fence::open(line).is_some()
        || is_formula(line)
        || Marker::of(line).is_some_and(|marker| marker.interrupts_paragraph())
}

/// Indentation and the rest; `None` when it is deep enough for code.
fn split_indent(line: &str) -> Option<(usize, &str)> {
    let indent = indent_columns(line);
    (indent < CODE_INDENT).then(|| (indent, line.trim_start_matches([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_ends_only_with_its_own_sign_and_length() {
        let fence = Fence::open("  ~~~~rust,ignore").expect("a fence");
        assert_eq!(fence.title.language, "rust");
        assert!(!fence.is_closed_by("~~~"));
        assert!(!fence.is_closed_by("````"));
        assert!(fence.is_closed_by("~~~~~  "));
        assert_eq!(fence.content("   x"), " x");
        assert!(Fence::open("```a`b").is_none());
        assert!(Fence::open("    ```").is_none());
    }

    #[test]
    fn markers_know_where_their_content_starts() {
        let column = |line| Marker::of(line).map(|marker| marker.content_column);
        assert_eq!(column("- a"), Some(2));
        assert_eq!(column(" 10)  a"), Some(6));
        assert_eq!(column("-      a"), Some(2));
        assert_eq!(column("-"), Some(2));
        assert_eq!(column("-a"), None);
        assert_eq!(column("- - -"), None);
        assert_eq!(column("1234567890. a"), None);
    }

    #[test]
    fn only_lists_that_start_at_one_interrupt_a_paragraph() {
        assert!(interrupts_paragraph("1. a"));
        assert!(!interrupts_paragraph("1986. A great year"));
        assert!(!interrupts_paragraph("-"));
        assert!(interrupts_paragraph("> a"));
        assert!(!interrupts_paragraph("#hashtag"));
    }
}
