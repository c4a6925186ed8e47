use serde_json::json;

use super::*;

fn url(base: &str, model: &str) -> String {
    let base = Url::parse(base).expect("a URL");
    Gemini.url(&base, &Options { model, ..Options::default() }).to_string()
}

#[test]
fn the_base_works_in_every_spelling() {
    for base in
        ["http://h:1", "http://h:1/", "http://h:1/v1beta", "http://h:1/v1beta/models/", "http://h:1/v1beta/openai/"]
    {
        assert_eq!(url(base, "m"), "http://h:1/v1beta/models/m:streamGenerateContent?alt=sse", "{base}");
        let list = Gemini.models_url(&Url::parse(base).expect("a URL"));
        assert_eq!(list.as_str(), "http://h:1/v1beta/models?pageSize=1000", "{base}");
    }
    assert_eq!(url("http://h:1/v1?x=1", "models/m"), "http://h:1/v1/models/m:streamGenerateContent?x=1&alt=sse");
    assert_eq!(
        url("https://h/v1/projects/p/locations/l/publishers/google", "m"),
        "https://h/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse"
    );
}

#[test]
fn the_key_goes_into_a_masked_header_and_never_into_the_address() {
    let headers = Gemini.headers(Some(&SecretString::from("AIza-1".to_owned())), &BTreeSet::new());
    assert_eq!((headers.len(), headers["x-goog-api-key"].as_bytes()), (1, &b"AIza-1"[..]));
    assert!(headers["x-goog-api-key"].is_sensitive());
    assert!(Gemini.headers(None, &BTreeSet::new()).is_empty());
}

#[test]
fn refused_requests_have_a_remedy() {
    let remedy = |text: &str| {
        let body = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": text}});
        Gemini.remedy(&ErrorBody::from_bytes(400, body.to_string().as_bytes()))
    };
    for text in
        ["Corrupted thought signature.", "Invalid `thought_signature` in part 2", "Thought signature is not valid"]
    {
        assert_eq!(remedy(text), Some(Quirk::NoThoughtSignatures), "{text}");
    }
    let missing = "Function call is missing a thought_signature in functionCall parts.";
    assert_eq!(remedy(missing), Some(Quirk::StandInSignatures));
    assert_eq!(remedy("Budget 0 is invalid. This model only works in thinking mode."), Some(Quirk::NoReasoningEffort));
    assert_eq!(remedy("Request contains an invalid argument."), None);
    assert_eq!(remedy("The input token count (9) exceeds the maximum number of tokens allowed (8)."), None);
}

#[test]
fn the_list_leaves_out_what_cannot_converse() {
    let list = json!({"models": [
        {"name": "models/g-1", "inputTokenLimit": 1_000_000, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
        {"name": "tunedModels/mine", "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"displayName": "nameless"}, 7,
    ]});
    let model = |id: &str, window| Model { id: id.to_owned(), context_window_tokens: window, ..Model::default() };
    assert_eq!(Gemini.models(&list), [model("g-1", Some(1_000_000)), model("tunedModels/mine", None)]);
    assert_eq!(Gemini.models(&json!({"error": {}})), []);
}
