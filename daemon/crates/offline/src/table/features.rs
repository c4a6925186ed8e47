//! What a request or a paraphrase is compared by: words, pairs of words, parts of words, kinds of values.

use super::{
    super::{shell_line::is_host, vocabulary::kind_of_file},
    vectors::direction,
    words::Word,
};

/// The weight of a pair of words, beside that of a word.
const PAIR: f32 = 0.7;
/// The weight of a pair of words with another one between them.
const WIDE_PAIR: f32 = 0.4;
/// The weight of the first two words.
const START: f32 = 0.6;
/// The weight of the stem of a word that has a concept.
const STEM: f32 = 0.6;
/// The weight of a part of a word.
const PART: f32 = 0.25;
/// The weight of the direction of all words, see [`super::vectors`].
const DIRECTION: f32 = 0.8;
/// Characters of a part, with a sign for each end of the word.
const PART_CHARS: usize = 3;
/// The rarity of a word that carries little meaning.
const FILLER: f32 = 1.2;
/// The rarity of a kind of value.
const KIND: f32 = 2.5;

/// The features of a text, each with its weight. The squares of the weights add up to 1. `rarity` says how much a word tells; a word
/// without rarity is a value.
pub(super) fn features(words: &[Word], rarity: impl Fn(&str) -> Option<f32>) -> Vec<(u32, f32)> {
    let mut found: Vec<(u32, f32)> = Vec::new();
    let forms: Vec<(&str, f32)> = words.iter().filter_map(|word| form(word, &rarity)).collect();
    if let [(first, _), (second, _), ..] = forms[..] {
        found.push((hash(&["start", first, second]), START * KIND));
    }
    for (form, weight) in &forms {
        found.push((hash(&["word", form]), *weight));
        if *weight > FILLER && !form.starts_with('<') {
            let padded: Vec<char> = std::iter::once('^').chain(form.chars()).chain(['$']).collect();
            let parts = padded.windows(PART_CHARS).map(|part| hash(&["part", &part.iter().collect::<String>()]));
            found.extend(parts.map(|part| (part, PART * weight)));
        }
    }
    for word in words.iter().filter(|word| word.slot.is_none() && !word.is_name && word.stem != word.form) {
        found.push((hash(&["stem", &word.stem]), STEM * rarity(&word.form).unwrap_or(KIND)));
    }
    for word in words.iter().filter(|word| word.slot.is_none() && word.is_name) {
        // "thesis.pdf" tells of a pdf.
        if let Some(kind) = word.raw.rsplit_once('.').and_then(|(_, ending)| kind_of_file(ending)) {
            found.push((hash(&["word", kind]), rarity(kind).unwrap_or(KIND)));
        }
    }
    let mut pair = |before: &(&str, f32), after: &(&str, f32), share: f32| {
        found.push((hash(&["pair", before.0, after.0]), share * (before.1 * after.1).sqrt()));
    };
    for two in forms.windows(2) {
        pair(&two[0], &two[1], PAIR);
    }
    let telling: Vec<&(&str, f32)> = forms.iter().filter(|(_, weight)| *weight > FILLER).collect();
    for three in telling.windows(3) {
        pair(three[0], three[2], WIDE_PAIR);
    }
    for two in telling.windows(2) {
        pair(two[0], two[1], PAIR);
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    found.dedup_by_key(|(feature, _)| *feature);
    let length = found.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt().max(f32::EPSILON);
    found.iter_mut().for_each(|(_, weight)| *weight /= length);
    found.extend(
        direction_of(words, rarity)
            .iter()
            .enumerate()
            .map(|(at, own)| (DIRECTION_FEATURES + at as u32, DIRECTION * own)),
    );
    found
}

/// The direction of all words that tell something, see [`super::vectors`].
pub(super) fn direction_of(words: &[Word], rarity: impl Fn(&str) -> Option<f32>) -> Vec<f32> {
    let telling = words.iter().filter(|word| word.slot.is_none() && !word.is_name && !word.is_filler());
    direction(telling.filter_map(|word| Some((word.vector?, rarity(&word.form).unwrap_or(KIND)))))
}

/// The number of the first feature of the direction. A hash may be the same number, which does no harm.
const DIRECTION_FEATURES: u32 = 0xffff_ff00;

/// The form of a word and its rarity, or the kind of value: slots and values meet here.
fn form(word: &Word, rarity: impl Fn(&str) -> Option<f32>) -> Option<(&str, f32)> {
    let kind = match &word.slot {
        Some(slot) => match slot.kind() {
            "path" | "folder" | "new" => "<path>",
            "glob" => "<glob>",
            "number" | "decimal" | "port" | "pid" => "<number>",
            "url" => "<url>",
            "expr" => "<expression>",
            "size" => "<size>",
            "host" => "<host>",
            "text" => "<text>",
            _ => "<word>",
        },
        None => match kind_of_value(word) {
            Some(kind) => kind,
            None if word.is_filler() => return Some((&word.form, FILLER)),
            None => match rarity(&word.form) {
                Some(rarity) => return Some((&word.form, rarity)),
                None => "<word>",
            },
        },
    };
    Some((kind, KIND))
}

fn kind_of_value(word: &Word) -> Option<&'static str> {
    let raw = word.raw.as_str();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match () {
        () if raw.contains("://") => Some("<url>"),
        () if word.is_quoted && raw.contains(' ') => Some("<text>"),
        () if raw.contains('*') && raw.len() > 1 => Some("<glob>"),
        () if is_number(raw) => Some("<number>"),
        () if raw.split('.').all(is_number) && raw.matches('.').count() == 3 => Some("<host>"),
        () if raw.split('.').all(is_number) => Some("<number>"),
        () if is_host(raw) && is_domain(raw) || raw.contains('@') => Some("<host>"),
        () if word.is_name && is_number(raw.trim_end_matches(|letter: char| letter.is_ascii_alphabetic())) => {
            Some("<size>")
        }
        () if word.is_name => Some("<path>"),
        () => None,
    }
}

fn is_domain(raw: &str) -> bool {
    const ENDINGS: &str = " com org net io dev de uk eu fr at ch local lan edu gov info ";
    raw.rsplit_once('.').is_some_and(|(_, ending)| !ending.is_empty() && ENDINGS.contains(&format!(" {ending} ")))
}

/// FNV-1a over the parts, in 32 bits.
pub(super) fn hash(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
