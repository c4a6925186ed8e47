use super::*;

fn fault(text: &str) -> (String, usize) {
    let error = ModelTable::parse(text).expect_err("a fault");
    (error.message().to_owned(), error.span().map_or(0, |span| span.start))
}

#[test]
fn the_table_of_this_release_can_be_read_and_holds_no_price() {
    let known = ModelTable::parse(include_str!("known_models.toml")).expect("it is sound");
    assert!(!known.model.is_empty());
    for entry in &known.model {
        let host = "any.example";
        assert!(known.context_window_tokens(host, &entry.pattern.0.replace('*', "-x")).is_some(), "{entry:?}");
        assert_eq!(known.prices(host, &entry.pattern.0), None, "{entry:?}");
    }
}

#[test]
fn the_users_entries_go_before_those_of_the_release_field_by_field() {
    let mine = ModelTable::parse(
        r#"
        [[model]]
        match = "GPT-4.1-mini"
        input_usd_per_mtok = 0.4
        output_usd_per_mtok = 1.6

        [[model]]
        match = "gpt-4.1*"
        host = "gateway.example:*"
        context_window_tokens = 64000
        "#,
    )
    .expect("it is sound");
    let window = |host, model| mine.context_window_tokens(host, model);
    assert_eq!(window("gateway.example:443", "gpt-4.1-mini"), Some(64_000));
    assert_eq!(window("api.openai.com:443", "gpt-4.1-mini"), Some(1_047_576));
    assert_eq!(window("openrouter.example", "anthropic/claude-some-4"), Some(200_000));
    assert_eq!(window("h", "nobody-knows-7b"), None);
    assert!(mine.prices("h", "openai/gpt-4.1-mini").is_some());
    assert_eq!(mine.prices("h", "gpt-4.1"), None);
}

#[test]
fn a_star_stands_for_anything() {
    for (pattern, text, matches) in [
        ("gpt", "gpt", true),
        ("gpt", "gpt-4", false),
        ("gpt*", "gpt", true),
        ("*", "", true),
        ("*mini", "gpt-mini", true),
        ("*mini", "mini-gpt", false),
        ("a*b*c", "a1b2c", true),
        ("a*b*c", "a1c2b", false),
        ("a*a", "a", false),
        ("a**b", "ab", true),
        ("llama*", "meta/Llama-3", true),
        ("meta/*", "meta/llama-3", true),
    ] {
        let pattern = Pattern::try_from(pattern.to_owned()).expect("a pattern");
        assert_eq!(pattern.matches(text), matches, "{pattern:?} {text}");
    }
}

#[test]
fn a_cost_is_exact_and_unknown_without_its_figures() {
    let table = ModelTable::parse(
        "[[model]]\nmatch = \"m\"\ninput_usd_per_mtok = 3\noutput_usd_per_mtok = 15.0\ncache_read_usd_per_mtok = 0.3",
    )
    .expect("it is sound");
    let prices = table.prices("h", "m").expect("prices");
    let usage = TokenUsage {
        input: Some(1_000),
        output: Some(200),
        cache_read: Some(10_000),
        cache_write: Some(100),
        ..TokenUsage::default()
    };
    assert_eq!(prices.cost_microusd(&usage), Some(3_000 + 3_000 + 3_000 + 300));
    assert_eq!(prices.cost_microusd(&TokenUsage { output: None, ..usage }), None);
    assert_eq!(prices.cost_microusd(&TokenUsage { input: None, ..usage }), None);
    let only_input = ModelTable::parse("[[model]]\nmatch = \"m\"\ninput_usd_per_mtok = 3").expect("it is sound");
    assert_eq!(only_input.prices("h", "m"), None);
}

#[test]
fn faults_say_what_and_where() {
    let price = "[[model]]\nmatch = \"m\"\ninput_usd_per_mtok = -1";
    let (message, at) = fault(price);
    assert_eq!(message, "a price must be from 0 to 100000 dollars for a million tokens, not -1");
    assert_eq!(&price[at..], "-1");
    for (text, part) in [
        ("[[model]]\nmatch = \" \"", "must not be empty"),
        ("[[model]]\nmatch = \"m\"\ninput_usd_per_mtok = nan", "a price must be"),
        ("[[model]]\nmatch = \"m\"\ncontext_window_tokens = 12", "a context must be from 1024"),
        ("[[model]]\ncontext_window_tokens = 4096", "missing field `match`"),
        ("[[model]]\nmatch = \"m\"\nprice = 3", "unknown field `price`"),
        ("[[models]]\nmatch = \"m\"", "unknown field `models`"),
        ("[[model]\n", ""),
    ] {
        assert!(fault(text).0.contains(part), "{text}: {:?}", fault(text));
    }
}
