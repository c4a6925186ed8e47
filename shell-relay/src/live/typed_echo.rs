//! Separates the terminal's echo of what the user types from the output of the command that runs meanwhile. Pure.

use std::borrow::Cow;

/// Longest echo that is awaited. What is typed beyond counts as output.
const AWAITED_MAX_BYTES: usize = 4 * 1024;

/// The echo that is still to come. The terminal echoes at once, so it comes next; if other bytes come, nothing is taken out of them.
#[derive(Debug, Default)]
pub(super) struct TypedEcho {
    awaited: Vec<u8>,
    /// The output so far ends within a row.
    is_in_row: bool,
}

impl TypedEcho {
    /// These keys go to a terminal that echoes and edits lines. Keys that edit the line have an echo that depends on it.
    pub fn typed(&mut self, keys: &[u8]) {
        let echoes_itself = keys.iter().all(|&byte| matches!(byte, b'\r' | b'\n') || byte >= b' ' && byte != 0x7f);
        if !echoes_itself || self.awaited.len() + keys.len() > AWAITED_MAX_BYTES {
            return self.awaited.clear();
        }
        for &byte in keys {
            match byte {
                b'\r' | b'\n' => self.awaited.extend_from_slice(b"\r\n"),
                byte => self.awaited.push(byte),
            }
        }
    }

    /// The output without the echo. The end of a typed line stays where it ends a row of the output.
    pub fn without<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let matching = self.awaited.iter().zip(bytes).take_while(|(awaited, byte)| awaited == byte).count();
        let is_echo = matching == self.awaited.len().min(bytes.len());
        if self.awaited.is_empty() || !is_echo {
            self.awaited.clear();
            self.follow(bytes);
            return Cow::Borrowed(bytes);
        }
        let ends_row = self.is_in_row && bytes[..matching].contains(&b'\n');
        self.awaited.drain(..matching);
        let rest = &bytes[matching..];
        self.is_in_row &= !ends_row;
        self.follow(rest);
        if ends_row { Cow::Owned([b"\r\n", rest].concat()) } else { Cow::Borrowed(rest) }
    }

    fn follow(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.is_in_row = *last != b'\n';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output that is kept of `events`: `Ok` is typed, `Err` comes from the terminal.
    fn kept(events: &[Result<&str, &str>]) -> String {
        let mut echo = TypedEcho::default();
        let mut kept = Vec::new();
        for event in events {
            match event {
                Ok(keys) => echo.typed(keys.as_bytes()),
                Err(output) => kept.extend_from_slice(&echo.without(output.as_bytes())),
            }
        }
        String::from_utf8(kept).unwrap()
    }

    #[test]
    fn what_is_typed_ahead_is_no_output() {
        assert_eq!(kept(&[Ok("l"), Err("l"), Ok("s\r"), Err("s\r\n"), Err("done\r\n")]), "done\r\n");
        assert_eq!(kept(&[Ok("ls\r"), Err("l"), Err("s\r"), Err("\ndone\r\n")]), "done\r\n");
        assert_eq!(kept(&[Ok("\u{fc}"), Err("\u{fc}"), Err("x")]), "x");
    }

    #[test]
    fn an_answer_to_a_question_leaves_the_rows_as_they_were() {
        assert_eq!(kept(&[Err("Name? "), Ok("ann\r"), Err("ann\r\n"), Err("hello\r\n")]), "Name? \r\nhello\r\n");
    }

    #[test]
    fn output_that_is_no_echo_stays_whole() {
        assert_eq!(kept(&[Ok("l"), Err("hello\r\n"), Err("l\r\n")]), "hello\r\nl\r\n");
        assert_eq!(kept(&[Ok("l\x7f"), Err("l\x08 \x08"), Err("lots\r\n")]), "l\x08 \x08lots\r\n");
        assert_eq!(kept(&[Err("plain\r\n")]), "plain\r\n");
    }
}
