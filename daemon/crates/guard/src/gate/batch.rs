//! Asks about several commands, or several changes of files, of one answer in one question. Each is judged again before it runs: consent
//! holds for the command and the folder, or for the change as it was shown.

use std::{ops::ControlFlow, path::Path, sync::PoisonError};

use cohab_agent::{
    PlannedCall,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Effect},
};
use cohab_policy::{
    Level, Verdict,
    consent::{Decision, Situation, decide},
};
use cohab_protocol::ApprovalMode;
use cohab_types::place_in_answer::{Counted, PlaceInAnswer};
use tokio::time::Instant;

use super::{Gate, decided::Decided, hazards, is_too_old};

/// Diffs that are asked about together have at most so many bytes; further changes are asked about one by one.
const DIFFS_MAX_BYTES: usize = 128 * 1024;

/// A call that is asked about, and why.
type Wanted<'a> = (&'a PlannedCall, Vec<String>);

/// Whether two calls are one thing to be asked about. Of several changes of one file only the first is known before it is made.
fn is_same(one: &Effect, other: &Effect) -> bool {
    match (one, other) {
        (Effect::Write { path: one, .. }, Effect::Write { path: other, .. }) => one == other,
        _ => one == other,
    }
}

impl Gate {
    /// The place of this change among several, for its card.
    pub(super) fn place_among_changes(&self, effect: &Effect) -> Option<String> {
        let Effect::Write { path, .. } = effect else { return None };
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let place = changes.iter().position(|changed| changed.as_ref() == Some(path))?;
        changes[place] = None;
        let place = PlaceInAnswer { what: Counted::Change, number: place + 1, count: changes.len() };
        (place.count > 1).then(|| place.to_string())
    }

    fn note_changes(&self, calls: &[PlannedCall]) {
        let changed = |call: &PlannedCall| {
            let Effect::Write { path, .. } = &call.intent.effect else { return None };
            let verdict = self.judge(call);
            let is_asked = (Level::Ask..=Level::Danger).contains(&verdict.level) && self.must_ask(call, &verdict);
            is_asked.then(|| Some(path.clone()))
        };
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner) = calls.iter().filter_map(changed).collect();
    }

    /// Asks about those of `calls` that would be asked about one after the other, if there are several. Dangerous calls are never among
    /// them.
    pub(super) async fn ask_together(&self, calls: &[PlannedCall]) -> ControlFlow<()> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if (self.mode)() != ApprovalMode::Ask {
            return ControlFlow::Continue(());
        }
        self.note_changes(calls);
        self.ask_group(self.wanted(calls, |effect| matches!(effect, Effect::RunCommand { .. }))).await?;
        self.ask_group(self.wanted(calls, |effect| matches!(effect, Effect::Write { .. }))).await
    }

    /// Those of `calls` with such an effect that the user would be asked about, each thing once, with the reasons.
    fn wanted<'a>(&self, calls: &'a [PlannedCall], is_of_kind: fn(&Effect) -> bool) -> Vec<Wanted<'a>> {
        let (mut wanted, mut bytes): (Vec<Wanted<'a>>, usize) = (Vec::new(), 0);
        for call in calls.iter().filter(|call| is_of_kind(&call.intent.effect)) {
            let mut verdict = self.judge(call);
            let is_new = wanted.iter().all(|(other, _)| !is_same(&other.intent.effect, &call.intent.effect));
            let is_once = hazards(call).is_asked_each_time() || self.stopped_by_sandbox(call, verdict.level).is_some();
            let diff = if let Effect::Write { diff, .. } = &call.intent.effect { diff.len() } else { 0 };
            let fits = bytes + diff <= DIFFS_MAX_BYTES;
            if is_new && fits && !is_once && verdict.level == Level::Ask && self.must_ask(call, &verdict) {
                bytes += diff;
                wanted.push((call, std::mem::take(&mut verdict.reasons)));
            }
        }
        wanted
    }

    async fn ask_group(&self, mut wanted: Vec<Wanted<'_>>) -> ControlFlow<()> {
        if wanted.len() < 2 {
            return ControlFlow::Continue(());
        }
        for (call, reasons) in &mut wanted {
            reasons.extend(self.suspended(&call.intent.effect, &call.cwd));
            // It is shown together with the others.
            let _ = self.place_among_changes(&call.intent.effect);
        }
        let question = |(call, reasons): &Wanted<'_>| {
            let (tool, effect) = (call.tool.clone(), call.intent.effect.clone());
            let subject = ApprovalSubject::Effect { tool, effect };
            ApprovalQuestion { reasons: reasons.clone(), ..ApprovalQuestion::about(subject) }
        };
        let answers = self.approver.ask_all(wanted.iter().map(question).collect()).await;
        if answers.contains(&ApprovalAnswer::CancelTurn) {
            return ControlFlow::Break(());
        }
        let at = Instant::now();
        let decided = wanted.into_iter().zip(answers).map(|((call, _), answer)| Decided {
            effect: call.intent.effect.clone(),
            cwd: call.cwd.clone(),
            answer,
            at,
        });
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).extend(decided);
        ControlFlow::Continue(())
    }

    /// Whether no decision of the user covers it yet, as if it were a plain question.
    fn must_ask(&self, call: &PlannedCall, verdict: &Verdict) -> bool {
        decide(&Situation { level: Level::Ask, ..self.situation(call, verdict) }) == Decision::Ask
    }

    /// The decision made beforehand about exactly this, used once, and its time; `None` if it is too old.
    pub(super) fn take_decided(&self, effect: &Effect, cwd: &Path) -> Option<(ApprovalAnswer, Instant)> {
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let at = decided.iter().position(|one| one.effect == *effect && one.cwd == cwd)?;
        let Decided { answer, at, .. } = decided.remove(at);
        (!is_too_old(at)).then_some((answer, at))
    }
}
