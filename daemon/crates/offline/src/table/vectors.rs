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

    fn of(&self, word: &str) -> Option<Vector> {
        let (mut low, mut high) = (0, self.ends.len() / 4);
        while low < high {
            let middle = (low + high) / 2;
            match self.word(middle).cmp(word.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    return Some(Vector(&self.coordinates[middle * self.dimensions..][..self.dimensions]));
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

/// The coordinates of a word, a byte each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector(&'static [u8]);

impl Vector {
    /// The vector of a lower-case word.
    pub(super) fn of(word: &str) -> Option<Self> {
        VECTORS.of(word)
    }

    /// How alike two words are used, from -1 to 1.
    pub(super) fn likeness(self, other: Self) -> f32 {
        self.dot(other) / (self.dot(self) * other.dot(other)).sqrt().max(f32::EPSILON)
    }

    fn dot(self, other: Self) -> f32 {
        let step = |byte: &u8| i32::from(i8::from_le_bytes([*byte]));
        self.0.iter().zip(other.0).map(|(one, other)| step(one) * step(other)).sum::<i32>() as f32
    }
}

/// The direction of words together, each with its weight; of length 1, or empty if there is no word.
pub(super) fn direction(words: impl Iterator<Item = (Vector, f32)>) -> Vec<f32> {
    let mut sum: Vec<f32> = Vec::new();
    for (word, weight) in words {
        let weight = weight / word.dot(word).sqrt().max(f32::EPSILON);
        sum.resize(word.0.len(), 0.0);
        sum.iter_mut().zip(word.0).for_each(|(sum, own)| *sum += weight * f32::from(i8::from_le_bytes([*own])));
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
        let alike = |one: &str, other: &str| Vector::of(one).unwrap().likeness(Vector::of(other).unwrap());
        assert!(alike("pictures", "photos") > 0.6);
        assert!(alike("pictures", "port") < 0.3);
        assert!((alike("port", "port") - 1.0).abs() < 0.001);
        assert!(Vector::of("qqqqq").is_none() && direction(std::iter::empty()).is_empty());
    }

    #[test]
    fn a_broken_file_is_none() {
        let file: &'static [u8] = include_bytes!("../../assets/words.vectors");
        for cut in (0..file.len()).step_by(40_001) {
            assert!(Vectors::read(&file[..cut]).is_none(), "{cut}");
        }
    }
}
