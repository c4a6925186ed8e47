use crate::{ToolCall, ToolResult};
use serde_json::json;

use super::*;

/// Looks like a token of a service; built here so that no scanner takes it for one.
fn token() -> String {
    ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat()
}

#[test]
fn no_text_of_a_request_keeps_a_secret() {
    let token = token();
    let args = json!({ "command": format!("echo {token}"), "more": [{ "deep": token }] });
    let call =
        ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args.as_object().expect("an object").clone().into()) };
    let broken = BrokenArguments { raw: token.clone(), error: format!("at {token}") };
    let broken = ToolCall { id: "2".into(), name: "bash".into(), args: Err(broken) };
    let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: token.clone(), is_error: false };
    let said = AssistantMessage { text: token.clone(), tool_calls: vec![call, broken], provider_data: None };
    let request = ModelRequest {
        system: format!("notes: {token}"),
        ..ModelRequest::of(vec![
            Message::user(format!("why is {token} refused?")),
            Message::Assistant(said),
            Message::ToolResults(vec![result]),
        ])
    };
    let told = format!("{:?}", Secrets::default().scrubbed(request));
    assert!(!told.contains(&token), "{told}");
    assert_eq!(told.matches("<secret:gitlab-token#1>").count(), 8, "{told}");
}

#[test]
fn a_model_may_name_placeholders_and_others_may_not() {
    let said = AssistantMessage { text: "as <secret:jwt#1> says".into(), ..AssistantMessage::default() };
    let mut messages = [Message::user("as <secret:jwt#1> says".into()), Message::Assistant(said)];
    messages.iter_mut().for_each(|message| Secrets::default().message(message, PersonalData::default()));
    let [Message::User { text, .. }, Message::Assistant(said)] = &messages else { panic!("{messages:?}") };
    assert_eq!((text.as_str(), said.text.as_str()), ("as <quoted-secret:jwt#1> says", "as <secret:jwt#1> says"));
}

#[test]
fn what_is_known_goes_whatever_it_looks_like() {
    let secrets = Secrets::default();
    let mut text = "say plain words, please".to_owned();
    secrets.text(&mut text);
    assert_eq!(text, "say plain words, please");
    secrets.know(["plain words"]);
    secrets.text(&mut text);
    assert_eq!(text, "say <secret:value#1>, please");
}
