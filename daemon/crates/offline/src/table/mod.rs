//! Understands requests by tables of intents: paraphrases, a command with slots, an answer. Adding an intent is adding it to a table in
//! `intents/` and running `scripts/train-intents`; no code knows any of them.

mod align;
mod features;
mod file;
mod judge;
mod model;
mod plan;
pub(super) mod programs;
mod spelling;
#[cfg(test)]
mod tests;
mod times;
#[cfg(any(test, feature = "training"))]
mod training;
mod values;
mod vectors;
mod words;

use cohab_memory::past::about_past::is_about_past;

use self::{
    align::Values,
    file::{INTENTS, TableIntent},
    model::{MODEL, Model},
    words::{Slot, Word, of_tokens, words},
};
use super::{
    run::{Run, Step},
    vocabulary::kind_of_file,
    words::Token,
};

/// Least probability of an intent that is carried out, and the same if it is far ahead of the next, by the number of words that are left
/// over: none, one, two, more. Found by the requests of two lists that were not learned from.
const SURE: [[f32; 2]; 4] = [[0.6, 0.52], [0.67, 0.6], [0.74, 0.66], [0.82, 0.74]];
/// The same for an intent that only says something.
const SURE_TO_SAY: [[f32; 2]; 4] = [[0.66, 0.58], [0.68, 0.6], [0.75, 0.66], [0.82, 0.74]];
/// The same for the explanation of a message: most of its words are those of the machine.
const SURE_TO_EXPLAIN: [f32; 2] = [0.6, 0.5];
/// The same if a value has no place in the plan, or if no paraphrase is much like the request.
const ALMOST_CERTAIN: [f32; 2] = [0.85, 0.78];
const ALMOST_CERTAIN_TO_SAY: [f32; 2] = [0.92, 0.86];
/// Least probability of an intent that is carried out although the request seems to have several parts.
const CERTAIN: f32 = 0.76;
/// The least probability of an intent that speaks for a pattern which means the same.
const SUPPORTIVE: f32 = 0.55;
/// The least probability of an intent with a paraphrase that the request says nearly word by word.
const LITERAL: f32 = 0.6;
/// Shorter requests say little by being said word by word.
const LITERAL_WORDS: usize = 5;
/// No probability is enough.
const NEVER: f32 = 2.0;
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
    /// Least probability for it, and the same if it is far ahead of the next.
    needs: [f32; 2],
    /// Whether it is far more probable than the next.
    is_far_ahead: bool,
    /// What it was judged by.
    doubts: String,
}

/// What a request may mean, the most probable first.
pub(super) fn understand(text: &str) -> Vec<Request> {
    let mut request = words(text);
    // A question about something else than this machine.
    if request.iter().any(|word| word.is_foreign() && !MODEL.knows(word)) {
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
    ordered(ranked)
}

/// The most probable first, which knows how far it is ahead.
fn ordered(mut ranked: Vec<Request>) -> Vec<Request> {
    ranked.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let next = ranked.get(1).map_or(0.0, |next| next.probability);
    if let Some(first) = ranked.first_mut() {
        first.is_far_ahead = first.probability >= FAR_AHEAD * next;
    }
    ranked
}

/// What a request may mean by a model that was learned from a part of the tables.
#[cfg(feature = "training")]
fn ranked(model: &Model, request: &[Word]) -> Vec<Request> {
    ordered(rank(model, request))
}

impl Request {
    /// Whether nothing else can be meant.
    pub(super) fn is_sure(&self) -> bool {
        self.probability >= self.needs[usize::from(self.is_far_ahead)]
    }

    /// What would be done, an infinitive phrase.
    pub(super) fn about(&self) -> &'static str {
        self.intent.about
    }

    /// Whether it is sure although the request seems to have several parts.
    pub(super) fn is_certain(&self) -> bool {
        self.probability >= CERTAIN && self.needs == SURE[0]
    }

    /// Whether it is probable enough to speak for a pattern that means the same.
    pub(super) fn is_supportive(&self) -> bool {
        self.probability >= SUPPORTIVE
    }

    /// Whether people ask for it in the past: "what did I install lately".
    pub(super) fn tells_past(&self) -> bool {
        self.intent.says.iter().any(|say| is_about_past(say))
    }

    /// The name of the intent.
    pub(super) fn name(&self) -> &'static str {
        self.intent.name
    }

    /// Name, confidence and values, for people who look into it.
    pub(super) fn explanation(&self) -> String {
        format!(
            "{} {:.2}{} {:?}{}",
            self.intent.name,
            self.probability,
            if self.is_sure() { "" } else { "~" },
            self.values,
            self.doubts,
        )
    }

    /// The first command, if all its values are known.
    pub(super) fn command(&self) -> Option<String> {
        plan::first_command(self.intent, &self.values)
    }

    /// All commands, if all their values are known.
    pub(super) fn commands(&self) -> Option<Vec<String>> {
        plan::effect(self.intent, &self.values)
    }

    /// Whether a value is missing.
    pub(super) fn lacks_value(&self) -> bool {
        plan::missing_slot(self.intent, &self.values).is_some()
    }

    /// The same request with these words in the place of the value that is missing.
    pub(super) fn with_missing(&self, tokens: &[Token]) -> Option<Self> {
        let slot = plan::missing_slot(self.intent, &self.values)?;
        self.with(&slot.label, &of_tokens(tokens))
    }

    /// The same request with this word in the place of a value of its type, given or not.
    pub(super) fn with_other(&self, tokens: &[Token]) -> Option<Self> {
        let words = of_tokens(tokens);
        let gain = |slot: &Slot| values::fit(slot.kind(), &words, |word| MODEL.knows(word));
        let fitting = plan::slots(self.intent).into_iter().filter_map(|slot| Some((gain(&slot)?, slot)));
        let (_, slot) = fitting.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
        self.with(&slot.label, &words)
    }

    /// The same request with the value of another one in the place of the value that is missing, if their types are alike.
    pub(super) fn with_values_of(&self, other: &Self) -> Option<Self> {
        const PLACES: [&str; 3] = ["path", "folder", "new"];
        let slot = plan::missing_slot(self.intent, &self.values)?;
        let is_alike = |kind: &str| kind == slot.kind() || PLACES.contains(&kind) && PLACES.contains(&slot.kind());
        let (_, value) = other.values.iter().find(|(label, _)| is_alike(words::kind_of(label)))?;
        let mut values = self.values.clone();
        values.insert(slot.label, value.clone());
        Some(Self { values, doubts: String::new(), ..*self })
    }

    fn with(&self, label: &str, words: &[Word]) -> Option<Self> {
        let kind = words::kind_of(label);
        values::fit(kind, words, |word| MODEL.knows(word)).filter(|_| words.len() <= values::most_words(kind))?;
        let mut values = self.values.clone();
        values.insert(label.to_owned(), values::value(kind, words)?);
        Some(Self { values, doubts: String::new(), ..*self })
    }

    /// Carries the request out.
    pub(super) fn follow(&self, run: &mut Run<'_>) -> Step {
        plan::follow(self.intent, &self.values, run)
    }
}

