//! Converts JSON schemas to the subset of OpenAPI that every version of the service accepts. Newer versions also accept plain JSON schema,
//! in a field that older versions and gateways refuse.

use serde_json::{Map, Value, json};

/// Keywords that the service knows, in addition to `properties` and the keywords that hold schemas. It refuses all others.
const KEYWORDS: &[&str] = &[
    "type",
    "title",
    "description",
    "nullable",
    "required",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
];
/// Deepest nesting of schemas; deeper schemas become "anything".
const MAX_DEPTH: usize = 32;

/// Converts the schema of a tool's arguments; `None` without arguments, since the service refuses an object without properties.
pub(super) fn parameters(schema: &Value) -> Option<Value> {
    let schema = cleaned(schema, MAX_DEPTH);
    schema.get("properties").is_some().then_some(schema)
}

fn cleaned(schema: &Value, depth: usize) -> Value {
    let (Some(schema), true) = (schema.as_object(), depth > 0) else { return json!({}) };
    let mut clean = Map::new();
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("type", Value::Array(types)) => {
                let only = types.iter().find(|name| *name != "null");
                clean.extend(only.map(|name| ("type".to_owned(), name.clone())));
                if types.iter().any(|name| name == "null") {
                    clean.insert("nullable".to_owned(), json!(true));
                }
            }
            ("properties", Value::Object(properties)) if !properties.is_empty() => {
                let properties: Map<String, Value> =
                    properties.iter().map(|(name, schema)| (name.clone(), cleaned(schema, depth - 1))).collect();
                clean.insert(keyword.clone(), Value::Object(properties));
            }
            ("items", Value::Object(_)) => {
                clean.insert(keyword.clone(), cleaned(value, depth - 1));
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) => {
                clean.insert("anyOf".to_owned(), schemas.iter().map(|schema| cleaned(schema, depth - 1)).collect());
            }
            // Only strings can be listed.
            ("enum", Value::Array(values)) if values.iter().all(Value::is_string) => {
                clean.insert(keyword.clone(), value.clone());
            }
            ("const", Value::String(_)) => {
                clean.insert("enum".to_owned(), json!([value]));
            }
            _ if KEYWORDS.contains(&keyword.as_str()) => {
                clean.insert(keyword.clone(), value.clone());
            }
            _ => {}
        }
    }
    Value::Object(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_service_does_not_know_is_left_out() {
        let schema = json!({
            "$schema": "x", "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {
                "a": {"type": ["string", "null"], "format": "uri", "description": "It.", "default": ""},
                "b": {"type": "array", "items": {"type": "object", "additionalProperties": {}, "properties": {
                    "additionalProperties": {"type": "integer", "minimum": 1, "enum": [1, 2]}}}},
                "c": {"oneOf": [{"const": "x"}, {"enum": ["y", "z"], "$comment": "no"}]},
            },
        });
        let expected = json!({
            "type": "object", "required": ["a"],
            "properties": {
                "a": {"type": "string", "nullable": true, "description": "It."},
                "b": {"type": "array", "items": {"type": "object", "properties": {
                    "additionalProperties": {"type": "integer", "minimum": 1}}}},
                "c": {"anyOf": [{"enum": ["x"]}, {"enum": ["y", "z"]}]},
            },
        });
        assert_eq!(parameters(&schema), Some(expected));
    }

    #[test]
    fn no_arguments_are_no_parameters() {
        assert_eq!(parameters(&json!({"type": "object"})), None);
        assert_eq!(parameters(&json!({"type": "object", "properties": {}})), None);
        assert_eq!(parameters(&json!(true)), None);
    }

    #[test]
    fn a_schema_without_end_is_cut() {
        let deep = (0..1000).fold(json!({}), |inner, _| json!({"type": "object", "properties": {"a": inner}}));
        assert!(parameters(&deep).is_some_and(|cut| cut.to_string().len() < 2000));
    }
}
