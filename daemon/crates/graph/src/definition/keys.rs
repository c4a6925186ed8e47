//! Reads the table `[state]`. Pure.

use toml::de::DeValue;

use super::{
    problem::Problems,
    table::{Placed, SourceTable, listed},
};
use crate::{
    state::StateKey,
    template::{NAME_MAX_BYTES, is_name},
    value::{REDUCERS, Reducer, StateValue, TYPES, ValueType},
};

/// Words of conditions, which can be no keys.
const RESERVED: [&str; 7] = ["and", "or", "not", "true", "false", "contains", "is_empty"];

/// The keys in the order of the file. `prefix` goes in front of their names.
pub(super) fn read(state: &SourceTable<'_>, prefix: &str, problems: &mut Problems) -> Vec<(String, StateKey)> {
    let mut keys = Vec::new();
    for (name, value) in state.in_order() {
        if !is_name(name.value) || RESERVED.contains(&name.value) {
            let spot = state.spot(name.span.start);
            problems.add(&spot, format!("`{}` cannot be the name of a key", name.value), name_hint());
            continue;
        }
        if let Some((reducer, initial)) = key(state, &name, &value, problems) {
            keys.push((name.value.to_owned(), StateKey { name: format!("{prefix}{}", name.value), reducer, initial }));
        }
    }
    keys
}

/// What a name may be.
pub(super) fn name_hint() -> String {
    format!("use at most {NAME_MAX_BYTES} letters, digits, `_` and `-`, a letter first, and no word of conditions")
}

/// Either `key = "type"` or a table with the type, the reducer and the first value.
fn key(
    state: &SourceTable<'_>,
    name: &Placed<&str>,
    value: &Placed<&DeValue<'_>>,
    problems: &mut Problems,
) -> Option<(Reducer, StateValue)> {
    let what = format!("key `{}`", name.value);
    match value.value {
        DeValue::String(word) => {
            let found = Placed { value: word.as_ref(), span: value.span.clone() };
            Some((Reducer::Replace, kind(state, &found, problems)?.empty()))
        }
        DeValue::Table(entries) => {
            let at = name.span.start;
            let table = SourceTable { document: state.document.clone(), entries, at, what };
            table.only(&["type", "reducer", "value"], problems);
            let word = table.text("type", problems);
            let kind = kind(state, &table.required("type", word, "\"text\"", problems)?, problems)?;
            let reducer = match table.text("reducer", problems) {
                Some(word) => reducer(&table, &word, kind, problems)?,
                None => Reducer::Replace,
            };
            let initial = match table.get("value") {
                Some(value) => first_value(&table, &value, kind, problems)?,
                None => kind.empty(),
            };
            Some((reducer, initial))
        }
        _ => {
            let hint = format!("write `{} = \"text\"`, or a table with `type`", name.value);
            problems.add(&state.spot(value.span.start), format!("{what} has no type"), hint);
            None
        }
    }
}

fn kind(state: &SourceTable<'_>, word: &Placed<&str>, problems: &mut Problems) -> Option<ValueType> {
    let kind = TYPES.iter().find(|(known, _)| *known == word.value).map(|(_, kind)| *kind);
    if kind.is_none() {
        let hint = format!("the types are {}", listed(&TYPES.map(|(word, _)| word)));
        problems.add(&state.spot(word.span.start), format!("there is no type `{}`", word.value), hint);
    }
    kind
}

fn reducer(table: &SourceTable<'_>, word: &Placed<&str>, kind: ValueType, problems: &mut Problems) -> Option<Reducer> {
    let known = REDUCERS.iter().find(|(known, _)| *known == word.value).map(|(_, reducer)| *reducer);
    if let Some(reducer) = known.filter(|reducer| reducer.fits(kind)) {
        return Some(reducer);
    }
    let fitting: Vec<&str> = REDUCERS.iter().filter(|(_, one)| one.fits(kind)).map(|(word, _)| *word).collect();
    let message = match known {
        Some(_) => format!("`{}` does not join values of the type `{}`", word.value, kind.word()),
        None => format!("there is no reducer `{}`", word.value),
    };
    problems.add(&table.spot(word.span.start), message, format!("use one of {}", listed(&fitting)));
    None
}

fn first_value(
    table: &SourceTable<'_>,
    value: &Placed<&DeValue<'_>>,
    kind: ValueType,
    problems: &mut Problems,
) -> Option<StateValue> {
    let text = |value: &DeValue<'_>| value.as_str().map(str::to_owned);
    let read = match (kind, value.value) {
        (ValueType::Text, value) => text(value).map(StateValue::Text),
        (ValueType::Number, DeValue::Integer(number)) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(whole)
        }
        (ValueType::Number, DeValue::Float(number)) => {
            number.as_str().parse().ok().filter(|number: &f64| number.is_finite()).map(StateValue::Number)
        }
        (ValueType::Flag, value) => value.as_bool().map(StateValue::Flag),
        (ValueType::List, DeValue::Array(items)) => {
            items.iter().map(|item| text(item.get_ref())).collect::<Option<_>>().map(StateValue::List)
        }
        (ValueType::Map, DeValue::Table(entries)) => {
            let entries =
                entries.iter().map(|(name, value)| Some((name.get_ref().to_string(), text(value.get_ref())?)));
            entries.collect::<Option<_>>().map(StateValue::Map)
        }
        _ => None,
    };
    if read.is_none() {
        let message = format!("the value of {} is not of the type `{}`", table.what, kind.word());
        problems.add(&table.spot(value.span.start), message, "change the value or the type");
    }
    read
}

#[expect(clippy::cast_precision_loss, reason = "numbers of the state are floating")]
fn whole(number: i64) -> StateValue {
    StateValue::Number(number as f64)
}
