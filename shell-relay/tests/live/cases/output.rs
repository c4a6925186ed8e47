//! Cases of a command's output: kept exactly, shown unchanged, reported as it appears.

use std::{
    fs,
    time::{Duration, Instant},
};

use cohab_shell_relay::live::LiveEvent;
use cohab_text::capture::CAPTURE_HEAD_BYTES;

use super::{assert_line_is_back, by, half_typed};
use crate::terminal::{BY_TURN, Kind, Terminal};

/// All bytes that a command wrote.
fn raw_output(t: &Terminal) -> Vec<u8> {
    let pieces = t.events.iter().filter_map(|event| match event {
        LiveEvent::CommandOutput { bytes, .. } => Some(bytes.as_slice()),
        _ => None,
    });
    pieces.collect::<Vec<_>>().concat()
}

case!(case_027_no_last_newline [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let outcome = t.run("printf 'no newline'");
    assert_eq!((outcome.output.as_str(), outcome.total_bytes), ("no newline", 10));
    t.run("true");
    // zsh and fish mark such an end themselves.
    let marks: &[&str] = match kind {
        Kind::Bash => &[""],
        Kind::Zsh => &["%", "#"],
        Kind::Fish | Kind::Fish4 => &["⏎"],
    };
    let wanted = marks.iter().map(|mark| format!("$ printf 'no newline'\nno newline{mark}\n$ true\n$")).collect::<Vec<_>>();
    t.wait("the screen", |t| wanted.contains(&t.text()));
    assert_eq!(t.line("printf 'of the user'").output_tail, "of the user");
    assert_eq!(t.line("true").output_tail, "");
});

case!(case_028_progress_and_colours [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let outcome = t.run("printf 'a\\rb\\033[31mred\\033[0m\\n10%%\\r100%%\\n'");
    assert_eq!(outcome.output, "bred\n100%\n");
    t.wait_text("\nbred\n100%\n$");
    let row = t.text().lines().position(|line| line == "bred").unwrap();
    let colours = (0..4).map(|column| t.screen.screen().cell(row.try_into().unwrap(), column).unwrap().fgcolor());
    let red = vt100::Color::Idx(1);
    assert_eq!(colours.collect::<Vec<_>>(), [vt100::Color::Default, red, red, red]);
});

case!(case_029_characters_and_sequences_in_pieces [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let script = "printf '\\342\\202'; sleep 0.05; printf '\\254 \\033[3'; sleep 0.05; printf '1mred\\033[0m \\033]13'; sleep 0.05;\
        printf '3;A\\033'; sleep 0.05; printf '\\\\on\\n'";
    fs::write(t.home_path().join("pieces"), script).unwrap();
    assert_eq!(t.run("sh pieces").output, "€ red on\n");
    assert_eq!(String::from_utf8_lossy(&raw_output(&t)), "€ \u{1b}[31mred\u{1b}[0m \u{1b}]133;A\u{1b}\\on\r\n");
    t.wait_screen("$ sh pieces\n€ red on\n$ echo half");
    assert_line_is_back(&mut t);
});

case!(case_030_nul_and_bell [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    assert_eq!(t.run("printf 'x\\0y\\007z\\n'").output, "x\u{2400}y\u{2407}z\n");
    assert_eq!(raw_output(&t), b"x\0y\x07z\r\n");
    assert_line_is_back(&mut t);
    assert_eq!(bells(&String::from_utf8_lossy(&t.shown)), 1);
});

/// Bells that ring: fish 4 ends some of its sequences with one.
fn bells(shown: &str) -> usize {
    let mut pieces = shown.split("\x1b]");
    let text = pieces.next().unwrap_or("");
    let behind = |sequence: &str| sequence.split_once('\x07').map_or(0, |(_, text)| text.matches('\x07').count());
    text.matches('\x07').count() + pieces.map(behind).sum::<usize>()
}

case!(case_031_alternate_screen [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("echo a; printf '\\033[?1049h'; echo hidden; printf '\\033[?1049l'; echo b");
    assert_eq!(outcome.output, "a\n[full-screen program ran]\nb\n");
    assert!(!t.live.modes().alternate_screen());
    assert_line_is_back(&mut t);
});

case!(case_032_flood_and_cancel [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let id = t.begin("yes");
    t.wait("a flood", |t| t.shown.len() > CAPTURE_HEAD_BYTES * 4);
    let cancelled_at = Instant::now();
    t.cancel(&id);
    let outcome = t.result(&id).unwrap();
    // Stronger signals than Ctrl-C are sent after 2 s.
    assert!(cancelled_at.elapsed() < Duration::from_secs(2));
    assert_eq!((outcome.ending, outcome.status), (BY_TURN, Some(130)));
    let output = &outcome.output;
    let whole = outcome.truncated_bytes > 0 && output.starts_with("y\ny\n") && output.contains("bytes left out]\ny\n");
    assert!(whole, "{} of {}: {}", outcome.truncated_bytes, outcome.total_bytes, &output[output.len() - 300..]);
    assert_line_is_back(&mut t);
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_033_nine_megabytes [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(t.home_path().join("data"), &bytes).unwrap();
    let outcome = t.run("od -An -v -tx1 data");
    let row = |row: &[u8]| row.iter().map(|byte| format!(" {byte:02x}")).collect::<String>() + "\r\n";
    let dump: String = bytes.chunks(16).map(row).collect();
    assert_eq!((outcome.total_bytes, outcome.status), (dump.len() as u64, Some(0)));
    let shown = String::from_utf8_lossy(&t.shown);
    let begin = shown.find("-tx1 data\r\n").unwrap() + "-tx1 data\r\n".len();
    // Only mode changes precede the output.
    let begin = begin + shown[begin..].find(&dump[..49]).unwrap();
    assert!(shown[begin..].starts_with(&dump), "not all was shown");
    assert_line_is_back(&mut t);
});

case!(case_034_noise [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let outcome = t.run("head -c 200000 /dev/urandom");
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.total_bytes >= 200_000);
    assert_eq!(t.run("echo next").output, "next\n");
    assert_eq!(t.run(by(kind, "cd /usr; (exit 9)", "cd /usr; sh -c 'exit 9'")).status, Some(9));
    assert_eq!(t.live.cwd().to_str(), Some("/usr"));
});
