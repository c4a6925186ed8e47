//! Learns the weights of [`super::model`]: softmax regression over the features of all paraphrases, and the judge of [`super::judge`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    super::agreement::same_in_tables,
    features::{features, hash},
    file::{INTENTS, hash_of_tables},
    judge::{self, Judged},
    model::{Judge, Model, softmax, write},
    spelling,
    words::{Slot, Word, words},
};

const EPOCHS: usize = 24;
/// The first step of learning, and how it shrinks with each epoch.
const RATE: f32 = 4.0;
const DECAY: f32 = 0.25;
/// One in this many features is left out in each step, so that no intent hangs on one word.
const LEFT_OUT: u64 = 5;
/// How often each paraphrase is learned from, each time with other values.
const VARIANTS: usize = 6;
/// Smaller errors are not learned from.
const LEAST_ERROR: f32 = 0.0005;
/// Parts of the paraphrases and requests; one is left out at a time.
pub(super) const FOLDS: usize = 5;
/// Parts whose paraphrases are judged.
#[cfg(feature = "training")]
const JUDGED_FOLDS: usize = 2;
/// How often each request counts beside a paraphrase.
const REPEATED: usize = 4;
/// One in this many paraphrases that were left out is judged.
const ONE_OF: usize = 3;

/// A paraphrase with its intent, or a request with those that are right.
pub(super) struct Sample {
    /// The places of the intents in the tables, the best first; none if no intent is right.
    pub(super) intents: Vec<usize>,
    /// Its words and slots.
    words: Vec<Word>,
    /// It is a request, not a paraphrase.
    is_asked: bool,
}

impl Sample {
    /// The paraphrase as a request, with values in its slots.
    pub(super) fn request(&self, seed: usize) -> Vec<Word> {
        if self.is_asked {
            return self.words.clone();
        }
        let topic = INTENTS[self.intent()].name.split('.').next().unwrap_or_default();
        let file = FILES.iter().find(|(known, _)| *known == topic).map(|(_, file)| *file);
        self.words.iter().flat_map(|word| with_value(word, seed, file)).collect()
    }

    /// The best of its intents; one that does not exist if there is none.
    fn intent(&self) -> usize {
        self.intents.first().copied().unwrap_or(usize::MAX)
    }
}

/// The words of a value of a slot's type; another word as it is. Many values are words that mean something elsewhere, so that they do not count here.
fn with_value(word: &Word, seed: usize, file: Option<&str>) -> Vec<Word> {
    let one = |values: &'static str| {
        let values: Vec<&str> = values.split(' ').collect();
        values[seed % values.len()]
    };
    let value = match word.slot.as_ref().map(Slot::kind) {
        None => return vec![word.clone()],
        Some("number" | "pid") => one("17 3 2000 two"),
        Some("decimal") => one("17 2.5"),
        Some("port") => one("8080 22"),
        Some("size") => one("10MB 2GB"),
        Some("ext") => one(".log py md .jpg csv txt"),
        Some("glob") => one("*.log data*"),
        Some("url") => "https://example.org/a.tgz",
        Some("host") => one("example.org 10.0.0.7 web01 server nas ada@box.lan"),
        Some("date") => "2026-11-26",
        Some("clock") => one("23:00 9:30 7pm"),
        Some("times") => SCHEDULES[seed % SCHEDULES.len()],
        Some("expr") => "3+4",
        Some("word") => one(WORDS),
        Some("text") if seed.is_multiple_of(3) => one("TODO error hello timeout name"),
        Some("text") => "'some words'",
        Some("folder") => one("~/some/place docs uploads build /var/lib test images src backup data"),
        Some(_) => {
            file.unwrap_or_else(|| one("src/notes.txt docs README.md Makefile server.log build /etc/hosts old.bak"))
        }
    };
    words(value)
}

/// How often something runs, as people say it.
const SCHEDULES: [&str; 6] =
    ["every day at 3am", "every 10 minutes", "hourly", "every monday at 7:30", "daily at 23:00", "on weekdays at 6"];

/// The files that the intents of a topic are about.
const FILES: [(&str, &str); 7] = [
    ("pdf", "thesis.pdf"),
    ("image", "photo.jpg"),
    ("media", "talk.mp4"),
    ("csv", "data.csv"),
    ("json", "config.json"),
    ("archive", "a.zip"),
    ("xml", "page.xml"),
];

/// Names of programs, services, packages, branches and other things.
const WORDS: &str = "xorbit htop my-thing nginx v1.2 docker tmux java main redis git node jq postgres vim feature/login python3 bash \
                     ssh build test web tree curl backup cron api";

