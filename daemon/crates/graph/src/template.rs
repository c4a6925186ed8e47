//! Templates: texts with `{{key}}` in them, which stand for values of the state. Pure.

use cohab_text::cut::head;

use crate::{
    state::{FlowState, KeyId},
    value::StateValue,
};

/// Longest name of a key, of a node and of a flow, in bytes.
pub const NAME_MAX_BYTES: usize = 64;
/// A name in braces with blanks around it is not longer, in bytes.
const REFERENCE_MAX_BYTES: usize = 128;

/// A text with values of the state in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Words(String),
    Key(KeyId),
}

/// A name in `{{…}}` that is no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// The name.
    pub name: String,
    /// Its place in the text, in bytes.
    pub at: usize,
}

impl Template {
    /// Reads a text. `{{name}}`, with blanks or without, stands for a value; other braces are text.
    ///
    /// # Errors
    /// `key` does not know a name.
    pub fn read(text: &str, key: impl Fn(&str) -> Option<KeyId>) -> Result<Self, UnknownKey> {
        let (mut parts, mut words_from) = (Vec::new(), 0);
        for (at, end, name) in references(text) {
            let key = key(name).ok_or_else(|| UnknownKey { name: name.to_owned(), at })?;
            if words_from < at {
                parts.push(TemplatePart::Words(text[words_from..at].to_owned()));
            }
            parts.push(TemplatePart::Key(key));
            words_from = end;
        }
        if words_from < text.len() {
            parts.push(TemplatePart::Words(text[words_from..].to_owned()));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The text as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with the values of `state`.
    #[must_use]
    pub fn filled(&self, state: &FlowState) -> String {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Words(words) => words.clone(),
            TemplatePart::Key(key) => state.get(*key).to_string(),
        };
        self.parts.iter().map(part).collect()
    }

    /// The value, typed if the template is one key and nothing else.
    #[must_use]
    pub fn value(&self, state: &FlowState) -> StateValue {
        match self.parts.as_slice() {
            [TemplatePart::Key(key)] => state.get(*key).clone(),
            _ => StateValue::Text(self.filled(state)),
        }
    }

    /// Whether it has values of the state in it.
    #[must_use]
    pub fn has_values(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, TemplatePart::Key(_)))
    }
}

/// The references in a text: begin and end with their braces, and the name.
pub fn references(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text[from..].find("{{")?;
            let inside = at + 2;
            from = at + 1;
            let Some(length) = head(&text[inside..], REFERENCE_MAX_BYTES).find("}}") else { continue };
            let name = text[inside..inside + length].trim();
            if is_name(name) {
                from = inside + length + 2;
                return Some((at, from, name));
            }
        }
    })
}

/// Whether a text is the name of a key or a node: letters, digits, `_` and `-`, not first a digit or `-`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.len() <= NAME_MAX_BYTES
        && text.starts_with(is_start)
        && text.chars().all(|c| is_start(c) || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        state::StateKey,
        value::{Reducer, ValueType},
    };

    fn filled(text: &str) -> Result<String, UnknownKey> {
        let names = ["a", "n"];
        let initial = [StateValue::Text("A b".into()), StateValue::Number(2.0)];
        let keys: Vec<StateKey> = names
            .iter()
            .zip(initial)
            .map(|(name, initial)| StateKey { name: (*name).into(), reducer: Reducer::Replace, initial })
            .collect();
        let key = |name: &str| names.iter().position(|one| *one == name).map(KeyId);
        Ok(Template::read(text, key)?.filled(&FlowState::new(&keys)))
    }

    #[test]
    fn names_in_braces_are_values_and_other_braces_are_text() {
        for (text, expected) in [
            ("", ""),
            ("{{a}}", "A b"),
            ("x {{ a }}-{{n}}.", "x A b-2."),
            ("{{.Names}} {{ }} {{a", "{{.Names}} {{ }} {{a"),
            ("{{{a}}}", "{A b}"),
            ("{{ {{n}}", "{{ 2"),
            ("é{{n}}é", "é2é"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(filled("x {{nope}}"), Err(UnknownKey { name: "nope".into(), at: 2 }));
    }

    #[test]
    fn one_key_alone_keeps_its_type() {
        let keys = [StateKey { name: "l".into(), reducer: Reducer::Append, initial: ValueType::List.empty() }];
        let state = FlowState::new(&keys);
        let read = |text: &str| Template::read(text, |_| Some(KeyId(0))).expect("a template");
        assert_eq!(read("{{l}}").value(&state), ValueType::List.empty());
        assert_eq!(read("{{l}}.").value(&state), StateValue::Text(".".into()));
        assert!(read("{{l}}").has_values() && !read("l").has_values());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s)[{}a n.é]{0,40}") {
            let _ = filled(&text);
        }
    }
}
