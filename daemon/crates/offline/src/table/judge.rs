//! Judges the intents that a request may mean: the words choose a few, then the nearest paraphrase of each and its values decide. The
//! weights of the traits are learned with the tables, from paraphrases that the rest of the learning did not see, so that a probability
//! is the share of requests that are understood rightly.

use super::{
    align::{Alignment, Values, align},
    file::INTENTS,
    model::{Judge, Model, Traits},
    plan,
    words::Word,
};

/// Intents whose paraphrases are laid beside the request.
pub(super) const CANDIDATES: usize = 10;
/// Most words left out that count.
const MOST_LEFT_OUT: usize = 3;

/// An intent that a request may mean.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The place of the intent in the tables.
    pub(super) intent: usize,
    /// The values of its slots.
    pub(super) values: Values,
    /// What speaks for it: the logarithm of its probability by words, the likeness of the nearest paraphrase, the words of the request
    /// that the paraphrase lacks although other intents have them, those that none has, whether a value is missing, whether the request
    /// has only one word, a constant, whether no word is left out, whether the intent only says something, the share of the request that
    /// the paraphrase lacks and the other way round, the doubtful values, and whether the first telling word is in both.
    pub(super) traits: Traits,
}

impl Candidate {
    /// The words of the request that are left over.
    pub(super) fn left_over(&self) -> f32 {
        self.traits[2] + self.traits[3]
    }

    /// Whether several words of the request are left over, or a value has a meaning of its own.
    pub(super) fn is_loose(&self) -> bool {
        self.left_over() > 1.0 || self.traits[11] > 0.0
    }

    /// Whether what is left over is much of what the request says.
    pub(super) fn lacks_much(&self) -> bool {
        const MUCH: f32 = 0.25;
        self.traits[9] > MUCH
    }

    /// Whether the request says a paraphrase nearly word by word.
    pub(super) fn is_literal(&self) -> bool {
        const MOST_DIFFERENT: f32 = 0.06;
        self.left_over() == 0.0 && !self.is_loose() && self.traits[9] + self.traits[10] <= MOST_DIFFERENT
    }

    /// Whether the first telling word of the request is in the paraphrase.
    pub(super) fn begins_alike(&self) -> bool {
        self.traits[12] > 0.0
    }
}

/// The candidates for a request. `says` returns the paraphrases of an intent.
pub(super) fn candidates(model: &Model, request: &[Word], says: impl Fn(usize) -> Vec<Vec<Word>>) -> Vec<Candidate> {
    let mut probable: Vec<(usize, f32)> =
        model.log_probabilities(request, INTENTS.len()).into_iter().enumerate().collect();
    probable.sort_by(|a, b| b.1.total_cmp(&a.1));
    let is_single = request.iter().filter(|word| !word.is_filler()).count() <= 1;
    let weight = weight(model, request);
    let candidate = |(intent, log): (usize, f32)| {
        let (found, likeness) = nearest(model, &says(intent), request, weight);
        let lacks = plan::lacks_value(&INTENTS[intent], &found.values);
        let count = |words: usize| words.min(MOST_LEFT_OUT) as f32;
        let flag = |is_so: bool| f32::from(u8::from(is_so));
        let [elsewhere, nowhere] = found.left_out;
        let traits = [
            log.max(-12.0),
            likeness,
            count(elsewhere),
            count(nowhere),
            flag(lacks),
            flag(is_single),
            1.0,
            flag(elsewhere + nowhere == 0),
            flag(INTENTS[intent].commands.is_empty()),
            found.lacked / weight.max(1.0),
            found.unsaid / weight.max(1.0),
            count(found.doubtful),
            flag(found.begins_alike),
        ];
        let values = found.values;
        Candidate { intent, values, traits }
    };
    probable.into_iter().take(CANDIDATES).map(candidate).collect()
}

/// The probability of each candidate; what is left is that of none of them.
pub(super) fn probabilities(judge: &Judge, candidates: &[Traits]) -> Vec<f32> {
    let score = |traits: &Traits| judge.iter().zip(traits).map(|(weight, value)| weight * value).sum::<f32>();
    let scores: Vec<f32> = candidates.iter().map(|traits| score(traits).clamp(-60.0, 60.0).exp()).collect();
    let all = 1.0 + scores.iter().sum::<f32>();
    scores.into_iter().map(|score| score / all).collect()
}

/// The request beside the paraphrase that is most like it, and how like.
fn nearest(model: &Model, says: &[Vec<Word>], request: &[Word], weight_of_request: f32) -> (Alignment, f32) {
    let aligned = says.iter().map(|say| {
        let aligned = align(model, say, request);
        let likeness = 2.0 * aligned.agreement / (weight_of_request + weight(model, say)).max(1.0);
        (aligned, likeness)
    });
    aligned.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default()
}

/// What a text weighs if all of it agrees.
fn weight(model: &Model, words: &[Word]) -> f32 {
    const VALUE: f32 = 2.5;
    let of = |word: &Word| if word.slot.is_some() || word.is_name { VALUE } else { model.rarity(word) };
    words.iter().map(of).sum()
}

/// Learns the weights of the traits. Each sample has its candidates and the place of the right one.
#[cfg(feature = "training")]
pub(super) fn learn(samples: &[(Vec<Traits>, Option<usize>)]) -> Judge {
    const EPOCHS: usize = 60;
    const RATE: f32 = 0.02;
    let mut judge = Judge::default();
    judge[0] = 1.0;
    for epoch in 0..EPOCHS {
        let rate = RATE / (1.0 + 0.2 * epoch as f32);
        for (candidates, right) in samples {
            let probabilities = probabilities(&judge, candidates);
            for (at, (traits, probability)) in candidates.iter().zip(probabilities).enumerate() {
                let error = probability - f32::from(u8::from(*right == Some(at)));
                judge.iter_mut().zip(traits).for_each(|(weight, value)| *weight -= rate * error * value);
            }
        }
    }
    judge
}
