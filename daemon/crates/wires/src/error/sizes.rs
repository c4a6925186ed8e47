//! Reads sizes from errors about too long requests: the length of the prompt, and the limits of the model.
//!
//! All wordings are data, since they change over time. `{}` stands for a number.

use std::sync::LazyLock;

use cohab_model_api::Overflow;
use regex::Regex;

use super::ErrorBody;

/// With less room than this for an answer, the prompt is too long.
const MIN_ANSWER_TOKENS: u64 = 1024;

/// Texts and codes of prompts that are too long, lower case.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "context_length_exceeded",
    "exceeds the context window",
    "maximum context length",
    "maximum prompt length is",
    "exceeds the maximum number of tokens",
    "exceeds the maximum (",
    "input tokens exceeded",
    "input is too long",
    "too_many_tokens",
    "too_many_prompt_tokens",
    "total length of all messages",
    "prompt too long",
    "prompt exceeds max length",
    "exceed_context_size",
    "exceeds the available context size",
    "context size has been exceeded",
    "model_context_window_exceeded",
    "request_too_large",
    "request too large for",
    "longer than the maximum model length",
    "longer than the model's context length",
    "greater than the context length",
    "loaded with context length of only",
    "exceeded model token limit",
    "prompt token count of",
    "`inputs` tokens + `max_new_tokens` must be",
];

/// The same texts, except that with status 429 they are about tokens per minute.
const TOO_LONG_UNLESS_429: &[&str] = &["too many tokens"];

/// Tokens of the model's context.
static WINDOW: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    forms(&[
        "tokens > {}",
        "+ {out} > {}",
        "maximum context length is {}",
        "maximum prompt length is {}",
        "with {} maximum context length",
        "number of tokens allowed ({})",
        "number of tokens allowed {}",
        "exceeds the maximum {}",
        "maximum model length of {}",
        "model's context length ({}",
        "available context size ({}",
        "context length of only {}",
        "model token limit: {}",
        "cannot exceed {}",
        "exceeds the limit of {}",
        "must be <= {}",
        "limit {}, requested",
    ])
});

/// Tokens of the prompt.
static PROMPT: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    forms(&[
        "too long: {} tokens",
        "context limit: {} +",
        "token count ({})",
        "token count of {}",
        "input tokens ({})",
        "resulted in {} tokens",
        "has {} input tokens",
        "request ({} tokens",
        "in the request ({} tokens",
        "input ({} tokens",
        "prompt (length {})",
        "prompt contains {} tokens",
        "request contains {} tokens",
        "the first {} tokens",
        "received {}",
        "given: {} `inputs`",
        "(requested: {})",
    ])
});

/// Tokens of prompt and answer together.
static ALL: LazyLock<Vec<Regex>> =
    LazyLock::new(|| forms(&["requested about {} tokens", "requested {} tokens", "requested {}"]));

/// The answer's share of these tokens.
static ANSWER: LazyLock<Vec<Regex>> = LazyLock::new(|| forms(&["{} in the completion", "{} in the output"]));

/// Longest answer that the model can give.
static LONGEST_ANSWER: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    forms(&[
        "> {}, which is the maximum allowed number of output tokens",
        "at most {} completion tokens",
        "valid range of max_tokens is [1, {}]",
        "max_tokens` must be less than or equal to `{}`",
        "max_completion_tokens` must be less than or equal to `{}`",
    ])
});

fn forms(texts: &[&str]) -> Vec<Regex> {
    let pattern = |text: &&str| regex::escape(text).replace(r"\{out\}", "[0-9,_]+").replace(r"\{\}", "([0-9][0-9,_]*)");
    texts.iter().map(|text| Regex::new(&pattern(text)).expect("an escaped text is a pattern")).collect()
}

/// The number in the first form that fits. A zero is not a size.
fn number(forms: &[Regex], text: &str) -> Option<u64> {
    let found = forms.iter().find_map(|form| form.captures(text)?.get(1))?;
    let digits: String = found.as_str().chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|number| *number > 0)
}

impl ErrorBody {
    /// Whether the request does not fit because of its prompt.
    pub(super) fn is_overflow(&self) -> bool {
        if self.status == Some(413) {
            return true;
        }
        let room = self.room();
        if room.is_some_and(|room| room >= MIN_ANSWER_TOKENS)
            || !matches!(self.status, None | Some(400 | 422 | 429 | 500))
        {
            return false;
        }
        let text = self.text.to_ascii_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase) || self.codes.contains(phrase));
        says(TOO_LONG)
            || (self.status != Some(429) && says(TOO_LONG_UNLESS_429))
            || (room.is_some() && text.contains("exceed context limit"))
    }

    /// The sizes that the error names.
    pub fn sizes(&self) -> Overflow {
        let text = self.text.to_ascii_lowercase();
        let all_but_answer = || number(&ALL, &text).map(|all| all.saturating_sub(number(&ANSWER, &text).unwrap_or(0)));
        Overflow {
            prompt_tokens: self.prompt_tokens.or_else(|| number(&PROMPT, &text)).or_else(all_but_answer),
            window_tokens: self.window_tokens.or_else(|| number(&WINDOW, &text)),
        }
    }

    /// The longest possible answer of the model, in tokens, if the request asked for more.
    pub fn longest_answer_tokens(&self) -> Option<u32> {
        self.as_limit(number(&LONGEST_ANSWER, &self.text.to_ascii_lowercase()))
    }

    /// The room for the answer, in tokens, if the prompt fits and only the answer might not.
    pub fn answer_room_tokens(&self) -> Option<u32> {
        let room = self.room().filter(|room| *room >= MIN_ANSWER_TOKENS);
        // Some services count only roughly.
        self.as_limit(room.map(|room| room - room / 16))
    }

    fn as_limit(&self, tokens: Option<u64>) -> Option<u32> {
        tokens.filter(|_| matches!(self.status, Some(400 | 422))).and_then(|tokens| u32::try_from(tokens).ok())
    }

    /// The window minus the prompt, if both are named.
    fn room(&self) -> Option<u64> {
        let sizes = self.sizes();
        Some(sizes.window_tokens?.saturating_sub(sizes.prompt_tokens?))
    }
}

#[cfg(test)]
#[path = "sizes_tests.rs"]
mod tests;
