//! Reads lines from standard input on a thread, and writes lines to standard output on another one. Neither keeps the process alive.

use std::{
    io::{self, BufRead, Write},
    thread,
};

use tokio::sync::{mpsc, oneshot};

/// Longest line that is read, in bytes. A question has at most 1 MiB, and as much piped text.
pub const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Lines that wait to be written. Where the reader does not read, the daemon's messages wait, too.
const WAITING_LINES: usize = 64;

/// A line of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputLine {
    /// A line without its end; never empty.
    Line(Vec<u8>),
    /// A line that is longer than [`MAX_LINE_BYTES`]: it was skipped.
    TooLong,
}

/// Reads the next line; `None` at the end of the input. Empty lines are skipped.
///
/// # Errors
/// The input cannot be read.
pub fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<InputLine>> {
    loop {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            let bytes = match input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                let is_end = line.is_empty() && !is_too_long;
                return Ok((!is_end).then(|| whole(line, is_too_long)));
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(bytes.len());
            if line.len() + taken > most {
                (is_too_long, line) = (true, Vec::new());
            } else if !is_too_long {
                line.extend_from_slice(&bytes[..taken]);
            }
            input.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                break;
            }
        }
        if is_too_long || !line.trim_ascii().is_empty() {
            return Ok(Some(whole(line, is_too_long)));
        }
    }
}

fn whole(line: Vec<u8>, is_too_long: bool) -> InputLine {
    if is_too_long { InputLine::TooLong } else { InputLine::Line(line) }
}

/// Reads lines of standard input on a thread until its end. `wrap` makes them what `lines` carries; `None` is the end.
///
/// # Errors
/// The thread cannot be started.
pub fn read_input<T: Send + 'static>(lines: mpsc::Sender<T>, wrap: fn(Option<InputLine>) -> T) -> io::Result<()> {
    let read = move || {
        let mut input = io::stdin().lock();
        // An input that cannot be read has ended.
        while let Some(line) = read_line(&mut input, MAX_LINE_BYTES).unwrap_or(None) {
            if lines.blocking_send(wrap(Some(line))).is_err() {
                return;
            }
        }
        // The receiver may have ended before.
        let _ = lines.blocking_send(wrap(None));
    };
    thread::Builder::new().name("input".into()).spawn(read).map(drop)
}

/// Writes lines to standard output on a thread. Sending fails once the output is gone. The receiver completes when the sender is dropped
/// and all lines are written.
///
/// # Errors
/// The thread cannot be started.
pub fn write_output() -> io::Result<(mpsc::Sender<String>, oneshot::Receiver<()>)> {
    let (sender, mut lines) = mpsc::channel::<String>(WAITING_LINES);
    let (is_done, written) = oneshot::channel::<()>();
    let write = move || {
        // Dropped at the end, which the receiver hears.
        let _is_done = is_done;
        let mut output = io::stdout().lock();
        while let Some(line) = lines.blocking_recv() {
            if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("output".into()).spawn(write)?;
    Ok((sender, written))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn lines(text: &[u8], capacity: usize) -> Vec<InputLine> {
        let mut input = BufReader::with_capacity(capacity, text);
        std::iter::from_fn(|| read_line(&mut input, 5).unwrap()).collect()
    }

    #[test]
    fn long_lines_are_skipped_and_the_next_one_is_read() {
        let line = |text: &[u8]| InputLine::Line(text.to_vec());
        for capacity in [1, 3, 64] {
            let read = lines(b"ab\n\n  \n123456\nlast", capacity);
            assert_eq!(read, [line(b"ab"), InputLine::TooLong, line(b"last")], "{capacity}");
            assert_eq!(lines(b"12345\n1234567890", capacity), [line(b"12345"), InputLine::TooLong]);
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_come(text in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..60)) {
            prop_assert_eq!(lines(&text, 1), lines(&text, 64));
        }
    }
}
