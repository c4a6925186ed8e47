use serde_json::json;

use super::*;

#[test]
fn the_base_works_in_every_spelling() {
    for base in [
        "http://h:1",
        "http://h:1/",
        "http://h:1/api",
        "http://h:1/api/chat",
        "http://h:1/v1/",
        "http://h:1/v1/chat/completions",
    ] {
        let base = Url::parse(base).expect("a URL");
        assert_eq!(Ollama.url(&base, &Options::default()).as_str(), "http://h:1/api/chat", "{base}");
        assert_eq!(Ollama.models_url(&base).as_str(), "http://h:1/api/tags", "{base}");
    }
    let below = Url::parse("https://h/ollama/v1").expect("a URL");
    assert_eq!(Ollama.url(&below, &Options::default()).as_str(), "https://h/ollama/api/chat");
}

#[test]
fn a_key_is_a_bearer_and_no_key_is_no_header() {
    let headers = Ollama.headers(Some(&SecretString::from("key-1".to_owned())), &BTreeSet::new());
    assert_eq!(headers["authorization"], "Bearer key-1");
    assert!(headers["authorization"].is_sensitive());
    assert!(Ollama.headers(None, &BTreeSet::new()).is_empty());
}

#[test]
fn refused_requests_have_a_remedy() {
    let remedy = |status, text: &str| {
        Ollama.remedy(&ErrorBody::from_bytes(status, json!({"error": text}).to_string().as_bytes()))
    };
    let no_tools = "registry.ollama.ai/library/m:latest does not support tools";
    assert_eq!(remedy(400, no_tools), Some(Quirk::NoTools));
    assert_eq!(remedy(400, "\"m\" does not support thinking"), Some(Quirk::NoReasoningEffort));
    assert_eq!(
        remedy(400, "json: cannot unmarshal string into Go struct field .think of type bool"),
        Some(Quirk::NoReasoningEffort)
    );
    assert_eq!(remedy(400, "invalid options"), None);
    assert_eq!(remedy(404, "model \"think\" not found, try pulling it first"), None);
}

#[test]
fn the_list_has_the_names_without_those_that_only_embed() {
    let list =
        json!({"models": [{"name": "m:8b", "size": 1}, {"name": "nomic-embed-text:latest"}, {"model": "n"}, {}, 7]});
    let ids: Vec<String> = Ollama.models(&list).into_iter().map(|model| model.id).collect();
    assert_eq!(ids, ["m:8b", "n"]);
    assert_eq!(Ollama.models(&json!([])), []);
}
