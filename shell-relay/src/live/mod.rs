//! Runs the user's own shell behind a transparent proxy, and the agent's commands in it.
//!
//! [`LiveShell`] is a state machine without IO, clock or await. The driver feeds it the shell's output, the user's input and
//! the passing of time, and carries out [`Effects`] after each call, in the order documented there. `tick` is due at
//! [`LiveShell::deadline`], which is absent at an idle prompt.
//!
//! A command runs as follows: its text is put into a file; key 1 makes a line-editor widget put the user's line aside; key 2 makes
//! the shell read the file, key 3 makes it accept a fixed stub (an `eval` of that text); the stub's echo is hidden and the command
//! itself shown instead; marks ([`crate::marks`]) bound its output; key 4 brings the user's line back, then the keys typed meanwhile
//! follow. During an answer the line stays aside and the shell stays hidden, except for the output of commands.

mod answer;
mod answer_state;
mod api;
mod aside;
mod background;
mod cancel;
mod dialect;
mod directory;
mod echo;
mod enter_paint;
mod filter;
mod focus;
mod greeting;
mod guard;
mod hand_over;
mod key_buffer;
mod keys;
mod late_keys;
mod letters;
mod limits;
mod line;
mod line_query;
mod line_stash;
mod modes;
mod prompt;
mod prompt_state;
mod pty;
mod queue;
mod redact;
mod relay;
mod relay_dir;
mod relayed_command;
mod sequences;
mod start;
mod state_after;
mod step;
mod time;
mod typed_echo;
mod untouched;

use std::{collections::VecDeque, path::Path, time::Instant};

pub use api::*;
pub use limits::COMMAND_MAX_BYTES;
pub use modes::Modes;
pub use pty::{LivePty, PtySize, ShellEnd, SpawnShell};
pub use relay_dir::RelayDir;
pub use start::{ExtraLines, Integration, StartOptions, Started, start};
pub use untouched::UntouchedPrompt;

pub use cohab_system::process::Signal;

use cohab_shell_state::shell::Shell;

use self::{
    answer_state::{Answer, AnswerStep, PendingAnswer},
    background::Background,
    dialect::{Dialect, Enter, Repaint, WidgetKey},
    enter_paint::{EnterPaint, LineShape},
    greeting::Greeting,
    guard::GuardFilter,
    key_buffer::HeldKeys,
    keys::{KeyScanner, Token, TokenKind},
    late_keys::{KeyPace, LateHandOver, LateKey, LateKeys},
    limits::*,
    line_query::Ask,
    prompt_state::{Interrupted, Phase, PromptFacts, Restore, UserTrack},
    relayed_command::{Queued, Relay, RelayStep},
    step::{StepContext, View},
};
use crate::marks::{Item, Letters, Mark, MarkParser};

/// The receiver of the user's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Shell,
    AgentCommand,
    Hold,
    Assistant,
}

/// The shell's line editor, as far as it reports about itself.
#[derive(Debug, Default)]
struct Editor {
    /// The question that it has not answered yet.
    ask: Option<Ask>,
    /// bash's output at Enter.
    enter_paint: Option<EnterPaint>,
    /// Enter is bound to a function of the user's.
    enter_is_users: bool,
    /// The meaning of letters to the line editor, as far as the shell reports it.
    letters: Letters,
    /// It did not answer the last question, and nothing is asked of it until it reports a line by itself.
    is_deaf: bool,
}

/// The keys of the user, and who receives them.
#[derive(Debug, Default)]
struct Typing {
    /// The key at hand came by itself, or ends the one line that it came with: it is not part of text typed ahead.
    key_is_alone: bool,
    late: LateKeys,
    key_pace: KeyPace,
    keyboard: Keyboard,
}

/// The live shell. See the module's description.
#[derive(Debug)]
pub struct LiveShell {
    setup: LiveSetup,
    dialect: &'static Dialect,
    marks: MarkParser,
    keys: KeyScanner,
    modes: Modes,
    phase: Phase,
    view: View,
    background: Background,
    prompt: PromptFacts,
    user: UserTrack,
    editor: Editor,
    typing: Typing,
    queue: VecDeque<Queued>,
    /// The time to look at the head of the queue again.
    retry_at: Option<Instant>,
    relay: Option<Relay>,
    answer: Option<Answer>,
    pending_answer: Option<PendingAnswer>,
    restore: Option<Restore>,
    watches_focus: bool,
    held: HeldKeys,
    cwd: std::path::PathBuf,
    last_output: Instant,
    /// A prompt mark came in the middle of a command: the time to check whether it was the line editor's.
    doubtful_prompt_at: Option<Instant>,
    greeting: Option<Greeting>,
}

