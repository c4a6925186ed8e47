//! Asks about several commands of one answer in one question. Each command is judged again before it runs: consent holds for command
//! and folder.

use std::{ops::ControlFlow, path::Path, sync::PoisonError};

use cohab_agent::{
    PlannedCall,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Effect},
};
use cohab_policy::Level;
use cohab_protocol::ApprovalMode;
use cohab_types::place_in_answer::{Counted, PlaceInAnswer};
use tokio::time::Instant;

use super::{Gate, decided::Decided, is_asked_each_time, is_too_old};

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
            let is_asked = (Level::Ask..=Level::Danger).contains(&self.judge(call).level)
                && self.must_ask(&call.intent.effect, &call.cwd);
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
        let mut wanted: Vec<(&PlannedCall, Vec<String>)> = Vec::new();
        for call in calls {
            let mut verdict = self.judge(call);
            let is_new = wanted.iter().all(|(other, _)| other.intent.effect != call.intent.effect);
            let is_command = matches!(call.intent.effect, Effect::RunCommand { .. });
            let is_once = is_asked_each_time(call) || self.stopped_by_sandbox(call, verdict.level).is_some();
            if is_command
                && is_new
                && !is_once
                && verdict.level == Level::Ask
                && self.must_ask(&call.intent.effect, &call.cwd)
            {
                wanted.push((call, std::mem::take(&mut verdict.reasons)));
            }
        }
        if wanted.len() < 2 {
            return ControlFlow::Continue(());
        }
        for (call, reasons) in &mut wanted {
            reasons.extend(self.suspended(&call.intent.effect, &call.cwd));
        }
        let question = |(call, reasons): &(&PlannedCall, Vec<String>)| {
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

    /// Whether no decision of the user covers it yet.
    fn must_ask(&self, effect: &Effect, cwd: &Path) -> bool {
        self.earlier_refusal(effect, cwd).is_none()
            && self.consents.recall(effect, cwd).is_none()
            && !self.is_remembered(effect, cwd)
    }

    /// The decision made beforehand about exactly this, used once, and its time; `None` if it is too old.
    pub(super) fn take_decided(&self, effect: &Effect, cwd: &Path) -> Option<(ApprovalAnswer, Instant)> {
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let at = decided.iter().position(|one| one.effect == *effect && one.cwd == cwd)?;
        let Decided { answer, at, .. } = decided.remove(at);
        (!is_too_old(at)).then_some((answer, at))
    }
}
