//! An exchange carries one request of the agent to its answer, with as many attempts as it takes.

mod failure;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use cohab_model_api::{
    AssistantMessage, Message, ModelEvent, ModelRequest, ProviderData, ProviderErrorKind, Scrubbed, StopClass,
};
use cohab_wires::wire::{Options, Quirk, Stopped};
use futures::channel::mpsc;
use serde_json::Value;

use super::{
    http_client_state::HttpClientState,
    transport::{self, Call, Ending, Outlet},
};

/// Most continuations of an answer that the service paused.
const MAX_PAUSES: u32 = 5;
/// Factor of the second try's cap when the first one cut a tool call.
const RAISED_CAP_FACTOR: u32 = 4;

pub(super) struct Exchange {
    service: Arc<HttpClientState>,
    request: ModelRequest,
    outlet: Outlet,
    /// Length of the conversation without continued parts.
    asked_messages: usize,
    /// The service's own form of the parts before a pause.
    parts: Vec<Value>,
    pauses: u32,
    tries: u32,
    /// Longest answer in tokens, if it differs from the settings.
    cap_tokens: Option<u32>,
    /// Deviations with which the last attempt was made.
    sent_quirks: BTreeSet<Quirk>,
    done: BTreeSet<Once>,
}

/// Actions that an exchange takes at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Once {
    /// Asks again after an empty answer.
    RetryEmpty,
    /// Takes back shown text.
    RetryShown,
    /// Repeats a request that a dead connection lost.
    RetryStale,
    /// Allows a longer answer.
    RaiseCap,
    /// Allows a shorter answer, without thinking before it.
    LowerCap,
    /// Waits because of too many requests.
    WaitForRate,
}

/// The next action after an attempt.
enum Next {
    /// Another attempt.
    Again,
    /// The terminal event.
    Done(ModelEvent),
}

impl Exchange {
    pub(super) fn new(
        service: Arc<HttpClientState>,
        request: Scrubbed<ModelRequest>,
        sender: mpsc::Sender<ModelEvent>,
    ) -> Self {
        Self {
            service,
            asked_messages: request.messages.len(),
            request: request.into_inner(),
            outlet: Outlet::new(sender),
            parts: Vec::new(),
            pauses: 0,
            tries: 0,
            cap_tokens: None,
            sent_quirks: BTreeSet::new(),
            done: BTreeSet::new(),
        }
    }

    /// Whether this is the first time for `once`. With retries turned off only a connection that was idle too long is retried, since
    /// that is no failure of the service.
    fn is_first(&mut self, once: Once) -> bool {
        (self.service.retries > 0 || once == Once::RetryStale) && self.done.insert(once)
    }

    pub(super) async fn run(mut self) {
        loop {
            let next = match self.attempt().await {
                Ending::Stopped(stopped) => self.after_stop(stopped).await,
                Ending::Failed(failure) => self.after_failure(*failure, None).await,
                Ending::Incomplete(reason) => {
                    let error = self.service.subject.cut_off(&reason);
                    self.after_failure(error.into(), Some(reason)).await
                }
            };
            if let Next::Done(event) = next {
                self.outlet.send(event).await;
                return;
            }
        }
    }

    async fn attempt(&mut self) -> Ending {
        self.sent_quirks = self.service.quirks();
        let service = &self.service;
        let options = self.options(&self.sent_quirks);
        let url = service.wire.url(&service.base, &options);
        let call = Call {
            client: &service.client,
            url: &url,
            headers: &service.headers,
            body: service.wire.body(&self.request, &options).to_string().into_bytes(),
            timeouts: &service.timeouts,
            subject: &service.subject,
            pace: service.pace.as_ref(),
            framing: service.wire.framing(),
        };
        let mut fold = service.wire.fold(&self.request, &options);
        let given_up = options.notices(&self.request);
        self.outlet.begin_attempt();
        let ending = transport::attempt(call, fold.as_mut(), &mut self.outlet).await;
        self.outlet.learned.drain(..).for_each(|quirk| service.learn(quirk));
        if matches!(ending, Ending::Stopped(_)) {
            self.outlet.notices.extend(given_up);
        }
        for notice in std::mem::take(&mut self.outlet.notices) {
            self.tell_once(notice).await;
        }
        ending
    }

    fn options<'a>(&'a self, quirks: &'a BTreeSet<Quirk>) -> Options<'a> {
        let usual = self.service.options(quirks);
        let is_short = self.done.contains(&Once::LowerCap);
        Options {
            max_output_tokens: self.service.bounded(self.cap_tokens.or(usual.max_output_tokens)),
            // Thinking would take the little room there is.
            reasoning_effort: usual.reasoning_effort.filter(|_| !is_short),
            ..usual
        }
    }

