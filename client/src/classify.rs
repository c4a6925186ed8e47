//! `cohab gate`.

use std::{
    env,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    process::ExitCode,
};

use clap::Args;
use cohab_line_classifier::{Names, explain::explain, judge, line::MAX_LINE_BYTES};
use cohab_text::terminal_safe_writer::HarmlessWriter;

use crate::path_names::PathNames;

/// `cohab gate`.
#[derive(Debug, Args)]
#[command(
    override_usage = "cohab gate --stdin\n       cohab gate --explain <LINE>",
    after_help = "The commands are those in PATH; at a prompt of cohab they are those of that\n\
        shell, with its aliases and functions. Nothing is run and nothing is sent.\n\
        Exit status: 0 judged, 1 cannot read or write, 2 wrong usage, 3 broken pipe."
)]
pub struct GateArgs {
    /// Judge each line of standard input: `shell` or `ai`
    #[arg(long, conflicts_with = "explain", required_unless_present = "explain")]
    pub stdin: bool,
    /// Say what this line is, and why
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub explain: Option<String>,
}

/// The reader of our output is gone.
const BROKEN_PIPE: u8 = 3;
/// Bytes of a line that are kept: what is judged, and a character that was begun.
const KEPT_BYTES: usize = MAX_LINE_BYTES + 4;
/// Bytes of input that are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Runs it. `subcommands` are those of `cohab`.
#[must_use]
pub fn run(args: &GateArgs, subcommands: &'static [&'static str]) -> ExitCode {
    let path = env::var_os("PATH");
    let outcome = match &args.explain {
        Some(line) => {
            let names = PathNames::of(path.as_deref(), env::current_dir().ok(), subcommands);
            HarmlessWriter::new(io::stdout())
                .write_all(explain(line, &names).as_bytes())
                .and_then(|()| io::stdout().flush())
        }
        None => judge_all(io::stdin().lock(), io::stdout().lock(), &PathNames::of(path.as_deref(), None, subcommands)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            // With standard error gone, the exit status is all that is left.
            let _ = writeln!(HarmlessWriter::new(io::stderr()), "cohab: cannot judge the lines: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A word out for each line in. What is known is written before more input is waited for, so that a conversation is possible.
fn judge_all(input: impl Read, output: impl Write, names: &dyn Names) -> io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    let mut output = BufWriter::new(output);
    let mut line = Vec::with_capacity(KEPT_BYTES);
    loop {
        if input.buffer().is_empty() {
            output.flush()?;
        }
        if !read_line(&mut input, &mut line)? {
            return output.flush();
        }
        let text = String::from_utf8_lossy(&line);
        writeln!(output, "{}", judge(&text, names).decision.word())?;
    }
}

/// The beginning of the next line, without its end; false at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut has_any = false;
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            return Ok(has_any);
        }
        has_any = true;
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        line.extend_from_slice(&part[..part.len().min(KEPT_BYTES - line.len())]);
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_line_classifier::test_names::BARE;

    use super::*;

    fn judged(input: &[u8]) -> String {
        let mut output = Vec::new();
        judge_all(input, &mut output, &BARE).expect("memory takes all");
        String::from_utf8(output).expect("words")
    }

    #[test]
    fn each_line_gets_a_word_in_order() {
        assert_eq!(judged(b"ls -la\nwhat changed here since yesterday?\n\ncat a | wc\n"), "shell\nai\nshell\nshell\n");
    }

    #[test]
    fn the_last_line_may_lack_its_end() {
        assert_eq!(judged(b""), "");
        assert_eq!(judged(b"\n"), "shell\n");
        assert_eq!(judged(b"why is this so slow"), "ai\n");
        assert_eq!(judged(b"why is this so slow\r\nls\r\n"), "ai\nshell\n");
    }

    #[test]
    fn lines_of_any_bytes_and_length_are_judged() {
        let mut input = b"\xff\xfe\x00 \xc3\n".to_vec();
        input.extend(std::iter::repeat_n(b'x', 3_000_000));
        input.extend(b"\nwhy does \xff this fail?\n");
        assert_eq!(judged(&input).lines().collect::<Vec<_>>(), ["shell", "shell", "ai"]);
    }

    #[test]
    fn what_is_known_is_written_before_more_is_read() {
        struct Chatty<'a>(Vec<&'static [u8]>, &'a std::cell::Cell<usize>);
        struct Listener<'a>(&'a std::cell::Cell<usize>);
        impl Read for Chatty<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                assert_eq!(self.1.get(), 2 - self.0.len(), "answers so far");
                let Some(line) = self.0.pop() else { return Ok(0) };
                buffer[..line.len()].copy_from_slice(line);
                Ok(line.len())
            }
        }
        impl Write for Listener<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.set(self.0.get() + bytes.iter().filter(|byte| **byte == b'\n').count());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let answers = std::cell::Cell::new(0);
        judge_all(Chatty(vec![b"ls\n", b"pwd\n"], &answers), Listener(&answers), &BARE).expect("all is taken");
        assert_eq!(answers.get(), 2);
    }
}
