//! Runs a debate for a turn: asks the models what [`Debate`] says, shows how far they are, and makes one text of what they agree on.

use std::{fmt::Write as _, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_agent::{
    TurnState,
    completion::{Account, Completion},
    port::{
        Activity, ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, EventSink, KnownAnswers, StepResult,
        SubagentProgress, SubagentState, TurnEvent,
    },
};
use cohab_config::model_roles::Role;
use cohab_context::fit::message_tokens;
use cohab_model_api::{Message, ModelProvider, ModelRequest, TokenUsage};
use cohab_protocol::amount;
use cohab_session::{Accounted, TurnParts};
use cohab_teams::{Debate, DebateStep, MAX_CALLS, Statement, Team};
use futures::future::join_all;
use tokio::time::Instant;

use super::{Assembly, Resolved};

/// Longest wait for one answer.
const ANSWER_WAIT: Duration = Duration::from_secs(180);
/// Longest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The roles whose models debate, after the main one: different models know different things.
const ROLES: [Role; 2] = [Role::Reviewer, Role::Judge];
/// The kind of the rows on the screen.
const KIND: &str = "debater";

/// A model that debates, and what accounts for its tokens.
pub(super) struct Debater {
    provider: Arc<dyn ModelProvider>,
    account: Account,
}

/// The debate of one turn.
pub(super) struct DebatingTurn {
    /// At least one; with fewer than debaters they speak more than once.
    pub models: Vec<Debater>,
    /// Is asked before it begins.
    pub approver: Arc<dyn Approver>,
    /// Learns how far it is.
    pub sink: Arc<dyn EventSink>,
}

impl Assembly {
    /// The debate of a turn whose question asks for one.
    pub(super) async fn debate(
        &self,
        resolved: &Resolved,
        main: &Arc<dyn ModelProvider>,
        parts: &TurnParts,
        approver: Arc<dyn Approver>,
    ) -> DebatingTurn {
        let Accounted { session, turn } = parts.accounted();
        let team = parts.team.as_ref().map(|(_, team)| team.clone());
        let models = self.debaters(resolved, main, &parts.session.cwd(), (&session, &turn), team).await;
        DebatingTurn { models, approver, sink: Arc::clone(&parts.sink) }
    }

    /// The models that debate: the main one, and those of other roles. `whom` are the session and the turn; `team` charges the turn.
    pub(super) async fn debaters(
        &self,
        resolved: &Resolved,
        main: &Arc<dyn ModelProvider>,
        cwd: &Path,
        whom: (&str, &str),
        team: Option<Team>,
    ) -> Vec<Debater> {
        let mut models = Vec::new();
        for role in [None].into_iter().chain(ROLES.map(Some)) {
            let provider = match role {
                None => Some(Arc::clone(main)),
                Some(role) => resolved.pool.of_role(role).await,
            };
            if let Some(provider) = provider {
                let ready = self.beside(role, provider, resolved, cwd, whom).await;
                models.push(Debater { provider: ready.provider, account: charged(ready.account, team.clone()) });
            }
        }
        models
    }
}

/// The same account, which also charges the turn.
fn charged(account: Account, team: Option<Team>) -> Account {
    Arc::new(move |usage: &mut TokenUsage| {
        account(usage);
        team.iter().for_each(|team| team.spend(*usage));
    })
}

impl DebatingTurn {
    async fn ask(&self, debater: usize, system: String, messages: &[Message]) -> Result<Statement, String> {
        let Debater { provider, account } = &self.models[debater % self.models.len()];
        let request = ModelRequest {
            system,
            messages: messages.to_vec(),
            tools: Vec::new(),
            allow_tools: false,
            withheld: Default::default(),
        };
        let completion = Completion {
            what: "statement",
            provider: provider.as_ref(),
            account,
            max_bytes: MAX_ANSWER_BYTES,
            wait: ANSWER_WAIT,
        };
        completion.complete(request).await.map(|text| Statement::parse(&text))
    }

    /// Asks a debater and shows that it is asked.
    async fn hear(&self, debater: usize, system: String, messages: &[Message]) -> Result<Statement, String> {
        let began = Instant::now();
        let info = self.models[debater % self.models.len()].provider.info();
        let number = u32::try_from(debater + 1).unwrap_or(u32::MAX);
        let tell = async |state: SubagentState, label: String| {
            let (kind, elapsed) = (KIND.to_owned(), began.elapsed());
            let news = SubagentProgress { number, kind, label, state, tokens: 0, elapsed };
            self.sink.emit(TurnEvent::Subagent(news)).await;
        };
        let model = format!("{}/{}", info.wire, info.model);
        tell(SubagentState::Working(Activity::ModelCall { model: model.clone(), is_host: false }), model).await;
        let said = self.ask(debater, system, messages).await;
        let (state, label) = match &said {
            Ok(statement) => (StepResult::Done, statement.position.clone()),
            Err(error) => (StepResult::Failed, error.clone()),
        };
        tell(SubagentState::Ended(state), label).await;
        said
    }

    async fn is_agreed(&self, messages: &[Message]) -> bool {
        let tokens: u64 = messages.iter().map(message_tokens).sum();
        let (calls, all) = (MAX_CALLS - 1, tokens.saturating_mul(MAX_CALLS as u64 - 1));
        let what = format!(
            "A debate asks {} up to {calls} times, about {} tokens of input.",
            self.names(),
            amount::count(all)
        );
        let question = ApprovalQuestion::about(ApprovalSubject::GoOn { what });
        matches!(self.approver.ask(question).await, ApprovalAnswer::Approved { .. })
    }

    fn names(&self) -> String {
        let mut names: Vec<String> = self.models.iter().map(|one| one.provider.info().model).collect();
        names.dedup();
        names.join(", ")
    }
}

#[async_trait]
impl KnownAnswers for DebatingTurn {
    async fn answer(&self, state: &TurnState) -> Option<String> {
        let messages = state.messages();
        let opening = self.ask(0, Debate::opening(), messages).await.ok()?;
        if Debate::is_settled(&opening) {
            return Some(format!("{}\n\n(One model was sure; there was no debate.)", opening.answer));
        }
        if !self.is_agreed(messages).await {
            return Some(format!("{}\n\n(One answer, without a debate.)", opening.answer));
        }
        let mut debate = Debate::default();
        loop {
            let requests = match debate.next() {
                DebateStep::Ask(requests) => requests,
                DebateStep::Agreed(statement, share) => return Some(agreed(&statement, share, &debate)),
                DebateStep::Split(statements) => return Some(split(&statements)),
            };
            let asked = requests.into_iter().map(|(debater, system)| self.hear(debater, system, messages));
            let said: Vec<Option<Statement>> = join_all(asked).await.into_iter().map(Result::ok).collect();
            if said.iter().all(Option::is_none) {
                return None;
            }
            debate.heard(said);
        }
    }
}

fn agreed(statement: &Statement, share: f64, debate: &Debate) -> String {
    let percent = (share * 100.0).round();
    let rounds = match debate.rounds() {
        1 => "1 round".to_owned(),
        rounds => format!("{rounds} rounds"),
    };
    format!(
        "**{}**\n\n{}\n\n({percent} % of {} debaters after {rounds}.)",
        statement.position,
        statement.answer,
        debate.debaters()
    )
}

fn split(statements: &[Statement]) -> String {
    let mut text = "The debaters do not agree; the choice is yours:\n".to_owned();
    for (index, Statement { position, answer, confidence, .. }) in statements.iter().enumerate() {
        let _ = write!(text, "\n{}. **{position}** (confidence {confidence:.2}): {answer}\n", index + 1);
    }
    text
}
