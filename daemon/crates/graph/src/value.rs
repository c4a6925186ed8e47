//! The values of a flow's state: their types, how a text becomes one, and how a new one joins an old one. Pure.

use std::{collections::BTreeMap, fmt};

use serde_json::json;

/// A value of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum StateValue {
    /// Text of any length.
    Text(String),
    /// A finite number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Texts in their order.
    List(Vec<String>),
    /// Texts by name.
    Map(BTreeMap<String, String>),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// [`StateValue::Text`].
    Text,
    /// [`StateValue::Number`].
    Number,
    /// [`StateValue::Flag`].
    Flag,
    /// [`StateValue::List`].
    List,
    /// [`StateValue::Map`].
    Map,
}

/// How a new value joins the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducer {
    /// The new value stands alone.
    Replace,
    /// The new text is one more item of a list, or further lines of a text.
    Append,
    /// The sum of two numbers.
    Sum,
    /// The larger of two numbers.
    Max,
    /// The entries of both maps; the new ones win.
    Merge,
}

/// The types with their words in a definition.
pub const TYPES: [(&str, ValueType); 5] = [
    ("text", ValueType::Text),
    ("number", ValueType::Number),
    ("flag", ValueType::Flag),
    ("list", ValueType::List),
    ("map", ValueType::Map),
];

/// The reducers with their words in a definition.
pub const REDUCERS: [(&str, Reducer); 5] = [
    ("replace", Reducer::Replace),
    ("append", Reducer::Append),
    ("sum", Reducer::Sum),
    ("max", Reducer::Max),
    ("merge", Reducer::Merge),
];

/// A text is no value of the type. A phrase that ends a sentence about the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// Of a number.
    #[error("is not a number")]
    Number,
    /// Of a flag.
    #[error("is neither yes or true nor no or false")]
    Flag,
    /// Of a map.
    #[error("is not lines of `name: text`")]
    Map,
}

impl ValueType {
    /// Its word in a definition.
    #[must_use]
    pub fn word(self) -> &'static str {
        TYPES.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// The value of a key that was given none.
    #[must_use]
    pub fn empty(self) -> StateValue {
        match self {
            Self::Text => StateValue::Text(String::new()),
            Self::Number => StateValue::Number(0.0),
            Self::Flag => StateValue::Flag(false),
            Self::List => StateValue::List(Vec::new()),
            Self::Map => StateValue::Map(BTreeMap::new()),
        }
    }

    /// Reads a text as a value of this type: a list has an item for each line that is not blank, a map a line `name: text` for each entry.
    ///
    /// ```
    /// use cohab_graph::value::{StateValue, ValueType};
    ///
    /// assert_eq!(ValueType::Number.read(" 3 \n"), Ok(StateValue::Number(3.0)));
    /// assert_eq!(ValueType::List.read("a\n\nb"), Ok(StateValue::List(vec!["a".into(), "b".into()])));
    /// ```
    ///
    /// # Errors
    /// The text is no such value.
    pub fn read(self, text: &str) -> Result<StateValue, Misfit> {
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        match self {
            Self::Text => Ok(StateValue::Text(text.to_owned())),
            Self::Number => {
                let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
                number.map(StateValue::Number).ok_or(Misfit::Number)
            }
            Self::Flag => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" => Ok(StateValue::Flag(true)),
                "false" | "no" => Ok(StateValue::Flag(false)),
                _ => Err(Misfit::Flag),
            },
            Self::List => Ok(StateValue::List(lines().map(str::to_owned).collect())),
            Self::Map => {
                let entry = |line: &str| {
                    let (name, text) = line.split_once(':').ok_or(Misfit::Map)?;
                    Ok((name.trim().to_owned(), text.trim().to_owned()))
                };
                lines().map(entry).collect::<Result<_, _>>().map(StateValue::Map)
            }
        }
    }
}

impl Reducer {
    /// Whether it joins values of this type.
    #[must_use]
    pub fn fits(self, kind: ValueType) -> bool {
        match self {
            Self::Replace => true,
            Self::Append => matches!(kind, ValueType::Text | ValueType::List),
            Self::Sum | Self::Max => kind == ValueType::Number,
            Self::Merge => kind == ValueType::Map,
        }
    }

    /// Joins a text with `old`, in place. `old` stays as it is if the text does not fit.
    ///
    /// # Errors
    /// The text is no value of the type.
    pub fn join(self, old: &mut StateValue, text: &str) -> Result<(), Misfit> {
        match (self, &mut *old) {
            (Self::Append, StateValue::List(items)) => items.push(text.to_owned()),
            (Self::Append, StateValue::Text(lines)) => {
                if !lines.is_empty() && !lines.ends_with('\n') {
                    lines.push('\n');
                }
                lines.push_str(text);
            }
            (Self::Sum, StateValue::Number(sum)) => {
                // A sum beyond all numbers would be no number.
                *sum = (*sum + number(text)?).clamp(f64::MIN, f64::MAX);
            }
            (Self::Max, StateValue::Number(most)) => *most = most.max(number(text)?),
            (Self::Merge, StateValue::Map(entries)) => {
                if let StateValue::Map(new) = ValueType::Map.read(text)? {
                    entries.extend(new);
                }
            }
            // What does not fit its type was refused with the definition.
            (Self::Replace | Self::Append | Self::Sum | Self::Max | Self::Merge, _) => *old = old.kind().read(text)?,
        }
        Ok(())
    }
}

