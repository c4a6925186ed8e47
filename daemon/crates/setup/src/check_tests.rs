use super::*;

fn model(id: &str, tokens: Option<u64>, tools: Option<bool>, loaded: Option<bool>) -> Model {
    Model { id: id.into(), context_window_tokens: tokens, can_call_tools: tools, is_loaded: loaded }
}

#[test]
fn the_proposed_model_is_the_one_most_likely_meant() {
    let models = [
        model("a", None, None, None),
        model("b", None, Some(true), Some(false)),
        model("c", None, Some(true), Some(true)),
    ];
    assert_eq!(best_model(&models, Some("a"), Some("b")), 0);
    assert_eq!(best_model(&models, Some("gone"), Some("b")), 1);
    assert_eq!(best_model(&models, None, None), 2);
    assert_eq!(best_model(&models[..1], None, None), 0);
}

#[test]
fn sizes_are_said_as_people_say_them() {
    for (tokens, text) in [
        (512, "512"),
        (8_192, "8k"),
        (128_000, "128k"),
        (131_072, "128k"),
        (200_000, "200k"),
        (1_000_000, "1M"),
        (1_048_576, "1M"),
        (1_500_000, "1.5M"),
        (2_097_152, "2M"),
    ] {
        assert_eq!(in_thousands(tokens), text, "{tokens}");
    }
    assert_eq!(remark(&model("a", Some(32_768), Some(true), Some(true))), "32k tokens · tools · loaded");
    assert_eq!(remark(&model("a", None, Some(false), Some(false))), "no tools");
}
