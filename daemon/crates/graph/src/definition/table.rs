//! Reads entries of a TOML table, with their places. What is missing or of another type becomes a fault. Pure.

use std::{ops::Range, rc::Rc};

use cohab_text::nearest;
use toml::de::{DeTable, DeValue};

use super::problem::{Document, Problems, Spot};

/// A table of a document.
#[derive(Clone)]
pub(super) struct SourceTable<'d> {
    pub document: Rc<Document>,
    pub entries: &'d DeTable<'d>,
    /// Where it begins.
    pub at: usize,
    /// What it is, for messages: "node `test`".
    pub what: String,
}

/// A value with its place.
#[derive(Clone)]
pub(super) struct Placed<T> {
    pub value: T,
    pub span: Range<usize>,
}

impl<'d> SourceTable<'d> {
    pub fn spot(&self, at: usize) -> Spot {
        Spot::new(&self.document, at)
    }

    /// Reports all entries with other names.
    pub fn only(&self, names: &[&str], problems: &mut Problems) {
        for (name, _) in self.entries {
            let (text, at) = (name.get_ref().as_ref(), name.span().start);
            if !names.contains(&text) {
                let hint = match nearest::to(text, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("remove it; there are {}", listed(names)),
                };
                problems.add(&self.spot(at), format!("{} has no entry `{text}`", self.what), hint);
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<Placed<&'d DeValue<'d>>> {
        self.entries.get(name).map(|value| Placed { value: value.get_ref(), span: value.span() })
    }

    /// An entry of the type that `read` reads; a fault if it has another one.
    fn typed<T>(
        &self,
        name: &str,
        wanted: &str,
        problems: &mut Problems,
        read: impl Fn(&'d DeValue<'d>) -> Option<T>,
    ) -> Option<Placed<T>> {
        let Placed { value, span } = self.get(name)?;
        let read = read(value);
        if read.is_none() {
            problems.add(
                &self.spot(span.start),
                format!("`{name}` of {} is not {wanted}", self.what),
                format!("write {wanted}"),
            );
        }
        read.map(|value| Placed { value, span })
    }

    pub fn text(&self, name: &str, problems: &mut Problems) -> Option<Placed<&'d str>> {
        self.typed(name, "a \"text\"", problems, DeValue::as_str)
    }

    pub fn flag(&self, name: &str, problems: &mut Problems) -> Option<bool> {
        self.typed(name, "`true` or `false`", problems, DeValue::as_bool).map(|found| found.value)
    }

    pub fn number(&self, name: &str, problems: &mut Problems) -> Option<Placed<u32>> {
        let read = |value: &DeValue<'_>| {
            value.as_integer().and_then(|number| u32::from_str_radix(number.as_str(), number.radix()).ok())
        };
        self.typed(name, "a whole number", problems, read)
    }

    pub fn table(&self, name: &str, what: impl Into<String>, problems: &mut Problems) -> Option<SourceTable<'d>> {
        let found = self.typed(name, "a table", problems, DeValue::as_table)?;
        Some(self.inner(found.value, found.span.start, what))
    }

    /// The tables of an array.
    pub fn tables(&self, name: &str, what: &str, problems: &mut Problems) -> Option<Vec<SourceTable<'d>>> {
        let found = self.typed(name, "a list of tables", problems, |value| {
            let tables = value.as_array()?.iter().map(|one| Some((one.get_ref().as_table()?, one.span().start)));
            tables.collect::<Option<Vec<_>>>()
        })?;
        Some(found.value.into_iter().map(|(entries, at)| self.inner(entries, at, what)).collect())
    }

    pub fn texts(&self, name: &str, problems: &mut Problems) -> Option<Placed<Vec<Placed<&'d str>>>> {
        self.typed(name, "a list of texts", problems, |value| {
            let texts = value.as_array()?.iter();
            texts.map(|one| Some(Placed { value: one.get_ref().as_str()?, span: one.span() })).collect()
        })
    }

    fn inner(&self, entries: &'d DeTable<'d>, at: usize, what: impl Into<String>) -> SourceTable<'d> {
        SourceTable { document: Rc::clone(&self.document), entries, at, what: what.into() }
    }

    /// A fault, unless the entry is there.
    pub fn required<T>(&self, name: &str, found: Option<T>, example: &str, problems: &mut Problems) -> Option<T> {
        if found.is_none() && self.get(name).is_none() {
            problems.add(
                &self.spot(self.at),
                format!("{} has no `{name}`", self.what),
                format!("add `{name} = {example}`"),
            );
        }
        found
    }

    /// The entries in the order of the file, with their names.
    pub fn in_order(&self) -> Vec<(Placed<&'d str>, Placed<&'d DeValue<'d>>)> {
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .map(|(name, value)| {
                let name = Placed { value: name.get_ref().as_ref(), span: name.span() };
                (name, Placed { value: value.get_ref(), span: value.span() })
            })
            .collect();
        entries.sort_by_key(|(name, _)| name.span.start);
        entries
    }
}

/// Names in a sentence.
pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