impl LiveShell {
    /// A shell that has just been started.
    #[must_use]
    pub fn new(setup: LiveSetup, now: Instant) -> Self {
        let phase = if setup.shell == Shell::Other { Phase::NotIntegrated } else { Phase::Boot };
        Self {
            dialect: Dialect::of(setup.shell),
            marks: MarkParser::new(&setup.nonce, setup.child_pid),
            keys: KeyScanner::new(),
            modes: Modes::default(),
            phase,
            view: View::Shown,
            background: Background::default(),
            prompt: PromptFacts::new(now),
            user: UserTrack::default(),
            editor: Editor::default(),
            typing: Typing::default(),
            queue: VecDeque::new(),
            retry_at: None,
            relay: None,
            answer: None,
            pending_answer: None,
            restore: None,
            watches_focus: false,
            held: HeldKeys::default(),
            cwd: setup.initial_cwd.clone(),
            last_output: now,
            doubtful_prompt_at: None,
            greeting: None,
            setup,
        }
    }

    /// Takes what the shell and its programs wrote.
    pub fn shell_output(&mut self, bytes: &[u8], probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        let cx = &mut StepContext { probe, now, fx };
        self.last_output = now;
        let mut marks = std::mem::take(&mut self.marks);
        let mut rest = bytes;
        while let Some(item) = marks.next(&mut rest) {
            match item {
                Item::Bytes(bytes) => self.on_bytes(bytes, cx),
                Item::Mark(mark) => self.on_mark(mark, cx),
            }
        }
        self.marks = marks;
    }

    /// Takes what the user typed (or the terminal answered), verbatim.
    pub fn user_input(&mut self, bytes: &[u8], probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        self.type_keys(bytes, &mut StepContext { probe, now, fx });
    }

    /// The shell has ended: the master is at its end of file. `status` is the shell's, if known.
    pub fn shell_ended(&mut self, status: Option<i32>, now: Instant, fx: &mut Effects) {
        let rest = self.marks.finish();
        if matches!(self.view, View::Shown) {
            fx.terminal.extend_from_slice(&rest);
        }
        if let Some(paint) = self.editor.enter_paint.take() {
            fx.terminal.extend_from_slice(paint.all());
        }
        self.phase = Phase::Dead;
        self.relay_lost_its_shell(status, now, fx);
        self.editor.ask = None;
        self.answer = None;
        self.pending_answer = None;
        self.restore = None;
        self.retry_at = None;
    }

    /// Sets the bytes of the key that asks the assistant (Alt-Enter by default); empty bytes disable it.
    pub fn set_hotkey(&mut self, bytes: &[u8]) {
        self.keys.set_hotkey(bytes);
    }

    /// Shows this line, which ends with CR LF, above the first prompt if the shell turns out to be integrated.
    pub fn greet(&mut self, line: Vec<u8>) {
        self.greeting = Some(Greeting::new(line));
    }

    /// Shows this row, which ends with CR LF, above the output of the line that was entered last, if that line runs.
    pub fn show_above_output(&mut self, row: Vec<u8>) {
        self.user.row_above = row;
    }

    /// Sets the receiver of the keys during an answer; the shell gets them back when the answer ends.
    pub fn set_keyboard(&mut self, keyboard: Keyboard) {
        self.typing.keyboard = keyboard;
    }

    /// The activity of the shell.
    #[must_use]
    pub fn state(&self) -> ShellState {
        match self.phase {
            Phase::Dead => ShellState::Dead,
            Phase::NotIntegrated | Phase::Replaced => ShellState::NotIntegrated,
            Phase::Boot => ShellState::Boot,
            _ if self.relay.is_some() => ShellState::RunningAgent,
            _ if self.answer.is_some() => ShellState::Answering,
            Phase::Prompt => ShellState::Prompt,
            Phase::Continuation => ShellState::Continuation,
            Phase::Running => ShellState::RunningUser,
            Phase::Precmd { .. } => ShellState::Precmd,
        }
    }

