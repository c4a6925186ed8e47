use ratatui::text::Line;

use super::*;

fn abilities(is_dumb: bool) -> Abilities {
    Abilities {
        colors: ColorSupport::None,
        output_style: OutputStyle::Accessible,
        is_dumb,
        has_links: false,
        rewraps: true,
    }
}

fn lines(texts: &[&str]) -> Vec<Line<'static>> {
    texts.iter().map(|text| Line::raw((*text).to_owned())).collect()
}

/// What is written for frames of lines above, rows of the area, and whether the user types in its last row.
fn written(is_dumb: bool, frames: &[(&[&str], &[&str], bool)]) -> String {
    let mut area = LiveArea::new(40, 10, abilities(is_dumb));
    let mut out = Vec::new();
    for (above, rows, is_typed) in frames {
        let cursor = is_typed.then(|| (rows.len() - 1, 0));
        area.draw(&lines(above), &lines(rows), cursor, &mut out);
    }
    String::from_utf8(out).expect("text")
}

#[test]
fn a_row_is_printed_once_however_often_it_is_drawn() {
    let frames: &[(&[&str], &[&str], bool)] = &[
        (&[], &["Thinking"], false),
        (&[], &["Thinking"], false),
        (&["one"], &["Thinking"], false),
        (&["two"], &[], false),
        (&[], &["Running ls"], false),
        (&["three"], &[], false),
    ];
    assert_eq!(written(true, frames), "Thinking\r\none\r\ntwo\r\nRunning ls\r\nthree\r\n");
}

#[test]
fn what_is_typed_grows_in_its_line_and_a_correction_gets_a_new_one() {
    let frames: &[(&[&str], &[&str], bool)] = &[
        (&[], &["Run this?", "> "], true),
        (&[], &["Run this?", "> n"], true),
        (&[], &["Run this?", "> no"], true),
        (&[], &["Run this?", "> n"], true),
        (&["refused"], &[], false),
    ];
    assert_eq!(written(true, frames), "Run this?\r\n> no\r\n> n\r\nrefused\r\n");
}

#[test]
fn lines_that_come_while_the_user_types_leave_the_typed_text_below() {
    let frames: &[(&[&str], &[&str], bool)] =
        &[(&[], &["Why?", "> bec"], true), (&["a notice"], &["Why?", "> bec"], true), (&[], &["Why?", "> beca"], true)];
    assert_eq!(written(true, frames), "Why?\r\n> bec\r\na notice\r\nWhy?\r\n> beca");
}

#[test]
fn a_dumb_terminal_gets_letters_and_line_ends_and_any_other_only_the_end_of_foreign_styles() {
    let frames: &[(&[&str], &[&str], bool)] = &[(&["a"], &["b"], true), (&[], &["c"], false), (&["d"], &[], false)];
    assert!(!written(true, frames).contains('\x1b'));
    assert!(!written(false, frames).replace("\x1b[m\x1b(B", "").contains('\x1b'));
}
