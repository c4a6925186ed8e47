use cohab_model_api::ProviderErrorKind as Kind;

use super::*;

/// Body of a refusal with this text.
fn says(status: u16, text: &str) -> ErrorBody {
    let body = serde_json::json!({"error": {"message": text}});
    ErrorBody::from_bytes(status, body.to_string().as_bytes())
}

/// A text, and the tokens of prompt and window in it.
type Case = (&'static str, Option<u64>, Option<u64>);

const TOO_LONG_PROMPTS: &[Case] = &[
    ("prompt is too long: 208,310 tokens > 200,000 maximum", Some(208_310), Some(200_000)),
    ("input length and `max_tokens` exceed context limit: 199990 + 21333 > 200000", Some(199_990), Some(200_000)),
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens (8000 in the messages, 1001 in the functions).",
        Some(9001),
        Some(8192),
    ),
    (
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion).",
        Some(66_000),
        Some(65_536),
    ),
    (
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 of tool input).",
        Some(40_000),
        Some(32_768),
    ),
    (
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 49000 tokens (33000 of text input, 16000 in the output).",
        Some(33_000),
        Some(32_768),
    ),
    (
        "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
        Some(5000),
        Some(4096),
    ),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", Some(5000), Some(4096)),
    ("Your input exceeds the context window of this model.", None, None),
    (
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        Some(1_200_000),
        Some(1_048_576),
    ),
    ("The input token count exceeds the maximum number of tokens allowed 1048576.", None, Some(1_048_576)),
    ("the request exceeds the available context size. try increasing it", None, None),
    (
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        Some(5000),
        Some(4096),
    ),
    (
        "Trying to keep the first 5000 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens",
        Some(5000),
        Some(4096),
    ),
    ("The number of tokens to keep from the initial prompt is greater than the context length.", None, None),
    ("prompt too long; exceeded max context length by 904 tokens", None, None),
    (
        "The total length of all messages in the request (133000 tokens) exceeds the limit of 127072 tokens",
        Some(133_000),
        Some(127_072),
    ),
    ("Input is too long for requested model.", None, None),
    ("Input Tokens Exceeded: number of input tokens (9000) exceeds the maximum 8192", Some(9000), Some(8192)),
    (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
        Some(5000),
        Some(4081),
    ),
    (
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        Some(140_000),
        Some(131_072),
    ),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        Some(40_000),
        Some(32_768),
    ),
    (
        "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 512 `max_new_tokens`",
        Some(5000),
        Some(4097),
    ),
    ("Your request exceeded model token limit: 8192 (requested: 9000)", Some(9000), Some(8192)),
    ("prompt token count of 70000 exceeds the limit of 64000", Some(70_000), Some(64_000)),
    ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", Some(5000), Some(4096)),
    ("Context size has been exceeded.", None, None),
];

#[test]
fn every_wording_is_known_and_its_sizes_are_read() {
    for (text, prompt_tokens, window_tokens) in TOO_LONG_PROMPTS.iter().copied() {
        for status in [400, 500] {
            let body = says(status, text);
            assert_eq!(body.kind(), Kind::ContextOverflow, "{status} {text}");
            assert_eq!(body.sizes(), Overflow { prompt_tokens, window_tokens }, "{text}");
            assert_eq!(body.answer_room_tokens(), None, "{text}");
        }
    }
}

#[test]
fn codes_and_fields_tell_it_as_well_as_texts() {
    for body in [
        r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
        r#"{"error":{"type":"too_many_prompt_tokens","message":"x"}}"#,
        r#"{"error":{"type":"request_too_large","message":"x"}}"#,
        r#"{"message":"x","code":"TOO_MANY_TOKENS"}"#,
    ] {
        assert_eq!(ErrorBody::from_bytes(400, body.as_bytes()).kind(), Kind::ContextOverflow, "{body}");
    }
    let local = br#"{"error":{"code":400,"message":"x","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#;
    let body = ErrorBody::from_bytes(400, local);
    assert_eq!(body.kind(), Kind::ContextOverflow);
    assert_eq!(body.sizes(), Overflow { prompt_tokens: Some(5000), window_tokens: Some(4096) });
}

#[test]
fn an_answer_that_may_be_too_long_is_no_prompt_that_is() {
    let cases = [
        ("input length and `max_tokens` exceed context limit: 180000 + 21333 > 200000", 18_750),
        ("max_tokens: 56000 > 32000, which is the maximum allowed number of output tokens for m", 32_000),
        ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens", 16_384),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("`max_completion_tokens` must be less than or equal to `8192`", 8192),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).",
            2993,
        ),
    ];
    for (text, room) in cases {
        let body = says(400, text);
        let limit = body.longest_answer_tokens().or(body.answer_room_tokens());
        assert_eq!((body.kind(), limit), (Kind::InvalidRequest, Some(room)), "{text}");
    }
    assert_eq!(says(400, "`max_tokens` exceed context limit").kind(), Kind::InvalidRequest);
}

#[test]
fn too_many_tokens_a_minute_is_a_rate_and_a_request_beyond_the_rate_is_too_long() {
    assert_eq!(says(429, "Too many tokens, please wait before trying again.").kind(), Kind::RateLimit);
    assert_eq!(says(429, "Rate limit reached: Limit 10000, Used 8000, Requested 3000.").kind(), Kind::RateLimit);
    let beyond = says(429, "Request too large for m on tokens per min (TPM): Limit 10000, Requested 12000.");
    assert_eq!(beyond.kind(), Kind::ContextOverflow);
    assert_eq!(beyond.sizes(), Overflow { prompt_tokens: Some(12_000), window_tokens: Some(10_000) });
}

proptest::proptest! {
    #[test]
    fn any_number_in_any_wording_is_read_without_harm(text in "(prompt is too long: |maximum context length is |requested |> )?[0-9,_]{0,30}[ -~]{0,60}") {
        let body = says(400, &text);
        let _ = (body.sizes(), body.answer_room_tokens(), body.longest_answer_tokens(), body.kind());
    }
}
