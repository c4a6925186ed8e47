//! Reads lines of bounded length from an untrusted stream.

use std::io::{self, BufRead, Read as _};

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Longest line that is read.
pub(crate) const LINE_MAX_BYTES: usize = 8 * 1024 * 1024;

/// The reason why there is no further line.
#[derive(Debug)]
pub(crate) enum LineError {
    /// The stream ended, perhaps in the middle of a line.
    Closed,
    /// A line is longer than [`LINE_MAX_BYTES`]; what follows cannot be read.
    TooLong,
    /// The system refused.
    Io(io::Error),
}

/// Reads the next line into `line`, without its end. Keeps what it read if it is dropped.
///
/// # Errors
/// There is no further line.
pub(crate) async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> Result<(), LineError> {
    line.clear();
    loop {
        let piece = reader.fill_buf().await.map_err(LineError::Io)?;
        if piece.is_empty() {
            return Err(LineError::Closed);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(piece.len());
        if line.len() + taken > limit {
            return Err(LineError::TooLong);
        }
        line.extend_from_slice(&piece[..taken]);
        let consumed = taken + usize::from(end.is_some());
        reader.consume(consumed);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// The same of a stream that may be waited for. False at its end; a last half is no line.
///
/// # Errors
/// A line is longer than `limit`, or the system refused.
pub(crate) fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<bool> {
    line.clear();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(most).read_until(b'\n', line)?;
    match line.pop() {
        Some(b'\n') => Ok(true),
        Some(_) if line.len() >= limit => Err(io::Error::other(format!("a message has more than {limit} bytes"))),
        Some(_) | None => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_have_a_longest_length_and_a_last_half_is_no_line() {
        let mut reader = BufReader::with_capacity(2, &b"ab\n\ncdef\nrest"[..]);
        let mut line = Vec::new();
        for expected in ["ab", "", "cdef"] {
            next_line(&mut reader, &mut line, 4).await.expect(expected);
            assert_eq!(line, expected.as_bytes());
        }
        assert!(matches!(next_line(&mut reader, &mut line, 4).await, Err(LineError::Closed)));
        let mut now = &b"ab\n\ncdef\nrest"[..];
        for expected in ["ab", "", "cdef"] {
            assert!(read_line(&mut now, &mut line, 4).expect(expected));
            assert_eq!(line, expected.as_bytes());
        }
        assert!(!read_line(&mut now, &mut line, 4).expect("the end"));
        read_line(&mut &b"abcde\n"[..], &mut line, 4).expect_err("too long");
        let mut reader = &b"abcde\n"[..];
        assert!(matches!(next_line(&mut reader, &mut line, 4).await, Err(LineError::TooLong)));
    }
}
