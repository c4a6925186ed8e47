//! Lays a request beside a paraphrase, so that the words in the place of a slot become its value.

use std::collections::BTreeMap;

use super::{
    model::Model,
    values::{fit, most_words, value},
    words::{Slot, Word},
};

/// The cost of a word that the other side lacks, as a share of its rarity.
const LEFT_OUT: f32 = 0.3;
/// The cost of a slot without value.
const EMPTY_SLOT: f32 = 0.6;

/// The values of slots, by label.
pub(super) type Values = BTreeMap<String, String>;

/// A step of the best way through both texts.
#[derive(Clone, Copy)]
enum Choice {
    End,
    SkipParaphrase,
    SkipRequest,
    Same,
    Slot(usize),
}

/// A request beside a paraphrase.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    /// How well the two agree.
    pub(super) agreement: f32,
    /// The values of the slots.
    pub(super) values: Values,
    /// Words with a meaning of their own that the paraphrase lacks: those of other paraphrases, and those of none.
    pub(super) left_out: [usize; 2],
    /// The rarities of the words of the request that the paraphrase lacks.
    pub(super) lacked: f32,
    /// The rarities of the words of the paraphrase that the request lacks.
    pub(super) unsaid: f32,
    /// Values that have a meaning of their own elsewhere.
    pub(super) doubtful: usize,
    /// How unlike words are that stand for others of the paraphrase: those that no paraphrase has, and those of others.
    pub(super) exchanged: [f32; 2],
    /// Whether the first telling word of the request is in the paraphrase.
    pub(super) begins_alike: bool,
    /// Names and numbers of the request without a slot, and words such as "write" that the paraphrase lacks.
    pub(super) unused: usize,
    /// Words such as "all" and "only" that the paraphrase lacks.
    pub(super) unheeded: usize,
    /// Whether a word that is no value belongs to another subject.
    pub(super) has_foreign: bool,
}

/// Lays a request beside a paraphrase.
pub(super) fn align(model: &Model, paraphrase: &[Word], request: &[Word]) -> Alignment {
    let (rows, columns) = (paraphrase.len() + 1, request.len() + 1);
    let mut best = vec![vec![(0.0_f32, Choice::End); columns]; rows];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            best[row][column] = step(model, paraphrase, request, &best, (row, column));
        }
    }
    read(model, paraphrase, request, &best)
}

fn step(
    model: &Model,
    paraphrase: &[Word],
    request: &[Word],
    best: &[Vec<(f32, Choice)>],
    (row, column): (usize, usize),
) -> (f32, Choice) {
    let mut found: Option<(f32, Choice)> = None;
    let mut offer = |score: f32, choice: Choice| {
        if found.is_none_or(|(best, _)| score > best) {
            found = Some((score, choice));
        }
    };
    let said = request.get(column);
    if let Some(said) = said {
        offer(best[row][column + 1].0 - LEFT_OUT * model.rarity(said), Choice::SkipRequest);
    }
    if let Some(word) = paraphrase.get(row) {
        match &word.slot {
            None => {
                offer(best[row + 1][column].0 - LEFT_OUT * model.rarity(word), Choice::SkipParaphrase);
                if let Some(said) = said.filter(|said| !said.is_quoted) {
                    let likeness = likeness(model, word, said);
                    if likeness > 0.0 {
                        let gain = likeness * model.rarity(word).min(model.rarity(said));
                        offer(best[row + 1][column + 1].0 + gain, Choice::Same);
                    }
                }
            }
            Some(slot) => {
                offer(best[row + 1][column].0 - EMPTY_SLOT, Choice::SkipParaphrase);
                let most = most_words(slot.kind()).min(request.len() - column);
                for count in 1..=most {
                    let words = &request[column..column + count];
                    let gain = fit(slot.kind(), words, |word| model.knows(word));
                    if let Some(gain) = gain.filter(|_| !is_place(slot) || may_be_place(model, request, column)) {
                        offer(best[row + 1][column + count].0 + gain, Choice::Slot(count));
                    }
                }
            }
        }
    }
    found.unwrap_or((0.0, Choice::End))
}

fn is_place(slot: &Slot) -> bool {
    matches!(slot.kind(), "path" | "folder" | "new")
}

/// Whether a word can name a file: a word of the tables only if it is announced, or if many folders have this name.
fn may_be_place(model: &Model, request: &[Word], column: usize) -> bool {
    let word = &request[column];
    word.is_name || !model.knows(word) || word.is_usual_folder() || is_announced(request, column)
}

fn is_announced(request: &[Word], column: usize) -> bool {
    column > 0 && request[column - 1].announces(&request[column])
}

fn likeness(model: &Model, word: &Word, said: &Word) -> f32 {
    word.likeness(said, model.knows(said))
}

/// Follows the best way through both texts.
fn read(model: &Model, paraphrase: &[Word], request: &[Word], best: &[Vec<(f32, Choice)>]) -> Alignment {
    let mut found = Alignment { agreement: best[0][0].0, ..Alignment::default() };
    let (mut row, mut column) = (0, 0);
    let first = request.iter().position(|word| !word.is_filler());
    loop {
        match best[row][column].1 {
            Choice::End => return found,
            Choice::SkipParaphrase => {
                let word = &paraphrase[row];
                found.unsaid += if word.slot.is_some() { EMPTY_SLOT } else { model.rarity(word) };
                row += 1;
            }
            Choice::SkipRequest => {
                let word = &request[column];
                found.lacked += model.rarity(word);
                found.left_out[usize::from(!model.knows(word))] += usize::from(!word.is_filler());
                found.unused += usize::from(word.is_name || word.is_quoted || word.makes());
                found.unheeded += usize::from(word.narrows());
                found.has_foreign |= word.is_foreign();
                // "Older than 2 years" is not 2 days.
                found.doubtful +=
                    usize::from(word.is_unit() || word.makes() || word.is_name && word.raw.starts_with(['.', '*']));
                column += 1;
            }
            Choice::Same => {
                let (word, said) = (&paraphrase[row], &request[column]);
                found.has_foreign |= said.is_foreign();
                found.begins_alike |= Some(column) == first;
                let unlike = 1.0 - likeness(model, word, said);
                found.lacked += unlike * model.rarity(said);
                found.unsaid += unlike * model.rarity(word);
                found.exchanged[usize::from(model.knows(said))] += unlike;
                (row, column) = (row + 1, column + 1);
            }
            Choice::Slot(count) => {
                if let Some(slot) = &paraphrase[row].slot
                    && let Some(value) = value(slot.kind(), &request[column..column + count])
                {
                    let is_place = is_place(slot);
                    let is_meant = |word: &Word| match slot.kind() {
                        "number" | "decimal" | "expr" | "date" | "clock" | "times" | "size" => false,
                        _ if is_place => model.knows(word),
                        _ => word.form != word.stem,
                    };
                    let is_doubtful = |word: &Word| !word.is_name && is_meant(word);
                    let is_said = is_announced(request, column);
                    let words = &request[column..column + count];
                    let is_text =
                        slot.kind() == "text" && count > 1 && !(column > 0 && request[column - 1].announces_text());
                    let telling = words.iter().filter(|word| !word.is_name && !word.is_filler() && model.knows(word));
                    found.doubtful += usize::from(is_text && telling.count() > 1 && !words[0].is_program());
                    found.doubtful += usize::from(!is_said && words.iter().any(is_doubtful));
                    // Words without quotes may well be no text.
                    found.left_out[0] += usize::from(count > 1 && slot.kind() == "text");
                    found.values.insert(slot.label.clone(), value);
                }
                (row, column) = (row + 1, column + count);
            }
        }
    }
}
