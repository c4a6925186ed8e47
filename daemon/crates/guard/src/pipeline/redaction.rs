//! Secrets, and the personal data that the settings name. What leaves is looked at again where it leaves, in the form it has by then
//! and by the same function ([`cohab_model_api::Secrets`]): no text reaches a model or a disk that did not pass there.

use cohab_model_api::Channel;
use cohab_secrets::PersonalData;

use super::{Finding, Item, ScanContext, Stage, Verdict};

pub(super) struct Redaction;

impl Stage for Redaction {
    fn name(&self) -> &'static str {
        "redaction"
    }

    fn look(&self, item: &Item<'_>, care: &ScanContext<'_>) -> Vec<Finding> {
        let is_call = item.channel == Channel::ToolArguments;
        if is_call && !item.action.as_ref().is_some_and(|action| action.reaches_out) {
            return Vec::new();
        }
        // A call without a host and a name (`ann@host.example`) would reach no host.
        let personal = if is_call { PersonalData::default() } else { care.safety.personal };
        let mut clean = item.text.to_owned();
        care.secrets.redact(item.channel, &mut clean, personal);
        if clean == item.text {
            return Vec::new();
        }
        // The text that runs is the approved one, to the letter.
        if is_call {
            return vec![self.say(Verdict::Ask, "it contains something that looks like a secret".into())];
        }
        vec![Finding { clean: Some(clean), ..self.say(Verdict::Redact, "it contains a secret".into()) }]
    }
}
