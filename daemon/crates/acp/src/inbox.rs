//! The inbox holds what an agent sent and the turn has not read yet: bounded, with neighbouring texts joined.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::{
    ask::Ask,
    failure::AgentFailure,
    lines::LINE_MAX_BYTES,
    wire::{PromptResponse, RpcError},
};

/// Most bytes of text that wait. An agent that writes more waits until they are read.
const MAX_BYTES: usize = 1024 * 1024;
/// Most events that wait.
const MAX_EVENTS: usize = 1024;
/// Most calls that wait; further ones are refused.
const MAX_ASKS: usize = 64;
/// Most bytes of calls that wait. More than the longest message, so that one call always finds room.
const MAX_ASK_BYTES: usize = 2 * LINE_MAX_BYTES;

/// Something that an agent sent.
#[derive(Debug)]
pub(crate) enum AgentEvent {
    /// Text of the answer.
    Text(String),
    /// Text of its reasoning.
    Thought(String),
    /// A sentence for the user.
    Notice(String),
    /// It wants something done.
    Ask(Box<Ask>),
    /// The prompt is over.
    Ended(Result<PromptResponse, RpcError>),
    /// The process is gone.
    Died(AgentFailure),
}

/// The events of one agent, in order.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    queue: Mutex<Queue>,
    changed: Notify,
    drained: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<AgentEvent>,
    bytes: usize,
    asks: usize,
    ask_bytes: usize,
}

