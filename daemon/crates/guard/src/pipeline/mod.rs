//! The pipeline passes each text through its stages, one after the other, and the strictest verdict counts. The settings come from the
//! files of rules (`[safety]`, [`cohab_policy::user_rules`]).
//!
//! | channel | injection: off / note / ask | redaction | guard |
//! |---|---|---|---|
//! | user input: the texts that accompany the user's words | - / pass, reported / ask before each further step | redact | - |
//! | tool result | - / pass, reported / ask before each further step | redact | - |
//! | tool arguments | - / - / ask once a text was suspect | ask if a secret goes to another host | the policy's; if it is firm, the automatic mode answers nothing (`gate.rs`) |
//! | model output | - | redact | - |
//! | memory write: the session's notes | - / ask / block | redact | - |
//!
//! Pure, except for the memory of secrets and their numbers.

mod guard;
mod injection;
pub mod instructions;
pub mod reading;
mod redaction;

use cohab_model_api::{Channel, Secrets};
use cohab_policy::{Level, user_rules::Safety};

/// Name of the stage that detects instructions.
const INJECTION: &str = "injection";

/// All stages, in their order.
const STAGES: [&dyn Stage; 3] = [&injection::Injection, &redaction::Redaction, &guard::Guard];

/// What is to be done with it, the least strict first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It passes.
    #[default]
    Pass,
    /// It passes without the withheld parts.
    Redact,
    /// The user is asked: about a call before it runs, after a text before each further step.
    Ask,
    /// It does not pass.
    Block,
}

/// A text in the pipeline.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// Its direction.
    pub channel: Channel,
    /// The text. Of a call: the arguments that may leave or are stored.
    pub text: &'a str,
    /// Whether it held invisible letters before it was cleaned.
    pub hides_letters: bool,
    /// The effect of the call, if it is one.
    pub action: Option<Action<'a>>,
}

/// The effect of a call.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// The policy's level.
    pub level: Level,
    /// Whether it sends data to another host.
    pub reaches_out: bool,
    /// The text of the conversation that reads like instructions, if there is one.
    pub suspect: Option<&'a str>,
}

/// The context of the stages.
#[derive(Clone, Copy, Debug)]
pub struct ScanContext<'a> {
    /// The settings in force.
    pub safety: Safety,
    /// Finds secrets.
    pub secrets: &'a Secrets,
}

/// The finding of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub stage: &'static str,
    /// Its verdict.
    pub verdict: Verdict,
    /// The reason, for people; empty if it was reported elsewhere.
    pub why: String,
    /// The text without the withheld parts.
    clean: Option<String>,
}

/// Checks texts. No finding means `Pass`.
trait Stage: Sync {
    fn name(&self) -> &'static str;

    fn look(&self, item: &Item<'_>, care: &ScanContext<'_>) -> Vec<Finding>;

    fn say(&self, verdict: Verdict, why: String) -> Finding {
        Finding { stage: self.name(), verdict, why, clean: None }
    }
}

/// The findings of all stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The strictest verdict.
    pub verdict: Verdict,
    /// What each stage that had something to say said, in their order.
    pub trail: Vec<Finding>,
}

impl Outcome {
    /// The sign of a text for a model, if it was found.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.trail.iter().find(|said| said.stage == INJECTION).map(|said| said.why.as_str())
    }

    /// The cleaned text, if it changed.
    #[must_use]
    pub fn clean(&self) -> Option<&str> {
        self.trail.iter().find_map(|said| said.clean.as_deref())
    }

    /// The reasons for a question or a refusal beyond those of the policy.
    pub fn objections(&self) -> impl Iterator<Item = &str> {
        self.trail
            .iter()
            .filter(|said| said.verdict >= Verdict::Ask && !said.why.is_empty())
            .map(|said| said.why.as_str())
    }

    /// `level`, or the stricter level of a stage.
    #[must_use]
    pub fn level(&self, level: Level) -> Level {
        match self.verdict {
            Verdict::Pass | Verdict::Redact => level,
            Verdict::Ask => level.max(Level::Ask),
            Verdict::Block => level.max(Level::Deny),
        }
    }
}

/// Runs all stages on this text.
#[must_use]
pub fn check(item: &Item<'_>, care: &ScanContext<'_>) -> Outcome {
    let trail: Vec<Finding> = STAGES.iter().flat_map(|stage| stage.look(item, care)).collect();
    let verdict = trail.iter().map(|said| said.verdict).max().unwrap_or_default();
    Outcome { verdict, trail }
}

#[cfg(test)]
mod tests;
