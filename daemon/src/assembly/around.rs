//! The behaviour around the loop of a turn: one list to register it, in its order.

use std::sync::{Arc, Mutex, atomic::AtomicU32};

use cohab_protocol::ApprovalMode;
use cohab_shell_relay::shell::Shell;

use super::{Assembly, TurnSettings, shortening};
use crate::{
    agent::{
        Middleware,
        port::{Approver, ModelInfo, ModelProvider},
    },
    middleware::{
        accounting::Accounting,
        checkpoint::Checkpoint,
        compaction::{Compaction, Spent},
        meanwhile::Meanwhile,
        spooling::Spooling,
        window::Window,
    },
    recording::hooks::{Calls, Proposals},
    safety::{gate::Gate, inbound::Inbound},
    server::TurnParts,
    store::spool::Spool,
};

/// One result may have this part of a request.
const RESULT_SHARE: u64 = 4;
/// Bytes of an estimated token of what programs write, rather too few.
const BYTES_PER_TOKEN: u64 = 3;
/// A result may have so many bytes however small the context is.
const LEAST_RESULT_BYTES: usize = 4 * 1024;

/// What the behaviour of one turn is made of.
pub(super) struct Around<'a> {
    pub assembly: &'a Assembly,
    pub parts: &'a TurnParts,
    pub settings: &'a TurnSettings,
    pub provider: &'a Arc<dyn ModelProvider>,
    pub approver: Arc<dyn Approver>,
    pub shell: Shell,
    /// Estimate of the system prompt and of all tools.
    pub beside_tokens: u64,
}

impl Around<'_> {
    /// All of it, outermost first; the gate is innermost but for what records, so that it judges what really runs.
    pub async fn list(self) -> Vec<Arc<dyn Middleware>> {
        let (session, recorder) = (&self.parts.session, &self.parts.recorder);
        let is_offline = self.provider.info().is_offline;
        let mut list: Vec<Arc<dyn Middleware>> = Vec::new();
        let accounting = self.accounting().await.map(Arc::new);
        list.extend(accounting.clone().map(|accounting| accounting as _));
        let window = Arc::new(self.assembly.window(self.provider.as_ref(), self.settings).0);
        list.push(Arc::clone(&window) as _);
        let compaction = accounting.map(|accounting| self.compaction(Arc::clone(&window), accounting));
        list.extend(compaction.map(|compaction| Arc::new(compaction) as _));
        list.push(Arc::new(Proposals(Arc::clone(recorder))));
        list.push(Arc::new(Checkpoint::new(Arc::clone(session.conversation()))));
        let spool = Spool::at(&self.assembly.paths.state_dir);
        let kept = self.settings.kept.map(|_| (spool.clone(), session.key().to_string()));
        list.push(Arc::new(Spooling { spool: kept, max_bytes: self.result_max_bytes(&window) }));
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
        let outputs = spool.folder(&session.key().to_string());
        list.push(Arc::new(self.gate().with_own_folder(outputs)));
        list.push(Arc::new(calls));
        list
    }

    /// Longest result of a tool, in bytes: in a small context less than the settings allow. The offline assistant has none.
    fn result_max_bytes(&self, window: &Window) -> usize {
        let most = self.settings.output_max_bytes;
        if self.provider.info().is_offline {
            return most;
        }
        let share = window.request_tokens() / RESULT_SHARE * BYTES_PER_TOKEN;
        most.min(usize::try_from(share).unwrap_or(most).max(LEAST_RESULT_BYTES))
    }

    /// What shortens the conversation.
    fn compaction(&self, window: Arc<Window>, accounting: Arc<Accounting>) -> Compaction {
        let spent = Spent::default();
        let account = spent.account(accounting);
        let compactor = shortening::compactor(self.settings.context.strategy, self.provider, &window, account);
        Compaction {
            compactor,
            window,
            settings: self.settings.context,
            beside_tokens: self.beside_tokens,
            spent,
            sink: Arc::clone(&self.parts.sink),
            recorder: Arc::clone(&self.parts.recorder),
            last_call: AtomicU32::default(),
        }
    }

    /// What counts the tokens of the turn; nothing is counted where no model answers.
    async fn accounting(&self) -> Option<Accounting> {
        let (_, model, prices) = self.assembly.window(self.provider.as_ref(), self.settings);
        let ModelInfo { wire, is_offline, .. } = self.provider.info();
        if is_offline {
            return None;
        }
        let store = &self.assembly.parts.store;
        store.ready().await;
        let (session, turn) = (self.parts.session.key().to_string(), self.parts.turn_id.to_string());
        Some(Accounting { store: Arc::clone(store), session, turn, wire, model, prices, sent: Mutex::default() })
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
