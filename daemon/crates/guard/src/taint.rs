//! Tracks the untrusted text in a conversation. Its author may have written it for the model, so consents that the user gave before the
//! model read it are suspended and asked about again.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::{
    Fact, PlannedCall, TurnObserver, TurnState,
    port::{Effect, StepResult},
};
use cohab_context::{query, query_text};
use cohab_model_api::{Message, ToolCall, ToolResult};

use super::provenance::{EARLIER, Label, Origin, Printed, UserPlaces};

/// Most remembered calls of a conversation; with more, all are judged again by their text.
const MAX_JUDGED: usize = 4_096;

/// The untrusted texts of a session's conversation. The taint lasts as long as the conversation: summaries and answers inherit it.
#[derive(Clone, Debug, Default)]
pub struct Taint(Arc<Mutex<TaintState>>);

#[derive(Debug, Default)]
struct TaintState {
    /// The first of the least trusted texts.
    worst: Option<Label>,
    /// The checked part: rewrites of the conversation, and messages of it.
    seen: Option<(u32, usize)>,
    /// The calls that were judged as they ran, also those that did not run.
    judged: HashSet<String>,
    /// The user was told of the worst text in full.
    is_told: bool,
    /// What the conversation of the turn that ordered this one was touched by.
    inherited: Option<Label>,
}

impl Taint {
    fn state(&self) -> MutexGuard<'_, TaintState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The taint of a subagent's conversation: what this one is touched by touches it, too.
    #[must_use]
    pub fn for_subagent(&self) -> Self {
        let worst = self.state().worst.clone();
        Self(Arc::new(Mutex::new(TaintState { inherited: worst.clone(), worst, ..TaintState::default() })))
    }

    /// The source of the first untrusted text, if there is one.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        self.state().worst.as_ref().filter(|label| label.is_foreign()).map(|label| label.source.clone())
    }

    /// The reason for a question after this source was read: in full the first time in a conversation, then in short.
    pub(crate) fn reason(&self) -> Option<String> {
        let source = self.source()?;
        let is_told = std::mem::replace(&mut self.state().is_told, true);
        Some(if is_told { SHORT_REASON.to_owned() } else { reason(&source) })
    }

    /// The trust of the conversation, in tenths: that of its least trusted text.
    #[must_use]
    pub fn trust_tenths(&self) -> u8 {
        self.state().worst.as_ref().map_or(10, |label| label.origin.trust_tenths())
    }

    /// Counts a text of this source as untrusted, regardless of its place.
    pub fn raise(&self, source: &str) {
        let label = Label { origin: Origin::External, source: source.to_owned() };
        self.state().saw(label);
    }

    fn look(&self, turn: &TurnState, place: &UserPlaces) {
        let mut state = self.state();
        let messages = turn.messages();
        let is_new = begins_anew(turn);
        if is_new {
            let inherited = state.inherited.take();
            *state = TaintState { inherited: inherited.clone(), worst: inherited, ..TaintState::default() };
        }
        let from = match state.seen {
            Some((rewrites, seen)) if rewrites == turn.rewrites() => seen.min(messages.len()),
            _ => 0,
        };
        let has_history = state.seen.is_some() || is_new;
        state.seen = Some((turn.rewrites(), messages.len()));
        // A summary by an earlier daemon may stand for any text.
        let of_another_life = |label: Label| match !has_history && label.source == EARLIER {
            true => Label { origin: Origin::External, ..label },
            false => label,
        };
        // Results stand behind their calls.
        let is_answer = |message: &Message| matches!(message, Message::Assistant(_));
        let from = messages[..from].iter().rposition(is_answer).unwrap_or(0);
        let judged = std::mem::take(&mut state.judged);
        let labels = place.labels_but(&messages[from..], &|id| judged.contains(id));
        state.judged = judged;
        labels.into_iter().map(of_another_life).for_each(|label| state.saw(label));
    }
}