/// Requests, each with the intents that are right, the best first, or `-`. Their writers did not know the tables.
const ASKED: &str = include_str!("../../intents/requests.tsv");
/// `intent | phrasing | command` of the patterns in code.
const PHRASINGS: &str = include_str!("../tests/phrasings.txt");
/// Of the intents that mean the same as a pattern this many are right.
const MOST_RIGHT: usize = 3;

/// All requests, each with the names of the intents that are right.
fn asked() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let asked = ASKED.lines().filter_map(|row| row.split_once('\t'));
    let asked = asked.map(|(request, names)| (request, names.split(' ').collect()));
    let phrased = PHRASINGS.lines().filter_map(|row| {
        let (pattern, rest) = row.split_once(" | ")?;
        let (phrasing, _) = rest.split_once(" | ")?;
        let same: Vec<&str> = same_in_tables(pattern).iter().copied().take(MOST_RIGHT).collect();
        (!same.is_empty()).then_some((phrasing, same))
    });
    asked.chain(phrased)
}

/// The hash of all requests.
pub(super) fn hash_of_requests() -> u32 {
    hash(&asked().flat_map(|(request, names)| std::iter::once(request).chain(names)).collect::<Vec<_>>())
}

/// All paraphrases and all requests.
pub(super) fn samples() -> Vec<Sample> {
    let of_intent = |(intent, table): (usize, &super::file::TableIntent)| {
        let sample = |say: &&str| Sample { intents: vec![intent], words: words(say), is_asked: false };
        table.says.iter().map(sample).collect::<Vec<_>>()
    };
    let places: HashMap<&str, usize> = INTENTS.iter().enumerate().map(|(at, intent)| (intent.name, at)).collect();
    let asked = asked().map(|(request, names)| Sample {
        intents: names.into_iter().filter_map(|name| places.get(name).copied()).collect(),
        words: words(request),
        is_asked: true,
    });
    INTENTS.iter().enumerate().flat_map(of_intent).chain(asked).collect()
}

/// Learns everything and returns the file of weights.
#[cfg(feature = "training")]
pub(super) fn learn_all() -> Vec<u8> {
    let samples = samples();
    let samples = &samples;
    let judge = |fold| fold_model(samples, fold).map(|model| judged(samples, fold, &model)).unwrap_or_default();
    let (learned, judged) = std::thread::scope(|scope| {
        let folds: Vec<_> = (0..JUDGED_FOLDS).map(|fold| scope.spawn(move || judge(fold))).collect();
        let learned = learn(&samples.iter().collect::<Vec<_>>());
        let judged: Vec<Judged> = folds.into_iter().flat_map(|fold| fold.join().unwrap_or_default()).collect();
        (learned, judged)
    });
    learned.file(&judge::learn(&judged))
}

/// Whether a sample is of the part that is left out.
fn is_out(at: usize, fold: usize) -> bool {
    at * 7919 % FOLDS == fold
}

/// Some intents are left out as a whole: for their paraphrases every candidate is wrong.
fn is_unknown(sample: &Sample, fold: usize) -> bool {
    !sample.is_asked && sample.intent() * 31 % (4 * FOLDS) == fold
}

fn learned_from(samples: &[Sample], fold: usize) -> Vec<&Sample> {
    let is_learned = |(at, sample): &(usize, &Sample)| !is_out(*at, fold) && !is_unknown(sample, fold);
    samples.iter().enumerate().filter(is_learned).map(|(_, sample)| sample).collect()
}

/// Learns from all paraphrases and requests but those of one part.
pub(super) fn fold_model(samples: &[Sample], fold: usize) -> Option<Model> {
    Model::read(Box::leak(learn(&learned_from(samples, fold)).file(&Judge::default()).into_boxed_slice()))
}

/// Judges the paraphrases and requests of the part that a model was not learned from.
pub(super) fn judged(samples: &[Sample], fold: usize, model: &Model) -> Vec<Judged> {
    let mut says: HashMap<usize, Vec<Vec<Word>>> = HashMap::new();
    for sample in learned_from(samples, fold).iter().filter(|sample| !sample.is_asked) {
        says.entry(sample.intent()).or_default().push(sample.words.clone());
    }
    let (asked, said): (Vec<_>, Vec<_>) =
        samples.iter().enumerate().filter(|(at, _)| is_out(*at, fold)).partition(|(_, sample)| sample.is_asked);
    let judge = |(at, sample): (usize, &Sample)| {
        let mut request = sample.request(at);
        if sample.is_asked {
            spelling::mend(model, &mut request);
        }
        let found = judge::candidates(model, &request, |intent| says.get(&intent).cloned().unwrap_or_default());
        let is_right =
            |candidate: &judge::Candidate| sample.intents.contains(&candidate.intent) && !is_unknown(sample, fold);
        let right = found.iter().enumerate().filter(|(_, found)| is_right(found)).map(|(at, _)| at).collect();
        let candidates = found.into_iter().map(|candidate| candidate.traits).collect();
        Judged {
            candidates,
            right,
            #[cfg(feature = "training")]
            is_asked: sample.is_asked,
        }
    };
    let asked: Vec<Judged> = asked.into_iter().map(judge).collect();
    let said = said.into_iter().step_by(ONE_OF).map(judge);
    // Requests count more than paraphrases: they are what will come.
    said.chain(asked.iter().cycle().take(REPEATED * asked.len()).cloned()).collect()
}

