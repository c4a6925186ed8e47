//! A text that the user edits: the command, a word to the model, or `yes`. Positions are bytes at the borders of graphemes.

use cohab_text::sanitize::is_invisible;
use ratatui::{style::Style, text::Line};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};
use unicode_width::UnicodeWidthStr;

use super::{
    keys::{Input, KeyCode, KeyPress},
    theme,
};
use crate::wrap::{StyledRow, char_boundary, letters, push_text};

/// Longest text that typing and pasting can make.
pub const MAX_INPUT_BYTES: usize = 64 * 1024;
const TAB_COLUMNS: usize = 4;

/// The text and the cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputText {
    text: String,
    cursor: usize,
}

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditResult {
    /// The text or the cursor may have changed.
    Edited,
    /// The key means nothing here; for Enter, Escape and the like.
    Unused,
}

impl InputText {
    /// A text with the cursor at its end. Controls but TAB and LF, and what is not seen, are left out.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = typeable(text);
        Self { cursor: text.len(), text }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Applies an input.
    pub fn apply(&mut self, input: &Input) -> EditResult {
        match input {
            Input::Paste(text) => self.insert(text),
            Input::Key(press) => return self.press(*press),
        }
        EditResult::Edited
    }

    /// Inserts at the cursor, as much as fits. Controls but TAB and LF, and what is not seen, are left out.
    pub fn insert(&mut self, text: &str) {
        let text = typeable(text);
        let room = MAX_INPUT_BYTES.saturating_sub(self.text.len());
        let text = &text[..char_boundary(&text, room)];
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        // A combining letter may have joined the letters around it.
        self.cursor = self.grapheme_end(self.cursor);
    }

    fn press(&mut self, press: KeyPress) -> EditResult {
        let KeyPress { key, has_alt, has_ctrl, .. } = press;
        match (key, has_ctrl, has_alt) {
            (KeyCode::Char(letter), false, false) => self.insert(letter.encode_utf8(&mut [0; 4])),
            (KeyCode::Enter, _, true) => self.insert("\n"),
            (KeyCode::Left, false, false) | (KeyCode::Char('b'), true, false) => self.cursor = self.previous(),
            (KeyCode::Right, false, false) | (KeyCode::Char('f'), true, false) => self.cursor = self.next(),
            (KeyCode::Left, _, _) | (KeyCode::Char('b'), false, true) => self.cursor = self.word_start(),
            (KeyCode::Right, _, _) | (KeyCode::Char('f'), false, true) => self.cursor = self.word_end(),
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, false) => self.cursor = self.line_start(),
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, false) => self.cursor = self.line_end(),
            (KeyCode::Backspace, false, false) | (KeyCode::Char('h'), true, false) => {
                self.remove(self.previous(), self.cursor)
            }
            (KeyCode::Delete, false, false) | (KeyCode::Char('d'), true, false) => {
                self.remove(self.cursor, self.next())
            }
            (KeyCode::Backspace, ..) | (KeyCode::Char('w'), true, false) => self.remove(self.word_start(), self.cursor),
            (KeyCode::Delete, ..) | (KeyCode::Char('d'), false, true) => self.remove(self.cursor, self.word_end()),
            (KeyCode::Char('u'), true, false) => self.remove(self.line_start(), self.cursor),
            (KeyCode::Char('k'), true, false) => self.remove(self.cursor, self.line_end()),
            _ => return EditResult::Unused,
        }
        EditResult::Edited
    }

    /// The text behind `prompt` as rows of at most `width` columns (of at least 6), and the cursor's row and column in them. No letter is cut.
    #[must_use]
    pub fn layout(&self, prompt: &str, width: usize) -> (Vec<Line<'static>>, (usize, usize)) {
        let mut layout = Layout { width: width.max(2), rows: vec![StyledRow::new()], column: 0 };
        for letter in letters(prompt) {
            layout.place(letter, letter.width(), theme::ACCENT);
        }
        let mut cursor = None;
        let mut at = 0;
        for letter in letters(&self.text) {
            let position = match letter {
                "\n" => layout.end_row(),
                "\t" => layout.place(
                    &" ".repeat(TAB_COLUMNS.min(layout.width - 1)),
                    TAB_COLUMNS.min(layout.width - 1),
                    theme::PLAIN,
                ),
                _ => layout.place(letter, letter.width(), theme::PLAIN),
            };
            if at == self.cursor {
                cursor = Some(position);
            }
            at += letter.len();
        }
        let end = (layout.rows.len() - 1, layout.column);
        (layout.rows.into_iter().map(Line::from).collect(), cursor.unwrap_or(end))
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = self.grapheme_end(from);
    }

    fn previous(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0)
    }

    fn next(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }

    fn word_start(&self) -> usize {
        let mut words = self.text[..self.cursor].unicode_word_indices();
        words.next_back().map_or(0, |(start, _)| start)
    }

    fn word_end(&self) -> usize {
        let mut words = self.text[self.cursor..].unicode_word_indices();
        words.next().map_or(self.text.len(), |(start, word)| self.cursor + start + word.len())
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |length| self.cursor + length)
    }

    fn grapheme_end(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        match cursor.is_boundary(&self.text, 0) {
            Ok(true) => at,
            _ => cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len()),
        }
    }
}

/// Rows under construction; each keeps its last column free for the cursor.
struct Layout {
    width: usize,
    rows: Vec<StyledRow>,
    column: usize,
}

