use cohab_model_api::{ProviderData, ToolCall, ToolResult};

use super::*;

fn user(text: &str) -> Message {
    Message::user(text.into())
}

fn assistant(text: &str) -> Message {
    Message::Assistant(AssistantMessage { text: text.into(), ..AssistantMessage::default() })
}

/// A call that writes a file, in the provider's own form, too.
fn writes(bytes: usize) -> Message {
    let content = "word ".repeat(bytes / 5);
    let args: JsonObject =
        [("path".to_owned(), "/a".into()), ("content".to_owned(), content.clone().into())].into_iter().collect();
    let json = Value::Object(args.clone());
    let provider_data = Some(ProviderData { wire: "w".into(), host: "h".into(), model: "m".into(), json: json.into() });
    let tool_calls = vec![ToolCall { id: "1".into(), name: "write".into(), args: Ok(args.into()) }];
    Message::Assistant(AssistantMessage { text: String::new(), tool_calls, provider_data })
}

fn output(bytes: usize) -> Message {
    let content = "word ".repeat(bytes / 5);
    Message::ToolResults(vec![ToolResult { call_id: "1".into(), tool: "bash".into(), content, is_error: false }])
}

fn total(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

#[test]
fn a_conversation_that_fits_is_left_alone() {
    let mut messages = vec![user("one"), assistant("two"), user("three")];
    let before = messages.clone();
    assert_eq!(fit(&mut messages, 1000), 3);
    assert_eq!(messages, before);
}

#[test]
fn the_oldest_turns_go_as_a_whole() {
    let long = "word ".repeat(500);
    let mut messages =
        vec![user(&long), assistant("a"), output(2500), assistant("b"), user("second"), assistant("c"), user("now")];
    fit(&mut messages, 100);
    assert_eq!(messages, vec![user("second"), assistant("c"), user("now")]);
}

#[test]
fn older_output_of_the_running_turn_is_left_out_but_its_call_keeps_a_result() {
    let mut messages = vec![user("now"), assistant("a"), output(50_000), assistant("b"), output(500)];
    fit(&mut messages, 1000);
    assert_eq!(messages.len(), 5);
    let Message::ToolResults(results) = &messages[2] else { panic!("the results are gone") };
    assert_eq!(results[0].content, "[done; 50000 bytes of output left out]");
    assert_eq!(messages[4], output(500));
}

#[test]
fn older_calls_lose_long_arguments_and_with_them_their_own_form() {
    let mut messages = vec![user("now"), writes(50_000), output(100), writes(100), output(500)];
    let newer = messages[3].clone();
    fit(&mut messages, 1000);
    let Message::Assistant(message) = &messages[1] else { panic!("the call is gone") };
    let args = message.tool_calls[0].args.as_ref().expect("arguments");
    let content = args["content"].as_str().expect("a text");
    assert!(content.starts_with("word word ") && content.ends_with("… [49872 more bytes left out]"), "{content}");
    assert_eq!(args["path"], "/a");
    assert_eq!(message.provider_data, None);
    assert_eq!(messages[3], newer, "what was not shortened goes back as it came");
}

#[test]
fn a_complaint_about_a_call_does_not_end_the_running_turn() {
    let question = user("<question>\nnow\n</question>");
    let work = [question, writes(100), output(100), user("Your last tool call was rejected"), assistant("b")];
    let mut messages = [vec![user("old"), assistant("x"), output(9_000)], work.to_vec()].concat();
    fit(&mut messages, 0);
    assert_eq!(messages, work, "no call of it goes");
}

#[test]
fn the_last_output_loses_its_middle_when_nothing_else_helps() {
    let mut messages = vec![user("now"), assistant("a"), output(60_000)];
    let estimate = fit(&mut messages, 3000);
    assert!(estimate <= 3000 && estimate > 2000, "{estimate}");
    assert_eq!(estimate, total(&messages));
    let Message::ToolResults(results) = &messages[2] else { panic!("the results are gone") };
    assert!(results[0].content.contains(" bytes left out]"), "{}", results[0].content.len());
}

#[test]
fn the_last_question_is_never_dropped_and_keeps_its_end() {
    let long = format!("{}\n<question>why?</question>", "word ".repeat(5000));
    let mut messages = vec![user("old"), assistant("x"), user(&long)];
    fit(&mut messages, 1000);
    let [Message::User { text, .. }] = messages.as_slice() else { panic!("{} messages", messages.len()) };
    assert!(text.ends_with("<question>why?</question>") && text.len() < 6000, "{}", text.len());
    let short = vec![user("a short question")];
    let mut messages = short.clone();
    fit(&mut messages, 0);
    assert_eq!(messages, short);
}

#[test]
fn texts_of_uneven_density_are_cut_until_they_fit() {
    let dense = "0a1b2c3d4e5f".repeat(2000);
    let text = format!("{dense}{}{dense}", "word ".repeat(20_000));
    let mut messages = vec![user(&text)];
    assert!(fit(&mut messages, 4000) <= 4000);
}
