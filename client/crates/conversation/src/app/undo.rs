//! `cohab undo`: takes back what the last turn changed. It needs no daemon: a program of ours brings back the files that are kept and
//! says what it cannot undo; the shell reports its state; what was not changed since is brought back; the shell reports again; the outcome is
//! printed.

use std::time::{Duration, Instant};

use cohab_protocol::ShellEvent;
use cohab_shell_relay::live::{LineDecision, LiveEvent, UNDO_PREFIX, UntouchedPrompt};
use cohab_shell_state::state::{Snapshot, StateChange, Step, Undo};
use cohab_types::command::{CommandRequest, Ending};

use super::{
    App, Surface,
    state::{
        activity::Activity,
        slash::{List, Picking, Slash, SlashStage},
        turn::Turn,
        undo::{Rewinding, UndoJournal, UndoKey, UndoStage, Undoing},
    },
};
use crate::{
    effect::Effect,
    slash::own_output::{OwnOutput, ProgramEnding},
    ui::change_summary::{named, restored},
};

/// The line that asks for it.
const LINE: [&str; 2] = ["cohab", "undo"];
/// Both commands are done in milliseconds, unless a folder is on a disk that hangs.
const TIMEOUT: Duration = Duration::from_secs(30);

impl App {
    /// Whether the line is for us, and not a question: taken before the shell sees it.
    pub(super) fn is_undo(line: &str) -> bool {
        line.split_whitespace().eq(LINE)
    }

    /// Begins, the line having been taken from the shell.
    pub(super) fn begin_undo(&mut self, effects: &mut Vec<Effect>) {
        effects.push(Effect::DecideLine(LineDecision::Assistant));
        self.open_undo();
    }

    /// Begins by the key, or once the prompt stands. It was only asked for where [`takes_undo_key`](Self::takes_undo_key).
    pub(super) fn on_undo_key(&mut self, effects: &mut Vec<Effect>) {
        if self.surface == Surface::Closing {
            self.undo.key = UndoKey::PressedAhead;
            return;
        }
        effects.push(Effect::BeginAnswer);
        self.open_undo();
    }

    fn open_undo(&mut self) {
        self.surface = Surface::Opening;
        self.print_own_line(&LINE.join(" "));
        self.start_undo();
    }

    /// Its line is printed, the relay makes room.
    pub(super) fn start_undo(&mut self) {
        self.set_undoing(None);
    }

    fn set_undoing(&mut self, rewind: Option<Rewinding>) {
        self.undo.key = UndoKey::Passes;
        self.activity = Activity::Undo(Undoing {
            step: UndoStage::Opening,
            command: String::new(),
            seen: None,
            files: Vec::new(),
            rewind,
        });
    }

    /// Takes back what this turn and later ones changed in the shell, as a part of a rewind that then loses `questions`. False if nothing
    /// of it is known.
    pub(super) fn rewind_shell(&mut self, turn: &str, questions: usize, effects: &mut Vec<Effect>) -> bool {
        let Some((change, is_partial)) = self.undo.history.take_since(turn) else { return false };
        let UndoJournal { turn, has_files, .. } = std::mem::take(&mut self.undo.journal);
        let rest = UndoJournal { turn, has_files, ..UndoJournal::default() };
        self.undo.journal = UndoJournal { change, is_partial, ..UndoJournal::default() };
        self.set_undoing(Some(Rewinding { questions, journal: rest }));
        self.run_for_undo(UndoStage::Looking, ":", effects);
        true
    }

    /// Whether the key for undo means undo: at the prompt behind a turn that changed the shell, or ahead of it, as long as it is
    /// untouched. The relay knows about keys.
    #[must_use]
    pub fn takes_undo_key(&self, prompt: UntouchedPrompt) -> bool {
        match prompt {
            UntouchedPrompt::Coming => {
                self.surface == Surface::Closing && self.turn_changed_anything() && !self.is_answering()
            }
            UntouchedPrompt::Stands => self.undo.key == UndoKey::Counts,
            UntouchedPrompt::No => false,
        }
    }

    /// Whether a turn continues, here or behind the prompt.
    fn is_answering(&self) -> bool {
        self.activity.turn().is_some_and(|turn| !turn.is_over())
    }

    fn turn_changed_anything(&self) -> bool {
        let turn = self.activity.turn().map(Turn::id);
        turn.is_some() && self.undo.journal.turn == turn && !self.undo.journal.is_empty()
    }

    /// A turn is about to be forgotten.
    pub(super) fn offer_undo(&mut self) {
        self.undo.key = match self.undo.key {
            _ if !self.turn_changed_anything() => UndoKey::Passes,
            UndoKey::PressedAhead => UndoKey::PressedAhead,
            _ => UndoKey::Ended,
        };
    }

