//! The weights that `scripts/train-intents` learned from the tables: how much each feature speaks for each intent.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use super::{
    features::{direction_of, features},
    file::hash_of_tables,
    words::Word,
};

/// The model embedded in the program. It knows nothing if it was learned from other tables than those of this program.
pub(super) static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let model = Model::read(include_bytes!("../../assets/intents.weights"));
    model.filter(|model| model.tables == hash_of_tables()).unwrap_or_default()
});

/// How a candidate is described, see [`super::judge`].
pub(super) type Traits = [f32; 18];
/// The weight of each trait.
pub(super) type Judge = Traits;

const MAGIC: &[u8; 8] = b"cohabIW5";
/// The rarity that counts for a word that no table has.
const UNKNOWN: f32 = 6.0;
/// The rarity of a word that carries little meaning, as a share.
const FILLER: f32 = 0.3;
/// Steps of a rarity in the file.
const RARITY_STEPS: f32 = 16.0;

/// Bytes of a feature in the index: its hash, and where its weights end.
const INDEX_BYTES: usize = 8;
/// Bytes of a weight: the intent and the step.
const WEIGHT_BYTES: usize = 3;

/// See the module's description.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The hash of the tables that the weights were learned from.
    tables: u32,
    /// Each word of the tables, and how rare it is.
    words: HashMap<String, f32>,
    /// For each feature, in order, its hash and where its weights end.
    index: Cow<'static, [u8]>,
    /// Intents and steps.
    weights: Cow<'static, [u8]>,
    /// The value of one step of a weight.
    scale: f32,
    /// How the traits of a candidate count, see [`super::judge`].
    pub(super) judge: Judge,
}

impl Model {
    /// Reads a file; `None` if it is no such file or is cut short.
    pub(super) fn read(file: &'static [u8]) -> Option<Self> {
        let mut bytes = Bytes(file.strip_prefix(MAGIC)?);
        let tables = bytes.u32()?;
        // The hash of the requests that were learned from, which a test compares.
        bytes.u32()?;
        let mut model = Self { tables, scale: f32::from_bits(bytes.u32()?), ..Self::default() };
        for weight in &mut model.judge {
            *weight = f32::from_bits(bytes.u32()?);
        }
        for _ in 0..bytes.u32()? {
            let length = usize::from(bytes.take(1)?[0]);
            let word = std::str::from_utf8(bytes.take(length)?).ok()?.to_owned();
            model.words.insert(word, f32::from(bytes.take(1)?[0]) / RARITY_STEPS);
        }
        let (features, weights) = (bytes.u32()? as usize, bytes.u32()? as usize);
        model.index = Cow::Borrowed(bytes.take(features.checked_mul(INDEX_BYTES)?)?);
        model.weights = Cow::Borrowed(bytes.take(weights.checked_mul(WEIGHT_BYTES)?)?);
        bytes.0.is_empty().then_some(model)
    }

    /// Whether a word occurs in a paraphrase.
    pub(super) fn knows(&self, word: &Word) -> bool {
        self.words.contains_key(&word.form)
    }

    /// How rare a word is.
    pub(super) fn rarity(&self, word: &Word) -> f32 {
        let rarity = self.words.get(&word.form).copied().unwrap_or(UNKNOWN);
        if word.is_filler() { rarity * FILLER } else { rarity }
    }

    /// The direction of a text, see [`super::vectors`].
    pub(super) fn direction(&self, words: &[Word]) -> Vec<f32> {
        direction_of(words, |word| self.words.get(word).copied())
    }

    /// The words of all paraphrases.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.keys().map(String::as_str)
    }

    /// The logarithm of the probability of each of `count` intents.
    pub(super) fn log_probabilities(&self, request: &[Word], count: usize) -> Vec<f32> {
        let mut sums = vec![0.0_f32; count];
        for (feature, weight) in features(request, |word| self.words.get(word).copied()) {
            for record in self.weights_of(feature).chunks_exact(WEIGHT_BYTES) {
                let intent = usize::from(u16::from_le_bytes([record[0], record[1]]));
                if let Some(sum) = sums.get_mut(intent) {
                    *sum += weight * f32::from(i8::from_le_bytes([record[2]])) * self.scale;
                }
            }
        }
        let most = sums.iter().copied().fold(f32::MIN, f32::max);
        let all = most + sums.iter().map(|sum| (sum - most).exp()).sum::<f32>().ln();
        sums.iter_mut().for_each(|sum| *sum -= all);
        sums
    }

    fn weights_of(&self, feature: u32) -> &[u8] {
        let number = |at: usize, part: usize| {
            let bytes = &self.index[at * INDEX_BYTES + part..][..4];
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        };
        let (mut low, mut high) = (0, self.index.len() / INDEX_BYTES);
        while low < high {
            let middle = (low + high) / 2;
            if number(middle, 0) < feature { low = middle + 1 } else { high = middle }
        }
        if low * INDEX_BYTES >= self.index.len() || number(low, 0) != feature {
            return &[];
        }
        let start = if low == 0 { 0 } else { number(low - 1, 4) as usize };
        self.weights.get(start * WEIGHT_BYTES..number(low, 4) as usize * WEIGHT_BYTES).unwrap_or_default()
    }
}

