//! Reads a question about the past: which words it looks for, and in which time. Pure.

use std::{collections::HashSet, sync::LazyLock};

use jiff::Zoned;

use super::{
    about, period,
    store::{PastQuery, WordGroup},
    terms,
};
use crate::words::{self, MAX_WORDS};

/// Words that frame a question about the past and say nothing about what was done.
static FRAME: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("frame.table").lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
});
/// Most words of a question that are looked at.
const MAX_QUESTION_WORDS: usize = 64;
/// Verbs of a command that went well, and of one that failed.
const SUCCEEDED: [&str; 6] = ["fixed", "worked", "solved", "succeeded", "working", "successfully"];
const FAILED: [&str; 5] = ["failed", "broke", "crashed", "errored", "failing"];
/// What people say that they did with a command.
const ACTS: [&str; 17] = [
    "used", "ran", "typed", "executed", "entered", "tried", "did", "wrote", "invoked", "called", "issued", "pasted",
    "had", "gave", "told", "showed", "said",
];
/// What is looked for: "the command that", "that awk line".
const SUBJECTS: [&str; 13] = [
    "command",
    "commands",
    "line",
    "oneliner",
    "one-liner",
    "liner",
    "incantation",
    "invocation",
    "thing",
    "flags",
    "options",
    "cmd",
    "snippet",
];
/// First words of a request to do something: it does not ask what was done.
const OTHER_REQUESTS: [&str; 9] = ["undo", "revert", "redo", "rerun", "run", "can", "delete", "stop", "i"];
/// Words of a sentence about oneself that asks what was done all the same: "I once had a one-liner".
const RECOLLECTIONS: [&str; 6] = ["once", "forgot", "forget", "remember", "before", "something"];
/// Acts without a command, and things that are no commands: "where did I put the file".
const OTHER_ACTS: [&str; 10] = ["put", "save", "saved", "take", "took", "have", "earn", "send", "sent", "write"];
const OTHER_THINGS: [&str; 20] = [
    "file",
    "files",
    "picture",
    "pictures",
    "photo",
    "photos",
    "pdf",
    "document",
    "documents",
    "mail",
    "mails",
    "email",
    "emails",
    "appointment",
    "appointments",
    "note",
    "notes",
    "letter",
    "year",
    "function",
];
/// Words of a question for advice: "how do I open the file I downloaded".
const ADVICE: [&str; 9] = ["do", "does", "can", "should", "to", "get", "is", "provides", "means"];
/// What a person has said or done: "what was your answer".
const SAYINGS: [&str; 9] =
    ["command", "commands", "answer", "advice", "session", "question", "attempts", "tries", "history"];
/// First words of a request to recall.
const RECALLING: [&str; 14] = [
    "what", "which", "whats", "what's", "show", "find", "list", "search", "recall", "tell", "remind", "repeat", "look",
    "that",
];

/// What a question about the past asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Recall {
    /// The search.
    pub query: PastQuery,
}

impl Recall {
    /// Reads a question, seen from `now`. Every text is one; whether it is about the past says [`is_about_past`].
    #[must_use]
    pub fn of(question: &str, now: &Zoned) -> Self {
        let found = period::find(question, now);
        let all: Vec<&str> = question.split_whitespace().collect();
        let (period, rest) = match found {
            Some((period, range)) => {
                let kept = all.iter().enumerate().filter(|(at, _)| !range.contains(at)).map(|(_, word)| *word);
                (Some(period), kept.collect::<Vec<_>>().join(" "))
            }
            None => (None, question.to_owned()),
        };
        let query = PastQuery { groups: groups(&rest), period, folder: None, has_succeeded: outcome(&rest) };
        Self { query }
    }
}

/// The groups of a text: each word that says something.
#[must_use]
pub fn groups(text: &str) -> Vec<WordGroup> {
    let telling = words::content(text).into_iter().filter(|word| !FRAME.contains(word.as_str()));
    let mut groups = Vec::<WordGroup>::new();
    for term in telling.flat_map(|word| terms::of(&word)) {
        if groups.len() < MAX_WORDS && groups.iter().all(|group| group.term != term) {
            groups.push(WordGroup { term, others: Vec::new() });
        }
    }
    groups
}