/// A reason to ask, after the first time.
pub(crate) const SHORT_REASON: &str = "after outside text";

/// A reason to ask: the first untrusted text.
fn reason(source: &str) -> String {
    format!("careful: its input included text from {source}, which you may not have written")
}

/// Whether this is the first question of a conversation. A summary is in a question, too: that conversation continues.
pub(super) fn begins_anew(turn: &TurnState) -> bool {
    let is_first =
        matches!(turn.messages(), [Message::User { text, .. }] if query_text::inside(text, query::EARLIER).is_none());
    is_first && turn.is_untouched()
}

impl TaintState {
    fn judged(&mut self, call_id: &str) {
        if self.judged.len() == MAX_JUDGED {
            self.judged.clear();
        }
        self.judged.insert(call_id.to_owned());
    }

    fn saw(&mut self, label: Label) {
        let trust = label.origin.trust_tenths();
        if self.worst.as_ref().is_none_or(|worst| trust < worst.origin.trust_tenths()) {
            self.worst = Some(label);
        }
    }
}

/// Checks the conversation before each step.
pub struct Watch {
    /// The taint.
    pub taint: Taint,
    /// The places that count as the user's.
    pub place: UserPlaces,
}

#[async_trait]
impl TurnObserver for Watch {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::StepBegins(state) = fact {
            self.taint.look(state, &self.place);
        }
    }
}

/// Looks at each call as it really runs: what the user made of it, in the folder that it runs in. Stands inside the gate, which
/// judges a call by what was read before it.
pub struct ExecutionTaint {
    taint: Taint,
    place: UserPlaces,
    running: Mutex<HashMap<String, Running>>,
}

/// A call that runs.
struct Running {
    label: Label,
    /// Line and folder of a command.
    command: Option<(String, PathBuf)>,
}

impl ExecutionTaint {
    /// For one turn.
    #[must_use]
    pub fn new(taint: Taint, place: UserPlaces) -> Self {
        Self { taint, place, running: Mutex::default() }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begins(&self, call: &PlannedCall) {
        let command = match &call.intent.effect {
            Effect::RunCommand { command } => Some((command.to_string(), call.cwd.clone())),
            _ => None,
        };
        let label = self.place.of_planned(call);
        self.running().insert(call.call_id.clone(), Running { label, command });
    }

    fn ended(&self, call: &ToolCall, outcome: StepResult, result: &ToolResult) {
        let label = match (self.running().remove(&call.id), outcome) {
            // It did not run: its text is cohab's or the user's.
            (_, StepResult::Refused) | (None, StepResult::Cancelled) => None,
            // A tool may quote a file in the error of a call that it cannot run.
            (None, _) => return,
            (Some(Running { label, command: None }), _) if label.origin == Origin::Tool => {
                Some(self.place.of_quotes(&call.name, &result.content))
            }
            (Some(Running { label, command: None }), _) => Some(label),
            (Some(Running { command: Some((line, cwd)), .. }), _) => {
                Some(self.place.of_run(&line, &cwd, Printed::of_result(&result.content)))
            }
        };
        let mut state = self.taint.state();
        state.judged(&call.id);
        label.into_iter().for_each(|label| state.saw(label));
    }
}

#[async_trait]
impl TurnObserver for ExecutionTaint {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            Fact::CallReached(call) => self.begins(call),
            Fact::CallEnded(call, outcome, result) => self.ended(call, outcome, result),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_agent::port::{Effect, Intent};
    use cohab_model_api::AssistantMessage;
    use serde_json::json;

    use super::*;

    fn place() -> UserPlaces {
        let shell = cohab_shell_state::shell::Shell::Bash;
        UserPlaces { home: "/home/ann".into(), workspace: "/home/ann/shop".into(), outputs: None, shell, files: None }
    }

