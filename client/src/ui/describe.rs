//! Lines as text for snapshots: a styled span reads `‹bold red›text‹›`.

use ratatui::{
    style::{Modifier, Style},
    text::Line,
};

const MODIFIERS: [(Modifier, &str); 5] = [
    (Modifier::BOLD, "bold"),
    (Modifier::DIM, "dim"),
    (Modifier::ITALIC, "italic"),
    (Modifier::UNDERLINED, "underlined"),
    (Modifier::CROSSED_OUT, "crossed"),
];

pub(crate) fn plain(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

pub(crate) fn styled(lines: &[Line<'_>]) -> String {
    let mut out = String::new();
    for line in lines {
        let mut open = String::new();
        for span in line.spans.iter().filter(|span| !span.content.is_empty()) {
            let name = name(span.style);
            if name != open && !open.is_empty() {
                out.push_str("‹›");
            }
            if name != open && !name.is_empty() {
                out.push_str(&format!("‹{name}›"));
            }
            open = name;
            out.push_str(&span.content);
        }
        out.push_str(if open.is_empty() { "\n" } else { "‹›\n" });
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
