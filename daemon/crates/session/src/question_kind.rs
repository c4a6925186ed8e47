//! Kinds of questions: a plain one, a goal with a check, a debate, a shell to be shared, one that calls a skill or command by its name, one
//! for another agent.

use std::sync::Arc;

use cohab_agent::GoalWish;
use cohab_context::{
    called::{self, Called},
    workspace::Surroundings,
};
use cohab_teams::debate_wish;
use tokio::task::spawn_blocking;

/// The kind of a question, by its first word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// An answer.
    Plain,
    /// Work until this command succeeds.
    Goal {
        /// The command.
        check: String,
    },
    /// A debate of several models.
    Debate,
    /// Work as a skill or a command says.
    Called(Called),
    /// The shell is shared with programs elsewhere.
    Share {
        /// What the user calls it; may be empty.
        name: String,
    },
    /// Work of an agent that is not part of cohab.
    Agent {
        /// Its name.
        name: String,
    },
}

/// The longest name of an agent.
const AGENT_NAME_MAX_BYTES: usize = 40;

/// The name behind `@` that a question begins with, and the words behind it.
///
/// ```
/// assert_eq!(cohab_session::addressed("@codex fix it"), Some(("codex", "fix it")));
/// assert_eq!(cohab_session::addressed("@src/main.rs what is this"), None);
/// ```
#[must_use]
pub fn addressed(question: &str) -> Option<(&str, &str)> {
    let rest = question.trim_start().strip_prefix('@')?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_name = !name.is_empty() && name.len() <= AGENT_NAME_MAX_BYTES && name.chars().all(is_letter);
    is_name.then(|| (name, words.trim()))
}

/// The name in `/share NAME`, empty without one.
fn share_wish(question: &str) -> Option<&str> {
    let words = question.trim().strip_prefix("/share")?;
    (words.is_empty() || words.starts_with(char::is_whitespace)).then(|| words.trim())
}

impl QuestionKind {
    /// The kind of a question, and the text of it for the model.
    #[must_use]
    pub fn of(question: &str) -> (Self, String) {
        if let Some(wish) = GoalWish::parse(question) {
            return (Self::Goal { check: wish.check.to_owned() }, wish.question());
        }
        if let Some(name) = share_wish(question) {
            return (Self::Share { name: name.to_owned() }, question.to_owned());
        }
        match debate_wish(question) {
            Some(subject) => (Self::Debate, subject.to_owned()),
            None => (Self::Plain, question.to_owned()),
        }
    }

    /// The same, also of a question that calls a skill or command around it; with what to say if that cannot be read.
    pub async fn around(question: &str, surroundings: &Arc<Surroundings>) -> (Self, String, Option<String>) {
        let (kind, text) = Self::of(question);
        let found = called::find(question, surroundings).filter(|_| kind == Self::Plain);
        let Some((skill, words)) = found else { return (kind, text, None) };
        let (skill, words) = (skill.clone(), words.to_owned());
        let name = skill.name.clone();
        let read = spawn_blocking(move || called::read(&skill, &words)).await;
        match read.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(called) => (Self::Called(called), text, None),
            Err(reason) => (kind, text, Some(format!("The text of /{name} is not sent: {reason}."))),
        }
    }

    /// Whether the shell is shared.
    #[must_use]
    pub fn is_share(&self) -> bool {
        matches!(self, Self::Share { .. })
    }

    /// What it calls.
    #[must_use]
    pub fn called(&self) -> Option<&Called> {
        match self {
            Self::Called(called) => Some(called),
            Self::Plain | Self::Goal { .. } | Self::Debate | Self::Share { .. } | Self::Agent { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_context::skills::Skill;

    use super::*;

    #[test]
    fn the_first_word_decides_and_the_model_gets_the_rest() {
        let (kind, text) = QuestionKind::of("/goal it builds :: make");
        assert_eq!(kind, QuestionKind::Goal { check: "make".into() });
        assert!(text.starts_with("it builds\n") && !text.contains("/goal"));
        assert_eq!(QuestionKind::of("/debate a or b"), (QuestionKind::Debate, "a or b".into()));
        assert_eq!(QuestionKind::of("/share").0, QuestionKind::Share { name: String::new() });
        assert_eq!(QuestionKind::of("/share  web ").0, QuestionKind::Share { name: "web".into() });
        assert_eq!(QuestionKind::of("/shares web").0, QuestionKind::Plain);
        assert_eq!(QuestionKind::of("/goal x"), (QuestionKind::Plain, "/goal x".into()));
    }

    #[test]
    fn a_name_behind_an_at_sign_is_the_first_word_and_no_path() {
        assert_eq!(addressed(" @codex  fix the\ntest "), Some(("codex", "fix the\ntest")));
        assert_eq!(addressed("@codex"), Some(("codex", "")));
        for other in
            ["ask @codex", "@", "@ codex", "@a/b x", "@main.rs x", "codex x", &format!("@{} x", "a".repeat(41))]
        {
            assert_eq!(addressed(other), None, "{other}");
        }
    }

    #[tokio::test]
    async fn the_name_of_a_skill_calls_it_and_no_other_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("fix.md");
        std::fs::write(&path, "Fix $1.").expect("written");
        let fix = Skill { name: "fix".into(), path: path.clone(), ..Skill::default() };
        let debate = Skill { name: "debate".into(), ..fix.clone() };
        let around = Arc::new(Surroundings { commands: vec![fix, debate], ..Surroundings::default() });
        let (kind, text, notice) = QuestionKind::around("/fix it", &around).await;
        assert!(kind.called().is_some_and(|called| called.text.ends_with("\nFix it.")), "{kind:?}");
        assert_eq!((text.as_str(), notice), ("/fix it", None));
        assert_eq!(QuestionKind::around("/debate a or b", &around).await.0, QuestionKind::Debate);
        assert_eq!(QuestionKind::around("/fixed it", &around).await.0, QuestionKind::Plain);
        std::fs::remove_file(path).expect("removed");
        let (kind, _, notice) = QuestionKind::around("/fix it", &around).await;
        assert_eq!(kind, QuestionKind::Plain);
        assert_eq!(notice.as_deref(), Some("The text of /fix is not sent: its file is gone."));
    }
}
