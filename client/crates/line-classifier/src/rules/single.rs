//! The rule for one word alone: a command, talk, or an unknown command.

use super::{Case, Opinion, assistant, shell_for};
use crate::{line::Shape, words::is_chat};

/// Builtins that do nothing at a prompt, and are common replies to an assistant.
const IDLE_BUILTINS: &[&str] = &["continue"];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let tokens = &case.line.tokens;
    let first = tokens.first()?;
    if is_chat(first.word)
        && (tokens.len() == 1 || (tokens.len() == 2 && is_chat(tokens[1].word) && first.word != "yes"))
    {
        let is_idle = IDLE_BUILTINS.contains(&first.word);
        if is_idle || !case.standing.resolves {
            return assistant("is said to somebody");
        }
    }
    if tokens.len() > 1 {
        return None;
    }
    if case.standing.resolves {
        return shell_for(first.text, "is a command");
    }
    if !first.text.is_ascii() && super::script::foreign_letters(first.text) >= super::script::letters_needed(first.text)
    {
        return assistant("is written in a script that commands are not");
    }
    if first.shape == Shape::Plain && case.line.is_question() {
        return assistant("is a question");
    }
    shell_for(first.text, "is one word, as commands are")
}
