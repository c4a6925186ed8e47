//! Finds sequences that occurred several times, and more often than chance would have it. Pure.
//!
//! Each event has one or two marks: that of its exact command, if that command is frequent by itself, and that of its shape. A sequence
//! begins as a pair of marks that belong together, and grows at both ends by what nearly always stands there.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use jiff::{Timestamp, civil::Date};

/// A sequence counts from so many times on.
pub(super) const LEAST_TIMES: usize = 3;
/// Days, or sessions of the assistant, on which it was done at least.
const LEAST_DAYS: usize = 2;
const LEAST_SESSIONS: usize = 3;
/// Most steps.
const MAX_STEPS: usize = 8;
/// Longest time from its first to its last step.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// Most other commands between two steps.
const MAX_BETWEEN: usize = 2;
/// Most sequences that are found.
const MAX_FOUND: usize = 10;
/// Most pairs that sequences begin with.
const MAX_PAIRS: usize = 500;
/// Pairs of commands that stand next to each other by chance: so many are accepted in a history.
const ACCIDENTS: f64 = 0.1;
/// A sequence gets longer by a step that stands there in this share of the cases, or in the smaller one if the two steps belong together.
const NEARLY_ALWAYS: f64 = 0.8;
const OFTEN: f64 = 0.5;

/// A command that succeeded.
#[derive(Clone, Debug)]
pub(super) struct Event<'a> {
    /// The number of its shape.
    pub shape: usize,
    /// The number of its exact command, if that is frequent by itself. Numbers of both are different.
    pub exact: Option<usize>,
    pub at: Timestamp,
    pub day: Date,
    pub session: Option<&'a str>,
}

impl Event<'_> {
    fn marks(&self) -> impl Iterator<Item = usize> + use<> {
        [self.exact, Some(self.shape)].into_iter().flatten()
    }
}

/// How often two marks are close to each other, in their order.
#[derive(Clone, Copy, Default)]
struct Link {
    /// Directly behind each other.
    direct: usize,
    /// Number of the first that have the second close behind, and of the second that have the first close before.
    behind: usize,
    before: usize,
}

/// A sequence of marks with the positions of its steps, for each time.
#[derive(Clone)]
struct Sequence {
    marks: Vec<usize>,
    times: Vec<Vec<usize>>,
}

/// The end of a sequence at which it grows.
#[derive(Clone, Copy)]
enum GrowthEnd {
    First,
    Last,
}

/// The sequences in these events, which are in the order of their times: for each the times that it was done, and for each of those the
/// positions of its steps. The longest come first.
pub(super) fn sequences(events: &[Event<'_>]) -> Vec<Vec<Vec<usize>>> {
    let search = Search::of(events);
    let candidates = search.pairs().into_iter().filter_map(|(first, second)| search.grown(first, second)).collect();
    search.chosen(candidates)
}

struct Search<'a> {
    events: &'a [Event<'a>],
    /// Number of events with a mark.
    counts: HashMap<usize, usize>,
    /// The shape of each mark.
    shapes: HashMap<usize, usize>,
    links: BTreeMap<(usize, usize), Link>,
    /// The probability below which a pair is no accident.
    significance: f64,
}

