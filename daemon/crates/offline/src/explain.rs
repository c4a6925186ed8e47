//! Explains how a question is understood: the intents, the values of their slots, the confidence and the commands.

use cohab_memory::past::SEARCH_TOOL;

use super::{
    context::Question,
    matching::Meant,
    run::{Next, Run, next},
    table::{self, Request},
    understanding::{Understood, understand},
};

/// Most proposals that are listed.
const MOST: usize = 3;

/// Explains how the built-in assistant understands a question, one line per intent. Nothing runs.
#[must_use]
pub fn explain(text: &str) -> String {
    let question = Question::parse(text);
    let run = || Run::new(&question, &[], vec!["bash", "write", SEARCH_TOOL]);
    let shown = |verdict: &str, request: &Request| {
        let commands = request.commands().map(|lines| lines.join("\n        "));
        let action = commands.unwrap_or_else(|| first_action(next(request.follow(&mut run()))));
        format!("{verdict} {}: {action}\n", request.explanation())
    };
    match understand(text) {
        Understood::Patterns(meant) => {
            let line = |clause: &Meant| {
                let step = (clause.intent.plan)(&clause.slots, &mut run());
                format!("pattern {}: {}\n", clause.intent.name, first_action(next(step)))
            };
            let others = table::understand(text);
            let tables = others.iter().take(MOST).map(|request| shown("also", request));
            meant.iter().map(line).chain(tables).collect()
        }
        Understood::Table(request) => shown("table", &request),
        Understood::Past => format!("past: {}\n", first_action(next(run().search_past(text)))),
        Understood::Unsure(requests) if requests.is_empty() => "nothing\n".to_owned(),
        Understood::Unsure(requests) => requests.iter().take(MOST).map(|request| shown("maybe", request)).collect(),
    }
}

/// The first call of a plan, or the start of its answer.
fn first_action(next: Next) -> String {
    match next {
        Next::Call { tool, args } => format!("{tool} {}", serde_json::Value::from(args)),
        Next::Answer(text) => format!("says {:?}", text.chars().take(100).collect::<String>()),
    }
}
