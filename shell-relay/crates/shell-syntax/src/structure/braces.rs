//! Expands lists in braces in a plain word, `a{b,c}.txt` and `{1..3}`, into the words that they make.

use cohab_shell_state::shell::Shell;

use super::{commands::Read, reader::Reader, words::Word};

/// The largest number of words that one word may make.
const MAX_WORDS: usize = 64;

impl Reader<'_> {
    /// Reads a word with lists in braces; `None` if the word here has none, or has more than plain text and lists.
    pub(super) fn words_of_braces(&mut self) -> Read<Option<Vec<Word>>> {
        let raw = self.bare_word();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:,+%@-=*?{}~".contains(&byte);
        if !raw.contains('{') || !raw.bytes().all(is_plain) || raw.starts_with('=') {
            return Ok(None);
        }
        let Some(texts) = expanded(raw, self.shell) else { return Ok(None) };
        if texts.len() > MAX_WORDS {
            return Err(Some("uses braces"));
        }
        // In zsh a `=` at the front stands for the place of a program.
        let is_odd = |text: &String| {
            let rest = text.strip_prefix("~/").unwrap_or(text);
            text.is_empty() || text.starts_with('=') || rest.contains(['{', '}', '~'])
        };
        if texts.iter().any(is_odd) {
            return Ok(None);
        }
        let place = self.at..self.at + raw.len();
        self.at = place.end;
        self.has_more = true;
        let word = |text| Word { raw: place.clone(), text, expands: true, ..Word::default() };
        Ok(Some(texts.into_iter().map(word).collect()))
    }
}

/// The words that a word makes; `None` if it has a list of another kind. A little more than [`MAX_WORDS`] at most.
fn expanded(word: &str, shell: Shell) -> Option<Vec<String>> {
    let Some((before, rest)) = word.split_once('{') else { return Some(vec![word.to_owned()]) };
    let (inside, behind) = rest.split_once('}')?;
    let choices = match inside.split_once("..") {
        _ if inside.contains('{') => return None,
        Some((first, last)) if !inside.contains(',') => range(first, last).filter(|_| shell != Shell::Fish)?,
        _ if inside.contains(',') => inside.split(',').map(str::to_owned).collect(),
        _ => return None,
    };
    let behind = expanded(behind, shell)?;
    let pairs = choices.iter().flat_map(|choice| behind.iter().map(move |rest| format!("{before}{choice}{rest}")));
    Some(pairs.take(MAX_WORDS + 1).collect())
}

/// The numbers or letters from the first to the last one.
fn range(first: &str, last: &str) -> Option<Vec<String>> {
    if let ([first], [last]) = (first.as_bytes(), last.as_bytes())
        && first.is_ascii_lowercase()
        && last.is_ascii_lowercase()
    {
        let (least, most) = (*first.min(last), *first.max(last));
        return Some((least..=most).map(|letter| char::from(letter).to_string()).collect());
    }
    let is_number = |text: &str| (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(first) || !is_number(last) {
        return None;
    }
    let (from, to): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    let is_padded = [first, last].iter().any(|text| text.len() > 1 && text.starts_with('0'));
    let width = if is_padded { first.len().max(last.len()) } else { 0 };
    Some((from.min(to)..=from.max(to)).take(MAX_WORDS + 1).map(|number| format!("{number:0width$}")).collect())
}
