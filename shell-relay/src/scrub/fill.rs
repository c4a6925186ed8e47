//! Puts values back where their placeholders stand in a line for a shell: quoted for just that place, or not at all. Pure.
//!
//! Only lines are taken that can be read with certainty: words, the three kinds of quoting, pipes, lists and redirections. Nobody sees
//! the value before it is typed, so it must not be able to do more than stand there: it is no name of a program or file, no option, and
//! where another program reads the text as code once more it has no signs that mean anything there.

mod place;

use std::fmt;

use zeroize::Zeroizing;

use self::place::places;
use super::{ExactValues, Mark, Placeholder, Scrubber, holds_placeholder, placeholders};
use crate::{policy, shell::Shell};

/// A shorter value could not be taken out of what comes back.
const LEAST_VALUE_BYTES: usize = super::exact::LEAST_BYTES;
/// Values that are watched for in what comes back; further ones are not filled in.
const MOST_FILLED: usize = 64;

/// Values that are wiped when they go.
type Values = Vec<Zeroizing<Vec<u8>>>;

/// A line as it is typed, with values in it. It shows in no output and is wiped when it goes.
#[derive(Clone, PartialEq, Eq)]
pub struct FilledLine(Zeroizing<String>);

impl FilledLine {
    /// The text, for the shell alone.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<String> for FilledLine {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl fmt::Debug for FilledLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FilledLine")
    }
}

/// Why a line is not filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not filled in: {reason}")]
pub struct NotFilled {
    /// The placeholder, as `github-token#1`.
    name: String,
    /// Why, for people and models.
    reason: &'static str,
}

const UNKNOWN: &str = "this terminal does not know its value, or not any more";
const NEVER: &str = "its value is not known in any terminal";
const SHORT: &str = "its value is too short to be found again in what the command writes";
const NO_LINE: &str = "its value is not one line of text";
const NO_WORD: &str = "its value may mean something else at the start of a word";
const CODE: &str = "a program of this line may read it as code, and its value has signs that mean something there";
const MANY: &str = "too many different values were filled in in this terminal";
const HOLDS_ONE: &str = "its value has the form of a placeholder";

impl Scrubber {
    /// Whether [`Scrubber::fill`] would fill in `line`, or find nothing to fill in.
    ///
    /// # Errors
    /// Why not.
    pub fn can_fill(&self, line: &str, shell: Shell) -> Result<(), NotFilled> {
        self.plan(line, shell).map(|_| ())
    }

    /// `line` with the values of its placeholders, quoted for `shell`, or `None` if there are none. What was filled in is taken out of
    /// every later text, in all forms in which values get around.
    ///
    /// # Errors
    /// If only one of them cannot be filled in.
    pub fn fill(&mut self, line: &str, shell: Shell) -> Result<Option<FilledLine>, NotFilled> {
        let Some((filled, values)) = self.plan(line, shell)? else { return Ok(None) };
        self.watch_for(values);
        Ok(Some(filled))
    }

    /// The line as it would be typed, and the values in it.
    fn plan(&self, line: &str, shell: Shell) -> Result<Option<(FilledLine, Values)>, NotFilled> {
        let found: Vec<Placeholder<'_>> = placeholders(line).collect();
        let Some(first) = found.first() else { return Ok(None) };
        let refused = |placeholder: &Placeholder<'_>, reason| NotFilled { name: placeholder.name(), reason };
        let is_code = policy::hands_code_on(line);
        let mut values = Vec::new();
        for placeholder in &found {
            let value = self.value(placeholder).map_err(|reason| refused(placeholder, reason))?;
            if is_code && !is_plain(value) {
                return Err(refused(placeholder, CODE));
            }
            values.push(value);
        }
        let ranges: Vec<_> = found.iter().map(|placeholder| placeholder.range.clone()).collect();
        let places =
            places(line, &ranges, shell).map_err(|(at, reason)| refused(found.get(at).unwrap_or(first), reason))?;
        let mut filled =
            Zeroizing::new(String::with_capacity(2 * line.len() + 2 * values.iter().map(|v| v.len()).sum::<usize>()));
        let mut from = 0;
        for ((placeholder, place), value) in found.iter().zip(&places).zip(&values) {
            if place.begins_word && value.starts_with(['-', '~', '=', '+', '%']) {
                return Err(refused(placeholder, NO_WORD));
            }
            filled.push_str(&line[from..placeholder.range.start]);
            place.quote(value, shell, &mut filled);
            from = placeholder.range.end;
        }
        filled.push_str(&line[from..]);
        let new = values.iter().map(|value| Zeroizing::new(value.as_bytes().to_vec()));
        let new: Vec<_> = new.filter(|value| !self.watched.contains(value)).collect();
        if self.watched.len() + new.len() > MOST_FILLED {
            return Err(refused(first, MANY));
        }
        Ok(Some((FilledLine(filled), new)))
    }

    /// Whether this scrubber has written the placeholder and still has its value.
    #[must_use]
    pub fn knows(&self, placeholder: &Placeholder<'_>) -> bool {
        let is_own = self.settings.mark.is_some_and(|mark| Mark::of(placeholder.mark) == Some(mark));
        is_own && !placeholder.is_quoted && self.values.get(placeholder.kind, placeholder.number).is_some()
    }

    fn value(&self, placeholder: &Placeholder<'_>) -> Result<&str, &'static str> {
        if !placeholder.can_be_filled() {
            return Err(NEVER);
        }
        if !self.knows(placeholder) {
            return Err(UNKNOWN);
        }
        let value = self.values.get(placeholder.kind, placeholder.number).unwrap_or_default();
        let text = str::from_utf8(value).ok().filter(|text| !text.chars().any(char::is_control)).ok_or(NO_LINE)?;
        match text.len() {
            ..LEAST_VALUE_BYTES => Err(SHORT),
            _ if holds_placeholder(text) => Err(HOLDS_ONE),
            _ => Ok(text),
        }
    }

    /// Takes these values out of all that comes from now on.
    fn watch_for(&mut self, values: Values) {
        if !values.is_empty() {
            self.watched.extend(values);
            self.filled = ExactValues::new(self.watched.iter().map(|value| value.as_slice()));
        }
    }
}

/// Whether no shell, query or program reads more in a value than a word.
fn is_plain(value: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/+=@%,-".contains(&byte);
    value.starts_with(|c: char| c.is_ascii_alphanumeric()) && value.bytes().all(is_plain)
}
