//! A user's change to how the current shell is attached to the daemon. The change affects that shell only. Pure.

use cohab_protocol::{ApprovalMode, Attach, EnvSetting};

const MODEL: &str = "COHAB_MODEL";
const TIER: &str = "COHAB_TIER";
/// Tiers of questions, and what leaves the tier to the rules.
const TIERS: [&str; 4] = ["low", "medium", "high", "auto"];
const PROFILE: &str = "COHAB_PROFILE";
/// What a profile begins with, where a model could stand.
pub(crate) const PROFILE_PREFIX: &str = "profile:";
/// What stands for how it was in the beginning.
pub(crate) const INITIAL: &str = "default";

/// Who is to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelWish {
    /// Another model, as its service calls it.
    Named(String),
    /// What a profile of the settings says.
    Profile(String),
    /// The model of a tier, or `auto`: by question.
    Tier(String),
    /// As it was when the shell began.
    Initial,
}

impl ModelWish {
    /// From what the user wrote: a name, `profile:NAME`, a tier, `auto` or `default`. `None` if that is no name.
    #[must_use]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
        match text.strip_prefix(PROFILE_PREFIX) {
            Some(name) => is_name(name).then(|| Self::Profile(name.to_owned())),
            None if text == INITIAL => Some(Self::Initial),
            None if TIERS.contains(&text) => Some(Self::Tier(text.to_owned())),
            None => is_name(text).then(|| Self::Named(text.to_owned())),
        }
    }
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionOverride {
    /// Of who answers.
    Model(ModelWish),
    /// Of what may run unasked.
    Approval(ApprovalMode),
}

impl SessionOverride {
    /// Makes the change; `initial` are the settings as they were when the shell began.
    pub fn apply(&self, attach: &mut Attach, initial: &[EnvSetting]) {
        match self {
            Self::Approval(mode) => attach.approval = *mode,
            Self::Model(wish) => {
                let settings = &mut attach.settings;
                match wish {
                    ModelWish::Named(name) => {
                        settings.retain(|setting| setting.name != TIER);
                        put(settings, MODEL, name);
                    }
                    ModelWish::Tier(name) => {
                        settings.retain(|setting| setting.name != MODEL && setting.name != PROFILE);
                        put(settings, TIER, name);
                    }
                    ModelWish::Profile(name) => {
                        settings.retain(|setting| setting.name != MODEL && setting.name != TIER);
                        put(settings, PROFILE, name);
                    }
                    ModelWish::Initial => *settings = initial.to_vec(),
                }
            }
        }
    }
}

fn put(settings: &mut Vec<EnvSetting>, name: &str, value: &str) {
    settings.retain(|setting| setting.name != name);
    settings.push(EnvSetting { name: name.to_owned(), value: value.to_owned() });
    settings.sort_by(|a, b| a.name.cmp(&b.name));
}

#[cfg(test)]
mod tests {
    use cohab_protocol::SessionKey;

    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Vec<EnvSetting> {
        pairs.iter().map(|(name, value)| EnvSetting { name: (*name).into(), value: (*value).into() }).collect()
    }

    #[test]
    fn names_profiles_and_the_beginning_are_told_apart() {
        assert_eq!(ModelWish::parse("gpt-5"), Some(ModelWish::Named("gpt-5".into())));
        assert_eq!(ModelWish::parse("qwen3:8b"), Some(ModelWish::Named("qwen3:8b".into())));
        assert_eq!(ModelWish::parse("profile:work"), Some(ModelWish::Profile("work".into())));
        assert_eq!(ModelWish::parse("high"), Some(ModelWish::Tier("high".into())));
        assert_eq!(ModelWish::parse("default"), Some(ModelWish::Initial));
        for text in ["", "two words", "profile:", "a\u{7}b"] {
            assert_eq!(ModelWish::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_change_touches_only_what_it_is_about() {
        let initial = settings(&[("COHAB_MODEL", "first"), ("OPENAI_API_KEY", "sk")]);
        let mut attach = Attach {
            session: SessionKey("shell:1".into()),
            live_shell: None,
            approval: ApprovalMode::Ask,
            can_approve: true,
            has_lock: false,
            settings: initial.clone(),
            environment: Vec::new(),
            resume: None,
        };
        let mut change = |change: SessionOverride| {
            change.apply(&mut attach, &initial);
            (attach.settings.clone(), attach.approval)
        };
        let model = |wish| SessionOverride::Model(wish);
        let named = settings(&[("COHAB_MODEL", "other"), ("OPENAI_API_KEY", "sk")]);
        assert_eq!(change(model(ModelWish::Named("other".into()))), (named.clone(), ApprovalMode::Ask));
        assert_eq!(change(SessionOverride::Approval(ApprovalMode::All)), (named, ApprovalMode::All));
        let tier = settings(&[("COHAB_TIER", "low"), ("OPENAI_API_KEY", "sk")]);
        assert_eq!(change(model(ModelWish::Tier("low".into()))).0, tier);
        let profile = settings(&[("COHAB_PROFILE", "work"), ("OPENAI_API_KEY", "sk")]);
        assert_eq!(change(model(ModelWish::Profile("work".into()))), (profile, ApprovalMode::All));
        assert_eq!(change(model(ModelWish::Initial)), (initial.clone(), ApprovalMode::All));
    }
}
