//! Tests `cohab probe-model` against every wire.

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::Finished};
use serde_json::{Value, json};

fn lines(finished: &Finished) -> Vec<Value> {
    finished.stdout.lines().map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect()
}

#[test]
fn events_come_typed_and_the_last_line_is_their_sum() {
    for wire in Wire::ALL {
        let answer = Answer::text("Look here: ")
            .and_call("bash", &json!({"command": "touch made.txt"}))
            .and_call("read", &json!({"path": "made.txt"}));
        let server = ModelServer::start(wire, [answer]);
        let home = Home::with_model(&server);
        let finished = home.run(&["probe-model", "--json", "make", "a", "file"]);
        assert_eq!(finished.status, Some(0), "{finished:?}");
        let lines = lines(&finished);
        let (fold, events) = lines.split_last().expect("there is a sum");
        assert!(events.iter().all(|event| event["at_ms"].is_number()), "{finished:?}");
        let text: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!((text.as_str(), &fold["type"]), ("Look here: ", &json!("fold")), "{wire:?}");
        assert_eq!(
            (&fold["text"], &fold["stop"], &fold["error"]),
            (&json!("Look here: "), &json!("tool"), &Value::Null)
        );
        let calls = fold["tool_calls"].as_array().expect("a list");
        let told: Vec<_> = calls.iter().map(|call| (&call["name"], &call["arguments"])).collect();
        let expected =
            [(&json!("bash"), &json!({"command": "touch made.txt"})), (&json!("read"), &json!({"path": "made.txt"}))];
        assert_eq!(told, expected, "{wire:?}");
        assert_eq!(
            (&fold["usage"]["input_tokens"], &fold["usage"]["output_tokens"]),
            (&json!(11), &json!(7)),
            "{wire:?}"
        );
        assert!(!home.path("made.txt").exists(), "nothing is executed");
        let request = &server.wait_for_calls(1)[0];
        assert!(request.conversation().contains("make a file"));
        assert!(request.tool_names().iter().any(|name| name == "bash"));
    }
}

#[test]
fn a_failure_is_typed_and_the_status_says_so() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [Answer::status(401, "this key is not right")]);
        let home = Home::with_model(&server);
        let finished = home.run(&["probe-model", "--json", "go"]);
        assert_eq!(finished.status, Some(1), "{finished:?}");
        let fold = lines(&finished).pop().expect("there is a sum");
        assert_eq!((&fold["error"]["kind"], &fold["stop"]), (&json!("auth"), &Value::Null));
        assert!(!finished.stdout.contains(cohab_e2e::home::API_KEY), "{finished:?}");
        let server = ModelServer::respond_with(wire, |_| Answer::bash("ls").cut_before_mark());
        let finished = Home::with_model(&server).run(&["probe-model", "--json", "go"]);
        let fold = lines(&finished).pop().expect("there is a sum");
        assert_eq!((finished.status, &fold["tool_calls"]), (Some(1), &json!([])), "{finished:?}");
    }
}

#[test]
fn one_request_is_one_request_whatever_comes_of_it() {
    for wire in Wire::ALL {
        for answer in [Answer::status(503, "busy"), Answer::text("a b c").error_after(3), Answer::pieces(Vec::new())] {
            let server = ModelServer::respond_with(wire, move |_| answer.clone());
            let finished = Home::with_model(&server).run(&["probe-model", "--json", "go"]);
            assert_eq!(finished.status, Some(1), "{wire:?}: {finished:?}");
            assert_eq!(server.wait_for_calls(1).len(), 1, "{wire:?}: {finished:?}");
            let fold = lines(&finished).pop().expect("there is a sum");
            assert_eq!((&fold["retries"], fold["error"].is_object()), (&json!(0), true), "{wire:?}: {finished:?}");
        }
    }
}

#[test]
fn people_read_the_same_and_the_prompt_may_be_piped() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Fine, thanks.")]);
    let home = Home::with_model(&server);
    let finished = home.run_with_input(&["probe-model"], "how are you?");
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.stdout.starts_with("openai-chat/scripted-model ("), "{finished:?}");
    assert!(finished.stdout.contains("\ntext       Fine, thanks.\n"), "{finished:?}");
    assert!(finished.stdout.trim_end().ends_with("stop       end"), "{finished:?}");
    assert!(server.wait_for_calls(1)[0].conversation().contains("how are you?"));
    let nothing = home.run_with_input(&["probe-model"], "");
    assert_eq!(nothing.status, Some(1), "{nothing:?}");
    assert!(nothing.stderr.contains("no prompt was given"), "{nothing:?}");
}
