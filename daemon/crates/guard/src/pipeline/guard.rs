//! Judges the effect of a call: the policy's word on it, and what is asked about beyond it.

use cohab_model_api::Channel;
use cohab_policy::{Level, remembered::Injection};

use super::{Finding, Item, ScanContext, Stage, Verdict};

pub(super) struct Guard;

impl Stage for Guard {
    fn name(&self) -> &'static str {
        "guard"
    }

    fn look(&self, item: &Item<'_>, care: &ScanContext<'_>) -> Vec<Finding> {
        let Some(action) = item.action.as_ref().filter(|_| item.channel == Channel::ToolArguments) else {
            return Vec::new();
        };
        let policy = match action.level {
            Level::Allow => Verdict::Pass,
            Level::Ask | Level::Danger => Verdict::Ask,
            Level::Deny => Verdict::Block,
        };
        // The policy gives its reasons itself.
        let mut said = vec![self.say(policy, String::new())];
        if let Some(source) = action.suspect.filter(|_| care.safety.injection == Injection::Ask) {
            let why = format!("every step is asked about: {source} reads like instructions to the assistant");
            said.push(self.say(Verdict::Ask, why));
        }
        said
    }
}
