//! Understands requests by tables of intents: paraphrases, a command with slots, an answer. Adding an intent is adding it to a table in
//! `intents/` and running `scripts/train-intents`; no code knows any of them.

mod align;
mod features;
mod file;
mod judge;
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
    align::Values,
    file::{INTENTS, TableIntent},
    model::{MODEL, Model},
    words::{Word, words},
};
use super::{
    run::{Run, Step},
    vocabulary::{abbreviated, is_foreign, is_program},
};

/// Least probability of an intent that is carried out.
const SURE: f32 = 0.5;
/// The same if words are left over or a value is doubtful.
const CERTAIN: f32 = 0.6;
/// The same if it is far ahead of the next.
const LIKELY: f32 = 0.36;
/// How many times as probable as the next is far ahead.
const FAR_AHEAD: f32 = 2.5;
/// Least probability of an intent that is proposed.
const POSSIBLE: f32 = 0.04;

/// Words that announce a message.
const MESSAGE: [&str; 10] = ["mean", "meaning", "say", "says", "why", "fail", "get", "wrong", "complain", "fix"];

/// What a request may mean: an intent, with the values of its slots.
pub(super) struct Request {
    intent: &'static TableIntent,
    values: Values,
    probability: f32,
    /// Whether it is far more probable than the next.
    is_far_ahead: bool,
    /// Whether more than one word of the request is left over, or a value has a meaning of its own.
    is_loose: bool,
}

/// What a request may mean, the most probable first.
pub(super) fn understand(text: &str) -> Vec<Request> {
    let mut request = words(text);
    // A question about something else than this machine.
    if request.iter().any(|word| !word.is_name && !MODEL.knows(word) && is_foreign(&word.form)) {
        return Vec::new();
    }
    spelling::mend(&MODEL, &mut request);
    let mut ranked = rank(&MODEL, &request);
    // A message in quotes is not a value if an explanation of it is asked for.
    if request.iter().any(|word| MESSAGE.contains(&word.form.as_str())) {
        for message in request.iter().filter(|word| word.is_quoted && word.raw.contains(' ')) {
            let explained = rank(&MODEL, &words(&message.raw));
            ranked.extend(explained.into_iter().filter(|request| request.intent.commands.is_empty()));
        }
    }
    ranked.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let next = ranked.get(1).map_or(0.0, |next| next.probability);
    if let Some(first) = ranked.first_mut() {
        first.is_far_ahead = first.probability >= FAR_AHEAD * next;
    }
    ranked
}

/// Whether a text is a word with a meaning of its own, rather than a name.
pub(super) fn is_word(text: &str) -> bool {
    let words = words(text);
    matches!(&words[..], [word] if !word.is_name && !is_program(&word.form) && (MODEL.knows(word) || abbreviated(text).is_some()))
}

impl Request {
    /// Whether nothing else can be meant.
    pub(super) fn is_sure(&self) -> bool {
        self.probability
            >= match (self.is_loose, self.is_far_ahead) {
                (true, false) => CERTAIN,
                (true, true) => SURE,
                (false, true) => LIKELY,
                (false, false) => SURE,
            }
    }

    /// What would be done, an infinitive phrase.
    pub(super) fn about(&self) -> &'static str {
        self.intent.about
    }

    /// Whether it is more probable than what speaks for nothing else.
    pub(super) fn is_likely(&self) -> bool {
        self.probability >= LIKELY && !self.is_loose
    }

    /// The name of the intent.
    pub(super) fn name(&self) -> &'static str {
        self.intent.name
    }

    /// Name, confidence and values, for people who look into it.
    pub(super) fn explanation(&self) -> String {
        format!("{} {:.2}{} {:?}", self.intent.name, self.probability, if self.is_loose { "~" } else { "" }, self.values)
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

/// The intents that a request may mean, the most probable first. Those that would do the same count as one.
fn rank(model: &Model, request: &[Word]) -> Vec<Request> {
    let says = |intent: usize| INTENTS[intent].says.iter().map(|say| words(say)).collect();
    let found = judge::candidates(model, request, says);
    let traits: Vec<judge::Traits> = found.iter().map(|candidate| candidate.traits).collect();
    let mut ranked: Vec<Request> = found
        .into_iter()
        .zip(judge::probabilities(&model.judge, &traits))
        .map(|(found, probability)| Request {
            intent: &INTENTS[found.intent],
            is_loose: found.is_loose(),
            values: found.values,
            probability,
            is_far_ahead: false,
        })
        .collect();
    ranked.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut distinct: Vec<Request> = Vec::new();
    for request in ranked {
        let of = |request: &Request| plan::effect(request.intent, &request.values);
        match distinct.iter_mut().find(|known| of(known).is_some() && of(known) == of(&request)) {
            Some(known) => known.probability += request.probability,
            None => distinct.push(request),
        }
    }
    distinct.retain(|request| request.probability >= POSSIBLE);
    distinct
}

/// Learns the weights from all tables.
#[cfg(feature = "training")]
#[must_use]
pub fn weights() -> Vec<u8> {
    training::learn_all()
}

/// Learns from four fifths of the tables and says how well the rest is understood.
#[cfg(feature = "training")]
#[must_use]
pub fn trial() -> String {
    training::trial()
}
