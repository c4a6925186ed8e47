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
    /// the paraphrase lacks and the other way round, the doubtful values, whether the first telling word is in both, how alike the words
    /// of both are used, the names and numbers without a slot, the words such as "only" that the paraphrase lacks, and how unlike the
    /// words are that stand for others, if no paraphrase has them and else.
    pub(super) traits: Traits,
    /// Whether a word belongs to another subject.
    pub(super) has_foreign: bool,
}

impl Candidate {
    /// The words of the request that are left over.
    pub(super) fn left_over(&self) -> f32 {
        self.traits[2] + self.traits[3]
    }

    /// What speaks against it: the words left over that others have and those that none has, doubtful values, values without a place, words
    /// such as "only" that were not heeded, exchanged words, and the shares that request and paraphrase lack.
    pub(super) fn doubts(&self) -> String {
        let [_, likeness, elsewhere, nowhere, lacks, .., doubtful, _, _, unused, unheeded, unknown, known] =
            self.traits;
        let [lacked, unsaid] = [self.traits[9], self.traits[10]];
        format!(
            " [{likeness:.2} e{elsewhere} n{nowhere} l{lacks} d{doubtful} u{unused} h{unheeded} x{unknown:.1},{known:.1} {lacked:.2},{unsaid:.2} f{}]",
            u8::from(self.has_foreign)
        )
    }

    /// Whether a value has a meaning of its own.
    pub(super) fn is_doubtful(&self) -> bool {
        self.traits[11] > 0.0
    }

    /// Whether a name or a number has no place in the plan.
    pub(super) fn wastes_value(&self) -> bool {
        self.traits[14] > 0.0
    }

    /// Whether the nearest paraphrase is not much like the request, or one of both says much that the other does not.
    pub(super) fn is_unlike(&self) -> bool {
        const LEAST_ALIKE: f32 = 0.45;
        const MUCH: f32 = 0.5;
        self.traits[1] < LEAST_ALIKE || self.traits[9] > MUCH || self.traits[10] > MUCH
    }

    /// Whether a part of the request behind a word such as "and" or "without" is left over.
    pub(super) fn leaves_part(&self) -> bool {
        const MUCH: f32 = 0.5;
        self.traits[15] > 0.0 && self.traits[9] > MUCH
    }

    /// Whether the request says a paraphrase nearly word by word.
    pub(super) fn is_literal(&self) -> bool {
        const MOST_DIFFERENT: f32 = 0.06;
        self.left_over() == 0.0 && !self.is_doubtful() && self.traits[9] + self.traits[10] <= MOST_DIFFERENT
    }
}

/// The candidates for a request. `says` returns the paraphrases of an intent.
pub(super) fn candidates(model: &Model, request: &[Word], says: impl Fn(usize) -> Vec<Vec<Word>>) -> Vec<Candidate> {
    let mut probable: Vec<(usize, f32)> =
        model.log_probabilities(request, INTENTS.len()).into_iter().enumerate().collect();
    probable.sort_by(|a, b| b.1.total_cmp(&a.1));
    let is_single = request.iter().filter(|word| !word.is_filler()).count() <= 1;
    let weight = weight(model, request);
    let direction = model.direction(request);
    let candidate = |(intent, log): (usize, f32)| {
        let required = plan::required(&INTENTS[intent]);
        let lacks = |values: &Values| required.iter().any(|slot| !values.contains_key(&slot.label));
        let says = says(intent);
        let (say, found, likeness) = nearest(model, &says, request, weight, lacks);
        let lacks = lacks(&found.values);
        let closeness = dot(&direction, &model.direction(say));
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
            closeness,
            count(found.unused),
            count(found.unheeded),
            found.exchanged[0],
            found.exchanged[1],
        ];
        Candidate { intent, has_foreign: found.has_foreign, values: found.values, traits }
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

/// The paraphrase that is most like the request, with the request beside it, and how like. A paraphrase that leaves a value missing
/// counts less.
fn nearest<'a>(
    model: &Model,
    says: &'a [Vec<Word>],
    request: &[Word],
    weight_of_request: f32,
    lacks: impl Fn(&Values) -> bool,
) -> (&'a [Word], Alignment, f32) {
    const MISSING: f32 = 0.25;
    let mut best: (&[Word], Alignment, f32) = (&[], Alignment::default(), 0.0);
    let mut most = f32::MIN;
    for say in says {
        let aligned = align(model, say, request);
        let likeness = 2.0 * aligned.agreement / (weight_of_request + weight(model, say)).max(1.0);
        let score = if lacks(&aligned.values) { likeness - MISSING } else { likeness };
        if score >= most {
            (most, best) = (score, (say.as_slice(), aligned, likeness));
        }
    }
    best
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// What a text weighs if all of it agrees.
fn weight(model: &Model, words: &[Word]) -> f32 {
    const VALUE: f32 = 2.5;
    let of = |word: &Word| if word.slot.is_some() || word.is_name { VALUE } else { model.rarity(word) };
    words.iter().map(of).sum()
}

/// A request that was not learned from, with its candidates and the places of the right ones.
#[cfg(any(test, feature = "training"))]
#[derive(Clone)]
pub(super) struct Judged {
    pub(super) candidates: Vec<Traits>,
    pub(super) right: Vec<usize>,
    /// It is a request of [`super::training`]'s lists, not a paraphrase.
    #[cfg(feature = "training")]
    pub(super) is_asked: bool,
}

/// Learns the weights of the traits.
#[cfg(feature = "training")]
pub(super) fn learn(samples: &[Judged]) -> Judge {
    const EPOCHS: usize = 60;
    const RATE: f32 = 0.02;
    let mut judge = Judge::default();
    judge[0] = 1.0;
    for epoch in 0..EPOCHS {
        let rate = RATE / (1.0 + 0.2 * epoch as f32);
        for Judged { candidates, right, .. } in samples {
            let probabilities = probabilities(&judge, candidates);
            let of_right = right.iter().map(|at| probabilities[*at]).sum::<f32>().max(f32::EPSILON);
            for (at, (traits, probability)) in candidates.iter().zip(&probabilities).enumerate() {
                let error = if right.contains(&at) { probability - probability / of_right } else { *probability };
                judge.iter_mut().zip(traits).for_each(|(weight, value)| *weight -= rate * error * value);
            }
        }
    }
    judge
}
