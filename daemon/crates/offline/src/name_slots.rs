//! Matches the words of a question that remain after the terms of a pattern: names, or a text.

use super::{
    credit::{NAME, OPTIONAL, STRONG},
    shell_line::is_variable_name,
    slots::Slots,
    vocabulary::{is_program, is_weak},
    words::Token,
};

/// Credit for a name that has a meaning in other patterns.
const NAME_WITH_MEANING: f32 = 1.2;
/// Branches that are recognized by their name alone.
const BRANCHES: [&str; 6] = ["main", "master", "develop", "dev", "trunk", "staging"];
/// Most words of an unquoted search text.
const MAX_TEXT_WORDS: usize = 8;

/// The kind of words that may remain once the terms are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    Name,
    NameOrNothing,
    Path,
    Target,
    Two,
    TwoPaths,
    Many,
    Program,
    Setting,
    Variable,
    Url,
    Branch,
    Sure,
    Text,
    Quote,
}

/// The words of a question, by position: all words, those that are not terms and have a meaning, those that are not values.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) left: &'a [usize],
    pub(super) free: &'a [usize],
}

/// The use of the words that are not terms.
pub(super) struct Taken {
    /// Score for the pattern.
    pub(super) credit: f32,
    /// Number of words that are not names either.
    pub(super) unexplained: usize,
    /// Whether the place became the name.
    pub(super) took_place: bool,
}

impl Rest {
    /// Reads its name in the notation of `pattern`.
    pub(super) fn read(slot: &str, is_optional: bool) -> Option<Self> {
        Some(match slot {
            "name" if is_optional => Self::NameOrNothing,
            "name" => Self::Name,
            "path" => Self::Path,
            "target" => Self::Target,
            "name2" => Self::Two,
            "path2" => Self::TwoPaths,
            "names" => Self::Many,
            "program" => Self::Program,
            "var2" => Self::Setting,
            "var" => Self::Variable,
            "url" => Self::Url,
            "branch" => Self::Branch,
            "sure" => Self::Sure,
            "text" => Self::Text,
            "quote" => Self::Quote,
            _ => return None,
        })
    }

    /// Whether "with" joins the names: "compare a with b", "help with sed".
    pub(super) fn is_joined(self) -> bool {
        matches!(self, Self::Two | Self::TwoPaths | Self::Setting | Self::Program)
    }

    /// Fills the names or the text, if the remaining words fit. `is_told`: words of the pattern say that a text is meant.
    pub(super) fn take(self, words: Words<'_>, is_told: bool, slots: &mut Slots) -> Option<Taken> {
        let Words { tokens, left, .. } = words;
        let sure: Vec<usize> = left.iter().copied().filter(|&index| tokens[index].is_name).collect();
        let chosen = if sure.is_empty() { left } else { &sure };
        match self {
            Self::Nothing => Some(words.taken(&[])),
            Self::NameOrNothing if left.is_empty() => Some(words.taken(&[])),
            Self::Target if slots.place.is_some() && !chosen.iter().any(|&index| tokens[index].is_unknown()) => {
                Some(Taken { credit: NAME, unexplained: left.len(), took_place: true })
            }
            Self::Quote if !left.iter().any(|&index| tokens[index].is_quoted) => None,
            Self::Text | Self::Quote => take_text(words, is_told, slots),
            Self::Program => take_program(words, slots),
            Self::Sure | Self::Url if sure.is_empty() => self.take_place(words, slots),
            Self::TwoPaths if sure.is_empty() => None,
            Self::Path if sure.len() != 1 || !tokens[sure[0]].looks_like_path() => None,
            Self::Two | Self::TwoPaths if chosen.len() == 1 && slots.place.is_some() => {
                slots.names = vec![tokens[chosen[0]].raw.clone(), slots.folder().to_owned()];
                Some(Taken { took_place: true, ..words.taken(chosen) })
            }
            _ => self.take_names(words, chosen, slots),
        }
    }

    fn take_names(self, words: Words<'_>, chosen: &[usize], slots: &mut Slots) -> Option<Taken> {
        let Words { tokens, left, .. } = words;
        let wants = match self {
            Self::Two | Self::TwoPaths | Self::Setting => 2..=2,
            Self::Many => 1..=usize::MAX,
            _ => 1..=1,
        };
        // Two loose words are not a list of names; a wrong guess would delete files.
        let chosen = if wants.contains(&chosen.len()) { chosen } else { left };
        if !wants.contains(&chosen.len()) {
            return None;
        }
        let first = &tokens[chosen[0]];
        let is_fit = match self {
            Self::Many => {
                chosen.iter().any(|&index| tokens[index].is_name) || chosen.len() == 1 || is_listed(tokens, chosen)
            }
            Self::Setting => is_setting_name(&first.raw),
            Self::Url => is_url(&first.raw),
            Self::Branch => BRANCHES.contains(&first.norm.as_str()),
            Self::Variable => is_variable(&first.raw),
            _ => true,
        };
        if !is_fit {
            return None;
        }
        slots.names = chosen.iter().map(|&index| tokens[index].raw.clone()).collect();
        let taken = words.taken(chosen);
        Some(if self == Self::Branch { Taken { credit: STRONG, ..taken } } else { taken })
    }

