//! A debate: several models answer the same question, read each other, and change their minds only for a reason. Pure: whoever runs it asks
//! the models.
//!
//! Round 1 is independent, and one debater speaks for the other side. From round 2 on each debater states its own answer first and may
//! change it only with evidence; a change without counts as none. The debate ends when the debaters agree or their positions stay, after
//! three rounds at most. Below an agreement of one half the user decides.

use std::collections::BTreeMap;

use cohab_text::{
    cut::cut_middle,
    sanitize::{one_line, sanitize_prose},
};
use serde::Deserialize;
use serde_json::Value;

/// What a question for a debate begins with.
const COMMAND: &str = "/debate";
/// Number of debaters.
const DEBATERS: usize = 3;
/// Most rounds.
pub const MAX_ROUNDS: u32 = 3;
/// One answer with at least this confidence needs no debate.
pub const SURE: f64 = 0.85;
/// With at least this share of debaters on one side the debate ends.
pub const CONVERGED: f64 = 0.8;
/// Below this share there is no answer: the user decides.
pub const LEAST_AGREEMENT: f64 = 0.5;
/// Most calls of models: one that decides whether a debate is needed, and the rounds.
pub const MAX_CALLS: usize = 1 + DEBATERS * MAX_ROUNDS as usize;
/// The debater that speaks for the other side in round 1.
const ADVOCATE: usize = DEBATERS - 1;
/// Longest position, in columns.
const POSITION_COLUMNS: usize = 80;
/// Longest answer that the others read, in bytes.
const ANSWER_BYTES: usize = 4_000;

/// The subject of a question such as `/debate which of the two designs is better`.
#[must_use]
pub fn debate_wish(question: &str) -> Option<&str> {
    question
        .strip_prefix(COMMAND)?
        .strip_prefix(char::is_whitespace)
        .map(str::trim)
        .filter(|subject| !subject.is_empty())
}

/// What a debater said.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its position in a few words; equal positions have equal words.
    pub position: String,
    /// Its answer.
    pub answer: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// What made it change its position; empty if nothing did.
    pub evidence: String,
}

#[derive(Deserialize)]
struct Written {
    position: String,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    confidence: Value,
    #[serde(default)]
    evidence: String,
}

impl Statement {
    /// Reads a model's answer: a JSON object, also between other text. Text without one is an answer whose first line is the position, with
    /// a confidence of one half.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let written = text.find('{').zip(text.rfind('}')).filter(|(start, end)| start < end);
        let written = written.and_then(|(start, end)| serde_json::from_str::<Written>(&text[start..=end]).ok());
        match written {
            Some(Written { position, answer, confidence, evidence }) => {
                let confidence = confidence.as_f64().or_else(|| confidence.as_str()?.parse().ok()).unwrap_or(0.5);
                let confidence = if confidence.is_finite() { confidence.clamp(0.0, 1.0) } else { 0.5 };
                Self {
                    position: named(&position),
                    answer: sanitize_prose(&answer),
                    confidence,
                    evidence: named(&evidence),
                }
            }
            None => {
                let position = named(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
                Self { position, answer: sanitize_prose(text), confidence: 0.5, evidence: String::new() }
            }
        }
    }

    fn side(&self) -> String {
        self.position.to_lowercase().trim_end_matches('.').trim().to_owned()
    }
}

fn named(text: &str) -> String {
    one_line(text.trim(), POSITION_COLUMNS)
}

/// A debate that goes on.
#[derive(Clone, Debug, Default)]
pub struct Debate {
    /// The numbers of those that take part, from 0; a round has a statement of each, in this order.
    debaters: Vec<usize>,
    rounds: Vec<Vec<Statement>>,
}

/// What becomes of a debate.
#[derive(Clone, Debug, PartialEq)]
pub enum DebateStep {
    /// These debaters are asked: the number of each, from 0, and its request.
    Ask(Vec<(usize, String)>),
    /// The debaters agree enough: this statement stands for all, with the share that holds it.
    Agreed(Statement, f64),
    /// They do not: the user decides between these, the one with most debaters first.
    Split(Vec<Statement>),
}

impl Debate {
    /// What a model is told before the debate, to see whether one is needed.
    #[must_use]
    pub fn opening() -> String {
        format!("Answer the user's question. {FORM}")
    }

    /// Whether one answer settles the question without a debate.
    #[must_use]
    pub fn is_settled(opening: &Statement) -> bool {
        opening.confidence >= SURE
    }

    /// The number of rounds that are over.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Takes the statements of a round, in the order of its requests; `None` for a debater that did not answer. One that does not answer in
    /// round 1 takes no part; later it stays with what it said before. A change of position without evidence counts as none.
    pub fn heard(&mut self, statements: Vec<Option<Statement>>) {
        let Some(before) = self.rounds.last() else {
            let speaking = statements.into_iter().enumerate();
            let (debaters, first) = speaking.filter_map(|(debater, said)| Some((debater, said?))).unzip();
            self.debaters = debaters;
            self.rounds.push(first);
            return;
        };
        let holds = |(now, before): (Option<Statement>, &Statement)| match now {
            Some(now) if now.side() == before.side() || !now.evidence.trim().is_empty() => now,
            Some(now) => Statement { position: before.position.clone(), answer: before.answer.clone(), ..now },
            None => before.clone(),
        };
        let round = statements.into_iter().zip(before).map(holds).collect();
        self.rounds.push(round);
    }

