//! The pictures of the README: records real sessions of cohab, and draws the recordings. `scripts/picture` runs both.

mod cast;
mod draw;
mod record;

use std::{
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use record::RECORDINGS;

const USAGE: &str = "Usage: picture record FOLDER
       picture draw FOLDER

  record   drives the client in terminals and writes an asciicast v2 of each session
  draw     draws the screen at each recording's marker, else at its end; the same recording gives the same bytes
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["record", folder] => RECORDINGS.iter().try_for_each(|recording| {
            fs::write(Path::new(folder).join(format!("{}.cast", recording.name)), recording.text())
        }),
        ["draw", folder] => RECORDINGS.iter().try_for_each(|recording| {
            let path = Path::new(folder).join(recording.name);
            let cast = fs::read_to_string(path.with_extension("cast"))?;
            let cast = cast::Cast::read(&cast).map_err(io::Error::other)?;
            fs::write(path.with_extension("svg"), draw::svg(&cast))
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

    fn kept(name: &str) -> String {
        fs::read_to_string(workspace_root().join(".github/pictures").join(name)).expect("it is checked in")
    }

    #[test]
    fn pictures_are_drawn_from_their_recordings_byte_for_byte() {
        for recording in RECORDINGS {
            let cast = cast::Cast::read(&kept(&format!("{}.cast", recording.name))).expect("it is a recording");
            let picture = kept(&format!("{}.svg", recording.name));
            assert!(draw::svg(&cast) == picture, "run `scripts/picture --draw`");
            assert!(picture.len() < MAX_SVG_BYTES, "{} bytes", picture.len());
        }
    }

    #[test]
    fn pictures_show_an_answer_a_card_and_an_undo_and_nothing_of_the_machine() {
        for (name, shown) in [
            ("model", &["┼", "bind: address in use", "↳"][..]),
            ("card", &["Run this command?", ">Esc<"]),
            ("undo", &["↶", "port = 8080"]),
        ] {
            let picture = kept(&format!("{name}.svg"));
            for words in shown {
                assert!(picture.contains(words), "{name}: {words}");
            }
            let recording = kept(&format!("{name}.cast"));
            for words in ["/tmp/", "/root", "/work"] {
                assert!(!recording.contains(words), "{name}: {words}");
            }
        }
    }
}
