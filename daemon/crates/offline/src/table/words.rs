//! Words of a request or a paraphrase, in the form in which they are compared.

use super::super::{
    vocabulary::{is_filler, is_making, is_narrowing},
    words::{Token, split},
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
}

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

    /// Whether the word asks for something new: what only shows is no answer then.
    pub(super) fn makes(&self) -> bool {
        !self.is_name && is_making(&self.stem)
    }

    fn of(token: &Token) -> Self {
        let slot = token.raw.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(Slot::read);
        let is_name = token.is_name && slot.is_none();
        let stem = stem(token.norm.strip_suffix("'s").unwrap_or(&token.norm)).to_owned();
        let form = token.concept.map_or_else(|| stem.clone(), str::to_owned);
        Self { raw: token.raw.clone(), form, stem, slot, is_name, is_quoted: token.is_quoted }
    }
}

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<Word> {
    of_tokens(&split(text))
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