/// What was learned from samples: rarities of words, and weights of features.
pub(super) struct Learned {
    words: Vec<(String, f32)>,
    weights: Vec<(u32, Vec<(u16, f32)>)>,
}

impl Learned {
    /// The file of weights.
    pub(super) fn file(&self, judge: &Judge) -> Vec<u8> {
        write([hash_of_tables(), hash_of_requests()], judge, &self.words, &self.weights)
    }
}

/// Learns from samples.
pub(super) fn learn(samples: &[&Sample]) -> Learned {
    let rarities = rarities(samples);
    let rarity_of: HashMap<&str, f32> = rarities.iter().map(|(word, rarity)| (word.as_str(), *rarity)).collect();
    let of = |words: &[Word]| features(words, |word| rarity_of.get(word).copied());
    // Each paraphrase once with its slots, and often with values in them.
    let variants = |at: usize, sample: &Sample| {
        let filled = (1..VARIANTS).map(|variant| of(&sample.request(at * VARIANTS + variant * 5)));
        std::iter::once(of(&sample.words)).chain(filled).map(|row| (sample.intent(), row)).collect::<Vec<_>>()
    };
    let known = samples.iter().filter(|sample| !sample.intents.is_empty());
    let rows: Vec<(usize, Vec<(u32, f32)>)> = known.enumerate().flat_map(|(at, sample)| variants(at, sample)).collect();
    let known: BTreeSet<u32> = rows.iter().flat_map(|(_, row)| row).map(|(feature, _)| *feature).collect();
    let places: BTreeMap<u32, usize> = known.iter().enumerate().map(|(place, feature)| (*feature, place)).collect();
    let rows: Vec<(usize, Vec<(usize, f32)>)> = rows
        .into_iter()
        .map(|(intent, row)| (intent, row.into_iter().map(|(feature, weight)| (places[&feature], weight)).collect()))
        .collect();
    let count = INTENTS.len();
    let weights = descend(&rows, known.len(), count);
    let learned = known
        .iter()
        .enumerate()
        .map(|(place, feature)| {
            let own = weights[place * count..(place + 1) * count].iter().copied();
            (*feature, own.enumerate().map(|(intent, weight)| (intent as u16, weight)).collect())
        })
        .collect();
    Learned { words: rarities, weights: learned }
}

/// Softmax regression by stochastic gradient descent: the weight of each feature for each intent.
fn descend(rows: &[(usize, Vec<(usize, f32)>)], features: usize, count: usize) -> Vec<f32> {
    let mut weights = vec![0.0_f32; features * count];
    let mut order: Vec<usize> = (0..rows.len() / VARIANTS).collect();
    let mut seed = 1_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut sums = vec![0.0_f32; count];
    for epoch in 0..EPOCHS {
        for at in (1..order.len()).rev() {
            order.swap(at, random(at as u64 + 1) as usize);
        }
        let rate = RATE / (1.0 + DECAY * epoch as f32);
        for at in &order {
            let (intent, row) = &rows[VARIANTS * at + epoch % VARIANTS];
            let row: Vec<&(usize, f32)> = row.iter().filter(|_| random(LEFT_OUT) > 0).collect();
            sums.fill(0.0);
            for (place, weight) in &row {
                let own = &weights[place * count..(place + 1) * count];
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += weight * own);
            }
            softmax(&mut sums);
            sums[*intent] -= 1.0;
            let errors = sums.iter().enumerate().filter(|(_, error)| error.abs() > LEAST_ERROR);
            let errors: Vec<(usize, f32)> = errors.map(|(intent, error)| (intent, rate * error)).collect();
            for (place, weight) in &row {
                let own = &mut weights[place * count..(place + 1) * count];
                errors.iter().for_each(|(intent, error)| own[*intent] -= weight * error);
            }
        }
    }
    weights
}