    /// The number of debaters that take part.
    #[must_use]
    pub fn debaters(&self) -> usize {
        self.debaters.len()
    }

    /// The next step.
    #[must_use]
    pub fn next(&self) -> DebateStep {
        let Some(last) = self.rounds.last().filter(|last| !last.is_empty()) else {
            return DebateStep::Ask((0..DEBATERS).map(|debater| (debater, first_request(debater))).collect());
        };
        let sides = sides(last);
        let share = sides.first().map_or(0.0, |(_, count)| share(*count, last.len()));
        let is_still = self.rounds.len() > 1 && sides_of(&self.rounds[self.rounds.len() - 2]) == sides_of(last);
        let is_over = share >= CONVERGED || is_still || self.rounds.len() >= MAX_ROUNDS as usize;
        if !is_over {
            let places = self.debaters.iter().enumerate();
            return DebateStep::Ask(
                places.map(|(place, debater)| (*debater, self.later_request(place, last))).collect(),
            );
        }
        let statements: Vec<Statement> = sides.into_iter().map(|(statement, _)| statement).collect();
        match statements.first() {
            Some(first) if share > LEAST_AGREEMENT => DebateStep::Agreed(first.clone(), share),
            _ => DebateStep::Split(statements),
        }
    }

    fn later_request(&self, place: usize, last: &[Statement]) -> String {
        let shown = |statement: &Statement| {
            let answer = cut_middle(&statement.answer, ANSWER_BYTES);
            format!("{}: {answer}", statement.position)
        };
        let own = last.get(place).map(shown).unwrap_or_default();
        let speaking = self.debaters.iter().zip(last).enumerate();
        let others: String = speaking
            .filter(|(other, _)| *other != place)
            .map(|(_, (debater, said))| format!("\n\nDebater {} said:\n{}", debater + 1, shown(said)))
            .collect();
        format!(
            "You are debater {} of {DEBATERS}. Your answer was:\n{own}{others}\n\nRestate your own answer first. Then criticise the others. \
             Change your position only for evidence that you name; agreement alone does not count. {FORM}",
            self.debaters[place] + 1
        )
    }
}

/// How a debater answers.
const FORM: &str = "Answer with one JSON object and nothing else: {\"position\": your position in at most six words, with the same words as \
    another debater if you agree with them, \"answer\": your answer with its reasons, \"confidence\": a number from 0 to 1, \"evidence\": \
    what made you change your position, or an empty text}.";

fn first_request(debater: usize) -> String {
    let part = if debater == ADVOCATE {
        "Speak for the answer that most others will not give, as strongly as the facts allow."
    } else {
        "Answer independently."
    };
    format!("You are debater {} of {DEBATERS}. {part} {FORM}", debater + 1)
}

/// The best statement of each side with the number of debaters on it; the side with most first, then the surest.
fn sides(statements: &[Statement]) -> Vec<(Statement, usize)> {
    let mut sides: BTreeMap<String, Vec<&Statement>> = BTreeMap::new();
    for statement in statements {
        sides.entry(statement.side()).or_default().push(statement);
    }
    let best = |side: &Vec<&Statement>| {
        side.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence)).map(|best| (*best).clone())
    };
    let mut sides: Vec<(Statement, usize)> =
        sides.values().filter_map(|side| Some((best(side)?, side.len()))).collect();
    sides.sort_by(|(a, many), (b, few)| few.cmp(many).then(b.confidence.total_cmp(&a.confidence)));
    sides
}

fn sides_of(statements: &[Statement]) -> Vec<String> {
    statements.iter().map(Statement::side).collect()
}

