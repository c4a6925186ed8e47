//! Shows what watchers have fired, and asks their questions: when the prompt is left alone, one question at a time.

use std::time::Instant;

use cohab_protocol::{ClientMessage, WatcherFired};
use cohab_text::sanitize::one_line;
use ratatui::text::Line;

use super::{
    App, Surface,
    state::{activity::Activity, asked::Asked, fired::News},
};
use crate::{effect::Effect, ui::change_summary::tilde};

impl App {
    /// A watcher has fired.
    pub(super) fn on_fired(&mut self, fired: WatcherFired, effects: &mut Vec<Effect>) {
        let (watcher, number) = (fired.watcher, fired.fired);
        if self.connection.fired.was_shown(watcher, number) {
            return effects.push(Effect::Send(ClientMessage::FiringShown { watcher, fired: number }));
        }
        self.connection.fired.add(fired);
    }

    /// A sentence of the daemon that belongs to no turn.
    pub(super) fn on_line_to_show(&mut self, line: String) {
        self.connection.fired.push(News::Line(line));
    }

    /// After each event: asks for the terminal if there is something to show and nothing else is on.
    pub(super) fn settle_fired(&mut self, effects: &mut Vec<Effect>) {
        let is_idle = self.surface == Surface::Shell && matches!(self.activity, Activity::Idle);
        if is_idle && !self.connection.fired.is_empty() && !self.connection.fired.is_coming {
            self.connection.fired.is_coming = true;
            effects.push(Effect::ComeBack);
        }
    }

    /// The terminal could not be had. Returns whether it was asked for to show what has fired: it is asked for again.
    pub(super) fn forget_coming(&mut self) -> bool {
        std::mem::take(&mut self.connection.fired.is_coming) && matches!(self.activity, Activity::Idle)
    }

    /// The terminal is ours. Unless something else is on, shows what has fired, up to the first question, which is asked. The user is
    /// called: a prompt does not know whether it has the focus.
    pub(super) fn show_fired(&mut self, now: Instant, effects: &mut Vec<Effect>) -> bool {
        if !self.forget_coming() {
            return false;
        }
        // The first row continues that of the prompt.
        self.screen.above.push(Line::default());
        let mut calls = Vec::new();
        let mut question = None;
        while question.is_none()
            && let Some(news) = self.connection.fired.take()
        {
            match news {
                News::Line(line) => self.print_remark(&one_line(&line, usize::MAX)),
                News::Task(line, more) => {
                    self.print_remark(&line);
                    self.print_remark(&more);
                    calls.push(line);
                }
                News::Fired(fired) => {
                    calls.push(self.print_fired(&fired));
                    let (watcher, number) = (fired.watcher, fired.fired);
                    effects.push(Effect::Send(ClientMessage::FiringShown { watcher, fired: number }));
                    question = Some(fired).filter(|fired| fired.question.is_some());
                }
            }
        }
        match (calls.first(), calls.len()) {
            (Some(call), 1) => effects.push(Effect::Notify(call.clone())),
            (Some(call), count) => effects.push(Effect::Notify(format!("{call} (and {} more)", count - 1))),
            (None, _) => {}
        }
        if let Some(fired) = question {
            self.ask_fired(*fired, now, effects);
        } else {
            self.surface = Surface::Closing;
            effects.push(Effect::EndAnswer);
        }
        true
    }

    /// Prints what happened; returns it without the time.
    fn print_fired(&mut self, fired: &WatcherFired) -> String {
        let separator = self.options.output_style.choose(" · ", ", ");
        let [label, what, at] = [&fired.label, &fired.what, &fired.at].map(|text| one_line(text, usize::MAX));
        let call = format!("watch {label}: {what}");
        let mut line = format!("{call}{separator}{at}");
        let folder = fired.folder.to_path_buf();
        if fired.question.is_some() && folder != self.shell.cwd {
            let folder = tilde(&folder.to_string_lossy(), &self.options.environment.home);
            line += &format!("{separator}made in {}", one_line(&folder, usize::MAX));
        }
        self.print_remark(&line);
        call
    }

    /// Asks the question as if it was typed. What others may have written goes with it as piped text does: as data.
    fn ask_fired(&mut self, fired: WatcherFired, now: Instant, effects: &mut Vec<Effect>) {
        let Some(question) = fired.question else { return };
        let mut asked = Asked::plain(question);
        asked.data = fired.detail.map(|detail| format!("{}\n{detail}", fired.what));
        self.open_turn(asked, now, effects);
        self.surface = Surface::Ours;
    }
}
