//! What a request or a paraphrase is compared by: words, pairs of words, parts of words, kinds of values.

use super::words::Word;

/// The weight of a pair of words, beside that of a word.
const PAIR: f32 = 0.7;
/// The weight of a part of a word.
const PART: f32 = 0.25;
/// Characters of a part, with a sign for each end of the word.
const PART_CHARS: usize = 3;
/// The weight of a word that carries little meaning.
const FILLER: f32 = 0.4;
/// The weight of a kind of value.
const KIND: f32 = 0.7;

/// The features of a text, each with its weight. The squares of the weights add up to 1.
pub(super) fn features(words: &[Word]) -> Vec<(u32, f32)> {
    let mut found: Vec<(u32, f32)> = Vec::new();
    let mut before: Option<&str> = None;
    for word in words {
        let Some(form) = form(word) else {
            before = None;
            continue;
        };
        let weight = match () {
            () if form.starts_with('<') => KIND,
            () if word.is_filler() => FILLER,
            () => 1.0,
        };
        found.push((hash(&["word", form]), weight));
        if weight == 1.0 {
            let padded: Vec<char> = std::iter::once('^').chain(form.chars()).chain(['$']).collect();
            found.extend(
                padded.windows(PART_CHARS).map(|part| (hash(&["part", &part.iter().collect::<String>()]), PART)),
            );
        }
        if let Some(before) = before {
            found.push((hash(&["pair", before, form]), PAIR));
        }
        before = Some(form);
    }
    found.sort_by_key(|(feature, _)| *feature);
    found.dedup_by_key(|(feature, _)| *feature);
    let length = found.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt().max(f32::EPSILON);
    found.iter_mut().for_each(|(_, weight)| *weight /= length);
    found
}

/// The form of a word, or the kind of value: slots and values meet here. `None` for slots that take any word.
fn form(word: &Word) -> Option<&str> {
    match &word.slot {
        Some(slot) => match slot.kind() {
            "path" | "folder" | "new" => Some("<path>"),
            "glob" => Some("<glob>"),
            "number" | "port" | "pid" => Some("<number>"),
            "url" => Some("<url>"),
            "expr" => Some("<expression>"),
            _ => None,
        },
        None if word.raw.contains("://") => Some("<url>"),
        None if word.raw.contains('*') && word.raw.len() > 1 => Some("<glob>"),
        None if word.raw.bytes().all(|byte| byte.is_ascii_digit()) => Some("<number>"),
        None if word.is_name => Some("<path>"),
        None => Some(&word.form),
    }
}

/// FNV-1a over the parts, in 32 bits.
pub(super) fn hash(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
