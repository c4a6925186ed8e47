//! Checks the files of rules that apply here: whether they can be read, and what they allow.

use std::{path::Path, sync::Arc};

use cohab_policy::user_rules::{Loaded, RuleSource as _};
use cohab_policy_io::rules_file::{RuleBook, RulesFile};
use cohab_text::sanitize::one_line;

use super::context::Context;
use crate::shell_check::finding::{Finding, FindingVerdict, finding};

/// Shown of a complaint.
const COMPLAINT_MAX_COLUMNS: usize = 200;

/// Looks and judges.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let book = RuleBook::new(Arc::new(RulesFile::new(context.paths.rules_file())));
    let cwd = std::env::current_dir().unwrap_or_else(|_| Path::new("/").to_owned());
    vec![judge(&book.loaded(&cwd))]
}

fn judge(loaded: &Loaded) -> Finding {
    let text = format!("safety is {}", loaded.safety.in_force());
    match loaded.refused.as_slice() {
        [] => finding("rules", FindingVerdict::Ok, text),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            let reason = one_line(&first.reason, COMPLAINT_MAX_COLUMNS);
            finding(
                "rules",
                FindingVerdict::Warn,
                format!("something in a file of rules is wrong: {reason}{more}; {text}"),
            )
            .hint("`cohab policy check` shows all of your own file; `cohab policy check .cohab/rules.toml` a project's")
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_policy::user_rules::parse;

    use super::*;

    #[test]
    fn sound_rules_are_told_with_how_careful_the_assistant_is_and_others_with_what_is_wrong() {
        let found = judge(&parse("[safety]\nlevel = \"strict\"\n"));
        assert_eq!(found.verdict, FindingVerdict::Ok);
        assert!(found.text.starts_with("safety is strict; personal data that is redacted: "), "{}", found.text);
        let found = judge(&parse("[safety]\nlevel = 1\nx = 2\n"));
        assert_eq!(found.verdict, FindingVerdict::Warn);
        let wrong = "something in a file of rules is wrong: `level` is none of \"permissive\", \"balanced\", \"strict\" (and 1 more)";
        assert!(found.text.starts_with(wrong), "{}", found.text);
    }
}
