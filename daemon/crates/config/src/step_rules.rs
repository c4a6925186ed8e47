//! `[[step_rules]]`: the user's rules for steps, in the order of the file. Parses and looks up rules, and does not apply them.

use globset::{Glob, GlobMatcher};
use serde::Deserialize;

/// Name of the table.
pub(super) const TABLE: &str = "step_rules";
/// Most repetitions of a step.
const MAX_TIMES: u32 = 20;
/// Most rules, as each step looks through all of them.
const MAX_RULES: usize = 100;
/// Longest reason, in characters: it is shown in cards and to the model.
const REASON_MAX_CHARS: usize = 200;

/// Kinds of step that rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuledStep {
    /// A call of the model.
    Model,
    /// A call of a tool.
    Tool,
}

/// The action of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Same as without a rule; later rules are not considered.
    Allow,
    /// The user is asked before the step.
    Ask,
    /// The tool does not run, and the model gets the reason.
    Skip,
    /// The turn ends.
    Stop,
    /// A failed step is repeated this often; tools only if they just read.
    Retry(u32),
}

/// One rule. The first matching rule decides.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Kind of the steps it matches.
    pub kind: RuledStep,
    /// Tools it matches; all if absent.
    pub tool: Option<GlobMatcher>,
    /// Models it matches; all if absent.
    pub model: Option<GlobMatcher>,
    /// The action.
    pub action: Action,
    /// The reason, in the user's words.
    pub reason: Option<String>,
}

/// All rules, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Rules(pub Vec<Rule>);

impl Rules {
    /// The rule for a call of this model.
    #[must_use]
    pub fn of_model(&self, model: &str) -> Option<&Rule> {
        self.find(RuledStep::Model, None, model)
    }

    /// The rule for a call of this tool by this model.
    #[must_use]
    pub fn of_tool(&self, tool: &str, model: &str) -> Option<&Rule> {
        self.find(RuledStep::Tool, Some(tool), model)
    }

    fn find(&self, kind: RuledStep, tool: Option<&str>, model: &str) -> Option<&Rule> {
        let fits = |pattern: &Option<GlobMatcher>, name: Option<&str>| {
            pattern.as_ref().is_none_or(|pattern| name.is_some_and(|name| pattern.is_match(name)))
        };
        self.0.iter().find(|rule| rule.kind == kind && fits(&rule.tool, tool) && fits(&rule.model, Some(model)))
    }

    /// Returns the reason to ask before a call of this tool, if a rule says so.
    #[must_use]
    pub fn must_ask(&self, tool: &str, model: &str) -> Option<String> {
        let rule = self.of_tool(tool, model).filter(|rule| rule.action == Action::Ask)?;
        Some(rule.because("your rule requires a question"))
    }
}

impl Rule {
    /// Adds the user's reason to a description of the rule's action.
    #[must_use]
    pub fn because(&self, what: &str) -> String {
        match &self.reason {
            Some(reason) => format!("{what}: {reason}"),
            None => what.to_owned(),
        }
    }
}

