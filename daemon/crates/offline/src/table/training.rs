//! Learns the weights of [`super::model`]: softmax regression over the features of all paraphrases.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    features::features,
    file::{INTENTS, hash_of_tables},
    model::{softmax, write},
    words::{Word, words},
};

const EPOCHS: usize = 20;
/// The first step of learning, and how it shrinks with each epoch.
const RATE: f32 = 4.0;
const DECAY: f32 = 0.25;

/// A paraphrase with its intent.
pub(super) struct Sample {
    /// The place of the intent in the tables.
    pub(super) intent: usize,
    /// Its words and slots.
    pub(super) words: Vec<Word>,
}

/// All paraphrases.
pub(super) fn samples() -> Vec<Sample> {
    let of_intent = |(intent, table): (usize, &super::file::TableIntent)| {
        table.says.iter().map(|say| Sample { intent, words: words(say) }).collect::<Vec<_>>()
    };
    INTENTS.iter().enumerate().flat_map(of_intent).collect()
}

/// Learns from samples and returns the file of weights.
pub(super) fn learn(samples: &[&Sample]) -> Vec<u8> {
    let rows: Vec<(usize, Vec<(u32, f32)>)> =
        samples.iter().map(|sample| (sample.intent, features(&sample.words))).collect();
    let known: BTreeSet<u32> = rows.iter().flat_map(|(_, row)| row).map(|(feature, _)| *feature).collect();
    let places: BTreeMap<u32, usize> = known.iter().enumerate().map(|(place, feature)| (*feature, place)).collect();
    let count = INTENTS.len();
    let mut weights = vec![0.0_f32; known.len() * count];
    let rows: Vec<(usize, Vec<(usize, f32)>)> = rows
        .into_iter()
        .map(|(intent, row)| (intent, row.into_iter().map(|(feature, weight)| (places[&feature], weight)).collect()))
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut seed = 1_u64;
    for epoch in 0..EPOCHS {
        for at in (1..order.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(at, (seed >> 33) as usize % (at + 1));
        }
        let rate = RATE / (1.0 + DECAY * epoch as f32);
        for at in &order {
            let (intent, row) = &rows[*at];
            let mut errors = vec![0.0_f32; count];
            for (place, weight) in row {
                let own = &weights[place * count..(place + 1) * count];
                errors.iter_mut().zip(own).for_each(|(sum, own)| *sum += weight * own);
            }
            softmax(&mut errors);
            errors[*intent] -= 1.0;
            for (place, weight) in row {
                let own = &mut weights[place * count..(place + 1) * count];
                own.iter_mut().zip(&errors).for_each(|(own, error)| *own -= rate * weight * error);
            }
        }
    }
    let learned: Vec<(u32, Vec<(u16, f32)>)> = known
        .iter()
        .enumerate()
        .map(|(place, feature)| {
            let own = weights[place * count..(place + 1) * count].iter().copied();
            (*feature, own.enumerate().map(|(intent, weight)| (intent as u16, weight)).collect())
        })
        .collect();
    write(hash_of_tables(), &rarities(samples), &learned)
}

/// Each word and its rarity: a word of few intents tells much.
fn rarities(samples: &[&Sample]) -> Vec<(String, f32)> {
    let mut seen: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for sample in samples {
        for word in sample.words.iter().filter(|word| word.slot.is_none() && word.form.len() < 256) {
            seen.entry(&word.form).or_default().insert(sample.intent);
        }
    }
    let rarity = |intents: usize| (1.0 + INTENTS.len() as f32 / intents as f32).ln();
    seen.into_iter().map(|(word, intents)| (word.to_owned(), rarity(intents.len()))).collect()
}
