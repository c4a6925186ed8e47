//! Lines as text for snapshots: a styled span reads `‹bold red›text‹›`.

use ratatui::{
    style::{Modifier, Style},
    text::Line,
};

use super::link;

const MODIFIERS: [(Modifier, &str); 5] = [
    (Modifier::BOLD, "bold"),
    (Modifier::DIM, "dim"),
    (Modifier::ITALIC, "italic"),
    (Modifier::UNDERLINED, "underlined"),
    (Modifier::CROSSED_OUT, "crossed"),
];

/// The text alone.
#[must_use]
pub fn plain(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// The text with its styles.
#[must_use]
pub fn styled(lines: &[Line<'_>]) -> String {
    let mut out = String::new();
    for line in lines {
        for (index, span) in line.spans.iter().enumerate() {
            // The two parts of an address are one.
            let is_rest = index > 0 && span.style.add_modifier.contains(link::REST);
            let is_named = !name(span.style).is_empty();
            if is_rest && is_named && line.spans[index - 1].style.add_modifier.contains(link::FIRST) {
                out.truncate(out.len() - "‹›".len());
                out.push_str(&format!("{}‹›", span.content));
                continue;
            }
            match name(span.style) {
                name if name.is_empty() => out.push_str(&span.content),
                name => out.push_str(&format!("‹{name}›{}‹›", span.content)),
            }
        }
        out.push('\n');
    }
    out
}

fn name(style: Style) -> String {
    let mut words: Vec<String> = MODIFIERS
        .iter()
        .filter(|(modifier, _)| style.add_modifier.contains(*modifier))
        .map(|(_, name)| (*name).to_owned())
        .collect();
    words.extend(style.fg.map(|colour| colour.to_string().to_lowercase()));
    words.join(" ")
}
