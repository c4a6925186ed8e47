//! Decides whether a question can have the same answer again, and which questions are the same. Pure.
//!
//! When in doubt it cannot: a question may lean on what was said before, or on the moment.

/// Longest question whose answer is kept, in bytes.
const MAX_BYTES: usize = 2_000;
/// Least words of a question that says all by itself.
const MIN_WORDS: usize = 3;

/// Words without a meaning of their own.
const FILLERS: [&str; 13] =
    ["please", "kindly", "hey", "hi", "hello", "cohab", "the", "a", "an", "could", "would", "can", "you"];
/// What a question that says all by itself begins with.
const STARTS: [&str; 20] = [
    "what", "what's", "whats", "how", "which", "who", "where", "why", "when", "explain", "describe", "define", "give",
    "write", "tell", "show", "is", "are", "does", "do",
];
/// Words that lean on what was said before, or on the moment.
const LEANING: [&str; 47] = [
    "it",
    "its",
    "it's",
    "this",
    "that",
    "that's",
    "these",
    "those",
    "they",
    "them",
    "their",
    "he",
    "she",
    "him",
    "her",
    "again",
    "above",
    "before",
    "earlier",
    "previous",
    "previously",
    "last",
    "same",
    "more",
    "continue",
    "else",
    "other",
    "another",
    "instead",
    "next",
    "still",
    "there",
    "here",
    "now",
    "today",
    "tonight",
    "yesterday",
    "tomorrow",
    "current",
    "currently",
    "latest",
    "recent",
    "recently",
    "just",
    "time",
    "date",
    "random",
];

/// The question as all that mean the same write it; `None` if its answer is not to be given again.
#[must_use]
pub fn normalised(question: &str) -> Option<String> {
    if question.len() > MAX_BYTES {
        return None;
    }
    let words: Vec<String> = question.split_whitespace().filter_map(word).collect();
    let spoken = || words.iter().map(|word| word.replace('\u{2019}', "'"));
    let leans = spoken().any(|word| LEANING.contains(&word.as_str()));
    let kept: Vec<String> = spoken().filter(|word| !FILLERS.contains(&word.as_str())).collect();
    let begins = kept.first().is_some_and(|first| STARTS.contains(&first.as_str()));
    (begins && !leans && kept.len() >= MIN_WORDS).then(|| kept.join(" "))
}

/// A word without the punctuation around it; in lower case if it is nothing but letters, since paths and options are what they are.
fn word(raw: &str) -> Option<String> {
    let trimmed = raw.trim_end_matches(['?', '!', ',', ';', ':', '.']).trim_start_matches(['"', '(']);
    let trimmed = trimmed.trim_end_matches(['"', ')']);
    let is_spoken = trimmed.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '\u{2019}'));
    let word = if is_spoken { trimmed.to_lowercase() } else { trimmed.to_owned() };
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_mean_the_same_are_the_same() {
        let same = [
            "What is a hard link?",
            "what is hard link",
            "  please, what is the  Hard link?!",
            "Hey, what is a \"hard link\"?",
        ];
        for question in same {
            assert_eq!(normalised(question).as_deref(), Some("what is hard link"), "{question}");
        }
        assert_ne!(normalised("how does ls -r sort"), normalised("how does ls -R sort"));
        assert_ne!(normalised("what is in README.md"), normalised("what is in readme.md"));
        assert_ne!(normalised("how do I not undo all"), normalised("how do I undo all"));
    }

    #[test]
    fn what_leans_on_something_else_is_not_kept() {
        for question in [
            "why?",
            "what is that thing",
            "and what about links",
            "what time is due",
            "which of them is larger",
            "how is the weather today",
            "delete the file x",
            "warum ist das so langsam",
            "fix my build please now",
            "",
        ] {
            assert_eq!(normalised(question), None, "{question}");
        }
        assert_eq!(normalised(&format!("what is {}", "x ".repeat(MAX_BYTES))), None);
    }
}