impl<'a> Search<'a> {
    fn of(events: &'a [Event<'a>]) -> Self {
        let (mut counts, mut shapes) = (HashMap::new(), HashMap::new());
        for event in events {
            event.marks().for_each(|mark| *counts.entry(mark).or_default() += 1);
            event.marks().for_each(|mark| _ = shapes.insert(mark, event.shape));
        }
        let frequent = counts.values().filter(|count| **count >= LEAST_TIMES).count().max(1) as f64;
        let significance = ACCIDENTS / (frequent * frequent);
        let mut search = Self { events, counts, shapes, links: BTreeMap::new(), significance };
        for at in 0..events.len() {
            search.link(at);
        }
        search
    }

    /// Counts what is close to an event, each mark once.
    fn link(&mut self, at: usize) {
        let own: Vec<usize> = self.events[at].marks().collect();
        let marks_of = |positions: Vec<usize>| -> HashSet<usize> {
            positions.into_iter().flat_map(|near| self.events[near].marks()).collect()
        };
        let direct = marks_of(self.behind(at).take(1).collect());
        let behind = marks_of(self.behind(at).collect());
        let before = marks_of(self.before(at).collect());
        for mark in own {
            direct.iter().for_each(|next| self.links.entry((mark, *next)).or_default().direct += 1);
            behind.iter().for_each(|next| self.links.entry((mark, *next)).or_default().behind += 1);
            before.iter().for_each(|first| self.links.entry((*first, mark)).or_default().before += 1);
        }
    }

    fn is_near(&self, first: usize, last: usize) -> bool {
        let (first, last) = (self.events[first].at, self.events[last].at);
        Duration::try_from(last.duration_since(first)).is_ok_and(|took| took <= LONGEST)
    }

    /// The positions close behind this one, the nearest first.
    fn behind(&self, at: usize) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let end = self.events.len().min(at + MAX_BETWEEN + 2);
        (at + 1..end).take_while(move |next| self.is_near(at, *next))
    }

    /// The positions close before this one, the nearest first.
    fn before(&self, at: usize) -> impl Iterator<Item = usize> + use<'_, 'a> {
        (at.saturating_sub(MAX_BETWEEN + 1)..at).rev().take_while(move |first| self.is_near(*first, at))
    }

    /// The pairs that belong together, the most frequent first.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = self.links.iter().filter(|(pair, _)| self.belong_together(**pair)).collect();
        pairs.sort_by_key(|(pair, link)| (Reverse(link.direct), **pair));
        pairs.into_iter().map(|(pair, _)| *pair).take(MAX_PAIRS).collect()
    }

    /// Whether two marks stand next to each other because one follows from the other.
    fn belong_together(&self, pair: (usize, usize)) -> bool {
        let Some(link) = self.links.get(&pair).filter(|link| link.behind >= LEAST_TIMES) else { return false };
        let count = |mark: usize| self.counts.get(&mark).copied().unwrap_or_default();
        let (first, second) = (count(pair.0), count(pair.1));
        let share = |part: usize, all: usize| part as f64 / all as f64;
        // Where one is, there the other is.
        let is_direct = link.direct >= LEAST_TIMES && share(link.direct, first.max(second)) >= OFTEN;
        if is_direct || share(link.behind, first).min(share(link.before, second)) >= NEARLY_ALWAYS {
            return true;
        }
        let all = self.events.len() as f64;
        let by_chance = |width: usize, of: usize| 1.0 - (1.0 - of as f64 / all).powi(width as i32);
        let window = MAX_BETWEEN + 1;
        let chance = [
            (link.direct, first, by_chance(1, second)),
            (link.direct, second, by_chance(1, first)),
            (link.behind, first, by_chance(window, second)),
            (link.before, second, by_chance(window, first)),
        ]
        .into_iter()
        .filter(|(times, of, _)| share(*times, *of) >= OFTEN)
        .map(|(times, of, chance)| tail(times, of, chance))
        .fold(1.0, f64::min);
        chance < self.significance
    }

    /// Whether a step can be added: no command comes twice, except as two different exact ones.
    fn is_new(&self, sequence: &[usize], next: usize) -> bool {
        let shape = self.shapes.get(&next);
        sequence.iter().all(|mark| {
            let is_same_shape = self.shapes.get(mark) == shape;
            !is_same_shape || (*mark != next && Some(mark) != shape && Some(&next) != shape)
        })
    }

    /// The longest sequence around a pair.
    fn grown(&self, first: usize, second: usize) -> Option<Sequence> {
        if !self.is_new(&[first], second) {
            return None;
        }
        let begin = (0..self.events.len()).filter(|at| self.events[*at].marks().any(|mark| mark == first));
        let begin = Sequence { marks: vec![first], times: begin.map(|at| vec![at]).collect() };
        let mut sequence = self.longer(&begin, second, GrowthEnd::Last)?;
        while sequence.marks.len() < MAX_STEPS {
            let ends = [GrowthEnd::Last, GrowthEnd::First].into_iter();
            let Some(longer) = ends.filter_map(|end| self.best(&sequence, end)).max_by_key(|longer| longer.times.len())
            else {
                break;
            };
            sequence = longer;
        }
        Some(sequence)
    }

    /// The sequence with the step that stands at this end most often, if it does so often enough.
    fn best(&self, sequence: &Sequence, end: GrowthEnd) -> Option<Sequence> {
        let mut counts = BTreeMap::<usize, usize>::new();
        for steps in &sequence.times {
            let marks: HashSet<usize> = self.beside(steps, end).flat_map(|at| self.events[at].marks()).collect();
            marks.into_iter().for_each(|mark| *counts.entry(mark).or_default() += 1);
        }
        let mut marks: Vec<_> = counts.into_iter().filter(|(_, count)| *count >= LEAST_TIMES).collect();
        // Of marks as frequent as each other the exact one comes first.
        marks.sort_by_key(|(mark, count)| (Reverse(*count), self.shapes.get(mark) == Some(mark), *mark));
        let all = sequence.times.len() as f64;
        marks.into_iter().filter(|(mark, _)| self.is_new(&sequence.marks, *mark)).find_map(|(mark, count)| {
            let pair = match end {
                GrowthEnd::First => (mark, *sequence.marks.first()?),
                GrowthEnd::Last => (*sequence.marks.last()?, mark),
            };
            let least = if self.belong_together(pair) { OFTEN } else { NEARLY_ALWAYS };
            let longer = (count as f64 >= least * all).then(|| self.longer(sequence, mark, end)).flatten()?;
            (longer.times.len() as f64 >= least * all).then_some(longer)
        })
    }

    /// The positions at which a further step can be, the nearest first.
    fn beside(&self, steps: &[usize], end: GrowthEnd) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let (first, last) = (steps.first().copied().unwrap_or_default(), steps.last().copied().unwrap_or_default());
        let near: Vec<usize> = match end {
            GrowthEnd::First => self.before(first).collect(),
            GrowthEnd::Last => self.behind(last).collect(),
        };
        near.into_iter().filter(move |at| self.is_near(*at.min(&first), *at.max(&last)))
    }

    /// The sequence with this step at this end, if it is a habit.
    fn longer(&self, sequence: &Sequence, mark: usize, end: GrowthEnd) -> Option<Sequence> {
        let mut times = Vec::<Vec<usize>>::new();
        for steps in &sequence.times {
            let found = self.beside(steps, end).find(|at| self.events[*at].marks().any(|own| own == mark));
            let Some(found) = found else { continue };
            let mut steps = steps.clone();
            match end {
                GrowthEnd::First => steps.insert(0, found),
                GrowthEnd::Last => steps.push(found),
            }
            if times.last().and_then(|before| before.last()) < steps.first() {
                times.push(steps);
            }
        }
        let mut marks = sequence.marks.clone();
        match end {
            GrowthEnd::First => marks.insert(0, mark),
            GrowthEnd::Last => marks.push(mark),
        }
        self.is_habit(&times).then_some(Sequence { marks, times })
    }

    /// Whether it was done often enough, and not all at once.
    fn is_habit(&self, times: &[Vec<usize>]) -> bool {
        let events = || times.iter().filter_map(|steps| self.events.get(*steps.first()?));
        let days: HashSet<Date> = events().map(|event| event.day).collect();
        let sessions: HashSet<&str> = events().filter_map(|event| event.session).collect();
        times.len() >= LEAST_TIMES && (days.len() >= LEAST_DAYS || sessions.len() >= LEAST_SESSIONS)
    }

    /// The longest of these without parts of each other. An event is part of one of them at most.
    fn chosen(&self, mut candidates: Vec<Sequence>) -> Vec<Vec<Vec<usize>>> {
        let exact = |marks: &[usize]| marks.iter().filter(|mark| self.shapes.get(mark) != Some(mark)).count();
        candidates.sort_by_key(|sequence| {
            let Sequence { marks, times } = sequence;
            (Reverse((marks.len(), times.len(), exact(marks))), marks.clone())
        });
        let mut is_taken = vec![false; self.events.len()];
        let mut chosen = Vec::<Sequence>::new();
        for mut sequence in candidates {
            if chosen.len() == MAX_FOUND || chosen.iter().any(|longer| self.is_part(&sequence.marks, &longer.marks)) {
                continue;
            }
            sequence.times.retain(|steps| steps.iter().all(|at| !is_taken[*at]));
            if self.is_habit(&sequence.times) {
                sequence.times.iter().flatten().for_each(|at| is_taken[*at] = true);
                chosen.push(sequence);
            }
        }
        chosen.into_iter().map(|sequence| sequence.times).collect()
    }

    /// Whether the steps of a sequence are in a longer one, in their order.
    fn is_part(&self, sequence: &[usize], longer: &[usize]) -> bool {
        let shape = |mark: &usize| self.shapes.get(mark).copied();
        let is =
            |mark: &usize, other: &usize| mark == other || shape(mark) == Some(*other) || shape(other) == Some(*mark);
        let mut rest = longer.iter();
        sequence.iter().all(|mark| rest.any(|other| is(mark, other)))
    }
}

/// An upper bound of the probability that something with this chance happens at least so often in so many cases (Chernoff).
fn tail(times: usize, of: usize, chance: f64) -> f64 {
    let share = times as f64 / of as f64;
    if share <= chance {
        return 1.0;
    }
    let part = |share: f64, chance: f64| if share > 0.0 { share * (share / chance).ln() } else { 0.0 };
    (-(of as f64) * (part(share, chance) + part(1.0 - share, 1.0 - chance))).exp()
}
