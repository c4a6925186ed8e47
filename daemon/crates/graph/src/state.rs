//! The state of a run: the value of each declared key. Pure.

use crate::value::{Misfit, Reducer, StateValue, ValueType};

/// Most bytes of all values together.
pub const STATE_MAX_BYTES: usize = 1024 * 1024;

/// A key, by its place in [`Flow::keys`](crate::flow::Flow::keys).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(pub usize);

/// A declared key.
#[derive(Clone, Debug, PartialEq)]
pub struct StateKey {
    /// Its name; one of a subgraph has the names of the nodes around it in front, as in `review/verdict`.
    pub name: String,
    /// How new values join it.
    pub reducer: Reducer,
    /// Its first value, which has its type.
    pub initial: StateValue,
}

impl StateKey {
    /// The type of its values.
    #[must_use]
    pub fn kind(&self) -> ValueType {
        self.initial.kind()
    }
}

/// The values of all keys, with their size.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowState {
    values: Vec<StateValue>,
    bytes: usize,
}

/// Why a value was not taken. A sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// It has another type.
    #[error("the value for `{key}` {misfit}")]
    Misfit {
        /// The key.
        key: String,
        /// What is wrong.
        misfit: Misfit,
    },
    /// The state would be too large.
    #[error("the state would be larger than {STATE_MAX_BYTES} bytes with the value for `{key}`")]
    Full {
        /// The key.
        key: String,
    },
}

impl FlowState {
    /// The first state.
    #[must_use]
    pub fn new(keys: &[StateKey]) -> Self {
        let values: Vec<StateValue> = keys.iter().map(|key| key.initial.clone()).collect();
        let bytes = values.iter().map(StateValue::bytes).sum();
        Self { values, bytes }
    }

    /// The value of a key.
    ///
    /// # Panics
    /// The key is of another flow.
    #[must_use]
    pub fn get(&self, key: KeyId) -> &StateValue {
        &self.values[key.0]
    }

    /// Gives a key its first value again.
    pub fn reset(&mut self, keys: &[StateKey], key: KeyId) {
        let old = std::mem::replace(&mut self.values[key.0], keys[key.0].initial.clone());
        self.bytes = self.bytes - old.bytes() + self.values[key.0].bytes();
    }

    /// Joins a text with the value of a key.
    ///
    /// # Errors
    /// The text does not fit, or the state would be too large; it stays as it is.
    pub fn write(&mut self, keys: &[StateKey], key: KeyId, text: &str) -> Result<(), NotTaken> {
        let (spec, value) = (&keys[key.0], &mut self.values[key.0]);
        let rest = self.bytes - value.bytes();
        // Joined text has at most one more character; checked before it is copied.
        let most = if spec.reducer == Reducer::Replace { text.len() } else { value.bytes() + text.len() };
        if rest + most > STATE_MAX_BYTES && !matches!(spec.kind(), ValueType::Number | ValueType::Flag) {
            return Err(NotTaken::Full { key: spec.name.clone() });
        }
        let joined = spec.reducer.join(value, text);
        joined.map_err(|misfit| NotTaken::Misfit { key: spec.name.clone(), misfit })?;
        self.bytes = rest + value.bytes();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<StateKey> {
        [("text", Reducer::Replace, ValueType::Text), ("all", Reducer::Append, ValueType::List)]
            .map(|(name, reducer, kind)| StateKey { name: name.into(), reducer, initial: kind.empty() })
            .into()
    }

    #[test]
    fn a_state_has_a_largest_size() {
        let keys = keys();
        let mut state = FlowState::new(&keys);
        let half = "x".repeat(STATE_MAX_BYTES / 2);
        for _ in 0..3 {
            state.write(&keys, KeyId(0), &half).expect("it replaces the value");
        }
        state.write(&keys, KeyId(1), &half[100..]).expect("there is room");
        let before = state.clone();
        let error = state.write(&keys, KeyId(1), &half).expect_err("full");
        assert_eq!(error, NotTaken::Full { key: "all".into() });
        assert_eq!(state, before);
        state.reset(&keys, KeyId(1));
        state.write(&keys, KeyId(1), &half[100..]).expect("there is room again");
    }
}
