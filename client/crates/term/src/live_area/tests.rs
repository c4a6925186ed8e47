use proptest::prelude::*;

use super::*;
use crate::markdown::MarkdownStream;
use crate::{ansi::cut_line, test_screen::TestScreen};

/// Of most terminals of today.
const ABILITIES: Abilities = Abilities {
    colors: ColorSupport::Ansi16,
    output_style: OutputStyle::Rich,
    is_dumb: false,
    has_links: true,
    rewraps: true,
};

struct Screen {
    terminal: TestScreen,
    area: LiveArea,
}

impl Screen {
    /// A terminal in which something else wrote a line before.
    fn with_prompt(width: u16, height: u16) -> Self {
        let mut screen = Self::new(width, height);
        screen.terminal.process(b"$\r\n");
        screen
    }

    fn new(width: u16, height: u16) -> Self {
        Self { terminal: TestScreen::new(width, height), area: LiveArea::new(width, height, ABILITIES) }
    }

    fn draw(&mut self, above: &[String], area: &[String], cursor: Option<(usize, usize)>) -> Vec<u8> {
        let lines = |texts: &[String]| texts.iter().map(|text| Line::raw(text.clone())).collect::<Vec<_>>();
        let mut out = Vec::new();
        self.area.draw(&lines(above), &lines(area), cursor, &mut out);
        self.terminal.process(&out);
        out
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn unchanged_rows_are_not_sent_again() {
    let mut screen = Screen::new(20, 5);
    screen.draw(&[], &texts(&["one", "two"]), None);
    let out = screen.draw(&[], &texts(&["one", "new"]), None);
    let text = String::from_utf8(out).expect("text");
    assert!(!text.contains("one") && text.contains("new"), "{text:?}");
    assert!(screen.draw(&[], &texts(&["one", "new"]), None).is_empty());
}

#[test]
fn every_draw_is_one_synchronized_update() {
    let out = Screen::new(20, 5).draw(&texts(&["x"]), &texts(&["one"]), None);
    assert!(out.starts_with(BEGIN_SYNCHRONIZED) && out.ends_with(END_SYNCHRONIZED));
}

#[test]
fn the_cursor_is_hidden_unless_asked_for_and_back_after_clear() {
    let mut screen = Screen::new(20, 5);
    screen.draw(&[], &texts(&["one", "two"]), None);
    assert!(screen.terminal.screen().hide_cursor());
    screen.draw(&[], &texts(&["one", "two"]), Some((0, 2)));
    assert!(!screen.terminal.screen().hide_cursor());
    assert_eq!(screen.terminal.screen().cursor_position(), (0, 2));
    let mut out = Vec::new();
    screen.area.clear(&mut out);
    screen.terminal.process(&out);
    assert!(!screen.terminal.screen().hide_cursor());
    assert_eq!(screen.terminal.screen().cursor_position(), (0, 0));
    assert_eq!(screen.terminal.all_rows(), Vec::<String>::new());
}

#[test]
fn an_area_taller_than_the_screen_shows_its_end() {
    let mut screen = Screen::new(20, 3);
    screen.draw(&texts(&["above"]), &texts(&["1", "2", "3", "4"]), Some((3, 1)));
    assert_eq!(screen.terminal.all_rows(), ["above", "3", "4"]);
}

#[test]
fn a_narrower_terminal_is_cleared_of_the_rewrapped_rows() {
    let mut area = LiveArea::new(20, 10, ABILITIES);
    let mut out = Vec::new();
    area.draw(&[], &[Line::raw("x".repeat(19)), Line::raw("y")], None, &mut out);
    area.resize(8, 10);
    out.clear();
    area.clear(&mut out);
    let text = String::from_utf8(out).expect("text");
    assert_eq!(text.matches("\x1b[2K").count(), 4, "19 columns take 3 rows of 8: {text:?}");
    assert!(text.contains("\x1b[3A\r"), "{text:?}");
}

#[test]
fn the_cursor_inside_a_rewrapped_row_counts() {
    let mut area = LiveArea::new(20, 10, ABILITIES);
    let mut out = Vec::new();
    area.draw(&[], &[Line::raw("x".repeat(19))], Some((0, 8)), &mut out);
    area.resize(8, 10);
    out.clear();
    area.clear(&mut out);
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains("\x1b[?25l\x1b[A\r"), "column 8 is in the second row of 8: {text:?}");
}

#[test]
fn a_row_that_gets_much_shorter_is_erased_from_its_start() {
    let mut area = LiveArea::new(40, 10, ABILITIES);
    for (row, is_erased) in [("x".repeat(39), false), ("xx".into(), true), ("x".into(), false)] {
        let mut out = Vec::new();
        area.draw(&[], &[Line::raw(row.clone()), Line::raw("end")], None, &mut out);
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text.contains(&format!("\r\x1b[K{row}")), is_erased, "{text:?}");
    }
}

