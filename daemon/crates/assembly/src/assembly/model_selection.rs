//! Model selection: picks the main model of a turn, or another one by the tier of the question, each with its fallbacks.

use std::sync::{Arc, PoisonError};

use cohab_agent::{TurnError, port::Approver};
use cohab_config::{
    keys,
    model_roles::{Tier, TierWish},
    model_settings::ModelSettings,
    profile,
};
use cohab_model_api::{Message, ModelInfo, ModelProvider};
use cohab_models::{
    fallback::{Candidate, FallbackChain},
    resolution::{Choice, ChoiceError},
};
use cohab_session::TurnParts;
use cohab_text::sanitize::one_line;
use cohab_types::environment::Variables;
use futures::FutureExt as _;

use super::{Assembly, Jobs, Resolved, model_pool::ModelPool};
use crate::tier_rules::{Asked, judge};

/// Variables that name a model explicitly.
const EXPLICIT: [&str; 4] = ["COHAB_PROFILE", "COHAB_MODEL", "COHAB_PROVIDER", "COHAB_BASE_URL"];

/// Names that a wrong name of a model is compared with in its error.
const NEAREST_NAMES: usize = 3;
/// Longest shown name of a model.
const NAME_MAX_CHARS: usize = 60;

/// The models of a turn.
pub(super) struct Answering {
    pub provider: Arc<dyn ModelProvider>,
    /// The same, where others may take over.
    pub fallback: Option<Arc<FallbackChain>>,
}

impl Assembly {
    /// Picks the models. Asks the user where that is needed.
    pub(super) async fn answering(
        &self,
        resolved: &Resolved,
        parts: &TurnParts,
        approver: &dyn Approver,
    ) -> Result<Answering, TurnError> {
        let Resolved { settings, choice, pool } = resolved;
        let wish = tier_wish(&parts.session.variables(), &settings.jobs)?;
        let tier = wish.map(|wish| {
            let conversation = parts.memory.conversation.lock().unwrap_or_else(PoisonError::into_inner);
            let (tier, reason) = judge(&asked(&parts.question, &conversation, wish));
            tracing::info!(tier = tier.name(), reason, "the question's tier");
            tier
        });
        let may_climb = wish == Some(TierWish::Auto);
        let names = names(&settings.jobs, &settings.model, &parts.session.variables(), tier, may_climb);
        let main = main_name(&settings.model);
        let is_main_first = names.first().is_some_and(|(name, _)| *name == main);
        let settled = if is_main_first { Some(self.settle(choice.clone(), parts, approver).await) } else { None };
        if let ([_], Some(provider)) = (&names[..], &settled) {
            return Ok(Answering { provider: Arc::clone(provider), fallback: None });
        }
        let ready = settled.or_else(|| match choice {
            Choice::Ready(provider) => Some(Arc::clone(provider)),
            // The user did not agree to it.
            Choice::AskLocal { .. } => None,
        });
        let candidates = names.into_iter().map(|(name, tier)| {
            let own = ready.clone().filter(|_| name == main);
            candidate(name, tier, own, pool)
        });
        let fallback = FallbackChain::start(candidates.collect(), Arc::clone(&pool.cooldowns)).await;
        let fallback = Arc::new(fallback.map_err(|message| TurnError::Settings { message, hint: None })?);
        Ok(Answering { provider: Arc::clone(&fallback) as _, fallback: Some(fallback) })
    }

    /// The model for a question that is neither simple nor hard.
    pub(super) async fn usual(
        &self,
        resolved: &Resolved,
        variables: &Variables,
    ) -> Result<(Option<Arc<dyn ModelProvider>>, Option<TierWish>), TurnError> {
        let wish = tier_wish(variables, &resolved.settings.jobs)?;
        let tier = match wish {
            Some(TierWish::Fixed(tier)) => tier,
            Some(TierWish::Auto) => Tier::Medium,
            None => return Ok((None, None)),
        };
        let Some(name) = resolved.settings.jobs.tiers.profile(tier) else { return Ok((None, wish)) };
        if name == main_name(&resolved.settings.model) {
            return Ok((None, wish));
        }
        let provider = resolved.pool.provider(name).await;
        let wrong = |error: ChoiceError| TurnError::Settings { message: error.message, hint: error.hint };
        Ok((Some(provider.map_err(wrong)?), wish))
    }
}