    /// A prompt stands.
    pub(super) fn age_undo_offer(&mut self, effects: &mut Vec<Effect>) {
        match self.undo.key {
            UndoKey::Ended => self.undo.key = UndoKey::Counts,
            UndoKey::PressedAhead => self.on_undo_key(effects),
            UndoKey::Counts | UndoKey::Passes => self.undo.key = UndoKey::Passes,
        }
    }

    /// The terminal is ours. False if no undo is on.
    pub(super) fn advance_undo(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(undoing) = self.activity.undoing_mut() else { return false };
        self.screen.is_dirty = true;
        let seen = undoing.seen.take();
        let step = std::mem::replace(&mut undoing.step, UndoStage::Opening);
        if matches!(step, UndoStage::Opening)
            && !self.undo.journal.is_empty()
            && let Some(question) = self.undo.reaches_back_to()
        {
            self.print_remark(&format!(
                "The last turn changed nothing. `cohab undo` again undoes an earlier one: \"{question}\"."
            ));
            self.close_undo(effects);
            return true;
        }
        match (step, seen) {
            (UndoStage::Opening, _) if self.undo.journal.is_empty() => {
                self.print_remark(
                    "Nothing to undo: no turn has changed this shell or a file since the last undo. \
                     `cohab undo --list` shows earlier turns.",
                );
                self.close_undo(effects);
            }
            (UndoStage::Opening, _) if self.undo.journal.has_files => self.undo_files(effects),
            // It reports when it has ended.
            (UndoStage::Files, _) => undoing.step = UndoStage::Files,
            (UndoStage::Opening, _) => self.run_for_undo(UndoStage::Looking, ":", effects),
            (UndoStage::Looking, Some(now)) => {
                let undo = Undo::of(&self.undo.journal.change, &now, self.options.environment.shell);
                if undo.script().is_empty() {
                    self.tell_undo(&undo, &now, effects);
                } else {
                    let script = undo.script().to_owned();
                    self.run_for_undo(UndoStage::Restoring(undo), &script, effects);
                }
            }
            (UndoStage::Looking, None) => {
                self.print_remark("Nothing was undone: the shell did not report its current state.");
                self.close_undo(effects);
            }
            (UndoStage::Restoring(undo), Some(now)) => self.tell_undo(&undo, &now, effects),
            (UndoStage::Restoring(_), None) => {
                self.print_remark("Interrupted: some of it may be undone. `cohab undo` undoes the rest.");
                self.close_undo(effects);
            }
        }
        // A rewind continues.
        matches!(self.activity, Activity::Undo(_)) || self.surface == Surface::Closing
    }

    fn undo_files(&mut self, effects: &mut Vec<Effect>) {
        let turn = self.undo.journal.turn.map(|turn| turn.to_string());
        let args = ["undo".to_owned(), "--turn".to_owned()].into_iter().chain(turn).collect();
        if let Some(undoing) = self.activity.undoing_mut() {
            undoing.step = UndoStage::Files;
        }
        effects.push(Effect::RunProgram { args, cwd: self.shell.cwd.clone(), columns: self.text_width() });
    }

    /// Whether our program brings files back.
    pub(super) fn is_undoing_files(&self) -> bool {
        matches!(self.activity, Activity::Undo(Undoing { step: UndoStage::Files, .. }))
    }

    /// It has, as far as it could. The shell is next.
    pub(super) fn on_files_undone(&mut self, output: &OwnOutput, effects: &mut Vec<Effect>) {
        // A turn of which no file is kept has nothing to say.
        let is_silent = output.text.trim().is_empty() && output.ending == ProgramEnding::Exited(0);
        let lines = if is_silent { Vec::new() } else { output.lines(&LINE.join(" "), self.width()) };
        let mut told: Vec<String> = lines.iter().map(ToString::to_string).collect();
        self.screen.above.extend(lines);
        self.screen.is_dirty = true;
        self.undo.journal.has_files = false;
        if self.undo.journal.leaves_shell_alone() {
            self.undo.journal = UndoJournal::default();
            if is_silent {
                told.push("Nothing to undo: no change of a file by this turn is known.".to_owned());
                self.print_remark(&told[0]);
            }
            self.report_undo(&told.join("\n"), effects);
            self.close_undo(effects);
        } else {
            if let Some(undoing) = self.activity.undoing_mut() {
                (undoing.step, undoing.files) = (UndoStage::Opening, told);
            }
            self.advance_undo(effects);
        }
    }