#[test]
fn a_wider_terminal_keeps_what_is_above() {
    let mut screen = Screen::new(10, 5);
    screen.draw(&texts(&["a", "b"]), &texts(&["area"]), None);
    screen.terminal.resize(30, 5);
    screen.area.resize(30, 5);
    screen.draw(&texts(&["c"]), &texts(&["area, and more of it"]), None);
    assert_eq!(screen.terminal.all_rows(), ["a", "b", "c", "area, and more of it"]);
}

#[test]
fn an_answer_streams_into_the_scrollback_whole() {
    let answer = "# Title\n\nA paragraph that wraps at forty columns, at the very latest here.\n\n- one\n- two\n\n\
        ```\nlet x = 1;\n\nlet y = 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\nThe end.\n";
    let whole = {
        let mut stream = MarkdownStream::new(40, None);
        stream.push(answer);
        crate::describe::plain(&stream.finish())
    };
    for (height, chunk) in [(2, 1), (5, 3), (24, 7)] {
        let mut screen = Screen::with_prompt(41, height);
        let mut stream = MarkdownStream::new(40, None);
        let mut out = Vec::new();
        for chunk in answer.as_bytes().chunks(chunk) {
            stream.push(std::str::from_utf8(chunk).expect("ASCII"));
            let closed = stream.take_closed();
            screen.area.draw(&closed, stream.tail(), None, &mut out);
        }
        screen.area.draw(&stream.finish(), &[], None, &mut out);
        screen.terminal.process(&out);
        let rows: String = screen.terminal.all_rows().iter().map(|row| row.trim_end().to_owned() + "\n").collect();
        assert_eq!(rows, format!("$\n{whole}"), "height {height}");
    }
}

type Step = (Vec<String>, Vec<String>, Option<(usize, usize)>);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = "[a-z日]{1,12}";
    let above = prop::collection::vec(text, 0..4);
    let area = prop::collection::vec(text, 0..7);
    let cursor = prop::option::of((0usize..7, 0usize..14));
    prop::collection::vec((above, area, cursor), 1..12)
}

proptest! {
    #[test]
    fn scrollback_is_all_that_was_written_above_and_the_area_is_below(
        steps in steps(),
        size in prop::sample::select(vec![(2u16, 2u16), (20, 5), (80, 24), (500, 200)]),
    ) {
        let (width, height) = size;
        let mut screen = Screen::with_prompt(width, height);
        let mut expected = texts(&["$"]);
        for (above, area, cursor) in &steps {
            // What is given as `above` is wrapped to the terminal already.
            let above: Vec<String> =
                above.iter().map(|text| cut_line(&Line::raw(text), usize::from(width)).to_string()).filter(|text| !text.is_empty()).collect();
            screen.draw(&above, area, *cursor);
            expected.extend(above);
            let shown = screen.area.skipped(area.len());
            let columns = screen.area.max_columns();
            let mut all = expected.clone();
            all.extend(area[shown..].iter().map(|text| cut_line(&Line::raw(text), columns).to_string()));
            while all.last().is_some_and(String::is_empty) {
                all.pop();
            }
            prop_assert_eq!(screen.terminal.all_rows(), all);
        }
    }
}

#[test]
fn what_another_program_left_does_not_style_the_area() {
    let mut screen = Screen::with_prompt(40, 10);
    screen.terminal.process(b"\x1b[8;7;30;40m");
    screen.draw(&["above".into()], &["Run this command?".into()], None);
    for row in 1..3 {
        let cell = screen.terminal.screen().cell(row, 0).unwrap();
        assert!(!cell.inverse() && cell.fgcolor() == vt100::Color::Default, "{}", cell.contents());
    }
}

#[test]
fn an_emptied_screen_shows_the_area_at_its_top() {
    let mut screen = Screen::with_prompt(20, 6);
    screen.draw(&texts(&["one", "two"]), &texts(&["tail", "thinking"]), None);
    let mut out = Vec::new();
    screen.area.wipe(&mut out);
    screen.terminal.process(&out);
    screen.draw(&[], &texts(&["tail", "thinking"]), None);
    assert_eq!(screen.terminal.all_rows(), ["tail", "thinking"]);
    screen.draw(&texts(&["tail is done"]), &texts(&["thinking"]), None);
    assert_eq!(screen.terminal.all_rows(), ["tail is done", "thinking"]);
}
