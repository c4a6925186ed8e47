use std::fs;

use proptest::prelude::*;

use super::*;

const SCHEMA: &str = r##"{
  "type": "object",
  "properties": {"name": {"type": "string"}, "age": {"$ref": "#/$defs/age"}},
  "required": ["name", "age"],
  "additionalProperties": false,
  "$defs": {"age": {"type": "integer", "minimum": 0}}
}"##;

fn schema() -> OutputSchema {
    OutputSchema::of(SCHEMA).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn json_is_taken_as_it_is_or_out_of_its_only_fence() {
    let json = r#"{"name": "Ann", "age": 9007199254740993}"#;
    for answer in [
        json.to_owned(),
        format!("\n  {json}\n"),
        format!("```json\n{json}\n```"),
        format!("Here it is:\n```\n{json}\n```\nAnything else?"),
    ] {
        assert_eq!(schema().check(&answer).unwrap(), json, "{answer}");
    }
    let two = format!("```json\n{json}\n```\n```json\n{json}\n```");
    for answer in ["", "Ann is 3.", "```json\n{\n```", two.as_str(), "{} {}"] {
        let faults = schema().check(answer).unwrap_err();
        assert!(faults.len() == 1 && faults[0].starts_with("the answer is"), "{answer}: {faults:?}");
    }
}

#[test]
fn faults_are_named_with_their_places() {
    let faults = schema().check(r#"{"age": -1, "eyes": 2}"#).unwrap_err();
    insta::assert_snapshot!(faults.join("\n"), @r"
    the whole value: missing properties 'name'
    /age: must be >=0, but got -1
    the whole value: additionalProperties 'eyes' not allowed
    ");
    let many = OutputSchema::of(r#"{"items": {"type": "string"}}"#).unwrap_or_else(|fault| panic!("{fault}"));
    let faults = many.check(&serde_json::to_string(&vec![1; 100]).unwrap()).unwrap_err();
    assert_eq!((faults.len(), faults[MAX_FAULTS].as_str()), (MAX_FAULTS + 1, "and 80 more"));
}

#[test]
fn what_a_terminal_would_obey_is_escaped_and_the_value_stays() {
    let any = OutputSchema::of("true").unwrap_or_else(|fault| panic!("{fault}"));
    let json = any.check("{\n\t\"a\": \"\u{202e}x\u{7f}\"\n}").unwrap();
    assert_eq!(json, "{\n \"a\": \"\\u202ex\\u007f\"\n}");
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["a"], "\u{202e}x\u{7f}");
}

#[test]
fn a_file_that_is_no_schema_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schema.json");
    for (text, part) in [
        ("{", "is not JSON: "),
        ("[]", "is no JSON Schema: that is an object"),
        (r#"{"type": "objekt"}"#, "is no JSON Schema: /type: "),
        (r##"{"$ref": "https://example.com/a.json"}"##, "refers to https://example.com/a.json: cohab fetches nothing"),
        (r##"{"$ref": "file:///etc/passwd"}"##, "refers to file:///etc/passwd: cohab fetches nothing"),
        (r##"{"$ref": "other.json"}"##, "cohab fetches nothing"),
        (r##"{"$ref": "#/$defs/missing"}"##, "is no JSON Schema"),
        (r#"{"pattern": "(?=a)"}"#, "/pattern: '(?=a)' is not valid regex"),
        (r#"{"$schema": "https://example.com/own"}"#, "cohab fetches nothing"),
    ] {
        fs::write(&path, text).unwrap();
        let fault = OutputSchema::read(&path).err().unwrap_or_else(|| panic!("{text} is taken"));
        assert!(fault.starts_with("--output-schema /") && fault.contains(part), "{text}: {fault}");
    }
    fs::write(&path, " ".repeat(200 * 1024)).unwrap();
    assert!(OutputSchema::read(&path).err().unwrap().ends_with("is larger than 128 KiB"));
    fs::write(&path, b"\xff").unwrap();
    assert!(OutputSchema::read(&path).err().unwrap().ends_with("is not UTF-8 text"));
    assert!(OutputSchema::read(&folder.path().join("missing")).err().unwrap().contains("No such file"));
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let tree = r##"{"type": "object", "properties": {"children": {"items": {"$ref": "#"}}}}"##;
    let tree = OutputSchema::of(tree).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(tree.check(r#"{"children": [{"children": [1]}]}"#).is_err());
    let deep = format!("{}1{}", "{\"children\":[".repeat(60), "]}".repeat(60));
    assert!(tree.check(&deep).is_err());
    assert!(tree.check(&"[".repeat(100_000)).is_err());
}

#[test]
fn only_the_last_message_is_the_answer() {
    use cohab_protocol::{AgentStreamChunk, ChunkDelta, StepActivity, StepStarted, TurnId};
    let turn_id = TurnId(uuid::Uuid::nil());
    let text = |text: &str| {
        DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id, seq: 0, delta: ChunkDelta::Text(text.into()) })
    };
    let call = |step| {
        let activity = StepActivity::ModelCall { model: "a/b".into() };
        DaemonMessage::StepStarted(StepStarted { turn_id, step, activity })
    };
    let mut view = StructuredView::new();
    for message in [call(1), text("Let me look."), call(2), text("[1"), text(",2]")] {
        view.show(&message).unwrap();
    }
    assert_eq!(view.answer(), "[1,2]");
    view.show(&text(&"x".repeat(4 * 1024 * 1024))).unwrap();
    assert_eq!(view.answer(), "", "an answer without an end is none");
}

proptest! {
    #[test]
    fn any_answer_is_judged(answer in "(```|json|\n|[\\[\\]{}\",: 1a]|.){0,40}") {
        let any = OutputSchema::of("true").unwrap_or_else(|fault| panic!("{fault}"));
        match any.check(&answer) {
            Ok(json) => prop_assert!(serde_json::from_str::<Value>(&json).is_ok()),
            Err(faults) => prop_assert!(!faults.is_empty()),
        }
    }
}
