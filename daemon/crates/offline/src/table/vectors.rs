//! Vectors of English words: words that are used alike have vectors that point alike. `scripts/word-vectors` makes the file; its NOTICE says
//! where the vectors come from.

use std::{cmp::Ordering, sync::LazyLock};

/// The vectors embedded in the program; empty if the file cannot be read, which a test excludes.
static VECTORS: LazyLock<Vectors> =
    LazyLock::new(|| Vectors::read(include_bytes!("../../assets/words.vectors")).unwrap_or_default());

const MAGIC: &[u8] = b"cohabWV1";

/// A file of vectors: for each word, in order, where its letters end; the letters; the coordinates.
#[derive(Default)]
struct Vectors {
    ends: &'static [u8],
    letters: &'static [u8],
    coordinates: &'static [u8],
    dimensions: usize,
}

impl Vectors {
    fn read(file: &'static [u8]) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC)?;
        let (count, rest) = number(rest)?;
        let (dimensions, rest) = number(rest)?;
        let (letters, rest) = number(rest)?;
        let (ends, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (letters, coordinates) = rest.split_at_checked(letters)?;
        (coordinates.len() == count.checked_mul(dimensions)?).then_some(Self { ends, letters, coordinates, dimensions })
    }

    fn word(&self, at: usize) -> &'static [u8] {
        let end = |at: usize| number(&self.ends[at * 4..]).map_or(0, |(end, _)| end);
        let start = if at == 0 { 0 } else { end(at - 1) };
        self.letters.get(start..end(at)).unwrap_or_default()
    }

    /// The coordinates of a word.
    fn of(&self, word: &str) -> Option<impl Iterator<Item = f32> + use<>> {
        let (mut low, mut high) = (0, self.ends.len() / 4);
        while low < high {
            let middle = (low + high) / 2;
            match self.word(middle).cmp(word.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    let own = &self.coordinates[middle * self.dimensions..][..self.dimensions];
                    return Some(own.iter().map(|step| f32::from(i8::from_le_bytes([*step]))));
                }
            }
        }
        None
    }
}

fn number(bytes: &'static [u8]) -> Option<(usize, &'static [u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number) as usize, rest))
}

/// The direction of words together, each with its weight; of length 1, or empty if no word has a vector.
pub(super) fn direction<'a>(words: impl Iterator<Item = (&'a str, f32)>) -> Vec<f32> {
    let mut sum: Vec<f32> = Vec::new();
    for (word, weight) in words {
        let Some(own) = VECTORS.of(word) else { continue };
        let own: Vec<f32> = own.collect();
        let weight = weight / length(&own);
        sum.resize(own.len(), 0.0);
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += weight * own);
    }
    let length = length(&sum);
    sum.iter_mut().for_each(|sum| *sum /= length);
    sum
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|own| own * own).sum::<f32>().sqrt().max(f32::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_used_alike_point_alike() {
        let alike = |one: &str, other: &str| -> f32 {
            let (one, other) = (direction([(one, 1.0)].into_iter()), direction([(other, 1.0)].into_iter()));
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        assert!(alike("pictures", "photos") > 0.6);
        assert!(alike("pictures", "port") < 0.3);
        assert!((alike("port", "port") - 1.0).abs() < 0.001);
        assert!(direction([("qqqqq", 1.0)].into_iter()).is_empty());
    }

    #[test]
    fn a_broken_file_is_none() {
        let file: &'static [u8] = include_bytes!("../../assets/words.vectors");
        for cut in (0..file.len()).step_by(40_001) {
            assert!(Vectors::read(&file[..cut]).is_none(), "{cut}");
        }
    }
}