fn number(text: &str) -> Result<f64, Misfit> {
    match ValueType::Number.read(text)? {
        StateValue::Number(number) => Ok(number),
        StateValue::Text(_) | StateValue::Flag(_) | StateValue::List(_) | StateValue::Map(_) => Err(Misfit::Number),
    }
}

impl StateValue {
    /// Its type.
    #[must_use]
    pub fn kind(&self) -> ValueType {
        match self {
            Self::Text(_) => ValueType::Text,
            Self::Number(_) => ValueType::Number,
            Self::Flag(_) => ValueType::Flag,
            Self::List(_) => ValueType::List,
            Self::Map(_) => ValueType::Map,
        }
    }

    /// Its size in the state, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Number(_) | Self::Flag(_) => size_of::<f64>(),
            Self::List(items) => items.iter().map(|item| item.len() + 1).sum(),
            Self::Map(entries) => entries.iter().map(|(name, text)| name.len() + text.len() + 2).sum(),
        }
    }

    /// Whether a text, a list or a map has nothing in it. A text of blanks is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
            Self::Number(_) | Self::Flag(_) => false,
        }
    }

    /// The value as an argument of a tool.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => json!(text),
            #[expect(clippy::cast_possible_truncation, reason = "checked: it is a whole number in the range")]
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => json!(*number as i64),
            Self::Number(number) => json!(number),
            Self::Flag(flag) => json!(flag),
            Self::List(items) => json!(items),
            Self::Map(entries) => json!(entries),
        }
    }
}

/// The value in a text: the items of a list and the entries of a map are lines.
impl fmt::Display for StateValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::List(items) => f.write_str(&items.join("\n")),
            Self::Map(entries) => {
                let lines: Vec<String> = entries.iter().map(|(name, text)| format!("{name}: {text}")).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(reducer: Reducer, kind: ValueType, texts: &[&str]) -> Result<StateValue, Misfit> {
        let mut value = kind.empty();
        texts.iter().try_for_each(|text| reducer.join(&mut value, text))?;
        Ok(value)
    }

    #[test]
    fn each_reducer_joins_texts_in_its_way() {
        let list = |items: &[&str]| StateValue::List(items.iter().map(|item| (*item).to_owned()).collect());
        for (reducer, kind, texts, expected) in [
            (Reducer::Replace, ValueType::Text, ["a", "b"], StateValue::Text("b".into())),
            (Reducer::Replace, ValueType::List, ["a", "b\n\n c "], list(&["b", "c"])),
            (Reducer::Replace, ValueType::Flag, ["no", "YES"], StateValue::Flag(true)),
            (Reducer::Append, ValueType::Text, ["a", "b\n"], StateValue::Text("a\nb\n".into())),
            (Reducer::Append, ValueType::List, ["a\nb", "c"], list(&["a\nb", "c"])),
            (Reducer::Sum, ValueType::Number, ["2", "-0.5"], StateValue::Number(1.5)),
            (Reducer::Max, ValueType::Number, ["2", "1"], StateValue::Number(2.0)),
            (
                Reducer::Merge,
                ValueType::Map,
                ["a: 1\nb: 2", "b: 3"],
                StateValue::Map([("a".into(), "1".into()), ("b".into(), "3".into())].into()),
            ),
        ] {
            assert!(reducer.fits(kind));
            assert_eq!(joined(reducer, kind, &texts), Ok(expected), "{reducer:?}");
        }
    }

    #[test]
    fn a_text_that_does_not_fit_leaves_the_value() {
        for (reducer, kind, text, misfit) in [
            (Reducer::Replace, ValueType::Number, "seven", Misfit::Number),
            (Reducer::Sum, ValueType::Number, "inf", Misfit::Number),
            (Reducer::Replace, ValueType::Flag, "maybe", Misfit::Flag),
            (Reducer::Merge, ValueType::Map, "a: 1\nb", Misfit::Map),
        ] {
            let mut value = kind.empty();
            assert_eq!(reducer.join(&mut value, text), Err(misfit));
            assert_eq!(value, kind.empty());
        }
    }

    #[test]
    fn reducers_fit_the_types_that_they_can_join() {
        let fitting = |kind| REDUCERS.iter().filter(|(_, r)| r.fits(kind)).map(|(word, _)| *word).collect::<Vec<_>>();
        assert_eq!(fitting(ValueType::Text), ["replace", "append"]);
        assert_eq!(fitting(ValueType::Number), ["replace", "sum", "max"]);
        assert_eq!(fitting(ValueType::Flag), ["replace"]);
        assert_eq!(fitting(ValueType::List), ["replace", "append"]);
        assert_eq!(fitting(ValueType::Map), ["replace", "merge"]);
    }

    proptest! {
        #[test]
        fn a_number_stays_finite(texts in prop::collection::vec("-?[0-9]{1,3}(e[0-9]{1,3})?", 1..8)) {
            let mut value = ValueType::Number.empty();
            for text in texts {
                let _ = Reducer::Sum.join(&mut value, &text);
            }
            prop_assert!(matches!(value, StateValue::Number(number) if number.is_finite()));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(?s).{0,80}") {
            for (_, kind) in TYPES {
                if let Ok(value) = kind.read(&text) {
                    prop_assert_eq!(value.kind(), kind);
                }
            }
        }
    }
}
