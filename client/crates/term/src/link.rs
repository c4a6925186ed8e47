//! Addresses that a terminal may open (OSC 8). Only what is written out in full on the screen becomes a link, and leads exactly
//! there: `http` and `https`, no other scheme. An address that was wrapped over several rows is put together again.

use std::rc::Rc;

use ratatui::{
    style::Modifier,
    text::{Line, Span},
};

/// Marks the first letter of an address. Never written to a terminal: no text blinks.
pub const FIRST: Modifier = Modifier::SLOW_BLINK;
/// Marks its other letters, on the same row and at the start of the next ones.
pub const REST: Modifier = Modifier::RAPID_BLINK;

/// Longest address that becomes a link.
const MAX_TARGET_BYTES: usize = 2 * 1024;

/// Whether a terminal of this name can be expected to know links, or to ignore them in silence.
#[must_use]
pub fn is_known_to(term: Option<&str>) -> bool {
    !matches!(term, None | Some("" | "dumb" | "linux" | "vt100" | "vt102" | "vt220"))
}

/// The targets in the rows: for each span of each row where it leads, if it is a part of an address. Empty without addresses.
#[must_use]
pub fn targets(rows: &[Line<'_>]) -> Vec<Vec<Option<Rc<str>>>> {
    if !rows.iter().flat_map(|row| &row.spans).any(|span| span.style.add_modifier.contains(FIRST)) {
        return Vec::new();
    }
    let mut targets: Vec<Vec<Option<Rc<str>>>> = rows.iter().map(|row| vec![None; row.spans.len()]).collect();
    let mut open = OpenLink::default();
    for (at_row, row) in rows.iter().enumerate() {
        let mut has_part = false;
        for (at_span, span) in row.spans.iter().enumerate().filter(|(_, span)| !span.content.is_empty()) {
            match mark(span) {
                Some(FIRST) => {
                    open.close(&mut targets);
                    open = OpenLink { address: span.content.to_string(), parts: vec![(at_row, at_span)] };
                    has_part = true;
                }
                Some(_) if !open.parts.is_empty() => {
                    open.address.push_str(&span.content);
                    open.parts.push((at_row, at_span));
                    has_part = true;
                }
                // Before the rest of an address stands only what is left of the text.
                _ if has_part || !span.content.trim().is_empty() && !is_continued(row) => open.close(&mut targets),
                _ => {}
            }
        }
    }
    open.close(&mut targets);
    targets
}

/// An address while its parts are collected.
#[derive(Default)]
struct OpenLink {
    address: String,
    parts: Vec<(usize, usize)>,
}

impl OpenLink {
    fn close(&mut self, targets: &mut [Vec<Option<Rc<str>>>]) {
        let Self { address, parts } = std::mem::take(self);
        if let Some(target) = safe_target(&address) {
            let target: Rc<str> = target.into();
            parts.into_iter().for_each(|(row, span)| targets[row][span] = Some(Rc::clone(&target)));
        }
    }
}

fn mark(span: &Span<'_>) -> Option<Modifier> {
    [FIRST, REST].into_iter().find(|mark| span.style.add_modifier.contains(*mark))
}

/// Whether the first mark in a row is that of an address which began above.
fn is_continued(row: &Line<'_>) -> bool {
    row.spans.iter().find_map(mark) == Some(REST)
}

/// The target as it is written to a terminal: ASCII without anything that ends the sequence. `None` if it is no link for us: another
/// scheme, a host that is not plain ASCII, a name before the host that looks like one.
#[must_use]
pub fn safe_target(address: &str) -> Option<String> {
    if address.len() > MAX_TARGET_BYTES {
        return None;
    }
    let (scheme, rest) = address.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    if authority.is_empty() || !authority.chars().all(is_host) || address.chars().any(char::is_control) {
        return None;
    }
    let mut target = format!("{scheme}://{authority}");
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}') {
            target.push(char::from(byte));
        } else {
            target.push_str(&format!("%{byte:02X}"));
        }
    }
    Some(target)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{markdown::MarkdownStream, theme};

    fn shown(text: &str, width: u16) -> Vec<(String, Option<String>)> {
        let mut stream = MarkdownStream::new(width, None);
        stream.push(text);
        let rows = stream.finish();
        let targets = targets(&rows);
        let target = |row: usize, span: usize| targets.get(row).and_then(|row| row[span].as_deref()).map(str::to_owned);
        let spans =
            rows.iter().enumerate().flat_map(|(at, row)| row.spans.iter().enumerate().map(move |span| (at, span)));
        spans.map(|(row, (at, span))| (span.content.to_string(), target(row, at))).collect()
    }

    /// The text that leads to `target`.
    fn linked(text: &str, width: u16, target: &str) -> String {
        shown(text, width).into_iter().filter(|(_, to)| to.as_deref() == Some(target)).map(|(text, _)| text).collect()
    }

    #[test]
    fn what_is_written_out_becomes_a_link_and_the_words_before_it_do_not() {
        assert_eq!(linked("[the docs](https://docs.rs/a) x", 80, "https://docs.rs/a"), "https://docs.rs/a");
        assert_eq!(linked("<https://docs.rs>", 80, "https://docs.rs"), "https://docs.rs");
        assert_eq!(linked("- [https://a.b](https://a.b)", 80, "https://a.b"), "https://a.b");
    }

    #[test]
    fn an_address_over_several_rows_is_one_link() {
        let target = "https://example.com/a/very/long/path/that/wraps";
        for text in [format!("see <{target}> there"), format!("> - [x]({target})\n>   and <https://b.c>")] {
            for width in 8..60 {
                assert_eq!(linked(&text, width, target), target, "{width}");
            }
        }
    }

    #[test]
    fn two_addresses_below_each_other_are_two_links() {
        let text = "<https://a.b/1>  \n<https://a.b/2>";
        assert_eq!(linked(text, 80, "https://a.b/1"), "https://a.b/1");
        assert_eq!(linked(text, 80, "https://a.b/2"), "https://a.b/2");
    }

    #[test]
    fn other_schemes_and_disguised_hosts_never_are() {
        for address in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "ssh://host",
            "https://",
            "https://good.example@evil.example/",
            "https://gооgle.com/",
            "https://a b.c/",
            "https://a.b/\u{1b}]8;;",
            "https://a.b/\u{9c}",
            "http:/a.b",
        ] {
            assert_eq!(safe_target(address), None, "{address}");
            let targets = shown(&format!("[{address}](<{address}>)"), 80).into_iter().filter_map(|(_, target)| target);
            // Controls are gone before the text is read; what is left may be an honest address.
            assert!(targets.into_iter().all(|target| target == "https://a.b/"), "{address}");
        }
    }

    #[test]
    fn letters_beyond_ascii_are_encoded_behind_the_host() {
        assert_eq!(safe_target("https://a.b/ä?\"").as_deref(), Some("https://a.b/%C3%A4?%22"));
    }

    #[test]
    fn the_rest_of_an_address_whose_start_is_not_there_is_no_link() {
        let rest = Span::styled("ttps://a.b", theme::PLAIN.add_modifier(REST));
        let rows = [Line::from(rest.clone()), Line::from(vec![Span::raw("x"), rest])];
        assert!(targets(&rows).iter().flatten().all(Option::is_none));
    }

    proptest! {
        #[test]
        fn a_target_is_ascii_and_cannot_end_the_sequence(rest in any::<String>()) {
            if let Some(target) = safe_target(&format!("https://a.b/{rest}")) {
                prop_assert!(target.bytes().all(|byte| byte.is_ascii_graphic()));
            }
        }
    }
}
