//! One line of a report.

use super::facts::RcLine;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingVerdict {
    /// Well.
    Ok,
    /// Works, but not as it should.
    Warn,
    /// The relay does not work.
    Fail,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// For programs.
    pub id: &'static str,
    /// How it is.
    pub verdict: FindingVerdict,
    /// What was found, for people.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A finding without a hint.
pub(crate) fn finding(id: &'static str, verdict: FindingVerdict, text: impl Into<String>) -> Finding {
    Finding { id, verdict, text: text.into(), hint: None }
}

impl Finding {
    /// With what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A line of a start-up file, for people.
pub(crate) fn at(line: &RcLine) -> String {
    format!("{} line {}: `{}`", line.file, line.number, line.text)
}
