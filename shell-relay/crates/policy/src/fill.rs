//! Puts values back in the place of their placeholders in a line for a shell: quoted for just that place, or not at all. Pure.
//!
//! Only lines that can be read with certainty are filled: words, the three kinds of quoting, pipes, lists and redirections. No one sees
//! the value before it is typed, so it must act only as text in its place: it is no name of a program or file, no option, and
//! where another program reads the text as code again it contains no sign with a meaning there.

mod place;

use cohab_secrets::{FilledLine, Placeholder, Scrubber, placeholders};
use cohab_shell_state::shell::Shell;
use zeroize::Zeroizing;

use self::place::places;
use super::hands_code_on;

/// The reason why a line is not filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not filled in: {reason}")]
pub struct NotFilled {
    /// The placeholder, as `github-token#1`.
    name: String,
    /// The reason, for people and models.
    reason: String,
}

const NO_WORD: &str = "its value may mean something else at the start of a word";
const CODE: &str = "a program of this line may read it as code, and its value has signs that mean something there";
const MANY: &str = "too many different values were filled in in this terminal";

/// Whether [`fill`] would fill in `line`, or find nothing to fill in.
///
/// # Errors
/// The reason why it would not.
pub fn can_fill(scrubber: &Scrubber, line: &str, shell: Shell) -> Result<(), NotFilled> {
    plan(scrubber, line, shell).map(|_| ())
}

/// `line` with the values of its placeholders, quoted for `shell`, or `None` without placeholders. Filled-in values are taken out of
/// every later text, in all their usual forms.
///
/// # Errors
/// If any of them cannot be filled in.
pub fn fill(scrubber: &mut Scrubber, line: &str, shell: Shell) -> Result<Option<FilledLine>, NotFilled> {
    let Some((filled, values)) = plan(scrubber, line, shell)? else { return Ok(None) };
    scrubber.watch_for(values.iter().map(|value| value.as_str()));
    Ok(Some(filled))
}

/// The line as it would be typed, and its values, which are wiped when dropped.
type Plan = (FilledLine, Vec<Zeroizing<String>>);

fn plan(scrubber: &Scrubber, line: &str, shell: Shell) -> Result<Option<Plan>, NotFilled> {
    let found: Vec<Placeholder<'_>> = placeholders(line).collect();
    let Some(first) = found.first() else { return Ok(None) };
    let refused = |placeholder: &Placeholder<'_>, reason| NotFilled { name: placeholder.name(), reason };
    let is_code = hands_code_on(line);
    let mut values = Vec::new();
    for placeholder in &found {
        let value = scrubber.value(placeholder).map_err(|reason| refused(placeholder, reason.to_string()))?;
        if is_code && !is_plain(value) {
            return Err(refused(placeholder, CODE.to_owned()));
        }
        values.push(value);
    }
    let ranges: Vec<_> = found.iter().map(|placeholder| placeholder.range.clone()).collect();
    let places = places(line, &ranges, shell)
        .map_err(|(at, reason)| refused(found.get(at).unwrap_or(first), reason.to_owned()))?;
    let mut filled =
        Zeroizing::new(String::with_capacity(2 * line.len() + 2 * values.iter().map(|v| v.len()).sum::<usize>()));
    let mut from = 0;
    for ((placeholder, place), value) in found.iter().zip(&places).zip(&values) {
        if place.begins_word && value.starts_with(['-', '~', '=', '+', '%']) {
            return Err(refused(placeholder, NO_WORD.to_owned()));
        }
        filled.push_str(&line[from..placeholder.range.start]);
        place.quote(value, shell, &mut filled);
        from = placeholder.range.end;
    }
    filled.push_str(&line[from..]);
    if !scrubber.can_watch_for(&values) {
        return Err(refused(first, MANY.to_owned()));
    }
    let values = values.into_iter().map(|value| Zeroizing::new(value.to_owned()));
    Ok(Some((filled.into(), values.collect())))
}

/// Whether every shell, query or program reads the value as just a word.
fn is_plain(value: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/+=@%,-".contains(&byte);
    value.starts_with(|c: char| c.is_ascii_alphanumeric()) && value.bytes().all(is_plain)
}
