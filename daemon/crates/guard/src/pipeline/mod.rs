//! Judges each text on its way: stages look at it one after the other, and the strictest verdict counts. The settings are
//! those of the files of rules (`[safety]`, [`cohab_policy::remembered`]).
//!
//! | channel | injection: off / note / ask | redaction | guard |
//! |---|---|---|---|
//! | user input: what stands beside the user's words | - / pass, told / ask before each further step | redact | - |
//! | tool result | - / pass, told / ask before each further step | redact | - |
//! | tool arguments | - / - / ask once a text was suspect | ask if a secret goes to another host | the policy's; if it is firm, the automatic mode answers nothing (`gate.rs`) |
//! | model output | - | redact | - |
//! | memory write: the session's notes | - / ask / block | redact | - |
//!
//! Pure but for the memory of which secret has which number.

mod guard;
mod injection;
pub mod instructions;
pub mod reading;
mod redaction;

use cohab_model_api::{Channel, Secrets};
use cohab_policy::{Level, remembered::Safety};

/// Name of the stage that looks for instructions.
const INJECTION: &str = "injection";

/// All of them, in their order.
const STAGES: [&dyn Stage; 3] = [&injection::Injection, &redaction::Redaction, &guard::Guard];

/// What is to be done with it, the least strict first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It goes on.
    #[default]
    Pass,
    /// It goes on without what is kept back.
    Redact,
    /// The user is asked: about a call before it runs, after a text before each further step.
    Ask,
    /// It does not go on.
    Block,
}

/// A text on its way.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// Which way.
    pub channel: Channel,
    /// The text. Of a call: what of its arguments may leave or is kept.
    pub text: &'a str,
    /// Letters that nobody sees were in it before it was cleaned.
    pub hides_letters: bool,
    /// What the call would do, if it is one.
    pub action: Option<Action<'a>>,
}

/// What a call would do.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// The policy's word.
    pub level: Level,
    /// Whether it tells another host something.
    pub reaches_out: bool,
    /// The text of the conversation that read like instructions, if one did.
    pub suspect: Option<&'a str>,
}

/// What the stages go by.
#[derive(Clone, Copy, Debug)]
pub struct ScanContext<'a> {
    /// The settings in force.
    pub safety: Safety,
    /// Finds secrets.
    pub secrets: &'a Secrets,
}

/// What one stage says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub stage: &'static str,
    /// Its verdict.
    pub verdict: Verdict,
    /// Why, for people; empty if others have told it.
    pub why: String,
    /// The text without what is kept back.
    clean: Option<String>,
}

/// Looks at texts. Nothing to say is `Pass`.
trait Stage: Sync {
    fn name(&self) -> &'static str;

    fn look(&self, item: &Item<'_>, care: &ScanContext<'_>) -> Vec<Finding>;

    fn say(&self, verdict: Verdict, why: String) -> Finding {
        Finding { stage: self.name(), verdict, why, clean: None }
    }
}

/// What all stages say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The strictest.
    pub verdict: Verdict,
    /// What each stage that had something to say said, in their order.
    pub trail: Vec<Finding>,
}

impl Outcome {
    /// What the text does that only one for a model does, if it was found.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.trail.iter().find(|said| said.stage == INJECTION).map(|said| said.why.as_str())
    }

    /// The text as it may go on, if it is to be another one.
    #[must_use]
    pub fn clean(&self) -> Option<&str> {
        self.trail.iter().find_map(|said| said.clean.as_deref())
    }

    /// Why the user is asked, or it does not go on, beyond what the policy says.
    pub fn objections(&self) -> impl Iterator<Item = &str> {
        self.trail
            .iter()
            .filter(|said| said.verdict >= Verdict::Ask && !said.why.is_empty())
            .map(|said| said.why.as_str())
    }

    /// `level`, or what a stage makes of it if that is stricter.
    #[must_use]
    pub fn level(&self, level: Level) -> Level {
        match self.verdict {
            Verdict::Pass | Verdict::Redact => level,
            Verdict::Ask => level.max(Level::Ask),
            Verdict::Block => level.max(Level::Deny),
        }
    }
}

/// All stages' word on this.
#[must_use]
pub fn check(item: &Item<'_>, care: &ScanContext<'_>) -> Outcome {
    let trail: Vec<Finding> = STAGES.iter().flat_map(|stage| stage.look(item, care)).collect();
    let verdict = trail.iter().map(|said| said.verdict).max().unwrap_or_default();
    Outcome { verdict, trail }
}

#[cfg(test)]
mod tests;