/// Checks the name of a model against a service's list. A listed version or variant of the name counts: `model` for `model-20260101`
/// and `model:latest`, `model:free` for `model`.
///
/// # Errors
/// The service lists no such model.
pub(super) fn check_name(name: &str, listed: &[String]) -> Result<(), TurnError> {
    let is_version = |rest: &str| {
        rest == ":latest"
            || rest.strip_prefix(['-', '@']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let base = name.split_once(':').map_or(name, |(base, _)| base);
    let is_same = |model: &str| model == name || model == base || model.strip_prefix(name).is_some_and(is_version);
    if listed.iter().any(|model| is_same(model)) {
        return Ok(());
    }
    let candidates: Vec<&str> = listed.iter().map(String::as_str).collect();
    let near = keys::nearest_few(name, &candidates, NEAREST_NAMES);
    let near = if near.is_empty() { String::new() } else { format!("did you mean `{}`? ", near.join("`, `")) };
    let name = one_line(name, NAME_MAX_CHARS);
    let message = format!("the service has no model `{name}`; nothing was changed");
    Err(TurnError::Settings { message, hint: Some(near + "`cohab models` lists its models") })
}

/// The model, with the reason for its choice.
pub(super) fn introduced(mut model: ModelInfo, wish: Option<TierWish>) -> ModelInfo {
    match wish {
        Some(TierWish::Fixed(tier)) => model.origin = format!("tier {}", tier.name()),
        Some(TierWish::Auto) => "the tier depends on the question".clone_into(&mut model.origin),
        None => {}
    }
    model
}

fn candidate(name: String, tier: Tier, own: Option<Arc<dyn ModelProvider>>, pool: &Arc<ModelPool>) -> Candidate {
    let (pool, profile) = (Arc::clone(pool), name.clone());
    let make = move || {
        let (own, pool, profile) = (own.clone(), Arc::clone(&pool), profile.clone());
        let made = async move {
            match own {
                Some(provider) => Ok(provider),
                None => pool.provider(&profile).await.map_err(|error| error.message),
            }
        };
        made.boxed()
    };
    Candidate { name, tier, make: Box::new(make) }
}

fn asked<'a>(text: &'a str, conversation: &[Message], wish: TierWish) -> Asked<'a> {
    let calls = conversation.iter().map(|message| match message {
        Message::Assistant(message) => message.tool_calls.len(),
        Message::User { .. } | Message::ToolResults(_) => 0,
    });
    Asked { text, tool_calls: calls.sum(), messages: conversation.len(), wish }
}

/// Whether tiers decide, and how: `COHAB_TIER`, else the rules where there are tiers and no variable names a model.
fn tier_wish(variables: &Variables, jobs: &Jobs) -> Result<Option<TierWish>, TurnError> {
    let is_set = |name: &&str| variables.get(*name).is_some_and(|value| !value.trim().is_empty());
    let wrong = |message: String, hint: &str| TurnError::Settings { message, hint: Some(hint.to_owned()) };
    let Some(text) = variables.get("COHAB_TIER").filter(|_| is_set(&"COHAB_TIER")) else {
        return Ok((jobs.tiers.is_set() && !EXPLICIT.iter().any(&is_set)).then_some(TierWish::Auto));
    };
    match TierWish::parse(text) {
        Some(TierWish::Fixed(tier)) if !jobs.tiers.is_set() => {
            let message = format!("no model is set for `{}`", tier.name());
            Err(wrong(message, &format!("`cohab config set tiers.{} PROFILE` sets one", tier.name())))
        }
        Some(TierWish::Auto) if !jobs.tiers.is_set() => Ok(None),
        Some(wish) => Ok(Some(wish)),
        None => Err(wrong("COHAB_TIER is not a tier".into(), "use `low`, `medium`, `high` or `auto`")),
    }
}

fn main_name(settings: &ModelSettings) -> String {
    settings.profile.as_ref().map_or_else(|| profile::DEFAULT.to_owned(), |profile| profile.name.clone())
}

/// The main choice and its fallbacks in order, each with its tier; no model twice.
fn names(
    jobs: &Jobs,
    main: &ModelSettings,
    variables: &Variables,
    tier: Option<Tier>,
    may_climb: bool,
) -> Vec<(String, Tier)> {
    let mut names: Vec<(String, Tier)> = Vec::new();
    let main_name = main_name(main);
    // An explicit variable for another service does not concern the models in the settings.
    let is_other = ["COHAB_PROVIDER", "COHAB_BASE_URL"].iter().any(|name| variables.contains_key(*name));
    let mut add = |name: &str, tier: Tier| {
        let is_main = name == main_name;
        let settings = if is_main { Some(main) } else { jobs.profiles.get(name) };
        let fallback = settings.filter(|_| !(is_main && is_other)).map_or(&[][..], |settings| &settings.fallback);
        for name in std::iter::once(name).chain(fallback.iter().map(String::as_str)) {
            if !names.iter().any(|(known, _)| known == name) {
                names.push((name.to_owned(), tier));
            }
        }
    };
    let Some(tier) = tier else {
        add(&main_name, Tier::Medium);
        return names;
    };
    for tier in Tier::ALL.into_iter().filter(|other| *other == tier || (may_climb && *other > tier)) {
        add(jobs.tiers.profile(tier).unwrap_or(&main_name), tier);
    }
    names
}

#[cfg(test)]
#[path = "model_selection_tests.rs"]
mod tests;
