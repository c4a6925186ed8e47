//! The behaviour around the loop of a turn: one list to register it, in its order.

use std::sync::Arc;

use cohab_protocol::ApprovalMode;
use cohab_shell_relay::shell::Shell;

use super::{Assembly, TurnSettings};
use crate::{
    agent::{
        Middleware,
        port::{Approver, ModelInfo, ModelProvider},
    },
    middleware::{accounting::Accounting, checkpoint::Checkpoint, meanwhile::Meanwhile},
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
    pub provider: &'a dyn ModelProvider,
    pub approver: Arc<dyn Approver>,
    pub shell: Shell,
}

impl Around<'_> {
    /// All of it, outermost first; the gate is innermost but for what records, so that it judges what really runs.
    pub async fn list(self) -> Vec<Arc<dyn Middleware>> {
        let (session, recorder) = (&self.parts.session, &self.parts.recorder);
        let is_offline = self.provider.info().is_offline;
        let mut list: Vec<Arc<dyn Middleware>> = vec![Arc::new(Steps(Arc::clone(recorder)))];
        if let Some(accounting) = self.accounting().await {
            list.push(Arc::new(accounting));
        }
        list.push(Arc::new(self.assembly.window(self.provider, self.settings).0));
        list.push(Arc::new(Proposals(Arc::clone(recorder))));
        list.push(Arc::new(Checkpoint::new(Arc::clone(session.conversation()))));
        list.push(Arc::new(Inbound));
        // The offline assistant reads results by their form.
        if !is_offline {
            let session = Arc::clone(session);
            list.push(Arc::new(Meanwhile::new(Box::new(move || session.take_untold()))));
        }
        let is_asked = {
            let session = Arc::clone(session);
            move || session.approval() != ApprovalMode::All
        };
        let calls = Calls::new(Arc::clone(recorder), Box::new(is_asked));
        let doubt = Doubt::new(&self.parts.doubts, Arc::clone(&self.approver));
        list.push(Arc::new(self.gate()));
        list.push(Arc::new(doubt));
        list.push(Arc::new(calls));
        list.push(Arc::new(Intents(Arc::clone(recorder))));
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

    fn gate(self) -> Gate {
        let session = Arc::clone(&self.parts.session);
        let consents = session.consents().clone();
        let mode = Arc::new(move || session.approval());
        let home = self.assembly.parts.home.clone();
        Gate::new(self.assembly.parts.policy, mode, self.approver, consents, home, self.shell)
            .with_remembered(Arc::clone(&self.assembly.rules) as _)
    }
}