    fn run_for_undo(&mut self, step: UndoStage, text: &str, effects: &mut Vec<Effect>) {
        let id = format!("{UNDO_PREFIX}{}", (self.options.fresh_turn_id)());
        let (files, rewind) = match self.activity.undoing_mut() {
            Some(undoing) => (std::mem::take(&mut undoing.files), undoing.rewind.take()),
            None => (Vec::new(), None),
        };
        self.activity = Activity::Undo(Undoing { step, command: id.clone(), seen: None, files, rewind });
        self.surface = Surface::Command;
        let request = CommandRequest { id, text: text.to_owned(), timeout: TIMEOUT, wants_env_delta: true };
        effects.push(Effect::RunAsItIs(request));
    }

    /// What the relay says about a command of the undo; any other event comes back.
    pub(super) fn on_undo_event(
        &mut self,
        event: LiveEvent,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Option<LiveEvent> {
        let Some(undoing) = self.activity.undoing_mut() else { return Some(event) };
        match event {
            LiveEvent::ShellObserved { id, listing, change } if id == undoing.command => {
                undoing.seen = listing.snapshot();
                self.shell.drift.saw(change);
            }
            LiveEvent::CommandFinished { id, outcome } if id == undoing.command => {
                if outcome.ending == Ending::StillRunning {
                    undoing.seen = None;
                }
                self.shell.cwd = outcome.cwd;
            }
            LiveEvent::CommandRefused { id, error } if id == undoing.command => {
                self.surface = Surface::Ours;
                self.print_remark(&format!("Nothing was undone: {error}."));
                self.close_undo(effects);
                self.advance_pick(now, effects);
            }
            other => return Some(other),
        }
        None
    }

    /// Says what is undone and what is not, to the user and, as an event of the shell, to the daemon.
    fn tell_undo(&mut self, undo: &Undo, now: &Snapshot, effects: &mut Vec<Effect>) {
        let journal = std::mem::take(&mut self.undo.journal);
        if let Some(turn) = journal.turn {
            self.undo.history.taken_back(turn);
        }
        let is_rewind = self.activity.undoing_mut().is_some_and(|undoing| undoing.rewind.is_some());
        let (done, failed) = undo.outcome(now);
        let back = done.iter().filter_map(|(item, value)| {
            let before = journal.change.steps.get(item)?.after.clone();
            Some((item.clone(), Step { before, after: value.clone() }))
        });
        let back = StateChange { steps: back.collect() };
        let line = restored(&back, &self.options.environment.home, self.width(), self.options.output_style);
        let files = self.activity.undoing_mut().map(|undoing| std::mem::take(&mut undoing.files)).unwrap_or_default();
        let has_files = !files.is_empty();
        let mut told = files;
        told.extend(line.iter().map(ToString::to_string));
        self.screen.above.extend(line);
        let mut remarks = Vec::new();
        if !failed.is_empty() {
            remarks.push(format!("The shell refused: {}.", named(failed)));
        }
        if !undo.changed_since.is_empty() {
            remarks.push(format!("Changed since, and left alone: {}.", named(&undo.changed_since)));
        }
        if !undo.lasting.is_empty() {
            remarks.push(format!("Cannot be undone: {}.", named(&undo.lasting)));
        }
        if journal.is_partial {
            remarks.push("One command was stopped or is still running; its other changes are unknown.".to_owned());
        }
        if !has_files && !is_rewind {
            remarks.push("Files and programs are as the commands left them.".to_owned());
        }
        remarks.iter().for_each(|remark| self.print_remark(remark));
        told.append(&mut remarks);
        self.report_undo(&told.join("\n"), effects);
        self.close_undo(effects);
    }

    /// The model's next answer must not build on what is gone.
    fn report_undo(&mut self, told: &str, effects: &mut Vec<Effect>) {
        let event = ShellEvent {
            line: Some(LINE.join(" ")),
            exit_code: 0,
            cwd: self.shell.cwd.as_path().into(),
            duration_ms: 0,
            output_tail: told.to_owned(),
            output_bytes: u64::try_from(told.len()).unwrap_or(u64::MAX),
            ran_in: self.shell.cwd.as_path().into(),
            ended_ms: (self.options.wall_clock_ms)(),
        };
        self.keep_shell_event(event, effects);
    }

    fn close_undo(&mut self, effects: &mut Vec<Effect>) {
        if let Some(Rewinding { questions, journal }) =
            self.activity.undoing_mut().and_then(|undoing| undoing.rewind.take())
        {
            self.undo.journal = journal;
            let stage = SlashStage::Picking(List::Rest { questions, shell: None }, Picking::Ended(None));
            self.activity = Activity::Slash(Slash { stage });
            return;
        }
        self.surface = Surface::Closing;
        effects.push(Effect::EndAnswer);
    }
}