impl Queue {
    fn left(&mut self, ask: &Ask) {
        self.asks = self.asks.saturating_sub(1);
        self.ask_bytes = self.ask_bytes.saturating_sub(ask.bytes());
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event.
    ///
    /// # Errors
    /// Returns a call that finds no room.
    pub(crate) fn push(&self, event: AgentEvent) -> Result<(), Box<Ask>> {
        let mut queue = self.lock();
        match event {
            AgentEvent::Ask(ask)
                if queue.asks >= MAX_ASKS || queue.ask_bytes.saturating_add(ask.bytes()) > MAX_ASK_BYTES =>
            {
                return Err(ask);
            }
            AgentEvent::Ask(ref ask) => {
                queue.asks += 1;
                queue.ask_bytes += ask.bytes();
            }
            AgentEvent::Text(ref text) | AgentEvent::Thought(ref text) | AgentEvent::Notice(ref text) => {
                queue.bytes += text.len();
            }
            AgentEvent::Ended(_) | AgentEvent::Died(_) => {}
        }
        match (queue.events.back_mut(), event) {
            (Some(AgentEvent::Text(last)), AgentEvent::Text(more))
            | (Some(AgentEvent::Thought(last)), AgentEvent::Thought(more)) => {
                last.push_str(&more);
            }
            (_, event) => queue.events.push_back(event),
        }
        drop(queue);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits until there is room for more text.
    pub(crate) async fn room(&self) {
        loop {
            let drained = self.drained.notified();
            {
                let queue = self.lock();
                if queue.bytes < MAX_BYTES && queue.events.len() < MAX_EVENTS {
                    return;
                }
            }
            drained.await;
        }
    }

    /// The next event. Loses none if it is dropped.
    pub(crate) async fn next(&self) -> AgentEvent {
        loop {
            let changed = self.changed.notified();
            if let Some(event) = self.take(|_| true) {
                return event;
            }
            changed.await;
        }
    }

    /// The next event, if it is a call.
    pub(crate) fn next_ask(&self) -> Option<Ask> {
        match self.take(|event| matches!(event, AgentEvent::Ask(_)))? {
            AgentEvent::Ask(ask) => Some(*ask),
            _ => None,
        }
    }

    fn take(&self, is_wanted: impl FnOnce(&AgentEvent) -> bool) -> Option<AgentEvent> {
        let mut queue = self.lock();
        if !queue.events.front().is_some_and(is_wanted) {
            return None;
        }
        let event = queue.events.pop_front()?;
        match &event {
            AgentEvent::Text(text) | AgentEvent::Thought(text) | AgentEvent::Notice(text) => {
                queue.bytes = queue.bytes.saturating_sub(text.len());
            }
            AgentEvent::Ask(ask) => queue.left(ask),
            AgentEvent::Ended(_) | AgentEvent::Died(_) => {}
        }
        drop(queue);
        self.drained.notify_one();
        Some(event)
    }

    /// Takes out a call that waits.
    pub(crate) fn withdraw(&self, call_id: &str) -> Option<Ask> {
        let mut queue = self.lock();
        let index =
            queue.events.iter().position(|event| matches!(event, AgentEvent::Ask(ask) if ask.call_id == call_id))?;
        match queue.events.remove(index)? {
            AgentEvent::Ask(ask) => {
                queue.left(&ask);
                Some(*ask)
            }
            _ => None,
        }
    }

    /// Takes out all calls that wait; the other events stay.
    pub(crate) fn withdraw_all(&self) -> Vec<Ask> {
        let mut queue = self.lock();
        (queue.asks, queue.ask_bytes) = (0, 0);
        let mut asks = Vec::new();
        for event in std::mem::take(&mut queue.events) {
            match event {
                AgentEvent::Ask(ask) => asks.push(*ask),
                event => queue.events.push_back(event),
            }
        }
        drop(queue);
        self.drained.notify_one();
        asks
    }

    /// Empties it. Its calls have to be taken out before, as they need an answer.
    pub(crate) fn clear(&self) {
        *self.lock() = Queue::default();
        self.drained.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ask::{Reply, Wish};

    fn ask(call_id: &str) -> AgentEvent {
        let wish = Wish::Run { command: "ls".into(), timeout_ms: None };
        AgentEvent::Ask(Box::new(Ask { call_id: call_id.into(), wish, reply: Reply::None }))
    }

    #[tokio::test]
    async fn texts_are_joined_and_order_is_kept() {
        let inbox = Inbox::default();
        for event in [
            AgentEvent::Text("a".into()),
            AgentEvent::Text("b".into()),
            AgentEvent::Thought("c".into()),
            ask("1"),
            AgentEvent::Text("d".into()),
        ] {
            inbox.push(event).expect("room");
        }
        assert!(inbox.next_ask().is_none(), "a call waits for the text before it");
        assert!(matches!(inbox.next().await, AgentEvent::Text(text) if text == "ab"));
        assert!(matches!(inbox.next().await, AgentEvent::Thought(text) if text == "c"));
        assert_eq!(inbox.next_ask().expect("a call").call_id, "1");
        assert!(matches!(inbox.next().await, AgentEvent::Text(text) if text == "d"));
    }

    #[tokio::test]
    async fn it_is_bounded() {
        let inbox = Arc::new(Inbox::default());
        for number in 0..MAX_ASKS {
            inbox.push(ask(&number.to_string())).expect("room");
        }
        assert_eq!(inbox.push(ask("more")).expect_err("no room").call_id, "more");
        assert_eq!(inbox.withdraw("3").expect("it waits").call_id, "3");
        inbox.push(ask("more")).expect("room");
        assert_eq!(inbox.withdraw_all().len(), MAX_ASKS);
        inbox.push(AgentEvent::Text("x".repeat(MAX_BYTES))).expect("room");
        let waiting = tokio::spawn({
            let inbox = Arc::clone(&inbox);
            async move { inbox.room().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        assert!(matches!(inbox.next().await, AgentEvent::Text(_)));
        waiting.await.expect("room");
    }

    #[test]
    fn long_calls_are_bounded_by_their_bytes() {
        let long = |call_id: &str| {
            let wish = Wish::Write { path: "/w/a".into(), content: "x".repeat(LINE_MAX_BYTES - 1024) };
            AgentEvent::Ask(Box::new(Ask { call_id: call_id.into(), wish, reply: Reply::None }))
        };
        let inbox = Inbox::default();
        inbox.push(long("1")).expect("room");
        inbox.push(long("2")).expect("room");
        assert_eq!(inbox.push(long("3")).expect_err("no room").call_id, "3");
        assert_eq!(inbox.next_ask().expect("a call").call_id, "1");
        inbox.push(long("3")).expect("room again");
        inbox.push(AgentEvent::Text("a".into())).expect("room");
        assert_eq!(inbox.withdraw_all().len(), 2);
        inbox.push(long("4")).expect("room again");
        assert_eq!(inbox.lock().events.len(), 2, "the text stays");
    }
}
