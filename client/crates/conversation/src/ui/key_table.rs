//! All keys, by the place where they work. `? /keys`, the manual page and the guide's page of keys come from this table. Pure.

use cohab_term::{output_style::OutputStyle, theme, wrap::wrap_words};
use ratatui::text::{Line, Span};

/// Keys of one place: what the user presses, and what it does, in the imperative.
pub struct Place {
    /// Where the keys work.
    pub name: &'static str,
    /// Keys and meanings.
    pub keys: &'static [(&'static str, &'static str)],
}

/// All of them, the most needed first.
pub const PLACES: [Place; 3] = [
    Place {
        name: "At the prompt of the shell",
        keys: &[
            ("? question", "ask; a line in plain language needs no ?"),
            ("Alt-Enter", "ask this line; on the empty line, ask why a command failed"),
            ("Alt-G", "switch between asking and running this line"),
            ("Ctrl-_", "on the empty line directly after a turn, undo its changes"),
            ("Tab", "complete commands such as `? /model`"),
        ],
    },
    Place {
        name: "While the assistant works",
        keys: &[
            ("Ctrl-C", "stop the answer and its command"),
            ("Esc", "the same, and bring back your line"),
            ("Ctrl-Z", "pause after the step, or resume; suspend a running command"),
            ("Ctrl-O", "keep the model's thoughts on the screen, or fold them"),
            ("any other", "type your own command; the answer continues behind it"),
        ],
    },
    Place {
        name: "On a card",
        keys: &[
            ("y", "do it once; danger wants a typed yes"),
            ("s", "do it, and do not ask again in this session"),
            ("d, a", "allow it here or everywhere, by a rule that is shown first"),
            ("p", "let tests and builds run in this folder; shows the rules"),
            ("o, v", "decide several one by one; show the details"),
            ("e, i", "edit the command; put it on your prompt, unrun, and stop"),
            ("n, Esc", "refuse, with a reason; refuse and end the answer"),
        ],
    },
];

/// Which of the keys the settings change.
pub const SETTINGS: &str =
    "`client.hotkey`, `client.flip_key` and `client.undo_key` choose other keys for Alt-Enter, Alt-G and Ctrl-_.";

/// Below this width a key and its meaning stand in two rows.
const TWO_COLUMNS_WIDTH: usize = 50;

/// The table for a terminal. With two columns it fits a screen of 24 rows.
#[must_use]
pub(crate) fn lines(width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let longest = PLACES.iter().flat_map(|place| place.keys).map(|(keys, _)| keys.len()).max().unwrap_or(0);
    let is_table = output_style == OutputStyle::Rich && width >= TWO_COLUMNS_WIDTH;
    let mut lines = Vec::new();
    for place in &PLACES {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(place.name, theme::STRONG));
        for (keys, meaning) in place.keys {
            let (head, indent) = match (output_style, is_table) {
                (OutputStyle::Accessible, _) => (format!("{keys}: "), 0),
                (_, true) => (format!("  {keys:<longest$}  "), longest + 4),
                (_, false) => {
                    lines.push(Line::styled(*keys, theme::ACCENT));
                    (String::new(), 2)
                }
            };
            let rows = wrap_words(&[Span::raw(*meaning)], width.saturating_sub(indent.max(head.len())));
            for (index, mut row) in rows.into_iter().enumerate() {
                let start = if index == 0 && !head.is_empty() { head.clone() } else { " ".repeat(indent) };
                row.insert(0, Span::styled(start, theme::ACCENT));
                lines.push(Line::from(row));
            }
        }
    }
    lines
}

/// The meaning as a sentence.
#[must_use]
pub fn sentence(meaning: &str) -> String {
    let (first, rest) = meaning.split_at(meaning.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}.", first.to_uppercase())
}

#[cfg(test)]
mod tests {
    use cohab_term::describe::plain;

    use super::*;

    /// The page of the guide.
    fn guide() -> String {
        let mut page = "# Keys\n\n`? /keys` shows this table in the terminal.\n".to_owned();
        for place in &PLACES {
            page += &format!("\n## {}\n\n| key | what it does |\n|---|---|\n", place.name);
            for (keys, meaning) in place.keys {
                page += &format!("| {keys} | {} |\n", sentence(meaning));
            }
        }
        page + &format!("\n{SETTINGS}\n")
    }

    #[test]
    fn the_table_fits_every_width() {
        let shown = |width, style| plain(&lines(width, style));
        let all = [shown(79, OutputStyle::Rich), shown(59, OutputStyle::Rich), shown(79, OutputStyle::Accessible)];
        for (text, width) in all.iter().zip([79, 59, 79]) {
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        }
        assert!(all[0].lines().count() <= 22, "{}", all[0]);
        insta::assert_snapshot!("keys", all.join("\n====\n"));
    }

    /// `COHAB_BLESS=1` writes the page.
    #[test]
    fn the_page_of_the_guide_is_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/guide/keys.md");
        if std::env::var_os("COHAB_BLESS").is_some() {
            std::fs::write(path, guide()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), guide(), "write it again with COHAB_BLESS=1");
    }
}
