//! Selects the messages to drop from a conversation that must be shorter, and writes the block that replaces them. Pure.
//!
//! The question that is being answered stays, with every call of the work on it: a model repeats a call that it does not see. Of that
//! work only the results get shorter ([`super::short_result`]), the oldest first. Before the question whole turns are dropped. The
//! block that replaces them stands at the head of the user message behind the gap: so no message is added, and the question stays last
//! in its message. The project's notes for assistants are dropped together with the message that holds them.

use std::ops::Range;

use cohab_model_api::{Message, ToolResult};
use cohab_text::tokens::estimate_tokens;

use super::{
    fit::message_tokens,
    query::EARLIER,
    query_text::{LASTING_TAGS, inside, running_question, text_of, with_block},
    short_result,
};

/// Most counted share of the conversation for the question and for the newest message each, in percent: a longer one can lose its
/// middle.
const MOST_PERCENT: u64 = 40;
/// Largest first question with its answer that stays, in percent of the conversation's limit.
const FIRST_PERCENT: u64 = 20;

/// The size limit of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Tokens, by the estimate.
    pub tokens: u64,
    /// Messages, without calls of the running turn with short results: these are never dropped.
    pub messages: usize,
}

impl Target {
    /// Whether these messages are within it.
    #[must_use]
    pub fn holds(&self, messages: &[Message]) -> bool {
        counted(messages) <= self.messages && messages.iter().map(message_tokens).sum::<u64>() <= self.tokens
    }
}

/// The number of messages that count towards [`Target::messages`].
#[must_use]
pub fn counted(messages: &[Message]) -> usize {
    let question = running_question(messages).unwrap_or(messages.len());
    let work = units_from_behind(messages, (question + 1).min(messages.len())..messages.len());
    let short: usize =
        work.iter().filter(|unit| is_short(&messages[(*unit).clone()])).map(ExactSizeIterator::len).sum();
    messages.len() - short
}

/// A conversation split into dropped and kept messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// Dropped messages, oldest first.
    pub dropped: Vec<Message>,
    /// Number of shortened results in the running turn.
    pub shortened: usize,
    kept: Vec<Message>,
    /// Place in `kept` of the message that reports the gap.
    host: usize,
}

impl Gap {
    /// Selects the messages to drop to reach `target`, with `block_tokens` of it for the block that replaces them. `None` if nothing
    /// has to be dropped or shortened, or nothing can be. With `keeps_first` the conversation's first question stays with its answer.
    #[must_use]
    pub fn find(messages: &[Message], target: Target, block_tokens: u64, keeps_first: bool) -> Option<Self> {
        if target.holds(messages) {
            return None;
        }
        let question = running_question(messages)?;
        let mut choice = Choice::new(messages, target, block_tokens, question);
        if keeps_first {
            choice.take_first(question);
        }
        let host = choice.take_newest(question);
        let kept_before = choice.keep[..host].iter().filter(|keep| **keep).count();
        let mut gap = Self { dropped: Vec::new(), shortened: 0, kept: Vec::new(), host: kept_before };
        for (index, message) in messages.iter().enumerate() {
            let mut message = message.clone();
            if index > question && index < choice.whole_from {
                gap.shortened += short_result::shorten(&mut message);
            }
            if choice.keep[index] { &mut gap.kept } else { &mut gap.dropped }.push(message);
        }
        (!gap.dropped.is_empty() || gap.shortened > 0).then_some(gap)
    }

    /// The earlier block for messages dropped before these, if the message that holds it is dropped or reports this gap, too.
    #[must_use]
    pub fn earlier(&self) -> Option<&str> {
        let texts = self.dropped.iter().chain(self.kept.get(self.host)).filter_map(text_of);
        texts.rev().find_map(|text| inside(text, EARLIER))
    }

    /// The user message that reports the gap.
    #[must_use]
    pub fn question(&self) -> &str {
        self.kept.get(self.host).and_then(text_of).unwrap_or_default()
    }

    /// The kept messages, with `block` in the place of the dropped ones.
    #[must_use]
    pub fn close(self, block: &str) -> Vec<Message> {
        let Self { dropped, mut kept, host, .. } = self;
        if dropped.is_empty() {
            return kept;
        }
        let is_told = |tag| newest(&kept, tag).is_some();
        let words = LASTING_TAGS.into_iter().filter(|tag| !is_told(tag));
        let carried: Vec<_> = words.filter_map(|tag| Some((tag, newest(&dropped, tag)?))).collect();
        if let Some(Message::User { text, .. }) = kept.get_mut(host) {
            for (tag, words) in carried {
                *text = with_block(text, tag, words);
            }
            *text = with_block(text, EARLIER, block);
        }
        kept
    }
}

/// The content of the newest block `tag`.
fn newest<'a>(messages: &'a [Message], tag: &str) -> Option<&'a str> {
    messages.iter().rev().filter_map(text_of).find_map(|text| inside(text, tag))
}

