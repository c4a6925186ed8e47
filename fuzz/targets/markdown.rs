//! Fuzzes the display of answers: any text, cut anywhere, on a terminal of any size that changes meanwhile, causes no panic, gives the
//! same lines as in one piece, and sends the terminal nothing but letters and cohab's own control sequences.
#![no_main]

use cohab_term::{
    ansi::ColorSupport,
    live_area::{Abilities, LiveArea},
    markdown::MarkdownStream,
    output_style::OutputStyle,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<(u8, u8, String)>)| {
    let (width, flags, pieces) = input;
    let output_style = if flags & 1 == 0 { OutputStyle::Rich } else { OutputStyle::Accessible };
    let is_resized = flags & 2 != 0;
    let width = u16::from(width).max(2);
    let abilities = Abilities {
        colors: if flags & 4 == 0 { ColorSupport::Ansi16 } else { ColorSupport::None },
        output_style,
        is_dumb: false,
        has_links: flags & 8 == 0,
        rewraps: flags & 16 == 0,
    };
    let mut area = LiveArea::new(width + 1, u16::from(flags >> 5) + 2, abilities);
    let mut stream = MarkdownStream::new(width, None).with_output_style(output_style);
    let (mut lines, mut out) = (Vec::new(), Vec::new());
    for (columns, rows, piece) in &pieces {
        if is_resized {
            area.resize(u16::from(*columns), u16::from(*rows));
            stream.set_width(u16::from(*columns));
        }
        stream.push(piece);
        let closed = stream.take_closed();
        let tail = stream.tail().to_vec();
        area.draw(&closed, &tail, (columns % 3 == 0).then_some((usize::from(*rows), usize::from(*columns))), &mut out);
        lines.extend(closed);
    }
    let rest = stream.finish();
    area.draw(&rest, &[], None, &mut out);
    lines.extend(rest);
    let text = String::from_utf8(out).expect("what is written is text");
    let is_ours = |c: char| matches!(c, '\x1b' | '\r' | '\n');
    assert!(!text.chars().any(|c| c.is_control() && !is_ours(c)), "{text:?}");
    if is_resized {
        return;
    }
    let mut whole = MarkdownStream::new(width, None).with_output_style(output_style);
    whole.push(&pieces.iter().map(|(_, _, piece)| piece.as_str()).collect::<String>());
    assert_eq!(whole.finish(), lines);
    assert!(lines.iter().all(|line| !line.to_string().chars().any(char::is_control)));
});