/// Turns sums into probabilities.
#[cfg(any(test, feature = "training"))]
pub(super) fn softmax(sums: &mut [f32]) {
    let most = sums.iter().copied().fold(f32::MIN, f32::max);
    sums.iter_mut().for_each(|sum| *sum = (*sum - most).exp());
    let all = sums.iter().sum::<f32>().max(f32::EPSILON);
    sums.iter_mut().for_each(|sum| *sum /= all);
}

/// What is left of a file.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}

/// Writes a file, with the hashes of the tables and of the requests. `words` hold rarities; `weights` hold, for each feature in order, intents and their weights.
#[cfg(any(test, feature = "training"))]
pub(super) fn write(
    [tables, requests]: [u32; 2],
    judge: &Judge,
    words: &[(String, f32)],
    weights: &[(u32, Vec<(u16, f32)>)],
) -> Vec<u8> {
    let most = weights.iter().flat_map(|(_, row)| row).map(|(_, weight)| weight.abs()).fold(f32::EPSILON, f32::max);
    let scale = most / f32::from(i8::MAX);
    let mut file = MAGIC.to_vec();
    file.extend(tables.to_le_bytes());
    file.extend(requests.to_le_bytes());
    file.extend(scale.to_bits().to_le_bytes());
    file.extend(judge.iter().flat_map(|weight| weight.to_bits().to_le_bytes()));
    file.extend((words.len() as u32).to_le_bytes());
    for (word, rarity) in words {
        file.push(word.len() as u8);
        file.extend(word.as_bytes());
        file.push((rarity * RARITY_STEPS).min(255.0) as u8);
    }
    let steps = |row: &[(u16, f32)]| -> Vec<(u16, i8)> {
        let rounded = row.iter().map(|(intent, weight)| (*intent, (weight / scale).round() as i8));
        rounded.filter(|(_, step)| step.unsigned_abs() >= LEAST_STEP).collect()
    };
    let rows: Vec<(u32, Vec<(u16, i8)>)> = weights.iter().map(|(feature, row)| (*feature, steps(row))).collect();
    let kept: Vec<_> = rows.iter().filter(|(_, row)| !row.is_empty()).collect();
    file.extend((kept.len() as u32).to_le_bytes());
    file.extend((kept.iter().map(|(_, row)| row.len()).sum::<usize>() as u32).to_le_bytes());
    let mut end = 0_u32;
    for (feature, row) in &kept {
        end += row.len() as u32;
        file.extend(feature.to_le_bytes());
        file.extend(end.to_le_bytes());
    }
    for (intent, step) in kept.iter().flat_map(|(_, row)| row) {
        file.extend(intent.to_le_bytes());
        file.push(step.to_le_bytes()[0]);
    }
    file
}

/// Smaller weights are left out of the file.
#[cfg(any(test, feature = "training"))]
const LEAST_STEP: u8 = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::words::words;

    #[test]
    fn a_file_reads_back_and_a_broken_one_does_not() {
        let feature = hash_of("sort");
        let judge = Judge::default();
        let file: &'static [u8] =
            write([7, 8], &judge, &[("sort".to_owned(), 2.0)], &[(feature, vec![(1, 40.0), (0, -40.0)])]).leak();
        let model = Model::read(file).unwrap();
        assert_eq!(model.tables, 7);
        let request = words("sort");
        assert!(model.knows(&request[0]) && model.rarity(&request[0]) == 2.0);
        let probable = model.log_probabilities(&request, 2);
        assert!(probable[1].exp() > 0.9, "{probable:?}");
        for cut in 0..file.len() {
            assert!(Model::read(&file[..cut]).is_none(), "{cut}");
        }
    }

    fn hash_of(word: &str) -> u32 {
        super::super::features::hash(&["word", word])
    }
}