    /// Working directory at the last prompt.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The terminal's modes, as far as they were set through this shell.
    #[must_use]
    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    fn on_bytes(&mut self, bytes: &[u8], cx: &mut StepContext<'_>) {
        if self.prompt.interrupted == Interrupted::Sent {
            self.prompt.interrupted = Interrupted::Answered;
        }
        if self.phase == Phase::Prompt && self.prompt.programs.is_none() {
            self.prompt.programs = Some(cx.probe.programs_at_terminal());
        }
        match &mut self.relay {
            Some(relay) if relay.step == RelayStep::Running => relay.take_output(bytes, cx),
            _ if self.phase == Phase::Running => self.user.capture.push(bytes),
            _ => {}
        }
        match &mut self.view {
            View::Shown => {
                if self.editor.enter_paint.is_some() {
                    return self.on_enter_painted(bytes, cx);
                }
                self.modes.feed(bytes);
                if let Some(greeting) = &mut self.greeting {
                    greeting.follow(bytes);
                }
                cx.fx.terminal.extend_from_slice(bytes);
            }
            View::Hidden(filter) => {
                let waits = self.answer.as_ref().is_some_and(|answer| answer.step == AnswerStep::Ready);
                let mut background = Vec::new();
                let watched = (waits && self.relay.is_none()).then_some(&mut background);
                let passed_from = cx.fx.terminal.len();
                filter.push(bytes, &mut cx.fx.terminal, watched);
                self.modes.feed(&cx.fx.terminal[passed_from..]);
                if !background.is_empty() {
                    let mut shown = Vec::new();
                    self.background.push(&background, cx.now, &mut shown);
                    if !shown.is_empty() {
                        cx.fx.events.push(LiveEvent::BackgroundOutput(shown));
                    }
                }
            }
            View::Guarded(filter) => {
                let in_use = self.relay.as_ref().is_some_and(|relay| relay.typed);
                let (shell, shares_group) = (i32::try_from(self.setup.child_pid).ok(), self.dialect.shares_group);
                let is_program_in_front =
                    || cx.probe.foreground_pgid() != shell || shares_group && cx.probe.shell_shares_group();
                // The terminal's mode is read before the program in front: when a program has just ended, the shell is in front before
                // its line editor takes single keys. In the other order the program would be in front, with the editor's mode.
                let raw = || cx.probe.terminal_modes().is_some_and(|modes| !modes.canonical) && is_program_in_front();
                filter.push(bytes, in_use, raw, &mut self.modes, &mut cx.fx.terminal);
            }
        }
    }

    /// Handles a mark; each verb is believed only if it is expected.
    fn on_mark(&mut self, mark: Mark, cx: &mut StepContext<'_>) {
        self.greet_at(&mark, cx);
        let ends_enter_paint = match mark {
            Mark::Started { .. } | Mark::Finished(_) | Mark::Stashed { .. } => true,
            // The continuation mark is also within the prompt of a line that is painted again.
            Mark::Continuation => self.editor.enter_paint.as_ref().is_some_and(EnterPaint::is_behind_line),
            _ => false,
        };
        if ends_enter_paint {
            self.finish_enter_paint(cx);
        }
        match mark {
            Mark::AcceptedUnasked => self.on_accepted_unasked(cx),
            Mark::ReportBegins => self.editor.enter_paint.iter_mut().for_each(|paint| paint.wait_for_report(cx.now)),
            Mark::EnterOwner { is_users } => self.editor.enter_is_users = is_users,
            Mark::Letters(letters) => self.editor.letters = letters,
            Mark::PromptReady => self.on_prompt_ready(cx),
            Mark::Continuation => self.on_continuation(cx),
            Mark::Started { line } => self.on_started(line, cx),
            Mark::Finished(ended) => self.on_finished(ended, cx),
            Mark::Stashed { length } => self.on_stashed(length, cx),
            Mark::Refused => self.on_stash_refused(cx),
            Mark::Loaded { id } => self.on_loaded(&id, cx),
            Mark::OutputBegins { id } => self.on_output_begins(&id, cx),
            Mark::Ended(ended) => self.on_ended(ended, cx),
            Mark::Line(line) => self.on_line(line, cx),
            Mark::EnterPressed(line) => self.on_enter_told(line, cx),
            Mark::ForeignEditor { name } => self.on_foreign_editor(&name, cx),
        }
    }