fn share(count: usize, all: usize) -> f64 {
    // Both are at most a handful.
    f64::from(u32::try_from(count).unwrap_or(0)) / f64::from(u32::try_from(all.max(1)).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(position: &str, confidence: f64, evidence: &str) -> Statement {
        Statement {
            position: position.into(),
            answer: format!("because {position}"),
            confidence,
            evidence: evidence.into(),
        }
    }

    fn after(rounds: &[&[Statement]]) -> Debate {
        let mut debate = Debate::default();
        rounds.iter().for_each(|round| debate.heard(round.iter().cloned().map(Some).collect()));
        debate
    }

    #[test]
    fn a_sure_answer_needs_no_debate() {
        assert!(Debate::is_settled(&said("a", 0.85, "")));
        assert!(!Debate::is_settled(&said("a", 0.849, "")));
    }

    #[test]
    fn round_one_is_independent_and_has_one_devils_advocate() {
        let DebateStep::Ask(requests) = Debate::default().next() else { panic!("it begins") };
        assert_eq!(requests.len(), 3);
        assert_eq!(requests.iter().filter(|(_, request)| request.contains("most others will not give")).count(), 1);
        assert!(!requests.iter().any(|(_, request)| request.contains("said:")));
    }

    #[test]
    fn round_two_restates_the_own_answer_before_those_of_others() {
        let DebateStep::Ask(requests) = after(&[&[said("a", 0.5, ""), said("b", 0.5, ""), said("c", 0.5, "")]]).next()
        else {
            panic!("no agreement yet")
        };
        let (_, request) = &requests[0];
        let (own, other) = (request.find("because a").unwrap(), request.find("because b").unwrap());
        assert!(own < other && request.contains("Restate your own answer first"));
    }

    #[test]
    fn a_debater_that_does_not_answer_stays_with_what_it_said_and_the_others_keep_their_places() {
        let mut debate = after(&[&[said("a", 0.5, ""), said("b", 0.5, ""), said("b", 0.4, "")]]);
        debate.heard(vec![None, Some(said("b", 0.5, "")), Some(said("b", 0.4, ""))]);
        assert!(matches!(debate.next(), DebateStep::Agreed(one, share) if one.position == "b" && share < 0.7));
        let mut late = Debate::default();
        late.heard(vec![None, Some(said("a", 0.5, "")), Some(said("b", 0.5, ""))]);
        let DebateStep::Ask(requests) = late.next() else { panic!("they differ") };
        assert_eq!(
            (requests.iter().map(|(debater, _)| *debater).collect::<Vec<_>>(), late.debaters()),
            (vec![1, 2], 2)
        );
        assert!(requests[0].1.contains("You are debater 2 of 3") && requests[0].1.contains("Debater 3 said:"));
    }

    #[test]
    fn a_change_without_evidence_does_not_count() {
        let first = [said("a", 0.9, ""), said("b", 0.5, ""), said("c", 0.5, "")];
        let sheep = [said("a", 0.9, ""), said("a", 0.5, " "), said("a", 0.5, "")];
        let DebateStep::Split(sides) = after(&[&first, &sheep]).next() else { panic!("nobody had a reason to change") };
        assert_eq!(sides.len(), 3);
        let convinced = [said("a", 0.9, ""), said("A.", 0.5, "the file says so"), said("a", 0.5, "measured")];
        assert!(
            matches!(after(&[&first, &convinced]).next(), DebateStep::Agreed(one, share) if one.position == "a" && share > 0.99)
        );
    }

    #[test]
    fn it_ends_at_convergence_with_a_majority_or_after_three_rounds() {
        let all = [said("a", 0.5, ""), said("a", 0.6, ""), said("a", 0.4, "")];
        assert!(matches!(after(&[&all]).next(), DebateStep::Agreed(one, _) if (one.confidence - 0.6).abs() < 1e-9));
        let two = [said("a", 0.5, ""), said("a", 0.6, ""), said("b", 0.4, "")];
        assert!(matches!(after(&[&two]).next(), DebateStep::Ask(_)), "two of three are fewer than 0.8");
        assert!(
            matches!(after(&[&two, &two]).next(), DebateStep::Agreed(one, share) if one.position == "a" && share < CONVERGED)
        );
        let turn = |last: &str| [said("a", 0.5, "x"), said("b", 0.6, "x"), said(last, 0.4, "x")];
        let three = after(&[&turn("c"), &turn("d"), &turn("e")]);
        assert!(matches!(three.next(), DebateStep::Split(sides) if sides.len() == 3), "no side has a half");
        assert_eq!((DEBATERS, MAX_ROUNDS, MAX_CALLS), (3, 3, 10));
    }

    #[test]
    fn a_question_for_a_debate_has_a_subject() {
        assert_eq!(debate_wish("/debate tabs or spaces"), Some("tabs or spaces"));
        assert_eq!((debate_wish("/debate\tx"), debate_wish("/debates x")), (Some("x"), None));
        assert_eq!((debate_wish("/debate "), debate_wish("debate x")), (None, None));
    }

    #[test]
    fn what_a_model_writes_is_read_leniently() {
        let text = "Sure!\n```json\n{\"position\": \"use tabs\", \"answer\": \"x\", \"confidence\": \"0.9\"}\n```";
        assert_eq!(
            Statement::parse(text),
            Statement { position: "use tabs".into(), answer: "x".into(), confidence: 0.9, evidence: String::new() }
        );
        assert_eq!(Statement::parse("\nUse tabs.\nThey are good.").position, "Use tabs.");
        assert!((Statement::parse("{\"position\": \"a\", \"confidence\": 1e999}").confidence - 0.5).abs() < 0.51);
    }

    proptest! {
        #[test]
        fn any_text_is_a_statement_and_any_debate_ends(texts in proptest::collection::vec(".{0,60}", 9)) {
            let mut debate = Debate::default();
            let mut texts = texts.iter();
            for _ in 0..10 {
                let DebateStep::Ask(requests) = debate.next() else { break };
                let statements = requests.iter().map(|_| Some(Statement::parse(texts.next().map_or("", String::as_str)))).collect();
                debate.heard(statements);
            }
            prop_assert!(debate.rounds() <= 3 && !matches!(debate.next(), DebateStep::Ask(_)));
        }
    }
}
