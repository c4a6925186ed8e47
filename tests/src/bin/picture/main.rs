//! The picture of the README: records a real session of cohab, and draws the recording. `scripts/picture` runs both.

mod cast;
mod draw;
mod record;

use std::{
    fs,
    io::{self, Write},
    process::ExitCode,
};

const USAGE: &str = "Usage: picture record CAST
       picture draw CAST SVG

  record   drives the client in a terminal, with the offline assistant, and writes an asciicast v2
  draw     draws the screen at the recording's marker, else at its end; the same recording gives the same bytes
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["record", cast] => fs::write(cast, record::session()),
        ["draw", cast, svg] => fs::read_to_string(cast).and_then(|cast| {
            let cast = cast::Cast::read(&cast).map_err(io::Error::other)?;
            fs::write(svg, draw::svg(&cast))
        }),
        _ => {
            let _ = io::stderr().write_all(USAGE.as_bytes());
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "picture: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_e2e::binaries::workspace_root;

    use super::*;

    const MAX_SVG_BYTES: usize = 40 * 1024;

    #[test]
    fn the_picture_is_drawn_from_its_recording_byte_for_byte() {
        let folder = workspace_root().join(".github/pictures");
        let recording = fs::read_to_string(folder.join("session.cast")).expect("the recording is checked in");
        let drawn = draw::svg(&cast::Cast::read(&recording).expect("it is a recording"));
        let kept = fs::read_to_string(folder.join("session.svg")).expect("the picture is checked in");
        assert!(drawn == kept, "run `scripts/picture --draw`");
        assert!(kept.len() < MAX_SVG_BYTES, "{} bytes", kept.len());
    }

    #[test]
    fn the_recording_shows_an_answer_a_command_and_a_card_and_nothing_of_the_machine() {
        let recording =
            fs::read_to_string(workspace_root().join(".github/pictures/session.cast")).expect("it is there");
        let cast = cast::Cast::read(&recording).expect("it is a recording");
        let svg = draw::svg(&cast);
        for words in ["─┼─", "↳", "Run this command?", ">Esc<"] {
            assert!(svg.contains(words), "{words}");
        }
        for words in ["/tmp/", "/root", "/work"] {
            assert!(!recording.contains(words), "{words}");
        }
    }
}
