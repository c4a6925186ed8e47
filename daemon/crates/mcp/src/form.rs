//! The form of a server: what it wants to know of the user, field by field, and how a typed text becomes a value. Pure.

use cohab_text::sanitize::one_line;
use serde_json::{Map, Number, Value, json};

/// Most fields of a form; a longer one is refused.
const MAX_FIELDS: usize = 20;
/// Longest label of a field, in columns.
const LABEL_COLUMNS: usize = 200;
/// Longest title of a field, in columns.
const TITLE_COLUMNS: usize = 60;
/// Longest value that stands there first, in bytes; a longer one is left out.
const PROPOSED_MAX_BYTES: usize = 1_000;
/// Longest name of a choice in a label, in columns.
const CHOICE_COLUMNS: usize = 40;

/// The fields of a form, in the order of the server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerForm {
    pub fields: Vec<FormField>,
}

/// One value that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FormField {
    name: String,
    title: String,
    kind: Kind,
    /// Value and title of each choice; none if anything may be typed.
    choices: Vec<(String, String)>,
    default: Value,
    is_required: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Whole,
    Flag,
    /// Several choices.
    List,
}

impl ServerForm {
    /// Reads the schema of a form: an object whose properties are no objects themselves.
    ///
    /// # Errors
    /// A sentence: a property is of another kind, or there are too many.
    pub(crate) fn read(schema: &Value) -> Result<Self, String> {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let field = |(name, of): (&String, &Value)| FormField::read(name, of, required.contains(&name.as_str()));
        let fields: Vec<FormField> =
            schema["properties"].as_object().into_iter().flatten().map(field).collect::<Result<_, _>>()?;
        if fields.len() > MAX_FIELDS {
            return Err(format!("a form has at most {MAX_FIELDS} fields"));
        }
        Ok(Self { fields })
    }
}

impl FormField {
    fn read(name: &str, of: &Value, is_required: bool) -> Result<Self, String> {
        let kind = match of["type"].as_str().unwrap_or("string") {
            "string" => Kind::Text,
            "number" => Kind::Number,
            "integer" => Kind::Whole,
            "boolean" => Kind::Flag,
            "array" => Kind::List,
            other => return Err(format!("a form has no field of the type `{}`", one_line(other, CHOICE_COLUMNS))),
        };
        let source = if kind == Kind::List { &of["items"] } else { of };
        let title = of["title"].as_str().or_else(|| of["description"].as_str()).unwrap_or(name).to_owned();
        let choices = choices(source);
        let default = of.get("default").cloned().unwrap_or_default();
        Ok(Self { name: name.to_owned(), title, kind, choices, default, is_required })
    }

    /// The name in the answer.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the user reads beside the value: what it is, what may be typed, and whether it may stay empty.
    pub(crate) fn label(&self) -> String {
        let listed = |(value, title): &(String, String)| match value == title {
            true => one_line(value, CHOICE_COLUMNS),
            false => format!("{} ({})", one_line(value, CHOICE_COLUMNS), one_line(title, CHOICE_COLUMNS)),
        };
        let choices = self.choices.iter().map(listed).collect::<Vec<_>>().join(", ");
        let kind = match self.kind {
            Kind::Text if choices.is_empty() => String::new(),
            Kind::Text => format!("one of {choices}"),
            Kind::Number => "a number".to_owned(),
            Kind::Whole => "a whole number".to_owned(),
            Kind::Flag => "yes or no".to_owned(),
            Kind::List => format!("some of {choices}, with commas"),
        };
        let title = one_line(&self.title, TITLE_COLUMNS);
        let optional = if self.is_required { "" } else { "optional" };
        let parts: Vec<&str> = [title.as_str(), optional, &kind].into_iter().filter(|part| !part.is_empty()).collect();
        one_line(&parts.join(" · "), LABEL_COLUMNS)
    }

    /// The value that stands there first, as it would be typed.
    pub(crate) fn proposed(&self) -> String {
        let text = self.default_text();
        if text.len() <= PROPOSED_MAX_BYTES { text } else { String::new() }
    }

    fn default_text(&self) -> String {
        match &self.default {
            Value::String(text) => text.clone(),
            Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Value::Null | Value::Object(_) => String::new(),
        }
    }

    /// The value of a typed text; none if it stays empty.
    ///
    /// # Errors
    /// The reason for the user.
    pub(crate) fn parse(&self, typed: &str) -> Result<Option<Value>, String> {
        let typed = typed.trim();
        if typed.is_empty() {
            return if self.is_required { Err("a value is needed".to_owned()) } else { Ok(None) };
        }
        let value = match self.kind {
            Kind::Text => json!(self.choice(typed)?),
            Kind::Number => Value::Number(
                typed.parse().ok().and_then(Number::from_f64).ok_or_else(|| "that is no number".to_owned())?,
            ),
            Kind::Whole => json!(typed.parse::<i64>().map_err(|_| "that is no whole number".to_owned())?),
            Kind::Flag => match typed.to_lowercase().as_str() {
                "yes" | "y" | "true" => json!(true),
                "no" | "n" | "false" => json!(false),
                _ => return Err("that is neither yes nor no".to_owned()),
            },
            Kind::List => {
                let items = typed.split(',').map(str::trim).filter(|item| !item.is_empty());
                json!(items.map(|item| self.choice(item)).collect::<Result<Vec<_>, _>>()?)
            }
        };
        Ok(Some(value))
    }

