use cohab_term::test_screen::TestScreen;
use proptest::prelude::*;

use super::*;

fn room(columns: u16, bytes: &[u8], width: usize) -> Option<usize> {
    let mut rows = PromptRows::new(columns);
    rows.push(bytes);
    rows.room_for(width)
}

#[test]
fn there_is_room_behind_a_short_line_and_none_behind_a_long_one() {
    assert_eq!(room(40, b"$ ", 10), Some(29));
    assert_eq!(room(40, &[b'x'; 25], 10), Some(29));
    assert_eq!(room(40, &[b'x'; 26], 10), None);
    assert_eq!(room(40, &[b'x'; 45], 10), Some(29), "the line has a second row");
    assert_eq!(room(12, b"$ ", 10), None);
    assert_eq!(room(2, b"$ ", 10), None);
    assert_eq!(room(600, b"$ ", 10), None, "wider than is followed");
}

#[test]
fn what_stands_at_the_right_edge_is_never_in_the_way() {
    let right_prompt = b"% \x1b[30C12:34:56\x1b[38D";
    assert_eq!(room(40, right_prompt, 10), Some(21), "left of it");
    assert_eq!(room(40, right_prompt, 25), Some(6));
    assert_eq!(room(40, right_prompt, 27), None);
    let above = b"\x1b[30Cuser\r\n% ";
    assert_eq!(room(40, above, 10), Some(29), "it stands a row above");
    assert_eq!(room(40, b"% \x1b[30C12:34:56\x1b[38D\x1b[K", 10), Some(29), "it was erased");
    assert_eq!(room(40, b"% \x1b[7m                                   \x1b[m\r% ", 10), None, "a coloured bar");
    assert_eq!(room(40, b"%                              \r \r% ", 10), Some(29), "plain blanks");
}

#[test]
fn what_cannot_be_followed_gives_no_room_until_the_next_prompt() {
    for lost in [
        &b"\x1b[5;5H"[..],
        b"\x1b[9A",
        b"\x1b[9B",
        b"\x1b[2;9r",
        b"\x1b[?1049h",
        b"\x1b[4h",
        b"\x1bc",
        b"\x1b[3L",
        b"\x1b8",
        b"\x1bP1;1q#0",
    ] {
        let mut rows = PromptRows::new(40);
        rows.push(b"$ ");
        rows.push(lost);
        assert_eq!(rows.room_for(10), None, "{lost:?}");
        rows.begin(true);
        rows.push(b"$ ");
        assert_eq!(rows.room_for(10), Some(29), "{lost:?}");
    }
}

#[test]
fn a_row_that_somebody_left_unfinished_is_not_blank() {
    let mut rows = PromptRows::new(40);
    rows.begin(false);
    rows.push(b"$ ");
    assert_eq!(rows.room_for(10), None);
    rows.push(b"\r\n$ ");
    assert_eq!(rows.room_for(10), Some(29));
}

#[test]
fn a_cleared_screen_is_blank() {
    assert_eq!(room(40, b"xx\x1b[H$ ", 10), None, "what stands at home is not known");
    assert_eq!(room(40, b"xx\x1b[H\x1b[2J$ ", 10), Some(29));
    let prompt_of_two_rows = b"~\r\n$ x\x1b[H\x1b[2J\r\x1b[A~\x1b[K\r\n$ x\x1b[K";
    assert_eq!(room(40, prompt_of_two_rows, 10), Some(29), "up from the top stays at the top");
    assert_eq!(room(40, b"\x1b[H\x1b[2J~\r\n$ \x1b[9A", 10), None, "it may have scrolled since");
    assert_eq!(room(40, b"xx\x1b[H\x1b[J$ ", 10), Some(29));
}

#[test]
fn behind_a_full_row_the_cursor_goes_left_to_one_of_two_columns() {
    for left in [&b"\x08"[..], b"\x1b[D"] {
        let full = [b"\x1b[39Ca", left].concat();
        assert_eq!(
            room(40, &[&full, &b"a\xc3\xa9\xc3\xa9"[..]].concat(), 10),
            None,
            "one of the letters is in another row"
        );
        assert_eq!(room(40, &[&full, &b"\x1b[20D\x1b[K"[..]].concat(), 10), Some(29));
        assert_eq!(
            room(40, &[&full, &b"\x1b[20D\x1b[K"[..]].concat(), 15),
            Some(24),
            "4 behind the right one of the two"
        );
        assert_eq!(room(40, &[&full, &b"\x1b[20D\x1b[K"[..]].concat(), 17), None);
        assert_eq!(room(40, &[&full, &b"\r\n$ "[..]].concat(), 10), Some(29), "the next row is known");
    }
}

#[test]
fn of_a_flood_only_the_end_is_looked_at() {
    let mut flood = vec![b'x'; 3 * PIECE_MAX_BYTES];
    assert_eq!(room(40, &flood, 10), None);
    flood.extend_from_slice(b"\r\n$ ");
    assert_eq!(room(40, &flood, 10), Some(29));
}

#[test]
fn a_resized_terminal_gives_no_room_until_the_next_prompt() {
    let mut rows = PromptRows::new(40);
    rows.push(b"$ ");
    rows.resize(60);
    rows.push(b"\r$ ");
    assert_eq!(rows.room_for(10), None);
    rows.begin(true);
    assert_eq!(rows.room_for(10), Some(49));
}

/// What prompts and line editors write.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let written = prop_oneof![
        4 => "[a-z日é ]{0,12}".prop_map(String::into_bytes),
        1 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\x08".to_vec()),
        1 => (0u8..30).prop_map(|n| format!("\x1b[{n}C").into_bytes()),
        1 => (0u8..30).prop_map(|n| format!("\x1b[{n}D").into_bytes()),
        1 => (0u8..30).prop_map(|n| format!("\x1b[{n}G").into_bytes()),
        1 => (0u8..9).prop_map(|n| format!("\x1b[{n}P").into_bytes()),
        1 => (0u8..9).prop_map(|n| format!("\x1b[{n}@").into_bytes()),
        1 => (0u8..9).prop_map(|n| format!("\x1b[{n}X").into_bytes()),
        1 => (0u8..3).prop_map(|n| format!("\x1b[{n}K").into_bytes()),
        1 => Just(b"\x1b[J".to_vec()),
        1 => Just(b"\x1b[A".to_vec()),
        1 => Just(b"\x1b7".to_vec()),
        1 => Just(b"\x1b[1;32m".to_vec()),
    ];
    written
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn where_there_is_room_a_real_screen_is_blank(pieces in proptest::collection::vec(piece(), 0..30)) {
        let mut rows = PromptRows::new(40);
        // High enough that nothing scrolls, and begun in its middle: rows above belong to somebody else.
        let mut screen = TestScreen::new(40, 90);
        screen.process(b"\x1b[20;1H");
        for piece in pieces {
            rows.push(&piece);
            screen.process(&piece);
            if let Some(start) = rows.room_for(8) {
                let (row, column) = screen.screen().cursor_position();
                prop_assert!(usize::from(column) < start, "the cursor is at {column}");
                for column in start - GAP..=start + 8 {
                    let cell = screen.screen().cell(row, u16::try_from(column).unwrap()).unwrap();
                    prop_assert!(!cell.has_contents() || cell.contents() == " ", "{column}: {:?}", cell.contents());
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400), columns in 0u16..600) {
        let mut rows = PromptRows::new(columns);
        rows.push(&bytes);
        let _ = rows.room_for(8);
        prop_assert!(rows.screen.rows.len() <= ROWS_MAX);
    }
}
