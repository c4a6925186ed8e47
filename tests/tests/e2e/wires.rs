//! Tests every wire, working and broken, through the whole daemon. `cohab ask --json` makes the outcome plain.

use std::{fs, time::Duration};

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::Finished};
use serde_json::json;

use crate::ask::{events, text, types};

fn ask(home: &Home) -> Finished {
    home.run(&["ask", "--json", "--approve", "all", "go"])
}

fn answered(finished: &Finished, answer: &str) {
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert_eq!(text(&events(finished)), answer, "{finished:?}");
}

/// The turn failed, gave the reason, and was reported as ended.
fn failed(finished: &Finished) -> String {
    assert_eq!(finished.status, Some(1), "{finished:?}");
    let events = events(finished);
    assert_eq!(types(&events).last(), Some(&"turn_ended"), "{finished:?}");
    let error = events.iter().find(|event| event["type"] == "error").expect("an error event");
    error["message"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_tool_loop_works_however_the_bytes_are_cut() {
    let odd = "printf '%s' 'é \"quoted\" \\ \u{1f389}' > made.txt";
    for wire in Wire::ALL {
        let shapes: [fn(Answer) -> Answer; 4] = [
            |answer| answer,
            |answer| answer.in_pieces_of(1),
            |answer| answer.in_pieces_of(7),
            |answer| answer.arguments_in_pieces_of(1),
        ];
        for shape in shapes {
            let server =
                ModelServer::start(wire, [shape(Answer::bash(odd)), shape(Answer::text("Done, é \u{1f389}."))]);
            let home = Home::with_model(&server);
            home.open_sandbox();
            answered(&ask(&home), "Done, é \u{1f389}.");
            assert_eq!(fs::read_to_string(home.path("made.txt")).expect("it ran"), "é \"quoted\" \\ \u{1f389}");
            let second = &server.wait_for_calls(2)[1];
            assert_eq!(second.tool_results().len(), 1);
            assert_eq!(second.tool_results()[0].call_id, "call_1");
        }
    }
}

#[test]
fn a_limit_or_an_overload_is_waited_out() {
    for wire in Wire::ALL {
        for (status, header) in [(429, Some(("retry-after", "1"))), (503, None), (529, None)] {
            let mut failure = Answer::status(status, "not now");
            if let Some((name, value)) = header {
                failure = failure.header(name, value);
            }
            let server = ModelServer::start(wire, [failure, Answer::text("Now.")]);
            let home = Home::with_model(&server);
            answered(&ask(&home), "Now.");
            let calls = server.wait_for_calls(2);
            let waited = calls[1].received_at - calls[0].received_at;
            let least = if header.is_some() { Duration::from_secs(1) } else { Duration::from_millis(300) };
            assert!(waited >= least, "{status}: only {waited:?}");
        }
    }
}

#[test]
fn a_wait_for_the_service_is_announced() {
    let server = ModelServer::start(
        Wire::Anthropic,
        [Answer::status(429, "slow").header("retry-after", "1"), Answer::text("Now.")],
    );
    let finished = ask(&Home::with_model(&server));
    let events = events(&finished);
    assert!(
        events.iter().any(|event| event["type"] == "notice" && event["kind"].to_string().contains("retry")),
        "{finished:?}"
    );
}

#[test]
fn a_wait_for_the_service_shows_how_long_it_is_until_the_answer_starts() {
    let limited = Answer::status(429, "slow").header("retry-after", "2");
    let server = ModelServer::start(Wire::OpenAiChat, [limited, Answer::text("Now.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? go");
    shell.wait_text("Trying again in 2 s: ");
    shell.wait_text("Trying again in 1 s: ");
    shell.wait_next_prompt(mark);
    let screen = shell.look(cohab_e2e::terminal::View::history);
    assert!(screen.contains("Now.") && !screen.contains("Trying again"), "{screen}");
}

#[test]
fn an_overload_that_stays_is_an_error_after_a_few_tries() {
    let server = ModelServer::respond_with(Wire::OpenAiChat, |_| {
        Answer::status(500, "broken inside").header("retry-after-ms", "20")
    });
    let finished = ask(&Home::with_model(&server));
    assert!(failed(&finished).contains("broken inside"), "{finished:?}");
    assert_eq!(server.requests().len(), 3, "one try and two retries");
}

#[test]
fn a_refusal_of_the_service_is_not_repeated() {
    for status in [400, 401, 403, 404, 413] {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::status(status, "no such thing")]);
        failed(&ask(&Home::with_model(&server)));
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[test]
fn a_stream_cut_before_anything_was_shown_is_repeated_silently() {
    for wire in Wire::ALL {
        for failure in [Answer::text("lost").cut_after(0), Answer::closed()] {
            let server = ModelServer::start(wire, [failure, Answer::text("Whole.")]);
            answered(&ask(&Home::with_model(&server)), "Whole.");
            assert_eq!(server.wait_for_calls(2).len(), 2);
        }
    }
}

#[test]
fn a_stream_cut_after_text_gives_one_copy_of_the_text() {
    for wire in Wire::ALL {
        let server =
            ModelServer::start(wire, [Answer::text("One two three.").cut_after(4), Answer::text("One two three.")]);
        answered(&ask(&Home::with_model(&server)), "One two three.");
        assert_eq!(server.wait_for_calls(2).len(), 2);
    }
}

#[test]
fn a_cut_or_error_after_a_tool_ran_never_runs_it_again() {
    for wire in Wire::ALL {
        let broken: [fn(Answer) -> Answer; 2] = [|answer| answer.cut_after(4), |answer| answer.error_after(4)];
        for broken in broken {
            let server = ModelServer::start(
                wire,
                [Answer::bash("echo ran >> ran.txt"), broken(Answer::text("It ran well today."))],
            );
            let home = Home::with_model(&server);
            home.open_sandbox();
            failed(&ask(&home));
            assert_eq!(fs::read_to_string(home.path("ran.txt")).expect("it ran"), "ran\n");
        }
    }
}

#[test]
fn a_call_whose_answer_was_cut_is_not_executed() {
    for wire in Wire::ALL {
        // All arguments arrived, but not the mark that ends the answer.
        let server = ModelServer::respond_with(wire, |_| Answer::bash("touch made.txt").cut_before_mark());
        let home = Home::with_model(&server);
        failed(&ask(&home));
        assert!(!home.path("made.txt").exists(), "{wire:?}");
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_told() {
    for wire in Wire::ALL {
        let server = ModelServer::respond_with(wire, |_| Answer::text("Half of it").error_after(3));
        let message = failed(&ask(&Home::with_model(&server)));
        assert!(message.contains("upstream broke"), "{message}");
    }
}

#[test]
fn a_conversation_that_is_too_long_says_what_to_do_and_the_shell_lives() {
    let texts = [
        (Wire::Anthropic, "prompt is too long: 213000 tokens > 200000 maximum"),
        (
            Wire::OpenAiChat,
            "This model's maximum context length is 8192 tokens. Your messages resulted in 9000 tokens.",
        ),
    ];
    for (wire, text) in texts {
        let server = ModelServer::start(wire, [Answer::status(400, text), Answer::text("Short now.")]);
        let home = Home::with_model(&server);
        let shell = home.cohab();
        let mark = shell.submit("? go");
        shell.wait_next_prompt(mark);
        let screen = shell.look(cohab_e2e::terminal::View::history);
        let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        // To the end, as none of the server's text may follow; its address comes before.
        let told = "says that the conversation is too long for the model \
            Hint: start a new shell session, or ask with less context ready$";
        assert!(screen.ends_with(told) && !screen.contains("tokens"), "{screen}");
        shell.ask("again", "Short now.");
    }
}

#[test]
fn a_stall_ends_at_its_limit_and_the_message_names_it() {
    for wire in Wire::ALL {
        let server = ModelServer::respond_with(wire, |_| Answer::text("Half of it").stall_after(3));
        let home = Home::with_model(&server);
        home.write_config("[model]\nretries = 0\n[model.timeouts]\nbyte_idle_ms = 400\n");
        let message = failed(&ask(&home));
        assert!(message.contains("sent nothing for 400ms"), "{message}");
        assert!(server.wait_until_quiet() < Duration::from_secs(1));
    }
}

#[test]
fn a_page_instead_of_an_answer_is_recognised() {
    let server = ModelServer::respond_with(Wire::OpenAiChat, |_| Answer::html(404));
    let finished = ask(&Home::with_model(&server));
    let message = failed(&finished);
    assert!(!message.contains('<'), "{message}");
    assert!(finished.stdout.contains("base URL") || finished.stdout.contains("base_url"), "{finished:?}");
}

#[test]
fn nobody_listening_is_an_error_that_names_the_address() {
    let url = ModelServer::start(Wire::OpenAiChat, []).base_url();
    let home = Home::new()
        .env("COHAB_PROVIDER", "openai-chat")
        .env("COHAB_BASE_URL", &url)
        .env("COHAB_API_KEY", "sk-x")
        .env("COHAB_MODEL", "m");
    let message = failed(&ask(&home));
    assert!(message.contains("127.0.0.1"), "{message}");
}

#[test]
fn parallel_calls_are_all_answered() {
    for wire in Wire::ALL {
        let calls = (1..=3).fold(Answer::text("Three at once. "), |answer, number| {
            answer.and_call("bash", &json!({ "command": format!("echo result-{number}") }))
        });
        let server = ModelServer::start(wire, [calls.arguments_in_pieces_of(3), Answer::text("Good.")]);
        let finished = ask(&Home::with_model(&server));
        answered(&finished, "Three at once. Good.");
        let results = server.wait_for_calls(2)[1].tool_results();
        let expected: Vec<_> = (1..=3).map(|number| (format!("call_{number}"), format!("result-{number}"))).collect();
        assert_eq!(results.len(), 3, "{results:?}");
        for (result, (id, content)) in results.iter().zip(expected) {
            assert!(result.call_id == id && result.content.contains(&content), "{results:?}");
        }
    }
}

#[test]
fn a_request_keeps_the_bytes_of_the_one_before() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [Answer::bash("echo a"), Answer::bash("echo b"), Answer::text("Good.")]);
        answered(&ask(&Home::with_model(&server)), "Good.");
        let calls = server.wait_for_calls(3);
        let tools: Vec<_> = calls.iter().map(|call| call.body["tools"].to_string()).collect();
        assert!(tools.iter().all(|sent| *sent == tools[0]), "tools changed between requests");
        let conversations: Vec<_> = calls.iter().map(cohab_e2e::model_server::Request::conversation).collect();
        assert!(conversations[1].starts_with(conversations[0].trim_end()), "{conversations:#?}");
        assert!(conversations[2].starts_with(conversations[1].trim_end()), "{conversations:#?}");
    }
}
