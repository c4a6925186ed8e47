use std::collections::BTreeSet;

use cohab_model_api::{BrokenArguments, Message, ProviderData, ToolCall, ToolSpec};

use super::*;

fn request(messages: Vec<Message>) -> ModelRequest {
    let spec = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    ModelRequest {
        system: "Be brief.".to_owned(),
        tools: vec![spec("bash"), spec("read")],
        ..ModelRequest::of(messages)
    }
}

fn build(request: &ModelRequest, quirks: &[Quirk]) -> Value {
    let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
    body(request, &Options { model: "m", max_output_tokens: Some(9), quirks: &quirks, ..Options::default() })
}

fn user(text: &str) -> Message {
    Message::user(text.to_owned())
}

fn assistant(json: Option<Value>, args: Result<Map<String, Value>, BrokenArguments>) -> Message {
    Message::Assistant(AssistantMessage {
        text: "Look.".to_owned(),
        tool_calls: vec![ToolCall { id: "c1".to_owned(), name: "bash".to_owned(), args: args.map(Into::into) }],
        provider_data: json.map(|json| ProviderData {
            wire: NAME.to_owned(),
            host: String::new(),
            model: "m".to_owned(),
            json: json.into(),
        }),
    })
}

fn result(is_error: bool) -> Message {
    let content = "out".to_owned();
    Message::ToolResults(vec![ToolResult { call_id: "c1".to_owned(), tool: "bash".to_owned(), content, is_error }])
}

#[test]
fn a_tool_loop_has_the_shape_of_the_wire() {
    let args = json!({"command": "ls"}).as_object().cloned().expect("an object");
    let body = build(&request(vec![user("hi"), assistant(None, Ok(args)), result(true)]), &[]);
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "Look.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "ERROR: out"},
        ])
    );
    assert_eq!(body["tools"][1]["function"]["name"], "read");
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!((&body["stream"], &body["max_tokens"]), (&json!(true), &json!(9)));
    assert!(body.get("tool_choice").is_none());
}

