//! Explains how a question is understood: the intents, the values of their slots, the confidence and the first command.

use super::{
    Next,
    context::Question,
    matching, next,
    run::Run,
    table::{self, Request},
};

/// Most proposals that are listed.
const MOST: usize = 3;

/// Explains how the built-in assistant understands a question, one line per intent. Nothing runs.
#[must_use]
pub fn explain(text: &str) -> String {
    let meant = matching::understand(text);
    if !meant.is_empty() {
        let question = Question::parse(text);
        let line = |clause: &matching::Meant| {
            let step = (clause.intent.plan)(&clause.slots, &mut Run::new(&question, &[], vec!["bash", "write"]));
            format!("pattern {}: {}\n", clause.intent.name, first_action(next(step)))
        };
        return meant.iter().map(line).collect();
    }
    let requests = table::understand(text);
    let line = |request: &Request| {
        let question = Question::parse(text);
        let action = first_action(next(request.follow(&mut Run::new(&question, &[], vec!["bash", "write"]))));
        let verdict = if request.is_sure() { "table" } else { "maybe" };
        format!("{verdict} {}: {action}\n", request.explanation())
    };
    let lines: String = requests.iter().take(MOST).map(line).collect();
    if lines.is_empty() { "nothing\n".to_owned() } else { lines }
}

/// The first call of a plan, or the start of its answer.
fn first_action(next: Next) -> String {
    match next {
        Next::Call { tool, args } => format!("{tool} {}", serde_json::Value::from(args)),
        Next::Answer(text) => format!("says {:?}", text.chars().take(100).collect::<String>()),
    }
}