    fn type_keys(&mut self, bytes: &[u8], cx: &mut StepContext<'_>) {
        let mut rest = bytes;
        let pastes_are_marked = self.modes.bracketed_paste();
        let ends_a_line = keys::end_a_line(bytes, pastes_are_marked)
            && self.phase == Phase::Prompt
            && (self.prompt.typed || pastes_are_marked);
        while let Some(token) = self.keys.next(&mut rest) {
            self.typing.key_is_alone = token.bytes.len() == bytes.len() || ends_a_line && rest.is_empty();
            self.on_key(token, cx);
        }
    }

    fn on_key(&mut self, token: Token<'_>, cx: &mut StepContext<'_>) {
        if token.kind == TokenKind::Reply {
            cx.fx.pty.extend_from_slice(token.bytes);
            return;
        }
        if self.take_focus_report(token, cx) {
            return;
        }
        match self.route() {
            Route::Shell => self.shell_key(token, cx),
            Route::AgentCommand => {
                let is_full_screen = self.modes.alternate_screen();
                if let Some(relay) = &mut self.relay {
                    relay.take_key(token, is_full_screen, cx);
                }
            }
            Route::Assistant => match cx.fx.events.last_mut() {
                Some(LiveEvent::AnswerKey(keys)) => keys.extend_from_slice(token.bytes),
                _ => cx.fx.events.push(LiveEvent::AnswerKey(token.bytes.to_vec())),
            },
            Route::Hold => self.hold_key(token, cx),
        }
    }

    fn route(&self) -> Route {
        if self.relay.as_ref().is_some_and(|relay| relay.step == RelayStep::Running) {
            return Route::AgentCommand;
        }
        if self.editor.ask.is_some() || self.relay.is_some() {
            return Route::Hold;
        }
        if matches!(self.phase, Phase::Running | Phase::Continuation) {
            return Route::Shell;
        }
        match (&self.answer, self.typing.keyboard) {
            (Some(_), Keyboard::Assistant) => Route::Assistant,
            (Some(_), Keyboard::Shell) => Route::Hold,
            (None, _) if self.restore.is_some() => Route::Hold,
            (None, _) => Route::Shell,
        }
    }

    fn hold_key(&mut self, token: Token<'_>, cx: &mut StepContext<'_>) {
        let asks_to_stop = matches!(token.kind, TokenKind::Interrupt | TokenKind::Escape);
        if self.answer.is_some() && asks_to_stop {
            // As in a terminal, no line that was typed ahead runs after a stop. A half-typed line stays.
            if self.held.hold_a_line() {
                self.held.clear();
            }
            let is_escape = token.kind == TokenKind::Escape;
            cx.fx.events.push(LiveEvent::CancelRequested { is_escape });
            return;
        }
        if token.kind == TokenKind::Interrupt && self.relay.as_ref().is_some_and(|relay| !relay.is_handed_over()) {
            self.abandon_relay(cx);
            return;
        }
        if token.kind == TokenKind::Suspend && self.is_waited_for() {
            cx.fx.events.push(LiveEvent::PauseKeyPressed);
            return;
        }
        self.held.push(token);
        self.tell_of_held_keys(cx);
    }

    /// Types the held keys as if they were typed now.
    fn release_held(&mut self, cx: &mut StepContext<'_>) {
        let held = std::mem::take(&mut self.held);
        self.typing.key_is_alone = false;
        for token in held.iter() {
            self.on_key(token, cx);
        }
    }

    /// Whether the shell's own line editor is reading keys. A widget or a completion function may have started a program, which then is
    /// in the shell's own process group; a program from before the prompt does not read keys.
    fn editor_reads(&self, cx: &StepContext<'_>) -> bool {
        cx.probe.foreground_pgid().and_then(|pgid| u32::try_from(pgid).ok()) == Some(self.setup.child_pid)
            && cx.probe.terminal_modes().is_some_and(|modes| !modes.canonical)
            && self
                .prompt
                .programs
                .as_ref()
                .is_none_or(|known| cx.probe.programs_at_terminal().iter().all(|program| known.contains(program)))
    }
}

#[cfg(test)]
mod tests;