#[test]
fn an_addition_of_the_user_stands_behind_the_results_or_behind_an_answer() {
    let messages = || request(vec![user("hi"), assistant(None, Ok(Map::new())), result(false), user("only src")]);
    let roles = |quirks: &[Quirk]| {
        let body = build(&messages(), quirks);
        let roles = body["messages"].as_array().expect("messages").iter().filter_map(|one| one["role"].as_str());
        roles.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(roles(&[]), "system user assistant tool user");
    assert_eq!(roles(&[Quirk::AnswerBehindResults]), "system user assistant tool assistant user");
}

#[test]
fn learned_quirks_change_the_fields() {
    let quirks = [Quirk::DeveloperRole, Quirk::MaxCompletionTokens, Quirk::NoStreamOptions];
    let body = build(&ModelRequest { allow_tools: false, ..request(vec![user("hi")]) }, &quirks);
    assert_eq!(body["messages"][0]["role"], "developer");
    assert_eq!((&body["max_completion_tokens"], body.get("max_tokens")), (&json!(9), None));
    assert_eq!((&body["tool_choice"], body.get("stream_options")), (&json!("none"), None));
    assert_eq!(body["tools"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_service_s_own_message_goes_back_verbatim_until_something_changed() {
    let own = json!({"role": "assistant", "content": "Look.", "reasoning_content": "", "reasoning_details": [{"type": "x"}],
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{ }"}}]});
    let sent = |own: Value| {
        build(&request(vec![user("hi"), assistant(Some(own), Ok(Map::new())), result(false)]), &[])["messages"][2]
            .clone()
    };
    assert_eq!(sent(own.clone()), own);
    let mut edited = own.clone();
    edited["content"] = json!("Look. More");
    assert!(sent(edited).get("reasoning_content").is_none());
    assert_eq!(sent(json!(["another wire's form"]))["content"], "Look.");
}

#[test]
fn broken_arguments_are_sent_as_none() {
    let broken = BrokenArguments { raw: "{\"a".to_owned(), error: "eof".to_owned() };
    let body = build(&request(vec![user("hi"), assistant(None, Err(broken)), result(true)]), &[]);
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], "{}");
}

/// Calls with these ids, made by a service at `host`, and their results.
fn round(ids: &[&str], host: &str) -> [Message; 2] {
    let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "bash".to_owned(), args: Ok(Map::new().into()) };
    let own = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": "{ }"}});
    let calls: Vec<Value> = ids.iter().map(own).collect();
    let data = ProviderData {
        wire: NAME.to_owned(),
        host: host.to_owned(),
        model: "m".to_owned(),
        json: json!({"role": "assistant", "content": null, "tool_calls": calls}).into(),
    };
    let asked =
        AssistantMessage { text: String::new(), tool_calls: ids.iter().map(call).collect(), provider_data: Some(data) };
    let row = |id: &&str| ToolResult {
        call_id: (*id).to_owned(),
        tool: "bash".to_owned(),
        content: "out".to_owned(),
        is_error: false,
    };
    [Message::Assistant(asked), Message::ToolResults(ids.iter().map(row).collect())]
}

/// Ids of the calls and of the results, as sent.
fn sent_ids(body: &Value) -> (Vec<String>, Vec<String>) {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let calls = calls.map(|call| text(&call["id"])).collect();
    (calls, messages.iter().filter(|message| message["role"] == "tool").map(|row| text(&row["tool_call_id"])).collect())
}

#[test]
fn ids_fit_the_service_in_call_and_result_alike() {
    let strange = ["functions.bash:0", "toolu_01", "Ab3dEf7hI"];
    let mut messages = vec![user("hi")];
    messages.extend(round(&strange, "elsewhere"));
    let (calls, results) = sent_ids(&build(&request(messages.clone()), &[Quirk::ShortCallIds]));
    assert_eq!(calls, results);
    assert!(calls.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{calls:?}");
    assert_eq!(calls[2], strange[2]);
    let (calls, results) = sent_ids(&build(&request(messages), &[]));
    assert_eq!((&calls, calls[0].as_str()), (&results, "functions_bash_0"));
    let mut own = vec![user("hi")];
    own.extend(round(&strange, ""));
    assert_eq!(sent_ids(&build(&request(own), &[])).0, strange);
}

#[test]
fn a_service_that_wants_reasoning_beside_calls_gets_at_least_none() {
    let mut messages = vec![user("hi")];
    messages.extend(round(&["a"], ""));
    messages.extend(round(&["b"], "elsewhere"));
    let plain = Message::Assistant(AssistantMessage { text: "Done.".to_owned(), ..AssistantMessage::default() });
    messages.extend([plain, user("more")]);
    let reasoning = |quirks: &[Quirk]| -> Vec<Value> {
        let body = build(&request(messages.clone()), quirks);
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        messages
            .iter()
            .filter(|message| message["role"] == "assistant")
            .map(|message| message["reasoning_content"].clone())
            .collect()
    };
    assert_eq!(reasoning(&[Quirk::ReasoningInCalls]), [json!(""), json!(""), Value::Null]);
    assert_eq!(reasoning(&[]), [Value::Null, Value::Null, Value::Null]);
}

#[test]
fn the_effort_is_asked_for_in_the_words_of_the_service() {
    let fields = |effort: ReasoningEffort, quirks: &[Quirk]| {
        let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
        let options = Options { model: "m", reasoning_effort: Some(effort), quirks: &quirks, ..Options::default() };
        let body = body(&request(vec![user("hi")]), &options);
        (body["reasoning_effort"].clone(), body["thinking"].clone())
    };
    assert_eq!(fields(ReasoningEffort::High, &[]), (json!("high"), Value::Null));
    assert_eq!(fields(ReasoningEffort::Off, &[]), (json!("none"), Value::Null));
    assert_eq!(fields(ReasoningEffort::Low, &[Quirk::ThinkingSwitch]), (Value::Null, json!({"type": "enabled"})));
    assert_eq!(fields(ReasoningEffort::Off, &[Quirk::ThinkingSwitch]), (Value::Null, json!({"type": "disabled"})));
    assert_eq!(fields(ReasoningEffort::High, &[Quirk::NoReasoningEffort]), (Value::Null, Value::Null));
}

#[test]
fn what_a_service_cannot_take_is_left_out() {
    let body = build(&request(vec![user("hi"), user("there")]), &[Quirk::NoTools, Quirk::NoSystemRole]);
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    assert_eq!(body["messages"], json!([{"role": "user", "content": "Be brief.\n\nhi\n\nthere"}]));
}

#[test]
fn a_gateway_is_asked_for_the_price_and_gets_breakpoints_for_models_that_know_them() {
    let quirks = BTreeSet::from([Quirk::CostOnRequest, Quirk::PassesCacheControl]);
    let mut messages = vec![user("one")];
    messages.extend(round(&["a"], "elsewhere"));
    messages.push(user("two"));
    let of_model =
        |model: &str| body(&request(messages.clone()), &Options { model, quirks: &quirks, ..Options::default() });
    let other = of_model("openai/m");
    assert_eq!((&other["usage"], &other["messages"][0]["content"]), (&json!({"include": true}), &json!("Be brief.")));
    let marked = of_model("anthropic/m")["messages"].clone();
    let mark = json!({"type": "ephemeral"});
    assert_eq!(marked[0]["content"], json!([{"type": "text", "text": "Be brief.", "cache_control": mark}]));
    assert_eq!(marked[1]["content"], json!([{"type": "text", "text": "one"}]));
    assert_eq!(marked[4]["content"][0]["cache_control"], mark);
}

#[test]
fn a_longer_conversation_starts_with_the_same_bytes() {
    for quirks in [&[][..], &[Quirk::ShortCallIds], &[Quirk::ReasoningInCalls, Quirk::NoSystemRole]] {
        let mut messages = vec![user("one")];
        let mut before = String::new();
        for turn in 0..10 {
            let body = build(&request(messages.clone()), quirks)["messages"].to_string();
            assert!(body.starts_with(before.trim_end_matches(']')), "turn {turn}");
            before = body;
            messages.extend([assistant(None, Ok(Map::new())), result(false), user("more")]);
            let ids = [format!("call_{turn}"), format!("functions.bash:{turn}"), format!("Mistral0{turn}")];
            messages.extend(round(&ids.each_ref().map(String::as_str), if turn % 2 == 0 { "" } else { "elsewhere" }));
            messages.push(user("and more"));
        }
    }
}
