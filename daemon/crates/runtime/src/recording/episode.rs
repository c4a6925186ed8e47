//! Collects what came of one turn from its events, for the store of what was done.

use cohab_memory::past::{
    CONVERSATION_TOOL, SEARCH_TOOL,
    record::{MAX_LINE_BYTES, MAX_TURN_COMMANDS, NewTurn, TurnCommand},
};
use cohab_store::sessions::event::{Approval, Event};
use jiff::Timestamp;

use super::Opening;

/// The trust of a turn, in tenths, below which it had read text of strangers.
const DOUBTFUL_TENTHS: u8 = 5;
/// Trust of what the model did, and of what it did after it had read text of strangers.
const TRUST: f64 = 0.7;
const DOUBTFUL_TRUST: f64 = 0.3;

/// What came of a turn so far.
#[derive(Debug, Default)]
pub(super) struct Episode {
    /// The newest text of the model.
    answer: String,
    commands: Vec<TurnCommand>,
    /// The newest call is a command that ran: the next result is its.
    is_running: bool,
    /// It searched what was done or said before.
    has_searched: bool,
}

impl Episode {
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Answer { text } => self.answer = text.trim().to_owned(),
            Event::Call(call) => {
                let line = call.command.as_deref().filter(|line| line.len() <= MAX_LINE_BYTES);
                let line =
                    line.filter(|_| call.approval != Approval::Refused && self.commands.len() < MAX_TURN_COMMANDS);
                self.is_running = line.is_some();
                self.has_searched |= [SEARCH_TOOL, CONVERSATION_TOOL].contains(&call.tool.as_str());
                self.commands.extend(line.map(|line| TurnCommand { line: line.to_owned(), exit_code: None }));
            }
            Event::Result(result) if std::mem::take(&mut self.is_running) => {
                if let Some(command) = self.commands.last_mut() {
                    command.exit_code = result.exit_code;
                }
            }
            _ => {}
        }
    }

    /// The turn as it is stored; `None` if nothing came of it.
    pub fn finish(self, opening: &Opening, question: &str, at: Timestamp, trust_tenths: u8) -> Option<NewTurn> {
        let has_result = !self.commands.is_empty() || !(self.answer.is_empty() || self.has_searched);
        has_result.then(|| NewTurn {
            turn: opening.turn.clone(),
            session: opening.session.clone(),
            at,
            folder: opening.cwd.clone(),
            question: question.trim().to_owned(),
            answer: self.answer,
            commands: self.commands,
            trust: if trust_tenths < DOUBTFUL_TENTHS { DOUBTFUL_TRUST } else { TRUST },
        })
    }
}

#[cfg(test)]
mod tests {
    use cohab_store::sessions::event::{Call, CallResult};

    use super::*;

    fn call(command: Option<&str>, approval: Approval) -> Event {
        let (tool, title) = ("bash".to_owned(), String::new());
        Event::Call(Call { tool, title, command: command.map(Into::into), proposed: None, cwd: "/".into(), approval })
    }

    fn result(exit_code: i32) -> Event {
        Event::Result(CallResult { exit_code: Some(exit_code), ..CallResult::default() })
    }

    #[test]
    fn a_turn_has_its_last_answer_and_the_commands_that_ran() {
        let mut episode = Episode::default();
        let answer = |text: &str| Event::Answer { text: text.into() };
        for event in [
            answer("I look."),
            call(Some("ls"), Approval::NotNeeded),
            result(0),
            call(None, Approval::NotNeeded),
            result(7),
            call(Some("rm -rf /"), Approval::Refused),
            result(1),
            call(Some("false"), Approval::Once),
            result(1),
            answer("Done.\n"),
        ] {
            episode.note(&event);
        }
        let opening = Opening { turn: "t".into(), session: "s".into(), ..Opening::default() };
        let turn = episode.finish(&opening, " do it ", Timestamp::UNIX_EPOCH, 6).unwrap();
        let ran: Vec<_> = turn.commands.iter().map(|command| (command.line.as_str(), command.exit_code)).collect();
        assert_eq!(ran, [("ls", Some(0)), ("false", Some(1))]);
        assert_eq!((turn.question.as_str(), turn.answer.as_str(), turn.trust), ("do it", "Done.", 0.7));
    }

    #[test]
    fn a_turn_that_read_strangers_text_is_doubtful_and_an_empty_one_is_not_stored() {
        assert_eq!(Episode::default().finish(&Opening::default(), "x", Timestamp::UNIX_EPOCH, 9), None);
        let mut episode = Episode::default();
        episode.note(&Event::Answer { text: "yes".into() });
        let mut searched = Episode { has_searched: true, ..Episode::default() };
        searched.note(&Event::Answer { text: "yes".into() });
        assert_eq!(searched.finish(&Opening::default(), "x", Timestamp::UNIX_EPOCH, 9), None);
        let turn = episode.finish(&Opening::default(), "x", Timestamp::UNIX_EPOCH, 3).unwrap();
        assert!(turn.trust < 0.5);
    }
}
