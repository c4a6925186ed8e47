//! Lays a request beside a paraphrase, so that the words in the place of a slot become its value.

use std::collections::BTreeMap;

use super::{
    model::Model,
    values::{fit, most_words, value},
    words::Word,
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
    /// Whether the first telling word of the request is in the paraphrase.
    pub(super) begins_alike: bool,
    /// Names and numbers of the request without a slot, and words such as "write" that the paraphrase lacks.
    pub(super) unused: usize,
    /// Words such as "all" and "only" that the paraphrase lacks.
    pub(super) unheeded: usize,
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
                if said.is_some_and(|said| said.form == word.form && !said.is_quoted) {
                    offer(best[row + 1][column + 1].0 + model.rarity(word), Choice::Same);
                }
            }
            Some(slot) => {
                offer(best[row + 1][column].0 - EMPTY_SLOT, Choice::SkipParaphrase);
                let most = most_words(slot.kind()).min(request.len() - column);
                for count in 1..=most {
                    let gain = fit(slot.kind(), &request[column..column + count], |word| model.knows(word));
                    if let Some(gain) = gain {
                        offer(best[row + 1][column + count].0 + gain, Choice::Slot(count));
                    }
                }
            }
        }
    }
    found.unwrap_or((0.0, Choice::End))
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
                column += 1;
            }
            Choice::Same => {
                found.begins_alike |= Some(column) == first;
                (row, column) = (row + 1, column + 1);
            }
            Choice::Slot(count) => {
                if let Some(slot) = &paraphrase[row].slot
                    && let Some(value) = value(slot.kind(), &request[column..column + count])
                {
                    let is_place = matches!(slot.kind(), "path" | "folder" | "new");
                    let is_meant = |word: &Word| if is_place { model.knows(word) } else { word.form != word.stem };
                    let is_doubtful = |word: &Word| !word.is_name && is_meant(word);
                    found.doubtful += usize::from(request[column..column + count].iter().any(is_doubtful));
                    // Words without quotes may well be no text.
                    found.left_out[0] += usize::from(count > 1 && slot.kind() == "text");
                    found.values.insert(slot.label.clone(), value);
                }
                (row, column) = (row + 1, column + count);
            }
        }
    }
}