/// Messages that stay or go together, from behind: a call with its results.
fn units_from_behind(messages: &[Message], range: Range<usize>) -> Vec<Range<usize>> {
    let mut units: Vec<Range<usize>> = Vec::new();
    for index in range {
        match (&messages[index], units.last_mut()) {
            (Message::ToolResults(_), Some(unit)) => unit.end = index + 1,
            _ => units.push(index..index + 1),
        }
    }
    units.reverse();
    units
}

/// Whether a call with its results cannot become smaller.
fn is_short(unit: &[Message]) -> bool {
    unit.last().is_some_and(short_result::is_short)
}

struct Choice<'a> {
    messages: &'a [Message],
    sizes: Vec<u64>,
    keep: Vec<bool>,
    /// First result of the running turn that stays whole.
    whole_from: usize,
    most: u64,
    tokens_left: u64,
    messages_left: usize,
    first_tokens: u64,
}

impl<'a> Choice<'a> {
    fn new(messages: &'a [Message], target: Target, block_tokens: u64, question: usize) -> Self {
        let sizes: Vec<u64> = messages.iter().map(message_tokens).collect();
        let mut keep = vec![false; messages.len()];
        keep[question..].fill(true);
        // The lasting texts that later messages repeat are dropped as well.
        let is_told_here = |tag: &str| newest(&messages[question..=question], tag).is_some();
        let elsewhere = LASTING_TAGS.into_iter().filter(|tag| !is_told_here(tag));
        let words_tokens: u64 = elsewhere.filter_map(|tag| newest(messages, tag)).map(estimate_tokens).sum();
        let most = target.tokens * MOST_PERCENT / 100;
        let short_tokens: u64 = messages[question + 1..].iter().map(short_tokens).sum();
        let taken = block_tokens.saturating_add(words_tokens).saturating_add(sizes[question].min(most));
        let taken = taken.saturating_add(short_tokens);
        let tokens_left = target.tokens.saturating_sub(taken);
        let first_tokens = target.tokens * FIRST_PERCENT / 100;
        let messages_left = target.messages.saturating_sub(1);
        Self { messages, sizes, keep, whole_from: messages.len(), most, tokens_left, messages_left, first_tokens }
    }

    fn size(&self, unit: &Range<usize>) -> u64 {
        self.sizes[unit.clone()].iter().sum()
    }

    /// Keeps the first question with the answer that ended its turn.
    fn take_first(&mut self, question: usize) {
        let is_user = |message: &Message| text_of(message).is_some();
        let Some(next) = self.messages.iter().skip(1).position(is_user).map(|index| index + 1) else { return };
        let answer = next - 1;
        let is_pair = is_user(&self.messages[0])
            && matches!(&self.messages[answer], Message::Assistant(message) if message.tool_calls.is_empty());
        let size = self.sizes[0] + self.sizes[answer];
        // Two messages, and room for a call with its result.
        if is_pair && next <= question && size <= self.first_tokens.min(self.tokens_left) && self.messages_left >= 4 {
            self.keep[0] = true;
            self.keep[answer] = true;
            self.tokens_left -= size;
            self.messages_left -= 2;
        }
    }

    /// Keeps the newest results whole, always the last one, and whole turns before the question. Returns the place of the message that
    /// follows the gap, or of the question.
    fn take_newest(&mut self, question: usize) -> usize {
        let mut is_newest = true;
        for unit in units_from_behind(self.messages, question + 1..self.messages.len()) {
            let work = &self.messages[unit.clone()];
            let size = self.size(&unit).min(if is_newest { self.most } else { u64::MAX });
            // The rest is counted already.
            let size = size.saturating_sub(work.iter().map(short_tokens).sum());
            let count = if is_short(work) { 0 } else { unit.len() };
            if !is_newest && (size > self.tokens_left || count > self.messages_left) {
                return question;
            }
            self.tokens_left = self.tokens_left.saturating_sub(size);
            self.messages_left = self.messages_left.saturating_sub(count);
            self.whole_from = unit.start;
            is_newest = false;
        }
        let mut start = question;
        let mut turn = Vec::new();
        for unit in units_from_behind(self.messages, 0..question) {
            let size = self.size(&unit);
            if self.keep[unit.start] || size > self.tokens_left || unit.len() > self.messages_left {
                break;
            }
            self.tokens_left -= size;
            self.messages_left -= unit.len();
            let begins_turn = text_of(&self.messages[unit.start]).is_some();
            let first = unit.start;
            turn.push(unit);
            if begins_turn {
                turn.drain(..).for_each(|unit| self.keep[unit].fill(true));
                start = first;
            }
        }
        start
    }
}

/// The estimate of a message with shortened results.
fn short_tokens(message: &Message) -> u64 {
    let Message::ToolResults(results) = message else { return message_tokens(message) };
    let tokens =
        |result: &ToolResult| estimate_tokens(short_result::short_form(result).as_deref().unwrap_or(&result.content));
    results.iter().map(tokens).sum()
}
