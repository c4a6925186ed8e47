//! Tells questions about what was done from other ones. Pure.

use super::{
    about, period,
    phrases::{WordPart, is},
};

/// Most words of a question that are looked at.
const MAX_WORDS: usize = 64;

/// Whether a question asks what the user or the assistant did in the terminal: "what was the ffmpeg line I used", "which command
/// fixed the permissions", "what did we do yesterday". Most such questions are recognized, and few others.
#[must_use]
pub fn is_about_past(question: &str) -> bool {
    let words: Vec<String> = question.split_whitespace().take(MAX_WORDS).map(period::plain).collect();
    let words = Words(words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect());
    if is(WordPart::Request, words.at(0)) && !words.has(WordPart::Recollection) {
        return false;
    }
    let has_subject = words.has(WordPart::Subject) || words.0.iter().any(|word| about::is_program(word));
    let is_elsewhere = words.has(WordPart::OtherAct) && words.has(WordPart::OtherThing);
    let is_act = words.names_act() || words.asks_for_act() || words.names_habit();
    is_act && (has_subject || !is_elsewhere) || words.names_outcome() || words.names_saying() || words.names_line()
}

/// The words of a question.
struct Words<'a>(Vec<&'a str>);

impl Words<'_> {
    fn at(&self, at: usize) -> &str {
        self.0.get(at).copied().unwrap_or_default()
    }

    fn has(&self, part: WordPart) -> bool {
        self.0.iter().any(|word| is(part, word))
    }

    fn has_any(&self, some: &[&str]) -> bool {
        self.0.iter().any(|word| some.contains(word))
    }

    /// The places of words with this part.
    fn places(&self, part: WordPart) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(move |(_, word)| is(part, word)).map(|(at, _)| at)
    }

    /// The words before a place, at most so many.
    fn before(&self, at: usize, most: usize) -> &[&str] {
        self.0.get(at.saturating_sub(most)..at).unwrap_or_default()
    }

    /// The first word behind `at` that is no adverb.
    fn verb_after(&self, at: usize) -> &str {
        self.0.iter().skip(at + 1).copied().find(|word| !is(WordPart::Adverb, word)).unwrap_or_default()
    }

    /// "The line I used", "that command we ran last week", "what I typed earlier".
    fn names_act(&self) -> bool {
        let first = self.at(0);
        let asks = (is(WordPart::Recalling, first) || matches!(first, "where" | "when" | "did"))
            && !self.has(WordPart::Advice);
        self.places(WordPart::Person).any(|at| {
            let before = self.before(at, MAX_WORDS);
            let is_defined = before.iter().any(|word| is(WordPart::Definite, word) || is(WordPart::Subject, word));
            let is_condition = before.last().is_some_and(|word| is(WordPart::Condition, word));
            let verb = self.verb_after(at);
            (is(WordPart::Act, verb) || asks && is_past(verb)) && is_defined && !is_condition
        })
    }

    /// "What did I do", "how have we fixed that", "when did I last restart nginx".
    fn asks_for_act(&self) -> bool {
        self.places(WordPart::Person).any(|at| {
            let verb = self.verb_after(at);
            let is_act = match at.checked_sub(1).map_or("", |before| self.at(before)) {
                "did" | "didn't" => !verb.is_empty() && !is(WordPart::NoAnswer, verb),
                "have" | "had" => {
                    verb != "got" && (is_past(verb) || matches!(verb, "been" | "done") || is(WordPart::Act, verb))
                }
                "was" | "were" => verb.ends_with("ing") || matches!(verb, "in" | "on"),
                _ => false,
            };
            let is_asked = self.before(at, MAX_WORDS).iter().any(|word| is(WordPart::Question, word));
            // "How much space did I use" is about now.
            is_act && is_asked && !(verb == "use" && self.has_any(&["many", "much"]))
        })
    }

    /// "What do I usually run", "my most used commands".
    fn names_habit(&self) -> bool {
        self.has(WordPart::Habit) && self.has_any(&["i", "my", "we"]) && self.has(WordPart::HabitualAct)
    }

    /// "That awk line with the invoices", "the command from yesterday", "search my old commands for exiftool".
    fn names_line(&self) -> bool {
        let first = self.at(0);
        let asks = is(WordPart::Recalling, first) || matches!(first, "the" | "my" | "last");
        asks && !self.has(WordPart::Advice)
            && !self.has(WordPart::Text)
            && self.places(WordPart::Subject).any(|at| {
                !is(WordPart::Property, self.at(at)) && self.before(at, 3).iter().any(|word| is(WordPart::Own, word))
            })
    }

    /// "What was my last command", "all my ffmpeg attempts".
    fn names_saying(&self) -> bool {
        let is_own = |at: usize| self.before(at, 4).iter().any(|word| matches!(*word, "my" | "your" | "our"));
        self.places(WordPart::Saying).any(is_own)
            && (self.has_any(&["was", "were"]) || matches!(self.at(0), "all" | "show" | "list"))
    }

    /// "Which command fixed the permissions", "the migration command that failed".
    fn names_outcome(&self) -> bool {
        let is_outcome = |at: usize| {
            let next = self.at(at + 1);
            let verb = if matches!(next, "that" | "which" | "finally") { self.verb_after(at + 1) } else { next };
            is(WordPart::Succeeded, verb) || is(WordPart::Failed, verb) || is_past(verb)
        };
        self.places(WordPart::Subject).any(is_outcome)
            && self.has_any(&["which", "what", "the", "that", "find", "show", "whats"])
    }
}

/// Whether a word looks like a verb in the past: "converted".
fn is_past(verb: &str) -> bool {
    is(WordPart::Irregular, verb) || (verb.len() > 4 && verb.ends_with("ed") && !is(WordPart::NoPast, verb))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn questions_about_the_past_are_recognized() {
        for question in [
            "what was the ffmpeg line I used for the trailer last month",
            "which command fixed the permissions of the upload folder",
            "what did I do about nginx last week",
            "how did I convert the video?",
            "when did we last restart postgres",
            "have I ever used rsync with the nas",
            "show me what I typed earlier",
            "that awk thing I used on the invoices",
            "What was the last command I ran?",
        ] {
            assert!(is_about_past(question), "{question}");
        }
    }

    #[test]
    fn other_questions_are_not() {
        for question in [
            "how do I convert a video to mp4",
            "what did the last commit change",
            "where did I put the file budget.ods",
            "show files changed last week",
            "undo what you just did",
            "why do I get permission denied when I run it",
            "I committed a .env file by accident, how do I remove it",
            "what command do I use to list ports",
            "",
        ] {
            assert!(!is_about_past(question), "{question}");
        }
    }

    proptest! {
        #[test]
        fn any_question_is_read(question in "(?s).{0,200}") {
            let _ = is_about_past(&question);
        }
    }
}
