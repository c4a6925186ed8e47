//! The behaviour around the loop of a turn: one list to register it, in its order.

use std::sync::Arc;

use cohab_protocol::ApprovalMode;
use cohab_shell_relay::shell::Shell;
use jiff::Zoned;

use super::{Assembly, TurnSettings};
use crate::{
    agent::{
        Middleware,
        port::{Approver, ModelInfo, ModelProvider},
    },
    middleware::{
        accounting::Accounting, budget::Budget, checkpoint::Checkpoint, last_answer::LastAnswer, meanwhile::Meanwhile,
        pause::Pause, self_correction::SelfCorrection, step_rules::StepRules, turn_clock::TurnClock,
    },
    recording::hooks::{Calls, Proposals},
    safety::{gate::Gate, inbound::Inbound},
    server::TurnParts,
};

/// What the behaviour of one turn is made of.
pub(super) struct Around<'a> {
    pub assembly: &'a Assembly,
    pub parts: &'a TurnParts,
    pub settings: &'a TurnSettings,
    pub provider: &'a dyn ModelProvider,
    pub approver: Arc<dyn Approver>,
    pub clock: Arc<TurnClock>,
    pub shell: Shell,
}

impl Around<'_> {
    /// All of it, outermost first; the gate is innermost but for what records, so that it judges what really runs.
    pub async fn list(self) -> Vec<Arc<dyn Middleware>> {
        let (session, recorder) = (&self.parts.session, &self.parts.recorder);
        let is_offline = self.provider.info().is_offline;
        let mut list: Vec<Arc<dyn Middleware>> = Vec::new();
        let pause: Arc<dyn Middleware> = Arc::new(self.pause());
        list.push(Arc::clone(&pause));
        if let Some(accounting) = self.accounting().await {
            list.push(Arc::new(accounting));
            list.push(Arc::new(self.budget()));
        }
        list.push(Arc::new(self.assembly.window(self.provider, self.settings).0));
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
        list.push(Arc::new(self.gate()));
        list.push(pause);
        list.push(Arc::new(calls));
        list
    }

    /// What counts the tokens of the turn; nothing is counted where no model answers.
    async fn accounting(&self) -> Option<Accounting> {
        let (_, model, prices) = self.assembly.window(self.provider, self.settings);
        let ModelInfo { wire, is_offline, .. } = self.provider.info();
        if is_offline {
            return None;
        }
        let store = &self.assembly.parts.store;
        store.ready().await;
        let (session, turn) = (self.parts.session.key().to_string(), self.parts.turn_id.to_string());
        Some(Accounting { store: Arc::clone(store), session, turn, wire, model, prices })
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
