//! Words of a request or a paraphrase, in the form in which they are compared.

use super::{
    super::{
        vocabulary::{
            announces_text, are_opposites, is_announcing, is_filler, is_foreign, is_making, is_narrowing, is_of_data,
            is_program, is_unit, is_usual_folder,
        },
        words::{Token, split},
    },
    vectors::Vector,
};

/// A word of a request or a paraphrase.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// As written, without quotes and punctuation.
    pub(super) raw: String,
    /// The form that is compared: a concept, else the stem.
    pub(super) form: String,
    /// The stem, which differs from the form if the word has a concept.
    pub(super) stem: String,
    /// The type of the slot, in a paraphrase.
    pub(super) slot: Option<Slot>,
    /// Surely a name: quoted, with a slash or a dot, a number.
    pub(super) is_name: bool,
    /// Was in quotes.
    pub(super) is_quoted: bool,
    /// How the word is used; `None` for names and slots.
    pub(super) vector: Option<Vector>,
}

/// Least likeness of two words that may mean the same, and of two words of the tables: these have their own paraphrases.
const ALIKE: f32 = 0.58;
const KNOWN_ALIKE: f32 = 0.7;

/// A slot of a paraphrase or a command: `{path-a=.}` has the type `path`, the label `path-a` and the default `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its name, with its type in front.
    pub(super) label: String,
    /// Its default.
    pub(super) default: Option<String>,
}

impl Slot {
    /// Reads what stands between braces.
    pub(super) fn read(inside: &str) -> Self {
        let (label, default) = inside.split_once('=').map_or((inside, None), |(label, text)| (label, Some(text)));
        Self { label: label.to_owned(), default: default.map(str::to_owned) }
    }

    /// The type: the first word of the label.
    pub(super) fn kind(&self) -> &str {
        kind_of(&self.label)
    }
}

/// The type in a label: `path` of `path-a`.
pub(super) fn kind_of(label: &str) -> &str {
    label.split('-').next().unwrap_or(label)
}

impl Word {
    /// Whether the meaning hardly changes without it.
    pub(super) fn is_filler(&self) -> bool {
        self.slot.is_none() && !self.is_name && (is_filler(&self.form) || is_filler(&self.stem))
    }

    /// Whether the word says how much or which, however little it weighs.
    pub(super) fn narrows(&self) -> bool {
        !self.is_name && (is_narrowing(&self.form) || is_narrowing(&self.stem))
    }

    /// Whether the word says of what a number counts, or since when.
    pub(super) fn is_unit(&self) -> bool {
        !self.is_name && is_unit(&self.raw.to_lowercase())
    }

    /// Whether the word is the name of a program.
    pub(super) fn is_program(&self) -> bool {
        is_program(&self.raw.to_lowercase())
    }

    /// Whether the word belongs to a subject other than this machine.
    pub(super) fn is_foreign(&self) -> bool {
        let word = self.raw.to_lowercase();
        !self.is_name && is_foreign(&word) && !is_of_data(&word)
    }

    /// Whether the word asks for something new: what only shows is no answer then.
    pub(super) fn makes(&self) -> bool {
        !self.is_name && is_making(&self.stem)
    }

    /// Whether many people have a folder of this name.
    pub(super) fn is_usual_folder(&self) -> bool {
        is_usual_folder(&self.raw.to_lowercase())
    }

    /// Whether the next word is a name behind this one, although it means something elsewhere: "the folder images", "in src".
    pub(super) fn announces(&self, next: &Self) -> bool {
        !self.is_name && (is_announcing(&self.raw.to_lowercase()) || is_filler(&self.stem) && next.is_usual_folder())
    }

    /// Whether the words behind this one are a text as it is: "the message fix the login".
    pub(super) fn announces_text(&self) -> bool {
        !self.is_name && announces_text(&self.raw.to_lowercase())
    }

    /// How nearly another word means the same: 1 for the same word, 0 for words that mean something else. `is_known` says that both
    /// stand in the tables.
    pub(super) fn likeness(&self, other: &Self, is_known: bool) -> f32 {
        if self.form == other.form {
            return 1.0;
        }
        let (Some(own), Some(others)) = (self.vector, other.vector) else { return 0.0 };
        let likeness = own.likeness(others);
        let is_alike = likeness >= if is_known { KNOWN_ALIKE } else { ALIKE };
        if is_alike && !are_opposites(&self.stem, &other.stem) { likeness } else { 0.0 }
    }

    fn of(token: &Token) -> Self {
        let inside = token.raw.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let slot = inside.filter(|inside| inside.starts_with(|first: char| first.is_ascii_lowercase())).map(Slot::read);
        let is_name = token.is_name && slot.is_none();
        let stem = stem(token.norm.strip_suffix("'s").unwrap_or(&token.norm)).to_owned();
        let form = token.concept.map_or_else(|| stem.clone(), str::to_owned);
        let vector = (slot.is_none() && !is_name && !is_filler(&token.norm)).then(|| Vector::of(&token.norm)).flatten();
        Self { raw: token.raw.clone(), form, stem, slot, is_name, is_quoted: token.is_quoted, vector }
    }
}

/// The words of a text. "15%" is two words, and "/22" is a number.
pub(super) fn words(text: &str) -> Vec<Word> {
    let words = of_tokens(&split(text)).into_iter();
    let is_part = |text: &str| {
        text.starts_with('{') || !text.is_empty() && text.len() < 3 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts = |word: Word| match word.raw.strip_suffix('%') {
        _ if word.raw.strip_prefix('/').is_some_and(is_part) => of_tokens(&split(&word.raw[1..])),
        Some(number) if number.parse::<f64>().is_ok() || number.starts_with('{') => {
            of_tokens(&split(&format!("{number} percent")))
        }
        _ => vec![word],
    };
    words.flat_map(parts).collect()
}

/// The words of a part of a text.
pub(super) fn of_tokens(tokens: &[Token]) -> Vec<Word> {
    tokens.iter().map(Word::of).collect()
}

/// Takes off the plural and common endings of verbs.
fn stem(word: &str) -> &str {
    const MIN_STEM: usize = 4;
    const ENDINGS: [&str; 4] = ["ing", "ed", "es", "s"];
    let cut = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= MIN_STEM));
    cut.filter(|stem| !stem.ends_with('s')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_by_concept_or_stem() {
        let forms = |text: &str| words(text).into_iter().map(|word| word.form).collect::<Vec<_>>();
        assert_eq!(forms("Sorting the directories"), forms("sort the folder"));
        assert_eq!(forms("process"), forms("processes"));
        assert_eq!(forms("class"), ["class"]);
    }

    #[test]
    fn slots_have_type_label_and_default() {
        let slot = Slot::read("folder-to=.");
        assert_eq!((slot.kind(), slot.label.as_str(), slot.default.as_deref()), ("folder", "folder-to", Some(".")));
        let said = words("link {path-a} to {new}, please");
        let labels: Vec<&str> = said.iter().filter_map(|word| Some(word.slot.as_ref()?.label.as_str())).collect();
        assert_eq!(labels, ["path-a", "new"]);
    }
}