/// Whether the question wants only what went well, or only what failed.
fn outcome(text: &str) -> Option<bool> {
    let has = |verbs: &[&str]| text.split_whitespace().map(period::plain).any(|word| verbs.contains(&word.as_str()));
    match (has(&SUCCEEDED), has(&FAILED)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Whether a question asks what the user or the assistant did in the terminal: "what was the ffmpeg line I used", "which command
/// fixed the permissions", "what did we do yesterday". Most such questions are recognized, and few others.
#[must_use]
pub fn is_about_past(question: &str) -> bool {
    let words: Vec<String> = question.split_whitespace().take(MAX_QUESTION_WORDS).map(period::plain).collect();
    let words = Words(words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect());
    if OTHER_REQUESTS.contains(&words.at(0)) && !words.has(&RECOLLECTIONS) {
        return false;
    }
    let has_subject = words.has(&SUBJECTS) || words.0.iter().any(|word| about::is_program(word));
    let is_elsewhere = words.has(&OTHER_ACTS) && words.has(&OTHER_THINGS);
    let is_act = words.names_act() || words.asks_for_act() || words.names_habit();
    is_act && (has_subject || !is_elsewhere) || words.names_outcome() || words.names_saying() || words.names_line()
}

/// The words of a question.
struct Words<'a>(Vec<&'a str>);

impl Words<'_> {
    fn at(&self, at: usize) -> &str {
        self.0.get(at).copied().unwrap_or_default()
    }

    fn has(&self, some: &[&str]) -> bool {
        self.0.iter().any(|word| some.contains(word))
    }

    /// Where a person who was there is named: "I", "we", "you".
    fn people(&self) -> impl Iterator<Item = usize> {
        let is_person = |word: &&str| matches!(*word, "i" | "we" | "you" | "u" | "i've" | "we've" | "you've");
        self.0.iter().enumerate().filter(move |(_, word)| is_person(word)).map(|(at, _)| at)
    }

    /// The first word behind `at` that is no adverb.
    fn verb_after(&self, at: usize) -> &str {
        let is_adverb = |word: &&str| {
            matches!(*word, "ever" | "already" | "just" | "last" | "even" | "once" | "then" | "first" | "have")
        };
        self.0.iter().skip(at + 1).copied().find(|word| !is_adverb(word)).unwrap_or_default()
    }

    /// "The line I used", "that command we ran last week", "what I typed earlier".
    fn names_act(&self) -> bool {
        let asks =
            (RECALLING.contains(&self.at(0)) || matches!(self.at(0), "where" | "when" | "did")) && !self.has(&ADVICE);
        let is_named = |at: usize| {
            let before = self.0.get(..at).unwrap_or_default();
            let is_defined = before.iter().any(|word| {
                matches!(
                    *word,
                    "the" | "that" | "what" | "which" | "how" | "this" | "those" | "of" | "all" | "everything"
                ) || SUBJECTS.contains(word)
            });
            let verb = self.verb_after(at);
            let is_condition = matches!(before.last(), Some(&("when" | "if" | "because" | "after")));
            (ACTS.contains(&verb) || asks && is_past(verb)) && is_defined && !is_condition
        };
        self.people().any(is_named)
    }

    /// "What did I do", "how have we fixed that", "when did I last restart nginx".
    fn asks_for_act(&self) -> bool {
        const QUESTION_WORDS: [&str; 11] =
            ["what", "which", "how", "where", "when", "did", "have", "with", "whats", "what's", "why"];
        let is_asked = |at: usize| {
            let auxiliary = at.checked_sub(1).map_or("", |before| self.at(before));
            let verb = self.verb_after(at);
            let is_act = match auxiliary {
                "did" | "didn't" => !matches!(verb, "get" | "need" | "know" | "forget" | "break" | "lose" | ""),
                "have" | "had" => {
                    verb != "got" && (is_past(verb) || matches!(verb, "been" | "done") || ACTS.contains(&verb))
                }
                "was" | "were" => verb.ends_with("ing") || matches!(verb, "in" | "on"),
                _ => false,
            };
            let asked = self.0.iter().take(at).any(|word| QUESTION_WORDS.contains(word));
            // "How much space did I use" is about now.
            is_act && asked && !(verb == "use" && self.has(&["many", "much"]))
        };
        self.people().any(is_asked)
    }

    /// "What do I usually run", "my most used commands".
    fn names_habit(&self) -> bool {
        self.has(&["usually", "always", "most", "normally"])
            && self.has(&["i", "my", "we"])
            && self.has(&["run", "use", "used", "type"])
    }

    /// "That awk line with the invoices", "the command from yesterday", "search my old commands for exiftool".
    fn names_line(&self) -> bool {
        let is_defined = |(at, subject): (usize, &&str)| {
            let before = self.0.get(at.saturating_sub(3)..at).unwrap_or_default();
            // "The options of curl" are those that it has.
            let is_line = SUBJECTS.contains(subject) && !matches!(*subject, "flags" | "options");
            is_line && before.iter().any(|word| matches!(*word, "that" | "the" | "my" | "our" | "same"))
        };
        let asks = RECALLING.contains(&self.at(0)) || matches!(self.at(0), "the" | "my" | "last");
        let of_files = self.has(&["file", "files", "text", "function", "code", "lines"]);
        asks && !self.has(&ADVICE) && !of_files && self.0.iter().enumerate().any(is_defined)
    }

    /// "What was my last command", "all my ffmpeg attempts".
    fn names_saying(&self) -> bool {
        let is_own = |(at, word): (usize, &&str)| {
            let near = self.0.iter().skip(at + 1).take(4);
            matches!(*word, "my" | "your" | "our") && near.clone().any(|word| SAYINGS.contains(word))
        };
        self.0.iter().enumerate().any(is_own)
            && (self.has(&["was", "were"]) || matches!(self.at(0), "all" | "show" | "list"))
    }

    /// "Which command fixed the permissions", "the migration command that failed".
    fn names_outcome(&self) -> bool {
        let is_outcome = |(at, subject): (usize, &&str)| {
            let next = self.at(at + 1);
            let verb = if matches!(next, "that" | "which" | "finally") { self.verb_after(at + 1) } else { next };
            SUBJECTS.contains(subject) && (SUCCEEDED.contains(&verb) || FAILED.contains(&verb) || is_past(verb))
        };
        self.0.iter().enumerate().any(is_outcome)
            && self.has(&["which", "what", "the", "that", "find", "show", "whats"])
    }
}

