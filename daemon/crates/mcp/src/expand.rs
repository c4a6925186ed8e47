//! Fills variables and keys into the values of a definition: `${NAME}`, `${NAME:-otherwise}`, `${key:ACCOUNT}`. Pure.

/// What stands between the braces of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// A variable of the user's shell, and the text without one.
    Variable(&'a str, Option<&'a str>),
    /// A key of the key store.
    Key(&'a str),
}

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuePart<'a> {
    /// As it is.
    Text(&'a str),
    /// To be filled in.
    Reference(Reference<'a>),
}

/// Whether a value names a variable or a key.
pub(crate) fn has_reference(value: &str) -> bool {
    parts(value).iter().any(|part| matches!(part, ValuePart::Reference(_)))
}

/// Whether a value names a key of the key store.
pub(crate) fn has_key(value: &str) -> bool {
    parts(value).iter().any(|part| matches!(part, ValuePart::Reference(Reference::Key(_))))
}

/// The parts of a value. What is no reference stays as it is.
pub(crate) fn parts(value: &str) -> Vec<ValuePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let Some(reference) = reference(inside) else {
            let taken = before.len() + 2;
            parts.push(ValuePart::Text(&rest[..taken]));
            rest = &rest[taken..];
            continue;
        };
        parts.extend((!before.is_empty()).then_some(ValuePart::Text(before)));
        parts.push(ValuePart::Reference(reference));
        rest = behind;
    }
    parts.extend((!rest.is_empty()).then_some(ValuePart::Text(rest)));
    parts
}

fn reference(inside: &str) -> Option<Reference<'_>> {
    if let Some(account) = inside.strip_prefix("key:") {
        return (!account.is_empty()).then_some(Reference::Key(account));
    }
    let (name, otherwise) = match inside.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (inside, None),
    };
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(Reference::Variable(name, otherwise))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_and_the_rest_stays() {
        use ValuePart::{Reference as Ref, Text};
        for (value, expected) in [
            ("", vec![]),
            ("plain", vec![Text("plain")]),
            ("Bearer ${TOKEN}", vec![Text("Bearer "), Ref(Reference::Variable("TOKEN", None))]),
            ("${A:-b c}d", vec![Ref(Reference::Variable("A", Some("b c"))), Text("d")]),
            ("${key:docs}", vec![Ref(Reference::Key("docs"))]),
            ("${A", vec![Text("${A")]),
            ("${a b}", vec![Text("${"), Text("a b}")]),
            ("${}${B}", vec![Text("${"), Text("}"), Ref(Reference::Variable("B", None))]),
        ] {
            assert_eq!(parts(value), expected, "{value}");
        }
    }
}
