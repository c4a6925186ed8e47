use super::*;

fn spec() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file."},
            "offset": {"type": ["integer", "null"], "description": "First line."},
        },
        "required": ["path"],
    });
    ToolSpec { name: "read".into(), description: "Shows a file. Or lists a folder.".into(), parameters }
}

#[test]
fn a_tool_describes_itself_for_people_and_models() {
    assert_eq!(listed(&[spec()], false, None), "read  Shows a file\n");
    let guide: Value = serde_json::from_str(&listed(&[spec()], true, None)).unwrap();
    assert_eq!((&guide[0]["name"], &guide[0]["only_reads"]), (&json!("read"), &json!(true)));
    assert_eq!(guide[0]["parameters"]["required"], json!(["path"]));
    assert_eq!(
        help(&spec()),
        "Shows a file. Or lists a folder.\n\nUsage: cohab tool read --json-in FILE|- [--json-out]\n\nArguments:\n  \
         path (string, required)\n      The file.\n  offset (integer)\n      First line.\n"
    );
}

#[test]
fn what_came_of_a_call_is_text_or_an_object() {
    let said = |answer: NodeAnswer, refusal: Option<&str>, is_json| {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        reported(&answer, refusal.map(str::to_owned), is_json, &mut output, &mut errors).unwrap();
        String::from_utf8(output).unwrap() + &String::from_utf8(errors).unwrap()
    };
    let command = || NodeAnswer::Command { text: "a".into(), status: 4 };
    assert_eq!(said(command(), None, false), "a\n");
    assert_eq!(said(command(), None, true), "{\"ok\":false,\"output\":\"a\",\"status\":4}\n");
    assert_eq!(said(NodeAnswer::Text("b\n".into()), None, false), "b\n");
    let refused = || NodeAnswer::Failed("no".into());
    assert_eq!(said(refused(), Some("no"), false), "error: no\n");
    assert_eq!(said(refused(), Some("no"), true), "{\"ok\":false,\"refused\":true,\"error\":\"no\"}\n");
    assert_eq!(said(refused(), None, true), "{\"ok\":false,\"error\":\"no\"}\n");
}

#[tokio::test]
async fn without_a_terminal_no_one_agrees() {
    let effect = cohab_agent::port::Effect::RunCommand { command: "touch a".into() };
    let subject = cohab_agent::port::ApprovalSubject::Effect { tool: "bash".into(), effect };
    let answer = Person { is_there: false }.ask(ApprovalQuestion::about(subject)).await;
    assert!(matches!(answer, ApprovalAnswer::Refused { reason } if reason.contains("no terminal is attached")));
}

#[test]
fn arguments_are_a_json_object() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.json");
    let fault = || match arguments(&file) {
        Err(Failure::Other(message, _)) => message,
        other => panic!("{other:?}"),
    };
    assert!(fault().contains("No such file"));
    for text in ["", "[]", "{"] {
        std::fs::write(&file, text).unwrap();
        assert!(fault().contains("is not a JSON object"), "{text}");
    }
    std::fs::write(&file, "{\"path\": \"a\"}").unwrap();
    assert_eq!(arguments(&file).unwrap()["path"], "a");
}
