//! The moments to which a conversation can be taken back: before each of its questions. Pure.

use cohab_context::query_text::words;
use cohab_model_api::Message;
use cohab_store::sessions::{EventRow, event::Event};
use jiff::Timestamp;

/// The moment before a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The question.
    pub question: String,
    /// When it was asked.
    pub at: Timestamp,
    /// The shell's folder then.
    pub cwd: String,
    /// Questions of the conversation from this one on.
    pub questions: usize,
    /// The turns from this one on, the last one first: of a question that was asked again, all.
    pub turns: Vec<String>,
}

/// A turn on record.
struct Turn<'a> {
    id: &'a str,
    question: &'a str,
    at: Timestamp,
    cwd: &'a str,
}

/// The moments of a conversation, the last one first.
///
/// The record has turns that the conversation has lost (`? /retry`, an interrupted answer), so each question of the conversation is looked
/// up in the record from the end. One that is not on record is no moment.
pub fn moments(conversation: &[Message], events: &[EventRow]) -> Vec<Moment> {
    let turns: Vec<Turn<'_>> = events.iter().rev().filter_map(turn).collect();
    let asked: Vec<String> = conversation.iter().rev().filter_map(question).collect();
    let mut found = Vec::new();
    let mut next = 0;
    for (index, question) in asked.iter().enumerate() {
        let is_it = |turn: &Turn<'_>| key(turn.question) == *question;
        let Some(offset) = turns[next..].iter().position(is_it) else { continue };
        let mut first = next + offset;
        let is_asked_again = asked.get(index + 1) == Some(question);
        while !is_asked_again && turns.get(first + 1).is_some_and(is_it) {
            first += 1;
        }
        next = first + 1;
        let Turn { question, at, cwd, .. } = turns[first];
        found.push(Moment {
            question: question.to_owned(),
            at,
            cwd: cwd.to_owned(),
            questions: index + 1,
            turns: turns[..next].iter().map(|turn| turn.id.to_owned()).collect(),
        });
    }
    found
}

fn turn(row: &EventRow) -> Option<Turn<'_>> {
    match &row.event {
        Event::Question { text, cwd, .. } => Some(Turn { id: &row.turn, question: text, at: row.at, cwd }),
        _ => None,
    }
}

fn question(message: &Message) -> Option<String> {
    match message {
        Message::User { text, .. } => {
            Some(words(text)).filter(|words| !words.trim().is_empty()).map(|words| key(&words))
        }
        _ => None,
    }
}

/// The letters of a question. What surrounds them is stored in more than one form.
fn key(question: &str) -> String {
    question.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(questions: &[&str]) -> Vec<Message> {
        questions.iter().map(|text| Message::user(format!("<question>\n{text}\n</question>"))).collect()
    }

    fn record(questions: &[&str]) -> Vec<EventRow> {
        let row = |(number, text): (usize, &&str)| EventRow {
            number: number as u64,
            session: "s".into(),
            turn: format!("t{number}"),
            at: Timestamp::UNIX_EPOCH,
            event: Event::Question { text: (*text).into(), cwd: format!("/{number}"), shell: None, piped_bytes: 0 },
        };
        questions.iter().enumerate().map(row).collect()
    }

    /// Question, questions that go, turns that go.
    fn found(asked: &[&str], on_record: &[&str]) -> Vec<(String, usize, String)> {
        let moments = moments(&conversation(asked), &record(on_record));
        moments.into_iter().map(|one| (one.question, one.questions, one.turns.join(" "))).collect()
    }

    fn row(question: &str, questions: usize, turns: &str) -> (String, usize, String) {
        (question.to_owned(), questions, turns.to_owned())
    }

    #[test]
    fn each_question_is_a_moment_with_all_turns_from_it_on() {
        let asked = ["a", "b?", "c"];
        assert_eq!(found(&asked, &asked), [row("c", 1, "t2"), row("b?", 2, "t2 t1"), row("a", 3, "t2 t1 t0")]);
    }

    #[test]
    fn a_question_that_was_retried_goes_with_all_its_turns() {
        assert_eq!(found(&["a", "b"], &["a", "b", "b"]), [row("b", 1, "t2 t1"), row("a", 2, "t2 t1 t0")]);
        let twice = found(&["a", "b", "b"], &["a", "b", "b"]);
        assert_eq!(twice, [row("b", 1, "t2"), row("b", 2, "t2 t1"), row("a", 3, "t2 t1 t0")]);
    }

    #[test]
    fn turns_that_the_conversation_has_lost_go_with_the_question_before_them() {
        assert_eq!(found(&["a", "d"], &["a", "b", "c", "d"]), [row("d", 1, "t3"), row("a", 2, "t3 t2 t1 t0")]);
        assert_eq!(found(&["a"], &["a", "b"]), [row("a", 1, "t1 t0")]);
    }

    #[test]
    fn a_question_that_is_not_on_record_is_no_moment() {
        assert_eq!(found(&["a", "x", "c"], &["a", "c"]), [row("c", 1, "t1"), row("a", 3, "t1 t0")]);
        assert!(found(&["a"], &[]).is_empty() && found(&[], &["a"]).is_empty());
    }
}