/// Whether the files among the values are of a kind that the topic of an intent is about.
fn suits(intent: &TableIntent, values: &Values) -> bool {
    let kinds: Vec<&str> = values.values().filter_map(|value| kind_of_file(value.rsplit_once('.')?.1)).collect();
    let is_one = |wanted: &[&str]| kinds.is_empty() || kinds.iter().any(|kind| wanted.contains(kind));
    match intent.name.split('.').next().unwrap_or_default() {
        "pdf" => is_one(&["pdf", "image", "office"]),
        "image" => is_one(&["image", "pdf"]),
        "media" => is_one(&["video", "audio", "image"]),
        "text" | "csv" | "json" => {
            !kinds.iter().any(|kind| ["image", "video", "audio", "pdf", "archive"].contains(kind))
        }
        _ => true,
    }
}

/// The least probability for a candidate.
fn needs(found: &judge::Candidate) -> [f32; 2] {
    let intent = &INTENTS[found.intent];
    let left = (found.left_over() as usize).min(SURE.len() - 1);
    match intent.commands.is_empty() {
        _ if left > 0 && found.has_foreign || !suits(intent, &found.values) => [NEVER; 2],
        // A value with a meaning of its own may be no value, and one that no command uses was said for a reason.
        false if found.is_doubtful() || found.leaves_part() || !plan::uses_all(intent, &found.values) => [NEVER; 2],
        true if intent.name.starts_with("error.") => SURE_TO_EXPLAIN,
        true if found.is_unlike() => ALMOST_CERTAIN_TO_SAY,
        false if found.is_unlike() => ALMOST_CERTAIN,
        true => SURE_TO_SAY[left],
        false if found.wastes_value() => ALMOST_CERTAIN,
        false => SURE[left],
    }
}

/// The intents that a request may mean, the most probable first. Those that would do the same count as one.
fn rank(model: &Model, request: &[Word]) -> Vec<Request> {
    let says = |intent: usize| INTENTS[intent].says.iter().map(|say| words(say)).collect();
    let found = judge::candidates(model, request, says);
    let traits: Vec<model::Traits> = found.iter().map(|candidate| candidate.traits).collect();
    let mut ranked: Vec<Request> = found
        .into_iter()
        .zip(judge::probabilities(&model.judge, &traits))
        .map(|(found, probability)| Request {
            intent: &INTENTS[found.intent],
            needs: needs(&found),
            doubts: found.doubts(),
            probability: if request.len() >= LITERAL_WORDS && found.is_literal() {
                probability.max(LITERAL + 0.1 * probability)
            } else {
                probability
            },
            values: found.values,
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

/// The intents that a request may mean by the tables alone, the most probable first: name, probability, and whether it is sure.
#[cfg(feature = "training")]
#[must_use]
pub fn ranking(text: &str) -> Vec<(&'static str, f32, bool)> {
    understand(text).iter().map(|found| (found.name(), found.probability, found.is_sure())).collect()
}

/// Learns from four fifths of the tables and says how well the rest is understood.
#[cfg(feature = "training")]
#[must_use]
pub fn trial() -> String {
    training::trial()
}