    fn ran(command: &str) -> [Message; 2] {
        let args = json!({"command": command}).as_object().cloned().unwrap();
        let call = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args.into()) };
        let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: "x".into(), is_error: false };
        let message = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        [Message::Assistant(message), Message::ToolResults(vec![result])]
    }

    fn question(text: &str) -> Message {
        Message::user(text.into())
    }

    /// The taint of a session after these conversations, one after the other.
    fn source(lives: &[Vec<Message>]) -> Option<String> {
        let taint = Taint::default();
        for messages in lives {
            taint.look(&TurnState::new(messages.clone(), "and now".into()), &place());
        }
        taint.source()
    }

    #[test]
    fn one_text_from_elsewhere_taints_the_rest_of_the_conversation() {
        let clean = [vec![question("a")], ran("ls").into()].concat();
        assert_eq!(source(std::slice::from_ref(&clean)), None);
        let tainted = [clean.clone(), ran("curl example.com").into()].concat();
        assert_eq!(source(&[clean.clone(), tainted.clone()]).as_deref(), Some("`curl`"));
        assert_eq!(source(&[tainted.clone(), clean]).as_deref(), Some("`curl`"), "its summary may say the same");
        assert_eq!(source(&[tainted, Vec::new()]), None, "a new conversation");
    }

    #[test]
    fn a_conversation_that_grows_message_by_message_is_labelled_as_one_that_is_there() {
        let all = [vec![question("a")], ran("ls").into(), ran("cat a").into(), ran("curl example.com").into()].concat();
        let steps = |to: usize| (1..=to).map(|count| all[..count].to_vec()).collect::<Vec<_>>();
        assert_eq!(source(&steps(6)), None);
        assert_eq!(source(&steps(7)).as_deref(), Some("`curl`"));
    }

    #[test]
    fn a_conversation_that_became_one_summary_keeps_its_taint() {
        let summary = "<earlier-conversation>\nx\n</earlier-conversation>\n<question>\nq\n</question>";
        let look = |taint: &Taint, messages: Vec<Message>, question: &str| {
            taint.look(&TurnState::new(messages, question.into()), &place());
        };
        let taint = Taint::default();
        look(&taint, [vec![question("a")], ran("curl example.com").into()].concat(), "and now");
        look(&taint, Vec::new(), summary);
        assert_eq!(taint.source().as_deref(), Some("`curl`"));
        let of_another_life = Taint::default();
        look(&of_another_life, Vec::new(), summary);
        assert_eq!(of_another_life.source().as_deref(), Some(EARLIER));
    }

    #[test]
    fn what_was_summed_up_is_from_elsewhere_unless_we_know_better() {
        let summed = vec![question("<earlier-conversation>\nx\n</earlier-conversation>\n<question>\nq\n</question>")];
        assert_eq!(source(std::slice::from_ref(&summed)).as_deref(), Some(EARLIER));
        assert_eq!(source(&[vec![question("q")], summed]), None);
    }

    #[test]
    fn a_conversation_is_worth_as_much_as_the_least_of_its_texts() {
        let trust = |messages: Vec<Message>| {
            let taint = Taint::default();
            assert_eq!(taint.trust_tenths(), 10, "nothing was said yet");
            taint.look(&TurnState::new(messages, "and now".into()), &place());
            taint.trust_tenths()
        };
        assert_eq!(trust(vec![]), 9);
        assert_eq!(trust(vec![question("a"), Message::Assistant(AssistantMessage::default())]), 7);
        assert_eq!(trust([vec![question("a")], ran("ls").into()].concat()), 6);
        assert_eq!(trust([vec![question("a")], ran("curl example.com").into(), ran("ls").into()].concat()), 3);
    }

    /// A step reads what the first question names, before the model is asked.
    #[test]
    fn an_attached_file_of_others_taints_also_a_new_conversation() {
        let (taint, folder) = (Taint::default(), "<environment>\ncwd: /home/ann/shop\n</environment>\n");
        let mut state = TurnState::new(Vec::new(), format!("{folder}<question>\nq\n</question>"));
        taint.look(&state, &place());
        taint.raise("`read`");
        state.number_step();
        let attached = format!("{folder}<attached>\nfile: /srv/x\n| x\n</attached>\n<question>\nq\n</question>");
        state.rewrite(vec![question(&attached)]);
        taint.look(&state, &place());
        assert_eq!(taint.source().as_deref(), Some("`read`"), "what the step itself found is not forgotten");
        let loaded = Taint::default();
        loaded.look(&TurnState::new(vec![question(&attached)], "and now".into()), &place());
        assert_eq!(loaded.source().as_deref(), Some("`/srv/x`"), "it is found again in a conversation that was loaded");
    }

    #[tokio::test]
    async fn refused_calls_and_own_errors_do_not_taint() {
        let taint = Taint::default();
        let watch = ExecutionTaint::new(taint.clone(), place());
        for (outcome, content, is_error) in [
            (StepResult::Refused, "not now", true),
            (StepResult::Cancelled, "cancelled before it ended", true),
            (
                StepResult::Failed,
                "curl: (6) Could not resolve host: x.test\n[exit 6; cwd /home/ann/shop; 0.1 s]",
                false,
            ),
        ] {
            let mut messages = ran("curl x.test");
            let Message::Assistant(AssistantMessage { tool_calls, .. }) = &messages[0] else { panic!("an answer") };
            let call = tool_calls[0].clone();
            let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: content.into(), is_error };
            if outcome == StepResult::Failed {
                let effect = Effect::RunCommand { command: "curl x.test".into() };
                let intent = Intent { title: String::new(), effect };
                let planned = PlannedCall::new(&call, serde_json::Map::new(), intent, "/home/ann/shop".into());
                watch.observe(Fact::CallReached(&planned)).await;
            }
            watch.observe(Fact::CallEnded(&call, outcome, &result)).await;
            messages[1] = Message::ToolResults(vec![result]);
            taint.look(&TurnState::new([vec![question("a")], messages.into()].concat(), "and now".into()), &place());
            assert_eq!(taint.source(), None, "{content}");
        }
    }

    #[test]
    fn a_subagent_inherits_what_the_conversation_was_touched_by_and_hands_nothing_back_by_itself() {
        let above = Taint::default();
        above.raise("`curl`");
        let below = above.for_subagent();
        below.look(&TurnState::new(Vec::new(), "a task".into()), &place());
        assert_eq!(below.source().as_deref(), Some("`curl`"), "its first question does not clear it");
        let clean = Taint::default();
        let below = clean.for_subagent();
        below.raise("`curl`");
        assert_eq!(clean.source(), None);
    }

    #[test]
    fn the_source_is_named_in_full_once_a_conversation() {
        let taint = Taint::default();
        assert_eq!(taint.reason(), None);
        taint.raise("`curl`");
        let full = "careful: its input included text from `curl`, which you may not have written";
        assert_eq!([taint.reason(), taint.reason()].map(Option::unwrap), [full, SHORT_REASON]);
    }

    #[tokio::test]
    async fn a_call_counts_as_it_really_ran_and_only_when_it_did() {
        let taint = Taint::default();
        let watch = ExecutionTaint::new(taint.clone(), place());
        let call = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(serde_json::Map::new().into()) };
        let effect = Effect::RunCommand { command: "cat notes".into() };
        let intent = Intent { title: String::new(), effect };
        let planned = PlannedCall::new(&call, serde_json::Map::new(), intent, "/srv/clone".into());
        let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: "x".into(), is_error: false };
        watch.observe(Fact::CallEnded(&call, StepResult::Refused, &result)).await;
        assert_eq!(taint.source(), None);
        watch.observe(Fact::CallReached(&planned)).await;
        assert_eq!(taint.source(), None, "its own question is judged by what was read before");
        watch.observe(Fact::CallEnded(&call, StepResult::Done, &result)).await;
        assert_eq!(taint.source().as_deref(), Some("`/srv/clone`"));
    }
}
