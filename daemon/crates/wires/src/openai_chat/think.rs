//! Separates the reasoning that local models write between `<think>` tags from the answer. Works on a stream: a tag may arrive in pieces.
//!
//! The templates of some servers swallow the opening tag, and only `</think>` arrives. Text is never held back for that case: the first
//! time, the text before the tag was shown as an answer, and stays; from then on the answers of this model count as reasoning until the
//! tag arrives. If it does not arrive, the text shown as reasoning was the answer, and is sent as text at the end.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
const FENCES: [&str; 2] = ["```", "~~~"];
/// After more leading whitespace than this, no tag and no code fence is searched for.
const MAX_LEADING_BLANKS_BYTES: usize = 1024;

/// A piece of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text of the answer.
    Text(String),
    /// Text between the tags.
    Reasoning(String),
}

/// Splits a text that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct ThinkSplitter {
    state: ThinkState,
    held: String,
    /// Whether the opening tag is known to be swallowed.
    assumes_reasoning: bool,
    /// All text that was taken as reasoning without an opening tag.
    assumed: String,
    has_bare_close: bool,
    in_fence: bool,
    /// The end of the text so far, which may hold the start of an opening tag.
    tail: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThinkState {
    /// Only whitespace so far: an opening tag counts only here, since later it is part of the model's subject.
    #[default]
    Start,
    Thinking,
    /// Reasoning, if a closing tag arrives.
    Assumed,
    /// After a closing tag: whitespace before the answer is dropped.
    AfterThinking,
    /// At the start of a line of the answer: a closing tag alone, outside of code, ends reasoning whose opening tag was
    /// swallowed.
    Line,
    /// Inside a line of the answer.
    Text,
    /// In the answer, with no tag to search for.
    Plain,
}

impl ThinkSplitter {
    /// Starts for a model whose opening tag is known to be swallowed.
    pub(super) fn without_opening_tag() -> Self {
        Self { assumes_reasoning: true, ..Self::default() }
    }

    /// Turns the search off: the service separates reasoning from text by itself.
    pub(super) fn leave_to_service(&mut self) {
        if self.state == ThinkState::Start && self.held.is_empty() {
            self.state = ThinkState::Plain;
        }
    }

    /// Whether a closing tag arrived without an opening one.
    pub(super) fn has_bare_close(&self) -> bool {
        self.has_bare_close
    }

    /// Takes a piece; returns the pieces that are decided.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        if self.state == ThinkState::Plain {
            return text_piece(text.to_owned());
        }
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while !self.held.is_empty() && self.step(&mut pieces) {}
        pieces
    }

    /// Ends the text: the held-back part is not a tag. Reasoning without any tag was the answer, unless `has_other` says that the answer
    /// is another part, or cut.
    pub(super) fn finish(&mut self, has_other: bool) -> Vec<Piece> {
        let rest = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, ThinkState::Plain) {
            ThinkState::Assumed if !has_other => text_piece(std::mem::take(&mut self.assumed) + &rest),
            ThinkState::Thinking | ThinkState::Assumed => reasoning_piece(rest),
            _ => text_piece(rest),
        }
    }

    /// Decides about the start of the held text; false if it needs more text.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match self.state {
            ThinkState::Start => self.at_start(),
            ThinkState::Thinking | ThinkState::Assumed => self.in_thinking(pieces),
            ThinkState::AfterThinking => {
                let rest = self.held.trim_start().to_owned();
                self.enter(if rest.is_empty() { ThinkState::AfterThinking } else { ThinkState::Plain }, rest)
            }
            ThinkState::Line => self.at_line_start(),
            ThinkState::Text => self.in_text(pieces),
            ThinkState::Plain => {
                pieces.extend(text_piece(std::mem::take(&mut self.held)));
                false
            }
        }
    }

    fn at_start(&mut self) -> bool {
        let text = self.held.trim_start();
        if let Some(rest) = text.strip_prefix(OPEN) {
            self.enter(ThinkState::Thinking, rest.to_owned())
        } else if OPEN.starts_with(text) && self.held.len() <= MAX_LEADING_BLANKS_BYTES {
            false
        } else {
            self.state = if self.assumes_reasoning { ThinkState::Assumed } else { ThinkState::Line };
            true
        }
    }

    fn in_thinking(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let (end, is_whole) = tag_or_its_start(&self.held, CLOSE);
        let rest = self.held.split_off(end);
        let reasoning = std::mem::replace(&mut self.held, rest);
        if self.state == ThinkState::Assumed {
            self.assumed.push_str(&reasoning);
        }
        pieces.extend(reasoning_piece(reasoning));
        is_whole && self.enter(ThinkState::AfterThinking, self.held[CLOSE.len()..].to_owned())
    }

    fn at_line_start(&mut self) -> bool {
        if !self.in_fence
            && let Some(rest) = self.held.strip_prefix(CLOSE)
        {
            self.has_bare_close = true;
            return self.enter(ThinkState::AfterThinking, rest.to_owned());
        }
        let code = self.held.trim_start_matches(' ');
        let is_fence = FENCES.iter().any(|fence| code.starts_with(fence));
        let may_be = |mark: &str, text: &str| mark.starts_with(text);
        let is_undecided =
            (!self.in_fence && may_be(CLOSE, &self.held)) || FENCES.iter().any(|fence| may_be(fence, code));
        if !is_fence && is_undecided && self.held.len() <= MAX_LEADING_BLANKS_BYTES {
            return false;
        }
        self.in_fence ^= is_fence;
        self.state = ThinkState::Text;
        true
    }

    /// Passes on the rest of the line, as far as it has arrived.
    fn in_text(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let end = self.held.find('\n').map_or(self.held.len(), |at| at + 1);
        let rest = self.held.split_off(end);
        let text = std::mem::replace(&mut self.held, rest);
        let mut seen = std::mem::take(&mut self.tail);
        seen.push_str(&text);
        self.state = match text.ends_with('\n') {
            // A text that shows the opening tag shows the closing one, too.
            _ if seen.contains(OPEN) => ThinkState::Plain,
            true => ThinkState::Line,
            false => ThinkState::Text,
        };
        let tail_at = seen.char_indices().rev().take(OPEN.len() - 1).last().map_or(0, |(at, _)| at);
        self.tail = seen.split_off(tail_at);
        pieces.extend(text_piece(text));
        true
    }

    fn enter(&mut self, state: ThinkState, held: String) -> bool {
        self.state = state;
        self.held = held;
        true
    }
}

fn text_piece(text: String) -> Vec<Piece> {
    if text.is_empty() { Vec::new() } else { vec![Piece::Text(text)] }
}

fn reasoning_piece(text: String) -> Vec<Piece> {
    if text.is_empty() { Vec::new() } else { vec![Piece::Reasoning(text)] }
}

/// Start of `tag` in `text`, and true; or start of a partial tag at the end of `text`, or the end of `text`, and false.
fn tag_or_its_start(text: &str, tag: &str) -> (usize, bool) {
    if let Some(at) = text.find(tag) {
        return (at, true);
    }
    let start = (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length]));
    (text.len() - start.unwrap_or(0), false)
}

#[cfg(test)]
#[path = "think_tests.rs"]
mod tests;
