//! Passes what the user adds to the running turn from the client to the turn, and the report back.

use cohab_protocol::{DaemonMessage, ExtendTurn, TurnId};

use super::Session;

impl Session {
    /// Adds words of the user to the running turn. Words for another turn are ignored. Words that are part of the conversation already are
    /// reported again: the client may have lost the report.
    pub fn extend_turn(&self, ExtendTurn { turn_id, number, text }: ExtendTurn) {
        let mut state = self.lock();
        let Some(turn) = state.turn.as_mut().filter(|turn| turn.id == turn_id) else { return };
        let is_reported = turn.additions.is_reported(number);
        turn.additions.accept(number, text);
        drop(state);
        if is_reported {
            self.tell(DaemonMessage::TurnExtended { turn_id, number });
        }
    }

    /// What the user added to the running turn, oldest first; each addition is given once.
    #[must_use]
    pub fn take_additions(&self) -> Vec<String> {
        self.lock().turn.as_mut().map_or_else(Vec::new, |turn| turn.additions.take())
    }

    /// Reports the oldest addition that was taken and not reported: it is part of the conversation.
    pub fn tell_extended(&self, turn_id: TurnId) {
        let number = self.lock().turn.as_mut().and_then(|turn| turn.additions.report());
        if let Some(number) = number {
            self.tell(DaemonMessage::TurnExtended { turn_id, number });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cohab_protocol::{MAX_QUERY_BYTES, SessionKey};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::session::additions::MAX_WAITING;

    fn adds(session: &Session, turn_id: TurnId, number: u32, text: &str) {
        session.extend_turn(ExtendTurn { turn_id, number, text: text.into() });
    }

    #[test]
    fn an_addition_is_given_once_and_only_to_its_turn() {
        let (session, turn) = (Session::new(SessionKey("shell:1".into())), TurnId::fresh());
        adds(&session, turn, 1, "before the turn");
        session.begin_turn(turn, "/".into(), CancellationToken::new()).expect("no other turn");
        for (turn, number, text) in
            [(TurnId::fresh(), 1, "of another turn"), (turn, 1, "one"), (turn, 1, "one again"), (turn, 2, "two")]
        {
            adds(&session, turn, number, text);
        }
        assert_eq!(session.take_additions(), ["one", "two"]);
        adds(&session, turn, 2, "two again");
        assert!(session.take_additions().is_empty());
        session.end_turn(|_| Vec::new());
        adds(&session, turn, 3, "behind the turn");
        session.begin_turn(TurnId::fresh(), "/".into(), CancellationToken::new()).expect("no other turn");
        assert!(session.take_additions().is_empty());
    }

    #[test]
    fn additions_are_reported_one_by_one_and_more_than_fit_never() {
        let (session, turn) = (Arc::new(Session::new(SessionKey("shell:1".into()))), TurnId::fresh());
        session.begin_turn(turn, "/".into(), CancellationToken::new()).expect("no other turn");
        (1..=10).for_each(|number| adds(&session, turn, number, "x"));
        assert_eq!(session.take_additions().len(), MAX_WAITING);
        adds(&session, turn, 11, &"x".repeat(MAX_QUERY_BYTES + 1));
        assert!(session.take_additions().is_empty());
        let taken = |session: &Session| session.lock().turn.as_ref().map(|turn| turn.additions.unreported());
        session.tell_extended(turn);
        assert_eq!(taken(&session), Some(MAX_WAITING - 1));
    }
}
