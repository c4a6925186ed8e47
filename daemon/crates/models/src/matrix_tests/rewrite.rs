//! Rewrites an answer into other chunks and equivalent spellings.

use bytes::Bytes;

/// Chunks of `size` bytes.
pub(super) fn in_pieces_of(size: usize, bytes: &[u8]) -> Vec<Bytes> {
    bytes.chunks(size).map(Bytes::copy_from_slice).collect()
}

/// Two chunks.
pub(super) fn split_at(at: usize, bytes: &[u8]) -> Vec<Bytes> {
    let (head, tail) = bytes.split_at(at);
    vec![Bytes::copy_from_slice(head), Bytes::copy_from_slice(tail)]
}

/// Chunks of 1 to `max` bytes, the same for the same seed.
pub(super) fn at_random(seed: u64, max: usize, bytes: &[u8]) -> Vec<Bytes> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut rest = bytes;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let size = (usize::try_from(state % max as u64).expect("below max") + 1).min(rest.len());
        let (chunk, tail) = rest.split_at(size);
        chunks.push(Bytes::copy_from_slice(chunk));
        rest = tail;
    }
    chunks
}

/// Other line ends, in turn.
pub(super) fn line_ends(ends: &[&str], text: &str) -> String {
    let mut out = String::new();
    for (line, end) in text.split_terminator('\n').zip(ends.iter().cycle()) {
        // A lone CR and an LF after it would be one line end.
        let is_merged = line.is_empty() && out.ends_with('\r') && *end == "\n";
        out.push_str(line);
        out.push_str(if is_merged { "\r\n" } else { end });
    }
    out
}

/// Each line changed; blank lines stay.
pub(super) fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { change(line) + "\n" }).collect()
}

/// `part` before each part.
pub(super) fn before_each(parts: &[&str], part: &str) -> String {
    parts.iter().flat_map(|own| [part, own]).collect()
}

/// The first character that takes `width` bytes.
pub(super) fn first_of_width(text: &str, width: usize) -> Option<char> {
    text.chars().find(|c| c.len_utf8() == width)
}
