//! Checks the arguments of a call against the schema that the model got, so that an error names the field at fault.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use cohab_model_api::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, de::value::MapDeserializer};
use serde_json::{Map, Value};

use super::render;

/// Least similarity of a wrong name and a right one to suggest it, 0 to 1.
const RESEMBLANCE: f32 = 0.6;
/// Longest name that is compared and shown, in characters.
const NAME_MAX_CHARS: usize = 64;

/// The schemas that were asked for, by the id of their type: each request to a model has all of them.
static SCHEMAS: Mutex<BTreeMap<String, Arc<Value>>> = Mutex::new(BTreeMap::new());

/// The schema of `T`, a struct, in the plain form that every provider accepts: no references, no `format`, no nullable types.
pub(super) fn schema<T: JsonSchema>() -> Value {
    Value::clone(&known::<T>())
}

/// The same, shared.
fn known<T: JsonSchema>() -> Arc<Value> {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(schemas.entry(T::schema_id().into_owned()).or_insert_with(|| Arc::new(made::<T>())))
}

fn made<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("title");
        object.shift_remove("description");
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(simplify);
    }
    schema
}

fn simplify(property: &mut Map<String, Value>) {
    property.shift_remove("format");
    property.shift_remove("default");
    if let Some(Value::Array(types)) = property.get("type")
        && let Some(only) = types.iter().find(|name| *name != "null").cloned()
    {
        property.insert("type".into(), only);
    }
}

/// Parses the arguments of a call strictly. `null` for an optional argument counts as absent.
///
/// # Errors
/// A sentence for the model that names the argument.
pub(super) fn parse<'a, T: JsonSchema + Deserialize<'a>>(args: &'a JsonObject) -> Result<T, String> {
    let schema = known::<T>();
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();

    if let Some(unknown) = args.keys().find(|name| !properties.contains_key(*name)) {
        return Err(unknown_argument(unknown, properties));
    }
    if let Some(missing) = required.iter().find(|name| !args.contains_key(**name)) {
        return Err(format!("argument `{missing}` is missing"));
    }
    let is_given = |(name, value): &(&String, &Value)| !value.is_null() || required.contains(&name.as_str());
    for (name, value) in args.iter().filter(is_given) {
        check(name, value, &properties[name])?;
    }
    // In place: an argument may be megabytes.
    let given = args.iter().filter(is_given).map(|(name, value)| (name.as_str(), value));
    T::deserialize(MapDeserializer::new(given)).map_err(|error: serde_json::Error| error.to_string())
}

fn unknown_argument(unknown: &str, properties: &Map<String, Value>) -> String {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let nearest = (unknown.chars().count() <= NAME_MAX_CHARS)
        .then(|| similar::get_close_matches(unknown, &names, 1, RESEMBLANCE).first().copied())
        .flatten()
        .map_or(String::new(), |name| format!(" Did you mean `{name}`?"));
    let shown = render::one_line(unknown, NAME_MAX_CHARS);
    format!("unknown argument `{shown}`.{nearest} The arguments are: {}", names.join(", "))
}

fn check(name: &str, value: &Value, property: &Value) -> Result<(), String> {
    let expected = property["type"].as_str().unwrap_or_default();
    let (is_right, expected) = match expected {
        "string" => (value.is_string(), "a string"),
        "boolean" => (value.is_boolean(), "a boolean"),
        "integer" => (value.is_i64() || value.is_u64(), "a whole number"),
        other => (true, other),
    };
    if !is_right {
        return Err(format!("argument `{name}` must be {expected}, not {}", kind_of(value)));
    }
    let (least, most) = (property["minimum"].as_i64(), property["maximum"].as_i64());
    if let Some(number) = value.as_f64()
        && (least.is_some_and(|least| number < least as f64) || most.is_some_and(|most| number > most as f64))
    {
        let range = [least.map(|n| format!("at least {n}")), most.map(|n| format!("at most {n}"))];
        return Err(format!(
            "argument `{name}` must be {}, not {value}",
            range.into_iter().flatten().collect::<Vec<_>>().join(" and ")
        ));
    }
    Ok(())
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "this number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// Where.
        path: String,
        #[schemars(range(min = 1, max = 10))]
        limit: Option<u64>,
        #[serde(default)]
        deep: bool,
    }

    fn error(args: &Value) -> String {
        parse::<Sample>(args.as_object().unwrap()).expect_err("must be refused")
    }

    #[test]
    fn complaints_name_the_argument_and_what_is_right() {
        assert_eq!(
            error(&json!({"pth": "x"})),
            "unknown argument `pth`. Did you mean `path`? The arguments are: deep, limit, path".replace(
                "deep, limit, path",
                &schema::<Sample>()["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(", ")
            )
        );
        assert_eq!(error(&json!({})), "argument `path` is missing");
        assert_eq!(error(&json!({"path": null})), "argument `path` must be a string, not null");
        assert_eq!(error(&json!({"path": "x", "limit": "5"})), "argument `limit` must be a whole number, not a string");
        assert_eq!(
            error(&json!({"path": "x", "limit": 5.5})),
            "argument `limit` must be a whole number, not this number"
        );
        assert_eq!(
            error(&json!({"path": "x", "limit": 11})),
            "argument `limit` must be at least 1 and at most 10, not 11"
        );
        assert_eq!(
            error(&json!({"path": "x", "limit": -1})),
            "argument `limit` must be at least 1 and at most 10, not -1"
        );
        assert_eq!(error(&json!({"path": "x", "deep": "true"})), "argument `deep` must be a boolean, not a string");
    }

    #[test]
    fn null_counts_as_absent_for_optional_arguments() {
        let args = json!({"path": "x", "limit": null, "deep": null});
        let parsed: Sample = parse(args.as_object().unwrap()).unwrap();
        assert_eq!(parsed, Sample { path: "x".into(), limit: None, deep: false });
    }

    #[test]
    fn a_huge_unknown_name_is_neither_compared_nor_repeated_whole() {
        let args = json!({"x".repeat(1_000_000): 1});
        assert!(error(&args).len() < 500);
    }

    proptest! {
        #[test]
        fn any_object_parses_or_is_refused_with_words(name in ".{0,12}", number in any::<i64>(), text in ".{0,12}") {
            for value in [json!(number), json!(text), json!([number]), json!({"a": text})] {
                let args = json!({"path": "x", name.clone(): value});
                match parse::<Sample>(args.as_object().unwrap()) {
                    Ok(parsed) => prop_assert!(parsed.limit.is_none_or(|limit| (1..=10).contains(&limit))),
                    Err(message) => prop_assert!(message.contains("argument `")),
                }
            }
        }
    }
}
