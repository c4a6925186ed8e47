//! Reads values in a question: sizes, numbers, extensions, places, assignments. Dates are in `dates`.

use super::{
    answer::human_size,
    dates::{Span, read_span},
    pick::Pick,
    shell_line::{escape_pattern, is_variable_name, word},
    values::{SizeBound, is_flag, read_extensions, read_number, read_size},
    words::Token,
};

/// The kind of value that a token is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Size,
    Date,
    Number,
    Extension,
    Place,
    Assignment,
    Flag,
}

/// The values in a question; `names` and `text` are filled when the question is matched with an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slots {
    pub(super) size: Option<SizeBound>,
    pub(super) span: Option<Span>,
    /// A count, a port or a process id.
    pub(super) number: Option<u64>,
    /// Extensions, without the dot.
    pub(super) extensions: Vec<String>,
    /// Folder or file after "in", with "here" as `.`.
    pub(super) place: Option<String>,
    /// Whether the place is certain: "here", a path, "the folder x".
    pub(super) is_sure_place: bool,
    pub(super) assignment: Option<(String, String)>,
    /// An option of a program, with its dashes.
    pub(super) flag: Option<String>,
    pub(super) names: Vec<String>,
    pub(super) text: Option<String>,
    /// The choice among the things shown before: "the first one", "them".
    pub(super) pick: Option<Pick>,
    /// Whether subfolders are included: "recursively".
    pub(super) is_deep: bool,
    /// Whether the question mentions a folder that is not the place.
    pub(super) is_of_folders: bool,
}

impl Slots {
    /// The place, or the current folder.
    pub(super) fn folder(&self) -> &str {
        self.place.as_deref().unwrap_or(".")
    }

    /// The first name, else the place.
    pub(super) fn target(&self) -> &str {
        self.names.first().map_or_else(|| self.folder(), String::as_str)
    }

    /// The first name, else an empty text.
    pub(super) fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// The number of rows to show.
    pub(super) fn count_or(&self, default: usize) -> usize {
        const MAX_COUNT: u64 = 100;
        self.number.map_or(default, |number| number.clamp(1, MAX_COUNT) as usize)
    }

    /// The tests of `find_tests` in a sentence: "ending in .py, larger than 1.0 MiB".
    pub(super) fn find_words(&self) -> String {
        let mut parts = Vec::new();
        if !self.extensions.is_empty() {
            parts.push(format!("ending in .{}", self.extensions.join(", .")));
        }
        match self.size {
            Some(SizeBound::Above(bytes)) => parts.push(format!("larger than {}", human_size(bytes))),
            Some(SizeBound::Below(bytes)) => parts.push(format!("smaller than {}", human_size(bytes))),
            None => {}
        }
        if let Some(span) = &self.span {
            parts.push(format!("changed {}", span.words()));
        }
        parts.join(", ")
    }

    /// The words that limit `find` to the values of the slots, each with a space before it.
    pub(super) fn find_tests(&self) -> String {
        let mut line = String::new();
        let names: Vec<String> = self
            .extensions
            .iter()
            .map(|extension| format!("-iname {}", word(&format!("*.{}", escape_pattern(extension)))))
            .collect();
        match names.as_slice() {
            [] => {}
            [one] => line.push_str(&format!(" {one}")),
            many => line.push_str(&format!(" '(' {} ')'", many.join(" -o "))),
        }
        match self.size {
            Some(SizeBound::Above(bytes)) => line.push_str(&format!(" -size +{bytes}c")),
            Some(SizeBound::Below(bytes)) => line.push_str(&format!(" -size -{bytes}c")),
            None => {}
        }
        if let Some(span) = &self.span {
            line.push_str(&format!(" {}", span.find_test()));
        }
        line
    }
}

/// Reads the values and marks the tokens that belong to them.
pub(super) fn read_slots(tokens: &[Token]) -> (Slots, Vec<Option<Mark>>) {
    let mut slots = Slots::default();
    let mut marks = vec![None; tokens.len()];
    let mut at = 0;
    while at < tokens.len() {
        let length = read_at(tokens, at, &mut slots).map_or(1, |(mark, length)| {
            marks[at..at + length].fill(Some(mark));
            length
        });
        at += length;
    }
    read_places(tokens, &mut slots, &mut marks);
    // "Not changed for 3 months" means the time before.
    let is_negated =
        tokens.iter().any(|token| ["not", "never", "untouched", "unchanged", "nicht"].contains(&token.norm.as_str()));
    if is_negated && let Some(Span::Within(count, unit)) = slots.span {
        slots.span = Some(Span::OlderThan(count, unit));
    }
    let said = || tokens.iter().zip(&marks).filter(|(token, mark)| !token.is_quoted && mark.is_none());
    slots.pick = said().find_map(|(token, _)| Pick::read(&token.norm));
    slots.is_deep = said().any(|(token, _)| token.concept == Some("deep"));
    slots.is_of_folders = said().any(|(token, _)| token.concept == Some("folder"));
    (slots, marks)
}