    /// The choice that was typed, by its value or its title.
    fn choice(&self, typed: &str) -> Result<String, String> {
        if self.choices.is_empty() {
            return Ok(typed.to_owned());
        }
        let by_value = self.choices.iter().find(|(value, _)| value == typed);
        let by_title = || self.choices.iter().find(|(_, title)| title.eq_ignore_ascii_case(typed));
        let found = by_value.or_else(by_title).map(|(value, _)| value.clone());
        found.ok_or_else(|| format!("`{}` is not one of the choices", one_line(typed, CHOICE_COLUMNS)))
    }
}

/// The choices in a schema: `enum` with or without `enumNames`, or titled constants.
fn choices(of: &Value) -> Vec<(String, String)> {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let titled = of["oneOf"].as_array().or_else(|| of["anyOf"].as_array());
    if let Some(titled) = titled {
        let choice = |one: &Value| {
            let value = one["const"].as_str()?;
            Some((value.to_owned(), one["title"].as_str().unwrap_or(value).to_owned()))
        };
        return titled.iter().filter_map(choice).collect();
    }
    let (values, titles) = (texts(&of["enum"]), texts(&of["enumNames"]));
    values.iter().enumerate().map(|(at, value)| (value.clone(), titles.get(at).unwrap_or(value).clone())).collect()
}

/// The answer to a form.
pub(crate) fn content(values: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(values.into_iter().collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(of: &Value, is_required: bool) -> FormField {
        FormField::read("f", of, is_required).expect("a field")
    }

    #[test]
    fn each_kind_of_field_has_a_label_a_proposal_and_values() {
        for (of, label, proposed, typed, value) in [
            (json!({"type": "string", "title": "Name", "default": "Ann"}), "Name", "Ann", " Bob ", json!("Bob")),
            (
                json!({"type": "integer", "description": "Age", "default": 30}),
                "Age · a whole number",
                "30",
                "7",
                json!(7),
            ),
            (json!({"type": "number", "default": 1.5}), "f · a number", "1.5", "-2.25", json!(-2.25)),
            (json!({"type": "boolean", "default": true}), "f · yes or no", "yes", "No", json!(false)),
            (json!({"type": "string", "enum": ["a", "b"]}), "f · one of a, b", "", "b", json!("b")),
            (
                json!({"type": "string", "enum": ["a"], "enumNames": ["First"]}),
                "f · one of a (First)",
                "",
                "first",
                json!("a"),
            ),
            (json!({"oneOf": [{"const": "x", "title": "The X"}]}), "f · one of x (The X)", "", "the x", json!("x")),
            (
                json!({"type": "array", "items": {"anyOf": [{"const": "x"}, {"const": "y"}]}, "default": ["x"]}),
                "f · some of x, y, with commas",
                "x",
                "x, y",
                json!(["x", "y"]),
            ),
        ] {
            let field = field(&of, true);
            assert_eq!((field.label(), field.proposed()), (label.to_owned(), proposed.to_owned()), "{of}");
            assert_eq!(field.parse(typed), Ok(Some(value)), "{of}");
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (of, typed, reason) in [
            (json!({"type": "integer"}), "1.5", "that is no whole number"),
            (json!({"type": "number"}), "NaN", "that is no number"),
            (json!({"type": "boolean"}), "maybe", "that is neither yes nor no"),
            (json!({"type": "string", "enum": ["a"]}), "b\u{1b}[2J", "is not one of the choices"),
            (json!({"type": "string"}), "  ", "a value is needed"),
        ] {
            let said = field(&of, true).parse(typed).expect_err(typed);
            assert!(said.contains(reason) && !said.contains('\u{1b}'), "{said}");
        }
        assert_eq!(field(&json!({"type": "string"}), false).parse(""), Ok(None));
        let crossed = json!({"enum": ["delete", "keep"], "enumNames": ["keep", "Keep"]});
        assert_eq!(field(&crossed, true).parse("keep"), Ok(Some(json!("keep"))), "a value comes before a title");
        let long = json!({"type": "string", "default": "x".repeat(2_000), "title": "t".repeat(500), "enum": ["a"]});
        let long = field(&long, false);
        assert!(long.proposed().is_empty() && long.label().ends_with(" · optional · one of a"), "{}", long.label());
    }

    #[test]
    fn forms_are_bounded_and_flat() {
        let many: Map<String, Value> =
            (0..=MAX_FIELDS).map(|at| (format!("f{at}"), json!({"type": "string"}))).collect();
        ServerForm::read(&json!({"properties": many})).expect_err("too many");
        ServerForm::read(&json!({"properties": {"a": {"type": "object"}}})).expect_err("not flat");
        assert!(ServerForm::read(&json!({})).expect("a form without fields").fields.is_empty());
        let form =
            ServerForm::read(&json!({"properties": {"a": {"type": "string"}}, "required": ["a"]})).expect("a form");
        assert!(form.fields[0].parse("").is_err());
    }
}
