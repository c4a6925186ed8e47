//! Logistic regression by stochastic descent, with a separate step for each weight.

use cohab_line_classifier::{
    builtins::everywhere,
    feature_names::FEATURES,
    features::{Features, features},
    hashing::{Mark, each_hashed},
    line::Line,
    weights::{HASHED, Weights, hash, name_hash},
};

use crate::{
    data::{NameSet, Sample, Source},
    world,
};

/// Number of times that each line is seen, on another machine each time.
const ROUNDS: u64 = 12;
const DENSE_STEP: f32 = 0.08;
const HASHED_STEP: f32 = 0.10;
/// Share of a hashed word's weight that is lost each time it is seen.
const DECAY: f32 = 0.0004;
/// Weight of a command, relative to a sentence: the worst mistake is to take a command away.
const COMMAND_COUNTS: f32 = 2.4;
/// Extra weight of a line in the style of people.
const SPOKEN_COUNTS: f32 = 2.5;
/// The sum that a question must exceed, beyond even odds: a command that is taken away costs more than a question that is run.
const CAUTION: f32 = 0.25;

struct Model {
    dense: Vec<f32>,
    dense_squares: Vec<f32>,
    bias: f32,
    hashed: Vec<f32>,
    hashed_squares: Vec<f32>,
}

/// The weights learned from `samples`.
pub(crate) fn learn(samples: &[Sample<'_>], names: &NameSet) -> Weights {
    let mut model = Model {
        dense: vec![0.0; FEATURES.len()],
        dense_squares: vec![1.0; FEATURES.len()],
        bias: 0.0,
        hashed: vec![0.0; HASHED],
        hashed_squares: vec![1.0; HASHED],
    };
    let lines: Vec<(Line<'_>, &Sample<'_>)> = samples.iter().map(|sample| (Line::read(sample.text), sample)).collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    for round in 0..ROUNDS {
        order.sort_by_key(|at| hash(&lines[*at].1.hash.to_le_bytes(), 1_000 + round));
        for at in &order {
            let (line, sample) = &lines[*at];
            model.see(line, sample, round, names);
        }
    }
    model.finish(names)
}

impl Model {
    fn see(&mut self, line: &Line<'_>, sample: &Sample<'_>, round: u64, names: &NameSet) {
        let (standing, is_new_name) = world::standing(sample, round, names);
        let features = features(line, standing);
        let mut words: Vec<usize> = Vec::with_capacity(24);
        each_hashed(line, |mark, _, index| {
            if !(is_new_name && matches!(mark, Mark::First | Mark::Pair)) {
                words.push(index);
            }
        });
        let sum = self.bias
            + features.iter().zip(&self.dense).map(|(value, weight)| value * weight).sum::<f32>()
            + words.iter().map(|index| self.hashed[*index]).sum::<f32>();
        let chance = 1.0 / (1.0 + (-sum).exp());
        let (target, counts) = if sample.is_language() { (1.0, 1.0) } else { (0.0, COMMAND_COUNTS) };
        let counts = if sample.source == Source::Spoken { counts * SPOKEN_COUNTS } else { counts };
        self.step((target - chance) * counts, &features, &words);
    }

    fn step(&mut self, error: f32, features: &Features, words: &[usize]) {
        self.bias += 0.01 * error;
        for (at, value) in features.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            let gradient = error * value;
            self.dense_squares[at] += gradient * gradient;
            self.dense[at] += DENSE_STEP * gradient / self.dense_squares[at].sqrt() * 2.0;
        }
        for index in words {
            self.hashed_squares[*index] += error * error;
            self.hashed[*index] *= 1.0 - DECAY;
            self.hashed[*index] += HASHED_STEP * error / self.hashed_squares[*index].sqrt() * 2.0;
        }
    }

    fn finish(self, names: &NameSet) -> Weights {
        let largest = self.hashed.iter().fold(f32::MIN_POSITIVE, |largest, weight| largest.max(weight.abs()));
        let scale = largest / 127.0;
        let mut names: Vec<u32> = names.iter().map(|name| name_hash(name)).chain(everywhere().map(name_hash)).collect();
        names.sort_unstable();
        names.dedup();
        Weights {
            dense: self.dense,
            bias: self.bias - CAUTION,
            scale,
            hashed: self.hashed.iter().map(|weight| (weight / scale).round() as i8).collect(),
            names,
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_line_classifier::{Decision, decide};

    use super::*;
    use crate::{data::read, world::Bare};

    #[test]
    fn what_is_learned_tells_the_lines_apart_and_is_the_same_each_time() {
        let text: String = (0..60)
            .map(|number| {
                format!("ai\tsort all of the {number} files by their size\nshell\tsort -n -k{number} data out\n")
            })
            .collect();
        let samples: Vec<_> = read(&text, Source::Corpus).collect();
        let names = NameSet::from(["sort".to_owned()]);
        let weights = learn(&samples, &names);
        for (line, decision) in [
            ("sort all of the 99 files by their size", Decision::Assistant),
            ("sort -n -k99 data out", Decision::Shell),
        ] {
            assert_eq!(decide(&Line::read(line), line, &Bare, &weights).decision, decision, "{line}");
        }
        assert_eq!(weights.to_file(), learn(&samples, &names).to_file());
        assert!(weights.knows("sort"));
    }
}
