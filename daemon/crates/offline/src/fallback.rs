//! Answers questions without a plan: greeting, overview, and "I do not know".

use super::{
    answer::code,
    context::cut,
    intent::{Intent, Topic},
    matching::{SUGGESTIONS, nearest},
    table::{Request, programs},
    topic::intents,
    words::{Token, tokenize},
};

/// Examples per topic in the overview.
const EXAMPLES_PER_TOPIC: usize = 3;
/// Length of the part of a question that the answer repeats.
const MAX_ECHO_BYTES: usize = 120;

/// Longer commands are not shown in a proposal.
const MAX_COMMAND_BYTES: usize = 90;

const ADD_A_MODEL: &str = "For everything else, add a language model:\n\n\
    - run `cohab setup` to connect one\n\
    - or `export ANTHROPIC_API_KEY=...` or `export OPENAI_API_KEY=...` before you start cohab\n\
    - or start a local server such as Ollama (it is found on `127.0.0.1:11434`)";

const OR_A_MODEL: &str = "None of them? Ask in other words, or add a language model: `cohab setup`.";

const OR_ANOTHER_WAY: &str = "For everything else, ask in other words, or add a language model: `cohab setup`.";

/// The abilities of the assistant, by topic.
pub(super) fn overview() -> String {
    let mut text = String::from(
        "I answer everyday questions about this machine from a fixed table. I run commands in your shell and read \
         their output; I ask before I change anything.\n\n",
    );
    for topic in Topic::ALL {
        let examples: Vec<String> = intents()
            .filter(|intent| intent.topic == topic)
            .take(EXAMPLES_PER_TOPIC)
            .map(|intent| code(intent.example))
            .collect();
        text.push_str(&format!("- **{}**: {}\n", topic.title(), examples.join(", ")));
    }
    format!("{text}\n{ADD_A_MODEL}")
}

/// The answer to a question that no intent surely fits: proposes `requests`, those of the tables, or names the nearest examples; and how to
/// get more.
pub(super) fn not_understood(question: &str, requests: &[Request]) -> String {
    let programs = helpful_programs(question);
    if !requests.is_empty() {
        let proposals = requests.iter().take(SUGGESTIONS).zip(1..);
        let list: String = proposals.map(|(request, place)| format!("{place}. {}\n", proposal(request))).collect();
        return format!(
            "Did you mean one of these? Answer with its number, as in `? 1`.\n\n{list}\n{programs}{OR_A_MODEL}"
        );
    }
    let shown = cut(question, MAX_ECHO_BYTES);
    let said = if shown.is_empty() {
        "There is no question.".to_owned()
    } else {
        // The quotes mark the end of the question where inline code is shown without a style.
        format!("I do not understand \"{}\".", code(shown))
    };
    if !programs.is_empty() {
        return format!("{said} {programs}{OR_ANOTHER_WAY}");
    }
    let mut examples = nearest(question);
    examples.extend(defaults());
    let mut seen = Vec::new();
    examples.retain(|intent| {
        !seen.contains(&intent.name) && {
            seen.push(intent.name);
            true
        }
    });
    let list: String =
        examples.iter().take(SUGGESTIONS).map(|intent| format!("- {}\n", code(intent.example))).collect();
    format!("{said} I know only a fixed set of requests; the nearest are:\n\n{list}\n{ADD_A_MODEL}")
}

/// The programs whose descriptions are nearest to a question, and how to learn more of the first one; empty if there are none, or if the
/// question is about another subject.
fn helpful_programs(question: &str) -> String {
    if tokenize(question).iter().any(Token::is_foreign) {
        return String::new();
    }
    let programs = programs::nearest(question);
    let Some(first) = programs.first() else { return String::new() };
    let list: String =
        programs.iter().map(|program| format!("- {}: {}\n", code(program.name), program.about)).collect();
    let more = code(&format!("? help for {}", first.name));
    format!("Programs that may do it, if they are installed:\n\n{list}\n{more} shows how to use the first one.\n\n")
}

/// What would be done, with the command for it if it can be read at a glance.
fn proposal(request: &Request) -> String {
    let is_plain = |line: &String| line.len() <= MAX_COMMAND_BYTES && !line.contains("sh -c");
    let command = request.command().filter(is_plain);
    command.map_or_else(|| request.about().to_owned(), |line| format!("{}: {}", request.about(), code(&line)))
}

fn defaults() -> Vec<&'static Intent> {
    const NAMES: [&str; 3] = ["disk.biggest", "network.port", "git.status"];
    intents().filter(|intent| NAMES.contains(&intent.name)).collect()
}