/// Whether a word looks like a verb in the past: "converted".
fn is_past(verb: &str) -> bool {
    const IRREGULAR: [&str; 14] = [
        "made", "built", "sent", "found", "got", "set", "took", "gave", "wrote", "broke", "ran", "began", "split",
        "shut",
    ];
    const NO_VERBS: [&str; 10] =
        ["need", "feed", "speed", "seed", "embed", "exceed", "based", "called", "named", "needed"];
    IRREGULAR.contains(&verb) || (verb.len() > 4 && verb.ends_with("ed") && !NO_VERBS.contains(&verb))
}

#[cfg(test)]
mod tests {
    use jiff::{civil::date, tz::TimeZone};
    use proptest::prelude::*;

    use super::*;

    fn recall(question: &str) -> PastQuery {
        Recall::of(question, &date(2026, 11, 28).at(18, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap()).query
    }

    fn terms_of(question: &str) -> Vec<String> {
        recall(question).groups.into_iter().map(|group| group.term).collect()
    }

    #[test]
    fn the_words_of_the_frame_and_of_the_time_are_left_out() {
        assert_eq!(terms_of("what was the ffmpeg line I used for the trailer last month"), ["ffmpeg", "trailer"]);
        assert_eq!(terms_of("which command fixed the permissions of the upload folder"), ["permiss", "upload"]);
        assert_eq!(terms_of("what did I do yesterday"), Vec::<String>::new());
        assert!(recall("what did I do yesterday").period.is_some());
    }

    #[test]
    fn the_outcome_is_read() {
        assert_eq!(recall("which command fixed the permissions").has_succeeded, Some(true));
        assert_eq!(recall("which migration failed").has_succeeded, Some(false));
        assert_eq!(recall("what did I do about nginx").has_succeeded, None);
    }

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
            prop_assert!(recall(&question).groups.len() <= MAX_WORDS);
            let _ = is_about_past(&question);
        }
    }
}