/// A rule in the form of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    step: Option<StepWord>,
    tool: Option<String>,
    model: Option<String>,
    action: ActionWord,
    times: Option<u32>,
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StepWord {
    Model,
    Tool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ActionWord {
    Allow,
    Ask,
    Skip,
    Stop,
    Retry,
}

/// A valid rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Written")]
pub struct StepRule(pub Rule);

impl TryFrom<Written> for StepRule {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { step, tool, model, action, times, reason } = written;
        let kind = match (step, &tool, &model) {
            (Some(StepWord::Model), Some(_), _) => {
                return Err("a rule with `tool` applies to tools, not to `step = \"model\"`".into());
            }
            (Some(StepWord::Tool), ..) | (None, Some(_), _) => RuledStep::Tool,
            (Some(StepWord::Model), ..) | (None, None, Some(_)) => RuledStep::Model,
            (None, None, None) => {
                return Err("a rule needs `step`, `tool` or `model`".into());
            }
        };
        let action = match (action, times) {
            (ActionWord::Retry, Some(times @ 1..=MAX_TIMES)) => Action::Retry(times),
            (ActionWord::Retry, _) => return Err(format!("`action = \"retry\"` needs `times` from 1 to {MAX_TIMES}")),
            (_, Some(_)) => return Err("`times` needs `action = \"retry\"`".into()),
            (ActionWord::Skip, None) if kind == RuledStep::Model => {
                return Err("a call of the model cannot be left out; `stop` ends the turn before it".into());
            }
            (ActionWord::Allow, None) => Action::Allow,
            (ActionWord::Ask, None) => Action::Ask,
            (ActionWord::Skip, None) => Action::Skip,
            (ActionWord::Stop, None) => Action::Stop,
        };
        let is_sane =
            |reason: &String| reason.chars().count() <= REASON_MAX_CHARS && !reason.chars().any(char::is_control);
        if reason.as_ref().is_some_and(|reason| !is_sane(reason)) {
            return Err(format!("`reason` is one line of at most {REASON_MAX_CHARS} characters"));
        }
        Ok(Self(Rule { kind, tool: pattern(tool)?, model: pattern(model)?, action, reason }))
    }
}

fn pattern(text: Option<String>) -> Result<Option<GlobMatcher>, String> {
    let compiled = text.map(|text| Glob::new(&text).map(|glob| glob.compile_matcher())).transpose();
    compiled.map_err(|error| format!("it is not a valid pattern: {error}"))
}

/// Returns the first error in the rules of this file, if any.
pub(super) fn problem(text: &str) -> Option<toml::de::Error> {
    #[derive(Deserialize)]
    struct OnlyRules {
        #[serde(default)]
        step_rules: Vec<StepRule>,
    }
    match toml::from_str::<OnlyRules>(text) {
        Err(error) => Some(error),
        Ok(OnlyRules { step_rules }) if step_rules.len() > MAX_RULES => {
            Some(serde::de::Error::custom(format!("there are more than {MAX_RULES} rules for steps")))
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rule: &str) -> Result<StepRule, String> {
        toml::from_str::<StepRule>(rule).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn each_action_is_read_for_what_it_is_for() {
        for (rule, kind, action) in [
            ("tool = 'bash'\naction = 'ask'", RuledStep::Tool, Action::Ask),
            ("step = 'tool'\naction = 'stop'\nreason = 'look only'", RuledStep::Tool, Action::Stop),
            ("tool = 'w*'\nmodel = 'small*'\naction = 'skip'", RuledStep::Tool, Action::Skip),
            ("model = 'gpt-*'\naction = 'ask'", RuledStep::Model, Action::Ask),
            ("step = 'model'\naction = 'retry'\ntimes = 3", RuledStep::Model, Action::Retry(3)),
            ("tool = 'read'\naction = 'allow'", RuledStep::Tool, Action::Allow),
        ] {
            let StepRule(read) = read(rule).expect(rule);
            assert_eq!((read.kind, read.action), (kind, action), "{rule}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        for (rule, reason) in [
            ("action = 'ask'", "needs `step`, `tool` or `model`"),
            ("step = 'model'\ntool = 'bash'\naction = 'ask'", "applies to tools"),
            ("model = 'm'\naction = 'skip'", "cannot be left out"),
            ("tool = 'read'\naction = 'retry'", "from 1 to 20"),
            ("tool = 'read'\naction = 'retry'\ntimes = 21", "from 1 to 20"),
            ("tool = 'read'\naction = 'ask'\ntimes = 2", "needs `action = \"retry\"`"),
            ("tool = '['\naction = 'ask'", "it is not a valid pattern"),
            ("tool = 'a'\naction = 'ask'\nreason = \"a\\u001Bb\"", "one line"),
            ("tool = 'a'\naction = 'never'", "unknown variant"),
            ("tool = 'a'\naction = 'ask'\nwhy = 'x'", "unknown field"),
        ] {
            let error = read(rule).expect_err(rule);
            assert!(error.contains(reason), "{rule}: {error}");
        }
    }
}