    /// Sends a notice to the user, unless this provider sent it before.
    async fn tell_once(&mut self, notice: String) {
        let notice = self.service.subject.without_key(&notice);
        if self.service.is_news(&notice) {
            self.outlet.send(ModelEvent::Notice(notice)).await;
        }
    }

    async fn after_stop(&mut self, stopped: Stopped) -> Next {
        let Stopped { class, message, has_void_calls } = stopped;
        if class == StopClass::Pause && self.pauses < MAX_PAUSES {
            self.continue_paused(message);
            return Next::Again;
        }
        if has_void_calls && class == StopClass::Length && self.raise_cap().await {
            return Next::Again;
        }
        if matches!(class, StopClass::End | StopClass::Tool) && !self.outlet.has_answer {
            return self.after_empty_answer().await;
        }
        let message = message.map(|message| self.with_parts(message));
        Next::Done(ModelEvent::Stop { class, provider_data: message.map(|json| self.own_form(json)) })
    }

    /// Sends the paused answer back, in the form in which the service continues it.
    fn continue_paused(&mut self, message: Option<Value>) {
        self.pauses += 1;
        let Some(json) = message else { return };
        let provider_data = Some(self.own_form(json.clone()));
        let text = std::mem::take(&mut self.outlet.text);
        self.request.messages.push(Message::Assistant(AssistantMessage {
            text,
            provider_data,
            ..AssistantMessage::default()
        }));
        if let Value::Array(blocks) = json {
            self.parts.extend(blocks);
        }
    }

    fn own_form(&self, json: Value) -> ProviderData {
        let HttpClientState { info, subject, .. } = self.service.as_ref();
        ProviderData {
            wire: info.wire.clone(),
            host: subject.host.clone(),
            model: info.model.clone(),
            json: Arc::new(json),
        }
    }

    fn with_parts(&mut self, message: Value) -> Value {
        match message {
            Value::Array(blocks) => Value::Array(std::mem::take(&mut self.parts).into_iter().chain(blocks).collect()),
            other => other,
        }
    }

    /// Once, and not when text after tools would have to be taken back.
    async fn raise_cap(&mut self) -> bool {
        let Some(cap) = self.service.bounded(self.service.max_output_tokens) else { return false };
        let raised = self.service.bounded(Some(cap.saturating_mul(RAISED_CAP_FACTOR)));
        let may_repeat = (!self.outlet.has_shown || self.may_discard()) && !self.done.contains(&Once::LowerCap);
        if raised <= Some(cap) || !may_repeat || !self.is_first(Once::RaiseCap) {
            return false;
        }
        self.cap_tokens = raised;
        let reason = format!("the answer was cut inside a tool call at {cap} tokens; asking for a longer one");
        self.announce(reason, Duration::ZERO).await;
        true
    }

    async fn after_empty_answer(&mut self) -> Next {
        if self.is_first(Once::RetryEmpty) {
            tracing::info!(host = self.service.subject.host, "an empty answer; asking again");
            if self.outlet.has_shown {
                self.announce("the answer was empty".to_owned(), Duration::ZERO).await;
            }
            self.start_over();
            return Next::Again;
        }
        let subject = &self.service.subject;
        let hint = if subject.is_local {
            "local servers answer nothing when the conversation is longer than their context: raise it, or start a new session"
        } else {
            "ask again, or choose another model"
        };
        Next::Done(ModelEvent::Failed(subject.error(
            ProviderErrorKind::EmptyAnswer,
            if self.done.contains(&Once::RetryEmpty) { "gave an empty answer twice" } else { "gave an empty answer" },
            Some(hint.to_owned()),
        )))
    }

    /// Tools of this turn acted on text that must stay. A question right behind results is not the user's, but a note to the model
    /// inside the turn.
    fn may_discard(&self) -> bool {
        let asked = self.request.messages.get(..self.asked_messages).unwrap_or_default();
        !matches!(asked, [.., Message::ToolResults(_)] | [.., Message::ToolResults(_), Message::User { .. }])
    }

    async fn announce(&mut self, reason: String, after: Duration) {
        let discard_shown = self.outlet.has_shown;
        self.start_over();
        self.outlet.send(ModelEvent::Retrying { reason, after, discard_shown }).await;
    }

    /// Forgets shown and continued text.
    fn start_over(&mut self) {
        self.request.messages.truncate(self.asked_messages);
        self.parts.clear();
        self.pauses = 0;
        (self.outlet.has_shown, self.outlet.has_answer) = (false, false);
    }
}
