//! Judges whether a text from elsewhere reads like instructions to the model. A hint: it says what is asked about, never what is
//! safe.

use cohab_model_api::Channel;
use cohab_policy::remembered::Injection as Follows;

use super::{Finding, Item, ScanContext, Stage, Verdict, instructions};

/// What a text does that holds letters nobody sees.
const HIDES: &str = "hides letters";

pub(super) struct Injection;

impl Stage for Injection {
    fn name(&self) -> &'static str {
        super::INJECTION
    }

    fn look(&self, item: &Item<'_>, care: &ScanContext<'_>) -> Vec<Finding> {
        let verdict = match (item.channel, care.safety.injection) {
            (_, Follows::Off) | (Channel::ToolArguments | Channel::ModelOutput, _) => return Vec::new(),
            (Channel::UserInput | Channel::ToolResult, Follows::Note) => Verdict::Pass,
            (Channel::UserInput | Channel::ToolResult, Follows::Ask) => Verdict::Ask,
            // What is noted is told to the model again and again.
            (Channel::MemoryWrite, Follows::Note) => Verdict::Ask,
            (Channel::MemoryWrite, Follows::Ask) => Verdict::Block,
        };
        let hides = item.hides_letters || instructions::hides_letters(item.text);
        let does = if hides { Some(HIDES) } else { instructions::find(item.text) };
        let why = |does| match item.channel {
            Channel::MemoryWrite => format!("the note reads like instructions to the assistant: it {does}"),
            _ => format!("it {does}"),
        };
        does.map(|does| self.say(verdict, why(does))).into_iter().collect()
    }
}
