//! Joins the arguments of a call from pieces, each with its place.

use cohab_model_api::BrokenArguments;
use serde_json::{Map, Value, json};

use crate::tool_arguments;

/// Deepest place, in steps.
const MAX_STEPS: usize = 64;

/// Arguments under construction.
#[derive(Debug, Default)]
pub(super) struct PartialArguments {
    root: Map<String, Value>,
    /// The place of the last piece, if the piece announced more text.
    open_path: Option<Vec<PathStep>>,
    /// The error of the pieces, for the model, with the part of them that is kept.
    broken: Option<BrokenArguments>,
    /// Length of the pieces.
    bytes: usize,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Index(usize),
}

impl PartialArguments {
    /// Takes whole arguments that arrive with or before the pieces.
    pub(super) fn start_with(&mut self, args: &Map<String, Value>) {
        self.root.extend(args.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Takes one element of `partialArgs`. The first invalid one makes the call invalid.
    pub(super) fn push(&mut self, piece: &Value) {
        if self.broken.is_some() {
            return;
        }
        self.bytes += piece.get("stringValue").and_then(Value::as_str).map_or(0, str::len);
        self.broken = match self.bytes {
            bytes if bytes > tool_arguments::MAX_BYTES => {
                Some(tool_arguments::too_long(tool_arguments::start_of(&self.root)))
            }
            _ => self.place(piece).err().map(|error| BrokenArguments { raw: String::new(), error }),
        };
        if self.broken.is_some() {
            self.root = Map::new();
        }
    }

    /// Returns the whole arguments.
    ///
    /// # Errors
    /// The error of the pieces, for the model.
    pub(super) fn finish(self) -> Result<Map<String, Value>, BrokenArguments> {
        self.broken.map_or(Ok(self.root), Err)
    }

    fn place(&mut self, piece: &Value) -> Result<(), String> {
        let path = piece.get("jsonPath").and_then(Value::as_str).unwrap_or_default();
        let steps = steps(path).ok_or_else(|| format!("a piece of the arguments has no place: {path:?}"))?;
        let value = match piece {
            _ if piece.get("nullValue").is_some() => Value::Null,
            _ => ["stringValue", "numberValue", "boolValue"]
                .iter()
                .find_map(|kind| piece.get(*kind))
                .map_or_else(|| json!(""), |value| whole_numbers(value.clone())),
        };
        let continues = self.open_path.as_ref() == Some(&steps);
        let slot = slot(&mut self.root, &steps).ok_or_else(|| format!("the arguments cannot have a place {path:?}"))?;
        match (&mut *slot, &value) {
            (Value::String(text), Value::String(more)) if continues => text.push_str(more),
            (Value::Null, _) => *slot = value,
            _ => return Err(format!("the argument at {path:?} came twice")),
        }
        let is_open = piece.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        self.open_path = is_open.then_some(steps);
        Ok(())
    }
}

/// Splits `$.a['b c'][0]` into steps; `None` for anything that does not name exactly one place below the root.
fn steps(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step = if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            rest = &after[end..];
            Some(&after[..end])
                .filter(|name| !name.is_empty() && *name != "*")
                .map(|name| PathStep::Key(name.to_owned()))
        } else {
            let after = rest.strip_prefix('[')?;
            let quote = after.chars().next().filter(|first| matches!(first, '\'' | '"'));
            let (step, tail) = match quote {
                Some(quote) => quoted(&after[1..], quote)?,
                None => {
                    let (number, tail) = after.split_once(']')?;
                    (PathStep::Index(number.parse().ok()?), tail)
                }
            };
            rest = tail;
            Some(step)
        };
        steps.push(step?);
        if steps.len() > MAX_STEPS {
            return None;
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// A name up to its closing quote and bracket, and the rest.
fn quoted(text: &str, quote: char) -> Option<(PathStep, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.push(chars.next()?.1),
            _ if c == quote => return Some((PathStep::Key(name), text[at + 1..].strip_prefix(']')?)),
            _ => name.push(c),
        }
    }
    None
}

/// The value at `steps`, created as `null` if it is missing. Lists grow by one only.
fn slot<'a>(root: &'a mut Map<String, Value>, steps: &[PathStep]) -> Option<&'a mut Value> {
    let (PathStep::Key(first), rest) = steps.split_first()? else { return None };
    let mut place = root.entry(first.clone()).or_insert(Value::Null);
    for step in rest {
        if place.is_null() {
            *place = if matches!(step, PathStep::Key(_)) { json!({}) } else { json!([]) };
        }
        place = match (step, place) {
            (PathStep::Key(name), Value::Object(object)) => object.entry(name.clone()).or_insert(Value::Null),
            (PathStep::Index(index), Value::Array(list)) if *index <= list.len() => {
                if *index == list.len() {
                    list.push(Value::Null);
                }
                list.get_mut(*index)?
            }
            _ => return None,
        };
    }
    Some(place)
}

