//! Faults of a definition, with their places in the file. Pure.

use std::{ops::Range, rc::Rc};

/// Most faults that are reported.
const MAX_PROBLEMS: usize = 50;

/// A fault of a definition. `Display` is `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct Problem {
    /// The file as it was named.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong, a sentence without its full stop.
    pub message: String,
    /// What to do, in the same form.
    pub hint: String,
}

/// A text with its name.
#[derive(Debug)]
pub(super) struct Document {
    pub file: String,
    pub text: String,
}

/// A place in a document.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    document: Rc<Document>,
    at: usize,
}

impl Spot {
    pub fn new(document: &Rc<Document>, at: usize) -> Self {
        Self { document: Rc::clone(document), at }
    }

    /// A place inside of the string that stands at `span`, as near as it can be known: escapes make the text shorter than its source.
    pub fn inside(document: &Rc<Document>, span: Range<usize>, value: &str, offset: usize) -> Self {
        let source = document.text.get(span.clone()).unwrap_or_default();
        let quote = source.find(value).filter(|_| !value.is_empty());
        Self::new(document, quote.map_or(span.start, |quote| span.start + quote + offset))
    }

    fn line_and_column(&self) -> (usize, usize) {
        let text = self.document.text.as_str();
        let before = cohab_text::cut::head(text, self.at);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// Collects faults, so that all of them are reported at once.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
}

impl Problems {
    /// Adds a fault.
    pub fn add(&mut self, spot: &Spot, message: impl Into<String>, hint: impl Into<String>) {
        if self.found.len() < MAX_PROBLEMS {
            let (line, column) = spot.line_and_column();
            let file = spot.document.file.clone();
            self.found.push(Problem { file, line, column, message: message.into(), hint: hint.into() });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of them, in the order of the files' lines.
    pub fn sorted(mut self) -> Vec<Problem> {
        self.found
            .sort_by(|one, other| (&one.file, one.line, one.column).cmp(&(&other.file, other.line, other.column)));
        self.found.dedup();
        self.found
    }
}