impl Layout {
    /// Adds a letter; gives the row and column where it stands.
    fn place(&mut self, shown: &str, columns: usize, style: Style) -> (usize, usize) {
        if self.column + columns >= self.width && self.column > 0 {
            self.end_row();
        }
        let position = (self.rows.len() - 1, self.column);
        if let Some(row) = self.rows.last_mut() {
            push_text(row, shown, style);
        }
        self.column += columns;
        position
    }

    /// Begins a row; gives where the last one ended.
    fn end_row(&mut self) -> (usize, usize) {
        let position = (self.rows.len() - 1, self.column);
        self.rows.push(StyledRow::new());
        self.column = 0;
        position
    }
}

fn typeable(text: &str) -> String {
    let shown = text.chars().filter(|&c| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(c)));
    // Blanks and line ends beyond ASCII look like others, or like nothing.
    shown.map(|c| if c.is_whitespace() && !matches!(c, '\n' | '\t') { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(text: &str, presses: &[KeyPress]) -> (String, usize) {
        let mut input = InputText::new(text);
        for press in presses {
            assert_eq!(input.apply(&Input::Key(*press)), EditResult::Edited);
        }
        (input.text, input.cursor)
    }

    const LEFT: KeyPress = KeyPress::plain(KeyCode::Left);
    const BACKSPACE: KeyPress = KeyPress::plain(KeyCode::Backspace);

    #[test]
    fn backspace_takes_a_whole_letter_however_many_code_points() {
        assert_eq!(after("ae\u{301}", &[BACKSPACE]), ("a".into(), 1));
        assert_eq!(after("a👍🏽b", &[LEFT, BACKSPACE]), ("ab".into(), 1));
        assert_eq!(after("", &[BACKSPACE]), (String::new(), 0));
    }

    #[test]
    fn letters_go_in_at_the_cursor() {
        assert_eq!(after("ac", &[LEFT, KeyPress::plain(KeyCode::Char('b'))]), ("abc".into(), 2));
    }

    #[test]
    fn whole_words_and_lines_go_at_once() {
        assert_eq!(after("git commit -m x", &[KeyPress::ctrl('w')]), ("git commit -m ".into(), 14));
        assert_eq!(after("one two", &[KeyPress::alt(KeyCode::Left), KeyPress::ctrl('k')]), ("one ".into(), 4));
        assert_eq!(after("one two", &[KeyPress::ctrl('u')]), (String::new(), 0));
        assert_eq!(after("a\nb c", &[KeyPress::ctrl('u')]), ("a\n".into(), 2));
        assert_eq!(after("one two", &[KeyPress::ctrl('a'), KeyPress::alt(KeyCode::Char('f'))]), ("one two".into(), 3));
        assert_eq!(after("one two", &[KeyPress::ctrl('a'), KeyPress::plain(KeyCode::Delete)]), ("ne two".into(), 0));
    }

    #[test]
    fn a_paste_loses_its_controls() {
        let mut input = InputText::new("");
        input.apply(&Input::Paste("a\u{1b}[D\nb\u{7f}".into()));
        assert_eq!(input.text(), "a[D\nb");
    }

    #[test]
    fn enter_and_escape_are_for_the_caller() {
        let mut input = InputText::new("a");
        for key in [KeyCode::Enter, KeyCode::Escape, KeyCode::Up, KeyCode::Tab] {
            assert_eq!(input.apply(&Input::Key(KeyPress::plain(key))), EditResult::Unused);
        }
    }

    #[test]
    fn a_long_text_wraps_and_the_cursor_is_where_typing_goes_on() {
        let (lines, cursor) = InputText::new("abcdefgh\nx").layout("> ", 6);
        assert_eq!(crate::describe::plain(&lines), "> abc\ndefgh\nx\n");
        assert_eq!(cursor, (2, 1));
        let (lines, cursor) = InputText::new("日本").layout("", 4);
        assert_eq!((lines.len(), cursor), (2, (1, 2)));
    }

    #[test]
    fn typing_stops_at_the_limit() {
        let mut input = InputText::new("");
        input.insert(&"é".repeat(MAX_INPUT_BYTES));
        assert_eq!(input.text().len(), MAX_INPUT_BYTES);
    }

    fn any_input() -> impl Strategy<Value = Input> {
        let keys = vec![
            LEFT,
            BACKSPACE,
            KeyPress::plain(KeyCode::Right),
            KeyPress::plain(KeyCode::Delete),
            KeyPress::plain(KeyCode::Home),
            KeyPress::alt(KeyCode::Left),
            KeyPress::alt(KeyCode::Right),
            KeyPress::ctrl('w'),
            KeyPress::ctrl('k'),
            KeyPress::ctrl('u'),
            KeyPress::alt(KeyCode::Enter),
        ];
        prop_oneof![
            prop::sample::select(keys).prop_map(Input::Key),
            "[a-z e\u{301}\u{200d}👍🏽🇩🇪日\t\n]{1,4}".prop_map(Input::Paste),
        ]
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_at_the_border_of_a_letter(inputs in prop::collection::vec(any_input(), 0..40), width in 6usize..30) {
            let mut input = InputText::new("");
            for edit in &inputs {
                input.apply(edit);
                let cursor = input.cursor;
                let is_border = cursor == input.text.len() || input.text.grapheme_indices(true).any(|(at, _)| at == cursor);
                prop_assert!(is_border, "{:?}", input);
                let (lines, (row, column)) = input.layout("> ", width);
                prop_assert!(row < lines.len() && column <= width);
            }
        }
    }
}
