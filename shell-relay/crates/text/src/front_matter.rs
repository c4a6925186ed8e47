//! Reads the front matter of a Markdown file: the fields between two lines of `---` at its start, in the part of YAML that such files use.
//!
//! ```
//! use cohab_text::front_matter;
//! let (head, body) = front_matter::split("---\nname: release\n---\nthe text").unwrap();
//! assert_eq!((front_matter::field(head, "name").as_deref(), body), (Some("release"), "the text"));
//! ```

/// Longest list of a field that is read.
const MAX_ITEMS: usize = 100;

/// The text between the first two lines of `---`, and the text behind them; `None` if the text does not begin with such a line. Lines may
/// end with CRLF, and a byte order mark may stand in front.
#[must_use]
pub fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" || !first.ends_with('\n') {
        return None;
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            let head = &text[first.len()..end];
            return Some((head.strip_suffix('\n').unwrap_or(head), &text[end + line.len()..]));
        }
        end += line.len();
    }
    None
}

/// A field of a front matter: the rest of its line, and the indented lines below, without the quotes around it; `None` if it is empty.
///
/// ```
/// use cohab_text::front_matter::field;
/// assert_eq!(field("a: 'it''s' # why", "a").as_deref(), Some("it's"));
/// assert_eq!(field("a: >-\n  one\n\n  two\nb: x", "a").as_deref(), Some("one two"));
/// ```
#[must_use]
pub fn field(head: &str, name: &str) -> Option<String> {
    let (first, more) = raw(head, name)?;
    let joined = std::iter::once(first).chain(more).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    Some(scalar(&joined)).filter(|value| !value.is_empty())
}

/// The items of a field that is a list: `[a, b]`, `a, b`, `a b`, or a line with `- a` for each. Blanks and commas inside of round brackets
/// do not part items. `None` if there is no such field.
///
/// ```
/// use cohab_text::front_matter::list;
/// assert_eq!(list("tools: Read, Bash(git add:*)", "tools").unwrap(), ["Read", "Bash(git add:*)"]);
/// assert_eq!(list("tools:\n- Read\n- \"Grep\"\nb: x", "tools").unwrap(), ["Read", "Grep"]);
/// ```
#[must_use]
pub fn list(head: &str, name: &str) -> Option<Vec<String>> {
    let (first, more) = raw(head, name)?;
    let dashed = more.iter().filter_map(|line| line.strip_prefix('-'));
    let items: Vec<String> = match first {
        "" if more.iter().any(|line| line.starts_with('-')) => dashed.map(|item| scalar(item.trim())).collect(),
        _ => {
            let joined = std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ");
            let inner = scalar(&joined);
            let inner = inner.strip_prefix('[').map_or(inner.as_str(), |rest| rest.trim_end_matches(']'));
            parts(inner).iter().map(|item| scalar(item)).collect()
        }
    };
    Some(items.into_iter().filter(|item| !item.is_empty()).take(MAX_ITEMS).collect())
}

/// The rest of a field's line, and the trimmed lines below that belong to it.
fn raw<'a>(head: &'a str, name: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let mut lines = head.lines();
    let first = lines.find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))?.trim();
    let is_blank = |line: &&str| line.trim().is_empty();
    // The items of a list need no indent.
    let belongs = |line: &&str| is_blank(line) || line.starts_with([' ', '\t']) || line.starts_with("- ");
    let more = lines.take_while(belongs).map(str::trim).filter(|line| !line.is_empty()).collect();
    // YAML's signs for a text of several lines.
    let is_sign = first.starts_with(['>', '|'])
        && first[1..].bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+'));
    Some((if is_sign || first.starts_with('#') { "" } else { first }, more))
}

/// A value without its quotes or a comment behind it.
fn scalar(value: &str) -> String {
    let value = value.trim();
    for (quote, escape) in [('"', '\\'), ('\'', '\'')] {
        let Some(rest) = value.strip_prefix(quote) else { continue };
        let Some((text, after)) = quoted(rest, quote, escape) else { continue };
        if after.is_empty() || after.starts_with('#') {
            return text;
        }
    }
    value.split_once(" #").map_or(value, |(text, _)| text).trim_end().to_owned()
}

/// The text up to the closing quote, and what follows it.
fn quoted(text: &str, quote: char, escape: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut signs = text.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let next = signs.peek().map(|(_, next)| *next);
        match sign {
            sign if sign == escape && next.is_some_and(|next| escape == '\\' || next == quote) => {
                let next = signs.next().map_or(sign, |(_, next)| next);
                value.push(if matches!(next, 'n' | 't' | 'r') { ' ' } else { next });
            }
            sign if sign == quote => return Some((value, text[at + sign.len_utf8()..].trim_start())),
            sign => value.push(sign),
        }
    }
    None
}

/// The parts of a list between commas and blanks that stand in no round brackets.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for sign in text.chars() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            _ if depth == 0 && (sign == ',' || sign.is_whitespace()) => parts.push(String::new()),
            Some(part) => part.push(sign),
            None => {}
        }
    }
    parts
}

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod tests;
