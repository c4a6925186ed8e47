//! Reads single values in a question: options, numbers, sizes, kinds of files.

use super::{vocabulary::extensions_of, words::Token};

/// A limit on the size of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeBound {
    /// At least about this many bytes.
    Above(u64),
    /// At most about this many bytes.
    Below(u64),
}

/// Whether a word is an option: `-x`, `-xzf`, `--long-name`.
pub(super) fn is_flag(raw: &str) -> bool {
    const MAX_FLAG_BYTES: usize = 40;
    let name = raw.strip_prefix("--").or_else(|| raw.strip_prefix('-')).unwrap_or_default();
    raw.len() <= MAX_FLAG_BYTES
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Reads a count or port: `5`, `:8080`, `#3`, `ten`.
pub(super) fn read_number(norm: &str) -> Option<u64> {
    const FROM_TWO: [&str; 9] = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let digits = norm.strip_prefix([':', '#']).unwrap_or(norm);
    digits.parse().ok().or_else(|| FROM_TWO.iter().position(|word| *word == norm).map(|place| place as u64 + 2))
}

pub(super) fn read_size(tokens: &[Token]) -> Option<(SizeBound, usize)> {
    let first = tokens[0].norm.as_str();
    let second = tokens.get(1).map_or("", |token| token.norm.as_str());
    let (mut at, is_above) = match first {
        "bigger" | "larger" | "greater" | "more" | "over" | "above" | "exceeding" | "größer" | "über" | "mehr" => {
            (1, true)
        }
        "smaller" | "less" | "under" | "below" | "kleiner" | "unter" | "weniger" => (1, false),
        "at" if second == "least" => (2, true),
        "at" if second == "most" => (2, false),
        _ => (0, true),
    };
    if at > 0 && tokens.get(at).is_some_and(|token| ["than", "as", "als"].contains(&token.norm.as_str())) {
        at += 1;
    }
    let (bytes, length) = read_bytes(tokens.get(at..)?)?;
    let bound = if is_above { SizeBound::Above(bytes) } else { SizeBound::Below(bytes) };
    Some((bound, at + length))
}

fn read_bytes(tokens: &[Token]) -> Option<(u64, usize)> {
    let norm = tokens.first()?.norm.as_str();
    let split =
        norm.find(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != ',').unwrap_or(norm.len());
    let (digits, unit) = norm.split_at(split);
    let value: f64 = digits.replace(',', ".").parse().ok()?;
    let (unit, length) = if unit.is_empty() { (tokens.get(1)?.norm.as_str(), 2) } else { (unit, 1) };
    let power = match unit.trim_end_matches('+') {
        "b" | "byte" | "bytes" => 0,
        "k" | "kb" | "kib" | "kilobyte" | "kilobytes" => 1,
        "m" | "mb" | "mib" | "meg" | "megs" | "megabyte" | "megabytes" => 2,
        "g" | "gb" | "gib" | "gig" | "gigs" | "gigabyte" | "gigabytes" => 3,
        "t" | "tb" | "tib" | "terabyte" | "terabytes" => 4,
        _ => return None,
    };
    // Beyond the range of u64 the cast saturates; the bound is then still larger than any file.
    Some(((value * 1024_f64.powi(power)) as u64, length))
}

pub(super) fn read_extensions(tokens: &[Token], at: usize) -> Option<(Vec<String>, usize)> {
    let token = &tokens[at];
    // In "to images", "in the logs folder" the word is a place.
    let follows = |word: &str| at > 0 && tokens[at - 1].norm == word;
    let names_folder = at > 0 && tokens[at - 1].concept == Some("folder");
    if follows("to")
        || follows("into")
        || names_folder
        || tokens.get(at + 1).is_some_and(|next| next.concept == Some("folder"))
    {
        return None;
    }
    let next_is_file = tokens.get(at + 1).is_some_and(|next| next.concept == Some("file"));
    let next_is_code =
        tokens.get(at + 1).is_some_and(|next| ["code", "source", "sources"].contains(&next.norm.as_str()));
    if next_is_code && let Some(known) = extensions_of(&token.norm) {
        return Some((known.iter().map(|&extension| extension.to_owned()).collect(), 2));
    }
    let before = at.checked_sub(1).map(|index| tokens[index].norm.as_str());
    if let Some(extension) = token.raw.strip_prefix("*.").filter(|text| is_extension(text)) {
        return Some((vec![extension.to_owned()], 1));
    }
    let is_asked_for =
        next_is_file || before.is_some_and(|word| ["all", "in", "ending", "extension", "with"].contains(&word));
    if let Some(extension) = token.raw.strip_prefix('.').filter(|text| is_extension(text) && is_asked_for) {
        return Some((vec![extension.to_owned()], 1));
    }
    if token.concept == Some("extension")
        && let Some(next) = tokens.get(at + 1)
        && is_extension(&next.norm)
        && next.is_unknown()
    {
        return Some((vec![next.norm.clone()], 2));
    }
    let is_plural = token.norm.ends_with('s') && !["js", "ts", "rs", "css"].contains(&token.norm.as_str());
    let is_placed = !next_is_file && ["in", "inside", "under", "below", "of", "from"].iter().any(|word| follows(word));
    // "The largest video" is one file.
    let is_ranked = at
        .checked_sub(1)
        .is_some_and(|index| matches!(tokens[index].concept, Some("big" | "small" | "newest" | "oldest" | "all")));
    // "Pack images into x.zip" means a folder, "a zip file of src" one archive.
    let is_packed = at > 0 && matches!(tokens[at - 1].concept, Some("compress" | "extract"));
    let is_archive = token.norm == "zip" && !is_ranked && tokens.get(at + 1).is_some_and(|next| next.norm == "file");
    // "Lines of python" means the files: lines of a language are not counted in another way.
    let is_counted = follows("of") && at > 1 && tokens[at - 2].concept == Some("line");
    let known = match token.norm.as_str() {
        norm if is_counted => extensions_of(norm),
        "log" if next_is_file || is_ranked => Some(&["log"][..]),
        _ if is_placed || is_packed || is_archive => None,
        norm if next_is_file || is_plural || is_ranked || norm == "music" => extensions_of(norm),
        _ => None,
    };
    known.map(|known| (known.iter().map(|&extension| extension.to_owned()).collect(), 1))
}

fn is_extension(text: &str) -> bool {
    const MAX_EXTENSION_BYTES: usize = 12;
    (1..=MAX_EXTENSION_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'+' || byte == b'-')
        && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
}
