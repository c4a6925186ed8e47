//! The end of a conversation that is resumed, in at most six dim rows. Pure.

use cohab_protocol::Recap;
use cohab_term::{output_style::OutputStyle, theme, wrap::columns};
use ratatui::text::Line;

use super::status::{fitted, one_line};

/// Columns of the labels.
const LABEL_COLUMNS: usize = 9;

/// The last question, the end of its answer, open tasks and changed files; a row each, cut to `width`. Nothing stands for what is empty.
#[must_use]
pub(crate) fn rows(recap: &Recap, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let row = |label: &str, text: &str| {
        let head = match (output_style, label) {
            (OutputStyle::Rich, label) => format!("  {label:<LABEL_COLUMNS$}"),
            (OutputStyle::Accessible, "") => String::new(),
            (OutputStyle::Accessible, label) => format!("{label}: "),
        };
        fitted(&Line::styled(head + &one_line(text), theme::DIM), width)
    };
    let room = width.saturating_sub(LABEL_COLUMNS + 2);
    let mut rows = vec![row("asked", &recap.question)];
    let labels = ["answer", ""].into_iter();
    rows.extend(labels.zip(&recap.answer_end).map(|(label, text)| row(label, text)));
    for (label, names) in [("open", &recap.open_tasks), ("changed", &recap.changed_files)] {
        rows.extend(Some(list(names, room)).filter(|text| !text.is_empty()).map(|text| row(label, &text)));
    }
    rows
}

/// As many names as fit; the others are counted. The first one always stands there.
fn list(names: &[String], room: usize) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        let left = names.len() - index;
        let more = format!(" and {left} more");
        let next = if text.is_empty() { one_line(name) } else { format!("{text}, {}", one_line(name)) };
        let needs = if left > 1 { columns(&next) + more.len() } else { columns(&next) };
        if needs > room && !text.is_empty() {
            return text + &more;
        }
        text = next;
    }
    text
}

#[cfg(test)]
mod tests {
    use cohab_term::describe::plain;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn it_is_short_and_harmless() {
        let recap = Recap {
            question: "why is the \x1b[2Jbuild folder so large that the disk is full".into(),
            answer_end: texts(&["It holds three profiles.", "Run `cargo clean --profile dev` to free 31 GB."]),
            open_tasks: texts(&["remove old profiles", "write down why", "tell the others", "x"]),
            changed_files: texts(&["Cargo.toml", "docs/build.md"]),
        };
        let shown = |width, style| plain(&rows(&recap, width, style));
        let all = [shown(79, OutputStyle::Rich), shown(39, OutputStyle::Rich), shown(79, OutputStyle::Accessible)];
        assert!(all.iter().all(|text| text.lines().count() <= 6));
        insta::assert_snapshot!("recap", all.join("----\n"));
        let least = Recap { question: "why".into(), ..Recap::default() };
        assert_eq!(plain(&rows(&least, 40, OutputStyle::Rich)), "  asked    why\n");
    }
}