/// Converts whole floats to integers: the service has only one kind of number, and some gateways write 50 as 50.0.
pub(super) fn whole_numbers(value: Value) -> Value {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range of both types")]
            Some(float) if float.fract() == 0.0 && float.abs() <= MAX_EXACT => json!(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(object) => object.into_iter().map(|(name, value)| (name, whole_numbers(value))).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assembled(pieces: &[Value]) -> Result<Value, String> {
        let mut args = PartialArguments::default();
        pieces.iter().for_each(|piece| args.push(piece));
        args.finish().map(Value::Object).map_err(|broken| broken.error)
    }

    #[test]
    fn pieces_are_put_where_they_belong() {
        let args = assembled(&[
            json!({"jsonPath": "$.command", "stringValue": "echo ", "willContinue": true}),
            json!({"jsonPath": "$.command", "stringValue": "h\u{e9}", "willContinue": true}),
            json!({"jsonPath": "$.command", "stringValue": ""}),
            json!({"jsonPath": "$.env[0].name", "stringValue": "A"}),
            json!({"jsonPath": "$.env[0].on", "boolValue": true}),
            json!({"jsonPath": "$.env[1]['the \\'name']", "nullValue": "NULL_VALUE"}),
            json!({"jsonPath": "$[\"limits\"][0][0]", "numberValue": 50.0}),
            json!({"jsonPath": "$.limits[0][1]", "numberValue": 1.5}),
        ]);
        assert_eq!(
            args,
            Ok(json!({
                "command": "echo h\u{e9}",
                "env": [{"name": "A", "on": true}, {"the 'name": null}],
                "limits": [[50, 1.5]],
            }))
        );
    }

    #[test]
    fn pieces_without_a_place_of_their_own_spoil_the_call() {
        for pieces in [
            vec![json!({"stringValue": "x"})],
            vec![json!({"jsonPath": "$", "stringValue": "x"})],
            vec![json!({"jsonPath": "$.*", "stringValue": "x"})],
            vec![json!({"jsonPath": "$..a", "stringValue": "x"})],
            vec![json!({"jsonPath": "$.a[-1]", "stringValue": "x"})],
            vec![json!({"jsonPath": "$.a[1]", "stringValue": "x"})],
            vec![json!({"jsonPath": "$.a[99999999999999]", "stringValue": "x"})],
            vec![json!({"jsonPath": "$['a", "stringValue": "x"})],
            vec![json!({"jsonPath": "$[0]", "stringValue": "x"})],
            vec![json!({"jsonPath": format!("${}", ".a".repeat(100)), "stringValue": "x"})],
            // Two pieces at one place, the first without an announcement of more.
            vec![json!({"jsonPath": "$.a", "stringValue": "x"}), json!({"jsonPath": "$.a", "stringValue": "y"})],
            vec![json!({"jsonPath": "$.a", "stringValue": "x"}), json!({"jsonPath": "$.a.b", "stringValue": "y"})],
        ] {
            assert!(assembled(&pieces).is_err(), "{pieces:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_in_any_pieces_is_assembled_whole(pieces in proptest::collection::vec(".{0,8}", 1..8)) {
            let last = pieces.len() - 1;
            let parts: Vec<Value> = pieces.iter().enumerate()
                .map(|(at, piece)| json!({"jsonPath": "$.a[0].b", "stringValue": piece, "willContinue": at < last}))
                .collect();
            prop_assert_eq!(assembled(&parts), Ok(json!({"a": [{"b": pieces.concat()}]})));
        }

        #[test]
        fn any_path_is_placed_or_refused(path in "\\$?[.\\[\\]'\"a0\\\\*]{0,12}") {
            let _ = assembled(&[json!({"jsonPath": path, "stringValue": "x"})]);
        }
    }
}
