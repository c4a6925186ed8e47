//! Tests of the whole assistant.
use super::*;
use crate::agent::port::*;

fn ask(text: &str) -> ModelRequest {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: serde_json::json!({"type": "object"}),
    };
    ModelRequest {
        system: String::new(),
        messages: vec![Message::User { text: text.into() }],
        tools: vec![tool("bash"), tool("write")],
        allow_tools: true,
    }
}

#[test]
fn scratch() {
    let text = std::fs::read_to_string(std::env::var("PHRASES").unwrap()).unwrap();
    let (mut ok, mut n) = (0, 0);
    for line in text.lines() {
        let (want, phrase) = line.split_once(" | ").unwrap();
        let meant = understand(phrase);
        let got = meant.iter().map(|m| m.intent.name).collect::<Vec<_>>().join("+");
        let command = match decide(&ask(phrase)) {
            Next::Call { args, .. } => args.values().next().unwrap().to_string(),
            Next::Answer(_) => "-".into(),
        };
        n += 1;
        if got == want {
            ok += 1;
            eprintln!("ok   {phrase} => {got} => {command}");
        } else {
            eprintln!("MISS {phrase} => {got} (want {want}) => {command}");
        }
    }
    eprintln!("{ok}/{n}");
}
