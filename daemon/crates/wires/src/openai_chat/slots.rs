//! Joins the fragments of streamed tool calls. Services differ in the identification of a fragment: an index, an id, both or neither, and
//! sometimes a wrong one.

use serde_json::Value;

use crate::{tool_arguments::RawArguments, wire::MAX_CALLS};

/// A call under construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    index: Option<u64>,
    /// First nonempty id.
    pub(super) id: String,
    /// First nonempty name.
    pub(super) name: String,
    /// Joined arguments.
    pub(super) args: RawArguments,
}

/// All calls of an answer, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Slots(Vec<Slot>);

/// More than [`MAX_CALLS`] calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyCalls;

impl Slots {
    /// Takes one element of `tool_calls`. Returns whether it carried anything.
    pub(super) fn push(&mut self, fragment: &Value) -> Result<bool, TooManyCalls> {
        let function = fragment.get("function");
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, name) = (text(fragment.get("id")), text(function.and_then(|function| function.get("name"))));
        let args = function.and_then(|function| function.get("arguments"));
        let args = args.filter(|args| args.is_object() || args.as_str().is_some_and(|piece| !piece.is_empty()));
        let index = fragment.get("index").and_then(Value::as_u64);
        let position = match index {
            Some(index) => self.by_index(index, &id, &name),
            None => self.by_identity(&id, &name),
        };
        if position.is_none() && self.0.len() == MAX_CALLS {
            return Err(TooManyCalls);
        }
        let position = position.unwrap_or_else(|| {
            self.0.push(Slot { index, ..Slot::default() });
            self.0.len() - 1
        });
        let slot = &mut self.0[position];
        let carries = args.is_some() || (slot.name.is_empty() && !name.is_empty());
        if slot.id.is_empty() {
            slot.id = id;
        }
        if slot.name.is_empty() {
            slot.name = name;
        }
        match args {
            Some(Value::String(piece)) => slot.args.push(piece),
            Some(object) => slot.args.push(&object.to_string()),
            None => {}
        }
        Ok(carries)
    }

    /// Finds a call by its index. Some servers give every call the index 0: a new id with a name on a used index is another call. An id
    /// alone is not, since other servers make a new id for each fragment.
    fn by_index(&self, index: u64, id: &str, name: &str) -> Option<usize> {
        let newest = self.0.iter().rposition(|slot| slot.index == Some(index))?;
        let slot = &self.0[newest];
        let is_another = !id.is_empty() && !name.is_empty() && !slot.id.is_empty() && slot.id != id;
        (!is_another).then_some(newest)
    }

    fn by_identity(&self, id: &str, name: &str) -> Option<usize> {
        let last = self.0.len().checked_sub(1)?;
        if !id.is_empty() {
            return self.0.iter().rposition(|slot| slot.id == id);
        }
        let slot = &self.0[last];
        let is_whole = || slot.args.text().trim_end().ends_with('}') && slot.args.parse().is_ok();
        let is_another = !name.is_empty() && (slot.name != name || is_whole());
        (!is_another).then_some(last)
    }

    /// Whether no call arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the arguments of every call parse.
    pub(super) fn all_parse(&self) -> bool {
        self.0.iter().all(|slot| slot.args.is_too_long() || slot.args.parse().is_ok())
    }

    /// The calls.
    pub(super) fn take(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn joined(fragments: &[Value]) -> Vec<(String, String, String)> {
        let mut slots = Slots::default();
        for fragment in fragments {
            slots.push(fragment).expect("few calls");
        }
        slots.take().into_iter().map(|slot| (slot.id, slot.name, slot.args.text().to_owned())).collect()
    }

    fn call(id: &str, name: &str, args: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), args.to_owned())
    }

    fn fragment(index: Value, id: &str, name: &str, args: Value) -> Value {
        let mut fragment = json!({"id": id, "function": {"name": name}});
        fragment["index"] = index;
        fragment["function"]["arguments"] = args;
        fragment
    }

    #[test]
    fn fragments_of_interleaved_calls_find_their_call() {
        let fragments = [
            fragment(json!(0), "a", "bash", json!("")),
            fragment(json!(1), "b", "read", json!("{\"p\"")),
            fragment(json!(0), "", "", json!("{\"c\":1}")),
            fragment(json!(1), "", "", json!(":2}")),
        ];
        assert_eq!(joined(&fragments), [call("a", "bash", "{\"c\":1}"), call("b", "read", "{\"p\":2}")]);
    }

    #[test]
    fn one_index_for_two_calls_makes_two() {
        let fragments = [
            fragment(json!(0), "a", "bash", json!("{")),
            fragment(json!(0), "", "", json!("}")),
            fragment(json!(0), "b", "bash", json!("{\"x\"")),
            fragment(json!(0), "", "", json!(":1}")),
        ];
        assert_eq!(joined(&fragments), [call("a", "bash", "{}"), call("b", "bash", "{\"x\":1}")]);
    }

    #[test]
    fn a_first_index_of_one_is_one_call() {
        let fragments = [fragment(json!(1), "a", "bash", json!("{")), fragment(json!(1), "", "", json!("}"))];
        assert_eq!(joined(&fragments), [call("a", "bash", "{}")]);
    }

    #[test]
    fn a_new_id_on_each_fragment_is_one_call() {
        let fragments = [fragment(json!(0), "a", "bash", json!("{")), fragment(json!(0), "b", "", json!("}"))];
        assert_eq!(joined(&fragments), [call("a", "bash", "{}")]);
    }

    #[test]
    fn repeated_ids_and_names_are_taken_once_and_null_arguments_are_nothing() {
        let fragments = [
            fragment(json!(0), "a", "bash", Value::Null),
            fragment(json!(0), "a", "bash", json!("{")),
            fragment(json!(0), "a", "", json!("}")),
            json!({"index": 0}),
        ];
        assert_eq!(joined(&fragments), [call("a", "bash", "{}")]);
    }

    #[test]
    fn without_an_index_ids_and_names_decide() {
        for index in [Value::Null, json!("0")] {
            let fragments = [
                fragment(index.clone(), "a", "bash", json!("{")),
                fragment(index.clone(), "b", "read", json!("{\"p\":")),
                fragment(index.clone(), "a", "", json!("}")),
                fragment(index.clone(), "b", "", json!("1")),
                fragment(index.clone(), "", "", json!("}")),
            ];
            assert_eq!(joined(&fragments), [call("a", "bash", "{}"), call("b", "read", "{\"p\":1}")]);
        }
    }

    #[test]
    fn whole_calls_without_id_and_index_are_separate() {
        let whole = |name: &str, args: Value| json!({"function": {"name": name, "arguments": args}});
        let fragments = [
            whole("bash", json!({"command": "a"})),
            whole("bash", json!("{\"command\":\"b\"}")),
            whole("read", json!("{}")),
        ];
        let expected =
            [call("", "bash", "{\"command\":\"a\"}"), call("", "bash", "{\"command\":\"b\"}"), call("", "read", "{}")];
        assert_eq!(joined(&fragments), expected);
    }

    #[test]
    fn the_number_of_calls_is_bounded() {
        let mut slots = Slots::default();
        for index in 0..MAX_CALLS {
            assert_eq!(slots.push(&fragment(json!(index), "", "x", json!(""))), Ok(true));
        }
        assert_eq!(slots.push(&fragment(json!(MAX_CALLS), "", "x", json!(""))), Err(TooManyCalls));
    }
}