    /// Uses the place as a name, if it can be nothing else.
    fn take_place(self, words: Words<'_>, slots: &mut Slots) -> Option<Taken> {
        let place = slots.place.as_deref().filter(|_| slots.is_sure_place)?;
        if self == Self::Url && !is_url(place) {
            return None;
        }
        slots.names = vec![place.to_owned()];
        Some(Taken { credit: STRONG, unexplained: words.left.len(), took_place: true })
    }
}

impl Words<'_> {
    fn taken(self, names: &[usize]) -> Taken {
        Taken {
            credit: names.iter().map(|&index| name_credit(&self.tokens[index])).sum(),
            unexplained: self.left.len() - names.len(),
            took_place: false,
        }
    }
}

fn take_program(words: Words<'_>, slots: &mut Slots) -> Option<Taken> {
    let Words { tokens, left, free } = words;
    let Some(&index) = free.iter().rev().find(|&&index| is_program_name(&tokens[index])) else {
        slots.place.as_ref().filter(|place| is_program(place))?;
        return Some(Taken { credit: STRONG, unexplained: left.len(), took_place: true });
    };
    slots.names = vec![tokens[index].raw.clone()];
    let unexplained = left.iter().filter(|&&other| other != index).count();
    Some(Taken { credit: STRONG, unexplained, took_place: false })
}

fn take_text(words: Words<'_>, is_told: bool, slots: &mut Slots) -> Option<Taken> {
    let Words { tokens, left, free } = words;
    if let Some(&quoted) = left.iter().find(|&&index| tokens[index].is_quoted) {
        slots.text = Some(tokens[quoted].raw.clone());
        slots.names = left.iter().filter(|&&index| index != quoted).map(|&index| tokens[index].raw.clone()).collect();
        let unexplained = left.iter().filter(|&&index| index != quoted && !tokens[index].is_name).count();
        return Some(Taken { credit: OPTIONAL, unexplained, took_place: false });
    }
    let (first, last) = (*left.first()?, *left.last()?);
    // "Find a recipe in my book": loose words are a text to search for only with a place that is certain.
    let is_sure = is_told || slots.is_sure_place || left.iter().any(|&index| tokens[index].is_name);
    if slots.place.is_some() && !is_sure {
        return None;
    }
    let spoken: Vec<&str> = free
        .iter()
        .filter(|&&index| (first..=last).contains(&index))
        .map(|&index| tokens[index].raw.as_str())
        .collect();
    // A key word in the middle would tear the text apart: "implement a search tree" is not a search.
    let is_torn =
        free.iter().any(|index| (first..=last).contains(index) && !left.contains(index) && !tokens[*index].is_idle());
    if is_torn || spoken.len() > MAX_TEXT_WORDS {
        return None;
    }
    slots.text = Some(spoken.join(" "));
    let credit = if first == last { name_credit(&tokens[first]) } else { NAME };
    Some(Taken { credit, unexplained: 0, took_place: false })
}

fn name_credit(token: &Token) -> f32 {
    match token.concept {
        Some(concept) if !is_weak(concept) => NAME - NAME_WITH_MEANING,
        _ => NAME,
    }
}

fn is_program_name(token: &Token) -> bool {
    token.is_quoted || is_program(token.norm.trim_end_matches(".service"))
}

fn is_url(raw: &str) -> bool {
    raw.starts_with("http://") || raw.starts_with("https://")
}

fn is_variable(raw: &str) -> bool {
    raw.strip_prefix('$').map_or(raw.len() > 1 && is_setting_name(raw), is_variable_name)
}

fn is_setting_name(raw: &str) -> bool {
    is_variable_name(raw) && !raw.contains(|letter: char| letter.is_ascii_lowercase())
}

/// Whether only commas and "and" are between the words.
fn is_listed(tokens: &[Token], chosen: &[usize]) -> bool {
    chosen.windows(2).all(|pair| {
        tokens[pair[0]].ends_clause
            || tokens[pair[0] + 1..pair[1]].iter().any(|token| ["and", "und"].contains(&token.norm.as_str()))
    })
}
