//! Parts the reasoning that local models write between `<think>` tags into their text from the answer. Streaming: a tag may
//! come in pieces.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
/// Behind more blanks than this no tag is looked for.
const MAX_LEADING_BLANKS_BYTES: usize = 1024;

/// A piece of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// For the reader.
    Text(String),
    /// Between the tags.
    Reasoning(String),
}

/// Splits a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct ThinkSplitter {
    state: State,
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing but blanks so far: an opening tag counts only here, since later it is what the model talks about.
    #[default]
    Start,
    Thinking,
    /// After a closing tag: blanks before the answer are dropped.
    AfterThinking,
    /// In the answer, no tag seen; a closing tag alone at the start of a line ends reasoning whose opening tag the server's
    /// template swallowed.
    Text {
        at_line_start: bool,
    },
    /// In the answer, nothing to look for.
    Plain,
}

impl ThinkSplitter {
    /// Takes a piece; gives what is decided.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        if self.state == State::Plain {
            return text_piece(text.to_owned());
        }
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while self.step(&mut pieces) {}
        pieces
    }

    /// Ends the text: what is held back is no tag.
    pub(super) fn finish(&mut self) -> Vec<Piece> {
        let rest = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Plain) {
            State::Thinking if !rest.is_empty() => vec![Piece::Reasoning(rest)],
            State::Thinking => Vec::new(),
            _ => text_piece(rest),
        }
    }

    /// Decides about the start of what is held; false when more is needed.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        if self.held.is_empty() {
            return false;
        }
        match self.state {
            State::Start => {
                let text = self.held.trim_start();
                if let Some(rest) = text.strip_prefix(OPEN) {
                    self.enter(State::Thinking, rest.to_owned())
                } else if OPEN.starts_with(text) && self.held.len() <= MAX_LEADING_BLANKS_BYTES {
                    false
                } else {
                    self.state = State::Text { at_line_start: true };
                    true
                }
            }
            State::Thinking => {
                let (end, is_whole) = tag_or_its_start(&self.held, CLOSE);
                let rest = self.held.split_off(end);
                let reasoning = std::mem::replace(&mut self.held, rest);
                if !reasoning.is_empty() {
                    pieces.push(Piece::Reasoning(reasoning));
                }
                is_whole && self.enter(State::AfterThinking, self.held[CLOSE.len()..].to_owned())
            }
            State::AfterThinking => {
                let rest = self.held.trim_start().to_owned();
                let state = if rest.is_empty() { State::AfterThinking } else { State::Plain };
                self.enter(state, rest)
            }
            State::Text { at_line_start: true } => {
                if let Some(rest) = self.held.strip_prefix(CLOSE) {
                    return self.enter(State::AfterThinking, rest.to_owned());
                }
                let is_undecided = CLOSE.starts_with(&self.held);
                self.state = State::Text { at_line_start: is_undecided };
                !is_undecided
            }
            State::Text { at_line_start: false } => {
                let end = self.held.find('\n').map_or(self.held.len(), |at| at + 1);
                let at_line_start = self.held[..end].ends_with('\n');
                let rest = self.held.split_off(end);
                pieces.extend(text_piece(std::mem::replace(&mut self.held, rest)));
                self.state = State::Text { at_line_start };
                true
            }
            State::Plain => {
                pieces.extend(text_piece(std::mem::take(&mut self.held)));
                false
            }
        }
    }

    fn enter(&mut self, state: State, held: String) -> bool {
        self.state = state;
        self.held = held;
        true
    }
}

fn text_piece(text: String) -> Vec<Piece> {
    if text.is_empty() { Vec::new() } else { vec![Piece::Text(text)] }
}

/// Where `tag` starts in `text`, and true; or where a beginning of it ends `text`, or the end of `text`, and false.
fn tag_or_its_start(text: &str, tag: &str) -> (usize, bool) {
    if let Some(at) = text.find(tag) {
        return (at, true);
    }
    let start = (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length]));
    (text.len() - start.unwrap_or(0), false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(chunks: impl IntoIterator<Item = String>) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let mut pieces: Vec<Piece> = chunks.into_iter().flat_map(|chunk| splitter.push(&chunk)).collect();
        pieces.extend(splitter.finish());
        let (mut reasoning, mut text) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Reasoning(piece) => reasoning.push_str(&piece),
            }
        }
        (reasoning, text)
    }

    fn per_character(text: &str) -> (String, String) {
        split(text.chars().map(String::from))
    }

    #[test]
    fn tags_are_found_in_one_piece_and_in_many() {
        let cases = [
            ("\n<think>a < b</think>\n\nAnswer", "a < b", "Answer"),
            ("<think></think>Answer", "", "Answer"),
            ("<think>never closed", "never closed", ""),
            ("lost opening\n</think>\nAnswer", "", "lost opening\nAnswer"),
            ("Answer about <think> and </think>.", "", "Answer about <think> and </think>."),
            ("<thin", "", "<thin"),
            ("<thing>x", "", "<thing>x"),
            ("a\n</thin", "", "a\n</thin"),
            ("<think>x</think>a\n</think>\nb", "x", "a\n</think>\nb"),
        ];
        for (input, reasoning, text) in cases {
            let expected = (reasoning.to_owned(), text.to_owned());
            assert_eq!(split([input.to_owned()]), expected, "{input:?}");
            assert_eq!(per_character(input), expected, "{input:?}");
        }
    }

    #[test]
    fn ordinary_text_is_not_held_back() {
        let mut splitter = ThinkSplitter::default();
        assert_eq!(splitter.push("Hello"), [Piece::Text("Hello".to_owned())]);
        assert_eq!(splitter.push(" you\n"), [Piece::Text(" you\n".to_owned())]);
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same(text in "(<think>|</think>|[a<>/\n ]|\u{e9}){0,12}") {
            prop_assert_eq!(per_character(&text), split([text]));
        }
    }
}
