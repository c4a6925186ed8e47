//! Hints at the tone of a question for the answer. Whole words only: "shell" and "hello" hold none.

/// Of a longer question so much is looked at, in bytes: a pasted log has no tone.
const MAX_BYTES: usize = 4 * 1024;
/// Capitals count as shouting from so many words in capitals, of so many letters each, ...
const MIN_SHOUTED_WORDS: usize = 3;
const MIN_SHOUTED_LETTERS: usize = 3;
/// ... if they are at least this share of all words, in percent: names of variables are no shouting.
const MIN_SHOUTED_PERCENT: usize = 60;

/// One kind of tone: words or phrases in lower case, and what they mean for the answer.
struct Tone {
    phrases: &'static [&'static str],
    hint: &'static str,
}

const TONES: &[Tone] = &[
    Tone {
        phrases: &[
            "argh",
            "ugh",
            "damn",
            "dammit",
            "hell",
            "wtf",
            "ffs",
            "annoying",
            "annoyed",
            "frustrated",
            "frustrating",
            "ridiculous",
            "hate this",
            "sick of",
            "fed up",
            "waste of time",
            "still not working",
            "still doesn't work",
            "still does not work",
            "nothing works",
            "again and again",
            "for the third time",
        ],
        hint: "The user sounds frustrated: be calm and brief, go straight to what fixes it, do not repeat what failed.",
    },
    Tone {
        phrases: &[
            "error",
            "errors",
            "exception",
            "traceback",
            "stack trace",
            "panicked",
            "segfault",
            "crash",
            "crashed",
            "crashes",
            "fail",
            "fails",
            "failed",
            "failing",
            "broken",
            "core dumped",
            "not working",
            "doesn't work",
            "does not work",
        ],
        hint: "It is about an error: find the cause before you change anything, and say it in one sentence.",
    },
    Tone {
        phrases: &[
            "brainstorm",
            "brainstorming",
            "ideas",
            "what if",
            "how about",
            "alternatives",
            "options",
            "pros and cons",
            "trade-offs",
            "tradeoffs",
            "think through",
            "explore",
        ],
        hint: "The user thinks aloud: offer a few different ways with what speaks for each, and change nothing yet.",
    },
];

const SHOUTING: &str = "The user writes in capitals: it matters to them; stay calm and do not write so yourself.";

/// The hints for a question, a line each; empty where it sounds like any other.
#[must_use]
pub fn text(question: &str) -> String {
    let start = cohab_text::cut::head(question, MAX_BYTES);
    let words: Vec<&str> =
        start.split(|c: char| !is_of_word(c)).map(|word| word.trim_matches(['-', '\'', '.', '/'])).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let lower: Vec<String> = words.iter().map(|word| word.replace('\u{2019}', "'").to_lowercase()).collect();
    let mut hints: Vec<&str> =
        TONES.iter().filter(|tone| tone.phrases.iter().any(|one| holds(&lower, one))).map(|tone| tone.hint).collect();
    if is_shouted(&words) {
        hints.push(SHOUTING);
    }
    hints.join("\n")
}

fn is_of_word(c: char) -> bool {
    // What joins words of code and paths makes them another word: `error_log` and `errors.txt` are no errors.
    c.is_alphanumeric() || matches!(c, '-' | '\'' | '\u{2019}' | '_' | '.' | '/')
}

fn holds(words: &[String], phrase: &str) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    words.windows(parts.len()).any(|window| window == parts)
}

fn is_shouted(words: &[&str]) -> bool {
    let letters = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count();
    let is_capital = |word: &&&str| {
        letters(word) >= MIN_SHOUTED_LETTERS && !word.contains(['_', '/']) && !word.chars().any(char::is_lowercase)
    };
    let shouted = words.iter().filter(is_capital).count();
    let all = words.iter().filter(|word| letters(word) > 0).count();
    shouted >= MIN_SHOUTED_WORDS && shouted * 100 >= all * MIN_SHOUTED_PERCENT
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn has(question: &str, start: &str) -> bool {
        text(question).lines().any(|line| line.starts_with(start))
    }

    #[test]
    fn each_tone_is_told_by_whole_words() {
        assert!(has("Argh, why?", "The user sounds frustrated"));
        assert!(has("what the hell is this", "The user sounds frustrated"));
        assert!(has("it still doesn\u{2019}t work.", "The user sounds frustrated"));
        assert!(has("I get an Error.", "It is about an error"));
        assert!(has("the build is broken", "It is about an error"));
        assert!(has("what if we used sqlite", "The user thinks aloud"));
        assert!(has("pros and cons of fish?", "The user thinks aloud"));
        assert!(has("WHY DOES THIS NOT WORK", "The user writes in capitals"));
        assert_eq!(text("damn, another error").lines().count(), 2);
    }

    #[test]
    fn parts_of_words_names_and_shouted_variables_have_no_tone() {
        for question in [
            "hello",
            "which shell is this",
            "hello shell, say hello to the shells",
            "show the terror movies",
            "cat error_log",
            "tail errors.txt",
            "grep -r hello/world",
            "unbroken and ideal",
            "what if",
            "",
            "echo $PATH $HOME $USER and all the others that there are in this shell",
            "set MAX_SIZE MIN_SIZE LOG_LEVEL",
            "ls",
            "OK DO IT",
        ] {
            let hint = text(question);
            assert!(hint.is_empty() || question == "what if", "{question}: {hint}");
        }
    }

    proptest! {
        #[test]
        fn any_question_has_at_most_one_line_a_tone(question in "(?s).{0,200}") {
            prop_assert!(text(&question).lines().count() <= TONES.len() + 1);
        }
    }
}
