//! The redaction stage removes secrets, and the personal data that the settings name. Outgoing text is checked again where it leaves,
//! in its final form and by the same function ([`crate::safety::secrets`]): no text reaches a model or a disk without that check.

use cohab_secrets::PersonalData;

use super::{Care, Channel, Item, Said, Stage, Verdict};

pub(super) struct Redaction;

impl Stage for Redaction {
    fn name(&self) -> &'static str {
        "redaction"
    }

    fn look(&self, item: &Item<'_>, care: &Care<'_>) -> Vec<Said> {
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
            return vec![self.say(Verdict::Ask, "what looks like a secret goes along".into())];
        }
        vec![Said { clean: Some(clean), ..self.say(Verdict::Redact, "it holds what is kept back".into()) }]
    }
}