/// Each word and its rarity: a word of few intents tells much.
fn rarities(samples: &[&Sample]) -> Vec<(String, f32)> {
    let mut seen: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    // A name in a request is no word of the tables.
    for sample in samples.iter().filter(|sample| !sample.is_asked) {
        for word in sample.words.iter().filter(|word| word.slot.is_none() && word.form.len() < 256) {
            seen.entry(&word.form).or_default().insert(sample.intent());
        }
    }
    let rarity = |intents: usize| (1.0 + INTENTS.len() as f32 / intents as f32).ln();
    seen.into_iter().map(|(word, intents)| (word.to_owned(), rarity(intents.len()))).collect()
}

/// The share of requests whose first candidate is right.
#[cfg(test)]
pub(super) fn first(judged: &[Judged], judge: &Judge) -> f32 {
    let is_right = |judged: &&Judged| {
        let probabilities = judge::probabilities(judge, &judged.candidates);
        let best = (0..probabilities.len()).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
        best.is_some_and(|best| judged.right.contains(&best))
    };
    judged.iter().filter(is_right).count() as f32 / judged.len() as f32
}

/// Shares that say how well requests are understood that were not learned from.
#[cfg(any(test, feature = "training"))]
pub(super) fn report(judged: &[Judged], judge: &Judge, sure: f32) -> String {
    let (mut first, mut among, mut claimed, mut wrong, mut unknown) = (0, 0, 0, 0, 0);
    for Judged { candidates, right, .. } in judged {
        let probabilities = judge::probabilities(judge, candidates);
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
        let is_right = |at: &usize| right.contains(at);
        first += usize::from(order.first().is_some_and(is_right));
        among += usize::from(order.iter().take(3).any(is_right));
        unknown += usize::from(right.is_empty());
        let is_claimed = order.first().is_some_and(|at| probabilities[*at] >= sure);
        claimed += usize::from(is_claimed);
        wrong += usize::from(is_claimed && !order.first().is_some_and(is_right));
    }
    let share = |count: usize| 100.0 * count as f32 / judged.len() as f32;
    format!(
        "{} requests: {:.1} % first, {:.1} % among three, {:.1} % not among the candidates; at {sure} {:.1} % claimed, {:.1} % wrongly",
        judged.len(),
        share(first),
        share(among),
        share(unknown),
        share(claimed),
        share(wrong)
    )
}

/// Learns without one part and says how well its paraphrases and its requests are understood, and what becomes of each request.
#[cfg(feature = "training")]
pub(super) fn trial() -> String {
    let samples = samples();
    let (model, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| fold_model(&samples, 1).map(|model| judged(&samples, 1, &model)));
        (fold_model(&samples, 0), other.join().ok().flatten())
    });
    let (Some(mut model), Some(other)) = (model, other) else { return String::new() };
    model.judge = judge::learn(&other);
    let (asked, said): (Vec<_>, Vec<_>) = judged(&samples, 0, &model).into_iter().partition(|judged| judged.is_asked);
    let lines = |judged: &[Judged]| -> String {
        let lines: Vec<String> =
            [0.4, 0.5, 0.6, 0.7, 0.8].iter().map(|sure| report(judged, &model.judge, *sure)).collect();
        lines.join("\n")
    };
    let asked = lines(&asked);
    format!("{:?}\nparaphrases:\n{}\nrequests:\n{asked}\n{}", model.judge, lines(&said), outcomes(&samples, &model))
}

/// What becomes of each request of the first part: carried out rightly or wrongly, proposed, or missed.
#[cfg(feature = "training")]
fn outcomes(samples: &[Sample], model: &Model) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut list = String::new();
    for (_, sample) in samples.iter().enumerate().filter(|(at, sample)| is_out(*at, 0) && sample.is_asked) {
        let mut request = sample.words.clone();
        spelling::mend(model, &mut request);
        let found = super::ranked(model, &request);
        let is_right = |found: &super::Request| sample.intents.iter().any(|at| INTENTS[*at].name == found.name());
        let outcome = match found.first() {
            Some(first) if first.is_sure() => {
                if is_right(first) {
                    "right"
                } else {
                    "WRONG"
                }
            }
            _ if found.iter().take(3).any(is_right) => "proposed",
            _ => "missed",
        };
        *counts.entry(outcome).or_default() += 1;
        let words: Vec<&str> = request.iter().map(|word| word.raw.as_str()).collect();
        let names: Vec<String> = found.iter().take(3).map(super::Request::explanation).collect();
        let right = sample.intents.iter().map(|at| INTENTS[*at].name).collect::<Vec<_>>();
        list.push_str(&format!("{outcome}: {} <- {right:?}\n    {}\n", words.join(" "), names.join("\n    ")));
    }
    format!("{counts:?}\n{list}")
}
