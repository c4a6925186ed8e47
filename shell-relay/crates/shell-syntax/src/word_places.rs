//! Finds the places of the words in a plain line. It is no parser: the caller checks the result.

use std::ops::Range;

/// The bytes of each word of each command. Targets of redirections are not words.
#[must_use]
pub fn word_places(line: &str) -> Vec<Vec<Range<usize>>> {
    let bytes = line.as_bytes();
    let mut commands = vec![Vec::new()];
    let mut is_target = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' => at += 1,
            b'<' | b'>' => {
                is_target = true;
                at += 1;
            }
            // `&>`, and `>&`.
            b'&' if is_target || bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'\n' | b';' | b'|' | b'&' => {
                commands.push(Vec::new());
                at += 1;
            }
            _ => {
                let end = word_end(bytes, at);
                let is_number = bytes[at..end].iter().all(u8::is_ascii_digit);
                let is_descriptor = is_number && matches!(bytes.get(end), Some(b'<' | b'>'));
                if !std::mem::take(&mut is_target) && !is_descriptor {
                    commands.last_mut().into_iter().for_each(|places| places.push(at..end));
                }
                at = end;
            }
        }
    }
    commands.retain(|places| !places.is_empty());
    commands
}

/// The end of the word that begins at `start`: at least one byte further.
fn word_end(bytes: &[u8], start: usize) -> usize {
    let mut quote = None;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (b'\'' | b'"', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            (b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>', None) if at > start => break,
            _ => {}
        }
        at += 1;
    }
    at.min(bytes.len())
}