fn read_at(tokens: &[Token], at: usize, slots: &mut Slots) -> Option<(Mark, usize)> {
    let rest = &tokens[at..];
    if rest[0].is_quoted {
        return None;
    }
    if slots.span.is_none()
        && let Some((span, length)) = read_span(rest)
    {
        slots.span = Some(span);
        return Some((Mark::Date, length));
    }
    if slots.size.is_none()
        && let Some((size, length)) = read_size(rest)
    {
        slots.size = Some(size);
        return Some((Mark::Size, length));
    }
    if let Some((name, value)) = rest[0].raw.split_once('=')
        && slots.assignment.is_none()
        && is_variable_name(name)
    {
        slots.assignment = Some((name.to_owned(), value.to_owned()));
        return Some((Mark::Assignment, 1));
    }
    if slots.flag.is_none() && is_flag(&rest[0].raw) {
        slots.flag = Some(rest[0].raw.clone());
        return Some((Mark::Flag, 1));
    }
    if let Some((extensions, length)) = read_extensions(tokens, at) {
        slots.extensions.extend(extensions);
        return Some((Mark::Extension, length));
    }
    if slots.number.is_none()
        && let Some(number) = read_number(&rest[0].norm)
    {
        slots.number = Some(number);
        return Some((Mark::Number, 1));
    }
    None
}

/// Reads "in src", "in the docs folder", "here", "this folder", "in my home".
fn read_places(tokens: &[Token], slots: &mut Slots, marks: &mut [Option<Mark>]) {
    const PREPOSITIONS: [&str; 8] = ["in", "inside", "under", "within", "below", "im", "unter", "into"];
    read_places_after(&PREPOSITIONS, tokens, slots, marks);
    // "matches of x in y": the weaker word counts only if there is no other.
    read_places_after(&["of", "von"], tokens, slots, marks);
}

fn read_places_after(prepositions: &[&str], tokens: &[Token], slots: &mut Slots, marks: &mut [Option<Mark>]) {
    let is_folder = |index: usize| tokens.get(index).is_some_and(|token: &Token| token.concept == Some("folder"));
    for at in 0..tokens.len() {
        if slots.place.is_some() || tokens[at].is_quoted || marks[at].is_some() {
            continue;
        }
        let norm = tokens[at].norm.as_str();
        let found = if ["here", "hier"].contains(&norm) {
            Some((".", at + 1))
        } else if ["this", "current", "diesem", "dieser", "dieses"].contains(&norm) && is_folder(at + 1) {
            Some((".", at + 2))
        } else if norm == "my" && tokens.get(at + 1).is_some_and(|next| next.concept == Some("home")) {
            Some(("~", at + 2 + usize::from(is_folder(at + 2))))
        } else if prepositions.contains(&norm) {
            place_after(tokens, marks, at + 1)
        } else {
            None
        };
        if let Some((place, end)) = found {
            slots.place = Some(place.to_owned());
            slots.is_sure_place = [".", "~"].contains(&place)
                || tokens[at..end]
                    .iter()
                    .any(|token| token.is_name || ["folder", "file"].contains(&token.concept.unwrap_or_default()));
            marks[at..end].fill(Some(Mark::Place));
        }
    }
}

fn place_after<'a>(tokens: &'a [Token], marks: &[Option<Mark>], start: usize) -> Option<(&'a str, usize)> {
    let articles = ["the", "my", "our", "a", "der", "dem", "den", "meinem", "folder", "directory", "file"];
    let at = (start..tokens.len())
        .find(|&index| tokens[index].is_quoted || !articles.contains(&tokens[index].norm.as_str()))?;
    let token = &tokens[at];
    if marks[at].is_some() && marks[at] != Some(Mark::Number) {
        return None;
    }
    let follows_folder = tokens.get(at + 1).is_some_and(|next| next.concept == Some("folder"));
    let end = at + 1 + usize::from(follows_folder);
    if token.is_foreign() && !follows_folder {
        return None;
    }
    match token.concept {
        Some("home") => Some(("~", end)),
        Some("big" | "small" | "newest" | "oldest" | "empty" | "hidden" | "goback" | "goup") => None,
        Some(_) if follows_folder && !token.is_idle() => Some((&token.raw, end)),
        // "in my code" means a subject, "in my code folder" a folder.
        _ if !follows_folder && !token.is_name && tokens[at - 1].norm == "my" => None,
        // The word after "into" is a folder even if it is a filler elsewhere: "into out".
        None if tokens[at - 1].norm == "into" && marks[at].is_none() => Some((&token.raw, end)),
        _ if token.is_unknown() && marks[at].is_none() => Some((&token.raw, end)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
