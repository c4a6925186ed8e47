//! The behaviour around the loop of a turn: one list to register it, in its order.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex},
};

use cohab_protocol::ApprovalMode;
use cohab_shell_relay::shell::Shell;
use jiff::Zoned;

use super::{Assembly, TurnSettings};
use crate::{
    agent::{
        Middleware,
        port::{Approver, ModelProvider},
    },
    context::model_table::Prices,
    middleware::{
        accounting::{Accounting, Answered},
        budget::Budget,
        checkpoint::Checkpoint,
        escalation::Escalation,
        last_answer::LastAnswer,
        meanwhile::Meanwhile,
        pause::Pause,
        response_cache::GivenAgain,
        self_correction::SelfCorrection,
        step_rules::StepRules,
        turn_clock::TurnClock,
        window::{Room, Window},
    },
    provider::ladder::Ladder,
    recording::{
        hooks::{Calls, Proposals},
        step_hooks::{Intents, Steps},
    },
    safety::{doubt::Doubt, gate::Gate, inbound::Inbound},
    server::TurnParts,
};

/// What the behaviour of one turn is made of.
pub(super) struct Around<'a> {
    pub assembly: &'a Assembly,
    pub parts: &'a TurnParts,
    pub settings: &'a TurnSettings,
    pub provider: &'a Arc<dyn ModelProvider>,
    pub ladder: Option<Arc<Ladder>>,
    pub approver: Arc<dyn Approver>,
    pub clock: Arc<TurnClock>,
    pub shell: Shell,
}

impl Around<'_> {
    /// All of it, outermost first; the gate is innermost but for what records, so that it judges what really runs.
    pub async fn list(self) -> Vec<Arc<dyn Middleware>> {
        let (session, recorder) = (&self.parts.session, &self.parts.recorder);
        let is_offline = self.provider.info().is_offline;
        let mut list: Vec<Arc<dyn Middleware>> = vec![Arc::new(Steps(Arc::clone(recorder)))];
        let pause: Arc<dyn Middleware> = Arc::new(self.pause());
        list.push(Arc::clone(&pause));
        if let Some(accounting) = self.accounting().await {
            list.push(Arc::new(accounting));
            list.push(Arc::new(self.budget()));
        }
        list.extend(self.given_again().map(|again| Arc::new(again) as Arc<dyn Middleware>));
        let room = self.room();
        let store = Arc::clone(&self.assembly.parts.store);
        list.push(Arc::new(Window::new(store, Box::new(move || room().0))));
        if let Some(ladder) = &self.ladder {
            list.push(Arc::new(Escalation::new(Arc::clone(ladder), Arc::clone(&self.parts.sink))));
        }
        list.push(Arc::new(Proposals(Arc::clone(recorder))));
        list.push(Arc::new(Checkpoint::new(Arc::clone(session.conversation()))));
        list.push(Arc::new(self.step_rules()));
        list.push(Arc::new(Inbound));
        // The offline assistant reads results by their form.
        if !is_offline {
            let session = Arc::clone(session);
            list.push(Arc::new(Meanwhile::new(Box::new(move || session.take_untold()))));
            list.push(Arc::new(SelfCorrection::new(self.settings.guards.stalled_steps, Arc::clone(&self.approver))));
            list.push(Arc::new(LastAnswer::default()));
        }
        let is_asked = {
            let session = Arc::clone(session);
            move || session.approval() != ApprovalMode::All
        };
        let calls = Calls::new(Arc::clone(recorder), Box::new(is_asked));
        let doubt = Doubt::new(&self.parts.doubts, Arc::clone(&self.approver));
        list.push(Arc::new(self.gate()));
        list.push(pause);
        list.push(Arc::new(doubt));
        list.push(Arc::new(calls));
        list.push(Arc::new(Intents(Arc::clone(recorder))));
        list
    }

    /// What counts the tokens of the turn; nothing is counted where no model answers.
    async fn accounting(&self) -> Option<Accounting> {
        let provider = Arc::clone(self.provider);
        if provider.info().is_offline {
            return None;
        }
        let store = &self.assembly.parts.store;
        store.ready().await;
        let (session, turn) = (self.parts.session.key().to_string(), self.parts.turn_id.to_string());
        let room = self.room();
        let answered = move || {
            let (Room { model, .. }, prices) = room();
            Answered { wire: provider.info().wire, model, prices }
        };
        let answered = Box::new(answered);
        Some(Accounting { store: Arc::clone(store), session, turn, answered, sent: Mutex::default() })
    }

    /// How much who answers at the moment takes, and what it costs.
    fn room(&self) -> impl Fn() -> (Room, Option<Prices>) + Send + Sync + 'static {
        let (provider, ladder, settings) = (Arc::clone(self.provider), self.ladder.clone(), self.settings.clone());
        move || {
            let other = ladder.as_ref().and_then(|ladder| settings.jobs.profiles.get(&ladder.profile()));
            let own = other.or(Some(&settings.model));
            Assembly::room(provider.as_ref(), own, &settings.models)
        }
    }

    fn pause(&self) -> Pause {
        let (session, turn_id) = (Arc::clone(&self.parts.session), self.parts.turn_id);
        let is_wanted = session.pause();
        let tell = move |is_paused| session.tell_paused(turn_id, is_paused);
        Pause::new(is_wanted, Arc::clone(&self.clock), Box::new(tell))
    }

    fn budget(&self) -> Budget {
        let (session, turn_id) = (Arc::clone(&self.parts.session), self.parts.turn_id);
        let tell = move |gauge| session.tell_budget(turn_id, gauge);
        Budget {
            limits: self.settings.guards.budget,
            store: Arc::clone(&self.assembly.parts.store),
            clock: Arc::clone(&self.clock),
            today: || Zoned::now().date(),
            tell: Box::new(tell),
        }
    }

    fn step_rules(&self) -> StepRules {
        let (rules, model) = (Arc::clone(&self.settings.guards.rules), self.provider.info().model);
        StepRules::new(rules, model, Arc::clone(&self.approver))
    }

    /// What gives answers again; nothing does where no model answers.
    fn given_again(&self) -> Option<GivenAgain> {
        let Around { assembly, parts, provider, settings, .. } = self;
        let mut history = DefaultHasher::new();
        parts.session.history().hash(&mut history);
        (settings.is_cache_on && !provider.info().is_offline).then(|| GivenAgain {
            cache: Arc::clone(&assembly.answers),
            provider: Arc::clone(provider),
            sink: Arc::clone(&parts.sink),
            session: parts.session.key().to_string(),
            history: history.finish(),
            cwd: parts.session.cwd(),
            home: assembly.parts.home.clone(),
            key: Mutex::default(),
        })
    }

    fn gate(self) -> Gate {
        let (rules, model) = (Arc::clone(&self.settings.guards.rules), self.provider.info().model);
        let must_ask = move |tool: &str| rules.must_ask(tool, &model);
        let session = Arc::clone(&self.parts.session);
        let consents = session.consents().clone();
        let mode = Arc::new(move || session.approval());
        let home = self.assembly.parts.home.clone();
        Gate::new(self.assembly.parts.policy, mode, self.approver, consents, home, self.shell)
            .with_remembered(Arc::clone(&self.assembly.rules) as _)
            .that_asks(Box::new(must_ask))
    }
}
