use super::*;
use crate::model_roles::{Role, Tier};

fn settings(text: &str) -> Settings {
    toml::from_str(text).expect("settings")
}

fn name_of(settings: &Settings, asked: Option<&str>) -> Result<Option<String>, UnknownProfile> {
    settings.model_of(asked).map(|model| model.name)
}

const FILE: &str = "profile = 'work'\n[model]\nname = 'own'\napi_key = 'sk'\nretries = 1\n\
    timeouts = { connect_ms = 1, headers_ms = 2 }\n[profiles.work]\nname = 'big'\ntimeouts.connect_ms = 7\n\
    [profiles.home]\nname = 'small'\nretries = 9\n";

#[test]
fn the_nearest_choice_of_profile_wins() {
    let settings = settings(FILE);
    for (asked, name) in [(None, "big"), (Some(""), "big"), (Some("home"), "small"), (Some("default"), "own")] {
        assert_eq!(name_of(&settings, asked).unwrap().as_deref(), Some(name), "{asked:?}");
    }
    assert_eq!(settings.model_of(Some("home")).unwrap().table(), "[profiles.home]");
    assert_eq!(settings.model_of(Some("default")).unwrap().table(), "[model]");
}

#[test]
fn a_profile_replaces_the_model_but_for_the_line() {
    let settings = settings(FILE);
    let work = settings.model_of(None).unwrap();
    assert!(work.api_key.is_none(), "a key goes nowhere else");
    assert_eq!((work.retries, work.timeouts.connect_ms, work.timeouts.headers_ms), (Some(1), Some(7), Some(2)));
    assert_eq!(settings.model_of(Some("home")).unwrap().retries, Some(9));
}

#[test]
fn an_unknown_profile_is_an_error_that_lists_them() {
    let error = settings(FILE).model_of(Some("wrok\u{7}")).unwrap_err();
    assert_eq!(error.to_string(), "there is no profile `wrok`");
    assert_eq!(error.hint, "did you mean `work`? profiles: `home`, `work`, `default`");
    let error = settings("").model_of(Some("x")).unwrap_err();
    assert!(error.hint.contains("cohab setup --profile x"), "{}", error.hint);
}

#[test]
fn tiers_roles_and_fallbacks_name_profiles() {
    let settings = settings(
        "[model]\nfallback = ['home']\n[tiers]\nlow = 'home'\n[roles]\ncompactor = 'home'\n[profiles.home]\n[profiles.work]",
    );
    assert_eq!(settings.tiers.profile(Tier::Low), Some("home"));
    assert_eq!(settings.roles.get(&Role::Compactor).map(String::as_str), Some("home"));
    assert_eq!(settings.model_of(None).unwrap().fallback, ["home"]);
    assert!(
        settings.model_of(Some("work")).unwrap().fallback.is_empty(),
        "what a profile falls back to it says itself"
    );
}
