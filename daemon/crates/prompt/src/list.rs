//! Filters a list by the typed text. Pure.

use super::{Row, fuzzy, keys::PromptKey};

/// The filter and the position of the user.
#[derive(Clone, Debug)]
pub(super) struct List<'a> {
    rows: &'a [Row],
    filter: String,
    /// Indices of rows that were removed.
    removed: Vec<usize>,
    /// Indices of the matching rows.
    shown: Vec<usize>,
    /// Place in `shown`.
    at: usize,
}

/// The result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The list is still open.
    Open,
    /// This row was chosen.
    Chosen(usize),
    /// The user cancels.
    Cancelled,
}

impl<'a> List<'a> {
    /// All rows, at `preselected`.
    pub(super) fn new(rows: &'a [Row], preselected: usize) -> Self {
        let at = preselected.min(rows.len().saturating_sub(1));
        Self { rows, filter: String::new(), removed: Vec::new(), shown: (0..rows.len()).collect(), at }
    }

    /// Handles a key. `page` is the number of visible rows.
    pub(super) fn on_key(&mut self, key: PromptKey, page: usize) -> Outcome {
        let last = self.shown.len().saturating_sub(1);
        match key {
            PromptKey::Interrupt | PromptKey::EndOfInput => return Outcome::Cancelled,
            PromptKey::Escape if self.filter.is_empty() => return Outcome::Cancelled,
            PromptKey::Escape | PromptKey::EraseLine => self.filter_by(String::new()),
            PromptKey::Enter => return self.current().map_or(Outcome::Open, Outcome::Chosen),
            PromptKey::Up => self.at = self.at.checked_sub(1).unwrap_or(last),
            PromptKey::Down => self.at = if self.at < last { self.at + 1 } else { 0 },
            PromptKey::PageUp => self.at = self.at.saturating_sub(page),
            PromptKey::PageDown => self.at = (self.at + page).min(last),
            PromptKey::First => self.at = 0,
            PromptKey::Last => self.at = last,
            PromptKey::Backspace => {
                let mut filter = self.filter.clone();
                filter.pop();
                self.filter_by(filter);
            }
            PromptKey::Char(letter) => self.filter_by(format!("{}{letter}", self.filter)),
            PromptKey::Delete | PromptKey::Resized => {}
        }
        Outcome::Open
    }

    /// The typed filter.
    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    /// The number of matching rows.
    pub(super) fn count(&self) -> usize {
        self.shown.len()
    }

    /// The index of the current row; none if no row matches.
    pub(super) fn current(&self) -> Option<usize> {
        self.shown.get(self.at).copied()
    }

    /// Takes the current row out of the list. The indices of the others stay as they are.
    pub(super) fn remove_current(&mut self) {
        self.removed.extend(self.current());
        self.shown = self.matching();
        self.at = self.at.min(self.shown.len().saturating_sub(1));
    }

    /// The number of all rows.
    pub(super) fn total(&self) -> usize {
        self.rows.len() - self.removed.len()
    }

    /// The visible rows, `page` at most, and the place of the current one among them.
    pub(super) fn window(&self, page: usize) -> (Vec<&'a Row>, usize) {
        let start = self.at.saturating_sub(page / 2).min(self.shown.len().saturating_sub(page));
        let rows = self.shown.iter().skip(start).take(page).map(|row| &self.rows[*row]).collect();
        (rows, self.at - start)
    }

    fn filter_by(&mut self, filter: String) {
        let current = self.current();
        self.filter = filter;
        self.shown = self.matching();
        // Without a filter the user returns to the earlier row; with one the best match is first.
        let back = current.filter(|_| self.filter.is_empty());
        self.at = back.and_then(|row| self.shown.iter().position(|shown| *shown == row)).unwrap_or(0);
    }

    fn matching(&self) -> Vec<usize> {
        let mut found = fuzzy::matching(self.rows, &self.filter);
        found.retain(|index| !self.removed.contains(index));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        ["Anthropic", "OpenAI", "OpenRouter", "Mistral"].map(|name| Row::new(name, "")).to_vec()
    }

    fn press(list: &mut List<'_>, keys: &[PromptKey]) -> Outcome {
        keys.iter().fold(Outcome::Open, |_, key| list.on_key(*key, 3))
    }

    #[test]
    fn typing_narrows_the_list_and_enter_takes_what_is_left() {
        let rows = rows();
        let mut list = List::new(&rows, 0);
        press(&mut list, &['r', 'o', 'u'].map(PromptKey::Char));
        assert_eq!((list.count(), list.on_key(PromptKey::Enter, 3)), (1, Outcome::Chosen(2)));
        press(&mut list, &['x'].map(PromptKey::Char));
        assert_eq!((list.count(), list.on_key(PromptKey::Enter, 3)), (0, Outcome::Open), "there is nothing to take");
        assert_eq!(press(&mut list, &[PromptKey::Backspace, PromptKey::Enter]), Outcome::Chosen(2));
    }

    #[test]
    fn the_ends_of_the_list_are_next_to_each_other() {
        let rows = rows();
        let mut list = List::new(&rows, 0);
        assert_eq!(press(&mut list, &[PromptKey::Up, PromptKey::Enter]), Outcome::Chosen(3));
        assert_eq!(press(&mut list, &[PromptKey::Down, PromptKey::Enter]), Outcome::Chosen(0));
        assert_eq!(press(&mut list, &[PromptKey::Last, PromptKey::PageUp, PromptKey::Enter]), Outcome::Chosen(0));
    }

    #[test]
    fn escape_first_forgets_the_filter_and_then_the_question() {
        let rows = rows();
        let mut list = List::new(&rows, 2);
        assert_eq!(press(&mut list, &[PromptKey::Char('o'), PromptKey::Escape]), Outcome::Open);
        assert_eq!((list.filter(), list.count()), ("", 4));
        assert_eq!(list.on_key(PromptKey::Escape, 3), Outcome::Cancelled);
    }

    #[test]
    fn a_removed_row_does_not_come_back() {
        let rows = rows();
        let mut list = List::new(&rows, 0);
        press(&mut list, &['o'].map(PromptKey::Char));
        assert_eq!(list.current(), Some(1), "OpenAI");
        list.remove_current();
        press(&mut list, &[PromptKey::Escape]);
        assert_eq!((list.count(), list.current().is_some()), (3, true));
        (0..3).for_each(|_| list.remove_current());
        assert_eq!((list.count(), press(&mut list, &[PromptKey::Up, PromptKey::Enter])), (0, Outcome::Open));
    }

    #[test]
    fn the_window_is_full_and_shows_the_current_row() {
        let rows = rows();
        for at in 0..4 {
            let (seen, current) = List::new(&rows, at).window(3);
            assert_eq!((seen.len(), &seen[current].name), (3, &rows[at].name));
        }
    }
}
