use cohab_config::model_roles::TierSettings;

use super::*;

fn model(fallback: &[&str]) -> ModelSettings {
    ModelSettings { fallback: fallback.iter().map(|name| (*name).to_owned()).collect(), ..ModelSettings::default() }
}

fn jobs(low: Option<&str>, high: Option<&str>) -> Jobs {
    let owned = |name: Option<&str>| name.map(str::to_owned);
    let tiers = TierSettings { low: owned(low), medium: None, high: owned(high) };
    let profiles = [("cheap", model(&["local"])), ("big", model(&[])), ("local", model(&[]))];
    let profiles = profiles.into_iter().map(|(name, settings)| (name.to_owned(), settings)).collect();
    Jobs { tiers, profiles, ..Jobs::default() }
}

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn order(jobs: &Jobs, main: &ModelSettings, tier: Option<Tier>, may_climb: bool) -> Vec<String> {
    let names = names(jobs, main, &Variables::new(), tier, may_climb);
    names.into_iter().map(|(name, tier)| format!("{name} {}", tier.name())).collect()
}

#[test]
fn without_tiers_the_main_model_answers_and_then_who_stands_in_for_it() {
    let none = jobs(None, None);
    assert_eq!(order(&none, &model(&[]), None, false), ["default medium"]);
    let main = model(&["cheap", "default", "local"]);
    assert_eq!(order(&none, &main, None, false), ["default medium", "cheap medium", "local medium"]);
    let other = variables(&[("COHAB_PROVIDER", "ollama")]);
    assert_eq!(names(&none, &main, &other, None, false).len(), 1, "what was asked for stays where it is");
}

#[test]
fn a_tier_begins_with_its_own_and_climbs_only_where_the_rules_decide() {
    let both = jobs(Some("cheap"), Some("big"));
    let main = model(&["local"]);
    assert_eq!(order(&both, &main, Some(Tier::Low), true), ["cheap low", "local low", "default medium", "big high"]);
    assert_eq!(order(&both, &main, Some(Tier::Low), false), ["cheap low", "local low"]);
    assert_eq!(order(&both, &main, Some(Tier::Medium), true), ["default medium", "local medium", "big high"]);
    assert_eq!(order(&both, &main, Some(Tier::High), true), ["big high"]);
    assert_eq!(order(&jobs(Some("cheap"), None), &main, Some(Tier::High), true), ["default high", "local high"]);
}

#[test]
fn the_rules_decide_where_there_are_tiers_and_nobody_named_a_model() {
    let (with, without) = (jobs(Some("cheap"), None), jobs(None, None));
    let wish = |jobs: &Jobs, pairs: &[(&str, &str)]| tier_wish(&variables(pairs), jobs);
    assert_eq!(wish(&without, &[]), Ok(None));
    assert_eq!(wish(&without, &[("COHAB_TIER", "auto")]), Ok(None));
    assert_eq!(wish(&with, &[]), Ok(Some(TierWish::Auto)));
    for name in EXPLICIT {
        assert_eq!(wish(&with, &[(name, "x")]), Ok(None), "{name}");
    }
    assert_eq!(wish(&with, &[("COHAB_MODEL", "x"), ("COHAB_TIER", "high")]), Ok(Some(TierWish::Fixed(Tier::High))));
    let missing = wish(&without, &[("COHAB_TIER", "high")]).unwrap_err();
    assert_eq!(missing.to_string(), "no model is set for `high`");
    assert_eq!(missing.hint().as_deref(), Some("`cohab config set tiers.high PROFILE` sets one"));
    assert!(wish(&with, &[("COHAB_TIER", "top")]).is_err());
}

#[test]
fn depth_is_counted_in_calls_and_messages() {
    use cohab_model_api::{AssistantMessage, ToolCall};
    let call = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(serde_json::Map::new().into()) };
    let answer = AssistantMessage { tool_calls: vec![call.clone(), call], ..AssistantMessage::default() };
    let conversation = [Message::user("q".into()), Message::Assistant(answer)];
    let asked = asked("next", &conversation, TierWish::Auto);
    assert_eq!((asked.tool_calls, asked.messages), (2, 2));
}

#[test]
fn a_name_that_the_service_does_not_list_is_an_error() {
    let listed = ["gpt-5", "gpt-5-mini", "claude-sonnet-20260101", "qwen3:latest", "org/m"].map(str::to_owned);
    for name in ["gpt-5", "claude-sonnet", "qwen3", "org/m:free"] {
        assert!(check_name(name, &listed).is_ok(), "{name}");
    }
    for (name, hint) in [
        ("gpt-5-mni", "did you mean `gpt-5-mini`, `gpt-5`? `cohab models` lists its models"),
        ("mini", "did you mean `gpt-5-mini`? `cohab models` lists its models"),
        ("list", "`cohab models` lists its models"),
        ("nosuch", "`cohab models` lists its models"),
    ] {
        let Err(TurnError::Settings { message, hint: found }) = check_name(name, &listed) else { panic!("{name}") };
        assert_eq!(message, format!("the service has no model `{name}`; nothing was changed"));
        assert_eq!(found.as_deref(), Some(hint), "{name}");
    }
}
