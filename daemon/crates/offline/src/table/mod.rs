//! Understands requests by tables of intents: paraphrases, a command with slots, an answer. Adding an intent is adding it to a table in
//! `intents/` and running `scripts/train-intents`; no code knows any of them.

mod align;
mod features;
mod file;
mod model;
mod plan;
mod spelling;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "training"))]
mod training;
mod values;
mod words;

use self::{
    align::{Alignment, Values, align},
    file::{INTENTS, TableIntent},
    model::{MODEL, Model},
    words::{Word, words},
};
use super::{
    run::{Run, Step},
    vocabulary::is_foreign,
};

/// Least probability of an intent that is carried out, if it explains all words of the request.
const SURE: f32 = 0.6;
/// The same if it does not explain all words of the request.
const CERTAIN: f32 = 0.9;
/// Least probability of an intent that is proposed.
const POSSIBLE: f32 = 0.2;
/// Intents whose paraphrases are laid beside the request.
const CANDIDATES: usize = 6;
/// The share of an intent's probability that is left if a value that it needs is not in the request.
const LACKS_VALUE: f32 = 0.3;

/// The share that is left for each word that only other intents explain, and for each that none explains.
const ELSEWHERE: f32 = 0.92;
const NOWHERE: f32 = 0.5;

/// What a request may mean: an intent, with the values of its slots.
pub(super) struct Request {
    intent: &'static TableIntent,
    values: Values,
    probability: f32,
    /// Whether the intent explains all its words.
    is_whole: bool,
    /// Whether it has more than a word.
    is_said: bool,
}

/// What a request may mean, the most probable first.
pub(super) fn understand(text: &str) -> Vec<Request> {
    let mut request = words(text);
    // A question about something else than this machine.
    if request.iter().any(|word| !word.is_name && !MODEL.knows(word) && is_foreign(&word.form)) {
        return Vec::new();
    }
    spelling::mend(&MODEL, &mut request);
    rank(&MODEL, &request)
}

impl Request {
    /// Whether nothing else can be meant.
    pub(super) fn is_sure(&self) -> bool {
        self.probability >= if self.is_whole { SURE } else { CERTAIN } && self.is_said
    }

    /// What would be done, an infinitive phrase.
    pub(super) fn about(&self) -> &'static str {
        self.intent.about
    }

    /// Name, confidence and values, for people who look into it.
    pub(super) fn explanation(&self) -> String {
        format!("{} {:.2} {:?}", self.intent.name, self.probability, self.values)
    }

    /// The first command, if all its values are known.
    pub(super) fn command(&self) -> Option<String> {
        plan::first_command(self.intent, &self.values)
    }

    /// Carries the request out.
    pub(super) fn follow(&self, run: &mut Run<'_>) -> Step {
        plan::follow(self.intent, &self.values, run)
    }
}

/// The intents that a request may mean: the words choose a few, the values decide between them.
fn rank(model: &Model, request: &[Word]) -> Vec<Request> {
    let mut probable: Vec<(usize, f32)> = model.probabilities(request, INTENTS.len()).into_iter().enumerate().collect();
    probable.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ranked = probable.into_iter().take(CANDIDATES).map(|(at, probability)| {
        let intent = &INTENTS[at];
        let Alignment { values, left_out: [elsewhere, nowhere], .. } = nearest(model, intent, request);
        let lacks = if plan::lacks_value(intent, &values) { LACKS_VALUE } else { 1.0 };
        let share = lacks * ELSEWHERE.powi(elsewhere as i32) * NOWHERE.powi(nowhere as i32);
        let is_said = request.iter().filter(|word| !word.is_filler()).count() > 1;
        Request { intent, values, probability: probability * share, is_whole: elsewhere + nowhere == 0, is_said }
    });
    let mut ranked: Vec<Request> = ranked.filter(|request| request.probability >= POSSIBLE).collect();
    ranked.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    ranked
}

/// The request beside the paraphrase of an intent that agrees best.
fn nearest(model: &Model, intent: &TableIntent, request: &[Word]) -> Alignment {
    let aligned = intent.says.iter().map(|say| align(model, &words(say), request));
    aligned.max_by(|a, b| a.agreement.total_cmp(&b.agreement)).unwrap_or_default()
}

/// Learns the weights from all tables.
#[cfg(feature = "training")]
#[must_use]
pub fn weights() -> Vec<u8> {
    let samples = training::samples();
    training::learn(&samples.iter().collect::<Vec<_>>())
}
