//! Applies rules: permanent permissions of the user, and stricter settings for a place. They match the words of commands, never text.
//! An allow rule lowers `Ask` only, danger stays danger; of several rules the strictest counts. This module does not read or write the
//! files of the rules; `cohab_policy_io::rules_file` does.

mod argv;
mod document;
mod origin;
mod presets;
mod rule;
mod safety;

#[cfg(test)]
mod tests;

use std::{path::Path, sync::Arc};

pub use document::{DocumentError, Loaded, Refusal, parse, parse_on, with_rule, without_rule};
pub use origin::Origin;
pub use presets::project_rules;
pub use rule::{Operands, Rule};
pub use safety::{Guard, Injection, Safety, SafetyLevel, SafetySettings};

use cohab_shell_state::shell::Shell;

use super::{
    Context, Level, Verdict,
    danger::{self, Commands},
    findings::{MAX_REASONS, shortened},
};

/// A source of the rules in force.
pub trait RuleSource: std::fmt::Debug + Send + Sync {
    /// The current rules for commands in the folder `cwd`. A file that cannot be read holds no rules, and is reported.
    fn loaded(&self, cwd: &Path) -> Arc<Loaded>;
}

/// A source without rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRules;

impl RuleSource for NoRules {
    fn loaded(&self, _cwd: &Path) -> Arc<Loaded> {
        Arc::default()
    }
}

/// Rules, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// All rules.
    #[must_use]
    pub fn all(&self) -> &[Rule] {
        &self.0
    }

    /// The rule that allows `line` in the folder `cwd`, as `shell` reads it. The caller must know that the line is neither danger nor
    /// denied, and that no stricter rule holds.
    #[must_use]
    pub fn find(&self, line: &str, cwd: &Path, shell: Shell) -> Option<&Rule> {
        self.find_in(line, Context::new(cwd, cwd).in_shell(shell))
    }

    fn find_in(&self, line: &str, context: Context<'_>) -> Option<&Rule> {
        if !self.0.iter().any(|rule| rule.decision == Level::Allow) {
            return None;
        }
        let argv = argv::argv_of(line, context.shell).ok()?;
        self.0.iter().find(|rule| rule.allows(&argv, context))
    }

    /// The rules that make `line` stricter. If not all commands of the line are known, each rule may apply.
    fn that_tighten<'a>(&'a self, line: &str, cwd: &'a Path) -> impl Iterator<Item = &'a Rule> {
        let has_any = self.0.iter().any(|rule| rule.decision > Level::Allow);
        let commands = if has_any { danger::commands(line) } else { Commands::default() };
        let may_be_meant = move |rule: &Rule| {
            commands.words.iter().any(|command| rule.catches(command, cwd))
                || (commands.is_cut && rule.decision > Level::Allow && rule.holds_in(cwd))
        };
        self.0.iter().filter(move |rule| may_be_meant(rule))
    }
}

/// A verdict with the rules in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruled<'a> {
    /// The verdict, as strict as the strictest rule.
    pub verdict: Verdict,
    /// The rule that lets it run unasked all the same.
    pub allowed_by: Option<&'a Rule>,
}

impl Loaded {
    /// Applies the rules to the policy's `verdict` on `line`.
    #[must_use]
    pub fn apply(&self, line: &str, context: Context<'_>, mut verdict: Verdict) -> Ruled<'_> {
        let mut is_tightened = false;
        for rule in self.rules.that_tighten(line, context.cwd) {
            verdict.level = verdict.level.max(rule.decision);
            if !is_tightened || verdict.reasons.len() < MAX_REASONS {
                verdict.reasons.push(shortened(format!(
                    "a rule is stricter here: {} `{}`",
                    rule.decision.word(),
                    rule.line()
                )));
            }
            is_tightened = true;
            verdict.has_firm_reason = true;
        }
        if verdict.level == Level::Allow
            && let Some(refusal) = self.refused.iter().find(|refusal| refusal.may_tighten)
        {
            verdict.level = Level::Ask;
            let name =
                if refusal.name.is_empty() { "a file of rules".into() } else { format!("the rule `{}`", refusal.name) };
            verdict.reasons.push(format!("{name} cannot be read: {}", refusal.reason));
        }
        let may_be_lowered = verdict.level == Level::Ask && !is_tightened;
        let allowed_by = may_be_lowered.then(|| self.rules.find_in(line, context)).flatten();
        Ruled { verdict, allowed_by }
    }

    /// These rules and those of another file.
    pub fn join(&mut self, other: &Self) {
        self.rules.0.extend(other.rules.0.iter().cloned());
        self.refused.extend(other.refused.iter().cloned());
        self.safety.join(&other.safety);
    }
}
