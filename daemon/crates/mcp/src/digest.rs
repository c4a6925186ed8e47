//! Digests of definitions: the same definition has the same digest. Pure.

use ring::digest::{SHA256, digest};
use serde_json::Value;

/// The SHA-256 of a JSON value, as hexadecimal digits. The order of keys counts for nothing.
pub(crate) fn of(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    of_bytes(text.as_bytes())
}

/// The SHA-256 of bytes, as hexadecimal digits.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_unstable();
            text.push('{');
            for key in keys {
                *text += &Value::String(key.clone()).to_string();
                text.push(':');
                write_sorted(&object[key], text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write_sorted(value, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => *text += &value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_content_counts() {
        let one: Value = serde_json::from_str(r#"{"a": [1, {"c": "x", "b": null}]}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{"a": [1, {"b": null, "c": "x"}]}"#).unwrap();
        assert_eq!((of(&one), of(&one).len()), (of(&other), 64));
        for changed in [json!({"a": [1, {"b": null, "c": "y"}]}), json!({"a": [{"b": null, "c": "x"}, 1]}), json!({})] {
            assert_ne!(of(&one), of(&changed), "{changed}");
        }
    }
}
