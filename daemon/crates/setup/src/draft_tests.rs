use secrecy::ExposeSecret;

use super::*;

fn shown(changes: &[Change]) -> Vec<String> {
    let show = |change: &Change| match change {
        Change::Set(key, value) => format!("{} = {}", key.name, keys::plain(value)),
        Change::Unset(key) => format!("no {}", key.name),
    };
    changes.iter().map(show).collect()
}

#[test]
fn a_draft_replaces_what_was_said_of_the_service_before() {
    let key = DraftKey::Secret("sk-1".to_owned().into());
    let draft = Draft { provider: "openai".into(), key, model: Some("m".into()), ..Draft::default() };
    let changes = shown(&draft.changes(Some(KeyStore::Keyring), false));
    assert_eq!(
        changes,
        [
            "model.provider = openai",
            "no model.base_url",
            "model.name = m",
            "no model.api_key_env",
            "no model.key_command",
            "no model.api_key",
            "model.key_store = keyring",
            "no model.context_window_tokens",
            "no model.reasoning_effort",
            "no model.temperature",
            "no model.max_output_tokens",
        ]
    );
    assert_eq!(draft.changes(None, true).len(), 7, "what was said of the same model stays");
    let told = Draft { context_window_tokens: Some(32_768), ..draft.clone() };
    assert_eq!(
        shown(&told.changes(None, false)).last().map(String::as_str),
        Some("model.context_window_tokens = 32768")
    );
    let absurd = Draft { context_window_tokens: Some(u64::MAX), ..draft.clone() };
    assert_eq!(absurd.changes(None, true).len(), 7, "no size that the settings would refuse");
    let work = Draft { profile: Some("work".into()), key: DraftKey::Variable("WORK_KEY".into()), ..draft };
    let changes = shown(&work.changes(None, true));
    assert!(changes.contains(&"profiles.work.api_key_env = WORK_KEY".into()), "{changes:?}");
    assert!(changes.contains(&"no profiles.work.key_store".into()), "{changes:?}");
}

#[test]
fn the_settings_for_the_trial_have_the_key_at_hand() {
    let key = DraftKey::Secret("sk-1".to_owned().into());
    let draft = Draft { provider: "openai".into(), key, profile: Some("work".into()), ..Draft::default() };
    let settings = draft.settings(&ModelSettings { retries: Some(3), ..ModelSettings::default() });
    assert_eq!(settings.api_key.as_ref().map(ExposeSecret::expose_secret), Some("sk-1"));
    assert_eq!((settings.key_store, settings.table().as_str()), (None, "[profiles.work]"));
    assert!(!format!("{settings:?}{draft:?}").contains("sk-1"));
}

#[test]
fn what_cannot_be_a_key_is_said_so() {
    assert!(check_key("sk-ant-1_2.3=").is_ok());
    for text in ["", "sk 1", "sk\u{a0}1", "export KEY=1 2"] {
        assert!(check_key(text).is_err(), "{text:?}");
    }
}
