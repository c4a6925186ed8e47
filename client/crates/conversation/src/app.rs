//! The client as a state machine: an event and the time in, effects out. No IO, no clock, no await: everything that the
//! client ever does can be tested here.
//!
//! The terminal has one owner at a time (`Surface`). The assistant draws only while it is ours, between `AnswerReady` and
//! the next command or the end of the answer; what it has to say meanwhile waits.

mod additions;
mod attention;
mod background_turn;
mod command;
mod daemon;
mod entered_line;
mod failure;
mod fired;
mod hardened_run;
mod interrupted_turn;
mod line;
mod link;
mod local_approval;
mod name_resolution;
mod new_turn;
mod news;
mod options;
mod pause;
mod pick;
mod picked_line;
mod question;
mod resume;
mod share;
mod slash;
mod state;
mod stopped;
mod undo;
mod view;
mod wire_results;

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use cohab_policy::Caveat;
use cohab_protocol::{Attached, ClientMessage, ShellEvent, TurnId};
use cohab_shell_relay::live::LiveEvent;
use cohab_shell_state::state::{Snapshot, StateChange};
use cohab_term::{keys::KeyReader, markdown::CodeBlocks, program_status::ProgramStatus};
use ratatui::text::Line;
use state::{
    activity::Activity,
    attention::Attention,
    background_turn::BackgroundTurn,
    entered_line::{EnteredLine, Told},
    failure::Failure,
    fired::FiredQueue,
    typed_lines::TypedLines,
    undo::UndoOffer,
};
use wire_results::shell_event;

use crate::{
    consent::Consents, effect::Effect, event::Event, journal::ResultJournal, redactor::Redactor,
    shell_drift::ShellDrift,
};
pub use options::Options;
pub use view::Frame;

/// Commands of the user that are kept for a daemon that is not there yet, or comes back without memory.
const KEPT_SHELL_EVENTS: usize = 20;
/// An Esc without a successor within this time is the Esc key.
const LONE_ESCAPE: Duration = Duration::from_millis(50);

/// Who may write to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    /// The shell, as without us.
    Shell,
    /// The relay makes room for an answer.
    Opening,
    /// We.
    Ours,
    /// A command of the agent.
    Command,
    /// The relay brings the prompt back.
    Closing,
}

/// The way to the daemon.
#[derive(Clone, Debug, PartialEq)]
enum LinkState {
    /// There never was one, or it was lost: the next prompt looks for a daemon.
    Down,
    /// It could not be made: the next question tries.
    Failed,
    Connecting,
    Up(Attached),
}

/// The connection to the daemon, and what belongs to it.
#[derive(Debug)]
struct Connection {
    link: LinkState,
    /// A cancelled turn that the daemon has not ended yet: it takes the next question only then.
    cancelled_turn: Option<TurnId>,
    /// Number of the last request to the daemon; the connection itself takes the first.
    last_request: u64,
    /// What the user did in the shell, for a daemon that does not know it.
    shell_events: VecDeque<ShellEvent>,
    /// News for when the prompt is left alone: what watchers fired, and tasks that ended.
    fired: FiredQueue,
}

/// What is known of the live shell.
#[derive(Debug)]
struct ShellView {
    /// Where it is, as of the question and then of the agent's commands.
    cwd: PathBuf,
    /// What it was like when it last reported, if the user has run nothing since.
    seen: Option<Snapshot>,
    /// What the command that is about to be reported finished changed, if the shell reported.
    observed: Option<StateChange>,
    /// What commands of the agent changed about it that the user has not confirmed.
    drift: ShellDrift,
    /// What else the user has confirmed: what names stand for, and what decides about git.
    confirmed: Vec<Caveat>,
}

/// The part of the screen that is ours to draw on.
#[derive(Debug)]
struct Screen {
    columns: u16,
    rows: u16,
    /// Lines that stay, and are not drawn yet.
    above: Vec<Line<'static>>,
    /// The last line that was drawn to stay is blank.
    ends_blank: bool,
    is_dirty: bool,
}

impl Screen {
    /// The lines that stay and are drawn now.
    fn take_above(&mut self) -> Vec<Line<'static>> {
        if let Some(last) = self.above.last() {
            self.ends_blank = last.width() == 0;
        }
        std::mem::take(&mut self.above)
    }

    /// Makes the next line stand below a blank one: exactly one.
    fn open_gap(&mut self) {
        if self.above.last().map_or(!self.ends_blank, |last| last.width() > 0) {
            self.above.push(Line::default());
        }
    }
}

/// Keys while the terminal is ours.
#[derive(Debug)]
struct Keyboard {
    reader: KeyReader,
    /// A lone Esc may be the start of a sequence.
    escape_since: Option<Instant>,
}

/// The client's state.
#[derive(Debug)]
pub struct App {
    options: Options,
    redactor: Redactor,
    screen: Screen,
    keyboard: Keyboard,
    connection: Connection,
    surface: Surface,
    activity: Activity,
    entered_line: EnteredLine,
    consents: Consents,
    journal: ResultJournal,
    shell: ShellView,
    /// Commands of the last turn as they were typed.
    typed_lines: TypedLines,
    undo: UndoOffer,
    /// The user's last command, if it failed and was not asked about.
    failure: Option<Failure>,
    background: BackgroundTurn,
    attention: Attention,
    /// Of the last answer.
    code_blocks: CodeBlocks,
    /// The conversation that the user picked, until the next prompt.
    picked_session: Option<cohab_protocol::SessionKey>,
}

impl App {
    /// A client at the shell's first prompt, `columns` by `rows` cells large.
    #[must_use]
    pub fn new(options: Options, cwd: PathBuf, columns: u16, rows: u16) -> Self {
        Self {
            redactor: Redactor::new(Arc::clone(&options.secrets)),
            options,
            screen: Screen { columns, rows, above: Vec::new(), ends_blank: false, is_dirty: false },
            keyboard: Keyboard { reader: KeyReader::new(), escape_since: None },
            connection: Connection {
                link: LinkState::Down,
                cancelled_turn: None,
                last_request: 1,
                shell_events: VecDeque::new(),
                fired: FiredQueue::default(),
            },
            surface: Surface::Shell,
            activity: Activity::Idle,
            entered_line: EnteredLine::default(),
            consents: Consents::default(),
            journal: ResultJournal::default(),
            shell: ShellView { cwd, seen: None, observed: None, drift: ShellDrift::default(), confirmed: Vec::new() },
            typed_lines: TypedLines::default(),
            undo: UndoOffer::default(),
            failure: None,
            background: BackgroundTurn::default(),
            attention: Attention::default(),
            code_blocks: CodeBlocks::default(),
            picked_session: None,
        }
    }

    /// Takes one event, gives what is to be done about it, in order.
    pub fn handle(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Live(event) => self.on_live(event, now, &mut effects),
            Event::LinkUp(attached) => self.on_link_up(attached, &mut effects),
            Event::LinkLost => self.on_link_lost(&mut effects),
            Event::LinkDown { message, hint } => self.on_link_down(&message, &hint, &mut effects),
            Event::DaemonAbsent => self.on_daemon_absent(&mut effects),
            Event::NotJoined { message, hint } => self.on_not_joined(message, hint, &mut effects),
            Event::Daemon(message) => self.on_daemon(*message, now, &mut effects),
            Event::Resized { columns, rows } => self.on_resized(columns, rows),
            Event::ProgramEnded(output) if self.is_undoing_files() => self.on_files_undone(&output, &mut effects),
            Event::ProgramEnded(output) => self.on_program_ended(&output),
            Event::UndoKeyPressed => self.on_undo_key(&mut effects),
            Event::Done(done) => self.on_done(done, now, &mut effects),
            Event::ThoughtsKeyPressed => self.on_thoughts_key(),
            Event::StopKeyPressed => self.stop_background_turn(now, &mut effects),
            Event::Judged { id, decision } => self.on_judged(id, decision, now, &mut effects),
            Event::Redraw => self.screen.is_dirty = true,
            Event::Deadline => self.on_deadline(now, &mut effects),
        }
        self.close_if_due(now, &mut effects);
        self.close_slash_if_due(now, &mut effects);
        self.settle_background_turn(now, &mut effects);
        self.settle_fired(&mut effects);
        effects
    }

    /// When `Event::Deadline` is due. `None` while nothing waits for time to pass: an idle client never wakes up.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let escape = self.keyboard.escape_since.map(|since| since + LONE_ESCAPE);
        let activity = match &self.activity {
            Activity::Turn(turn) => turn.deadline(),
            Activity::Slash(slash) => slash.deadline(),
            Activity::Idle | Activity::Undo(_) | Activity::Resume(_) => None,
        };
        let waits = [escape, activity, self.entered_line.deadline(), self.background_due(), self.clock_due()];
        waits.into_iter().flatten().min()
    }

    fn on_live(&mut self, event: LiveEvent, now: Instant, effects: &mut Vec<Effect>) {
        match event {
            LiveEvent::PromptReady => {
                self.entered_line.forget_judging();
                self.age_undo_offer(effects);
                self.join_picked(effects);
                if self.connection.link == LinkState::Down
                    && self.surface == Surface::Shell
                    && self.activity.turn().is_none()
                {
                    self.connection.link = LinkState::Connecting;
                    effects.push(Effect::LookForDaemon);
                }
            }
            LiveEvent::LineEntered { text, cwd, is_command, is_alone, .. } => {
                self.shell.cwd = cwd;
                self.on_line(Told { line: text, is_command }, is_alone, now, effects);
            }
            LiveEvent::HotkeyPressed { text, cwd, is_command } => {
                self.shell.cwd = cwd;
                self.on_hotkey(Told { line: text, is_command }, now, effects);
            }
            LiveEvent::AnswerReady => self.on_answer_ready(now, effects),
            LiveEvent::AnswerRefused(_) if self.stays_in_background() => {}
            // It is asked for again.
            LiveEvent::AnswerRefused(_) if self.forget_coming() => {}
            LiveEvent::AnswerRefused(_) => self.on_answer_refused(effects),
            LiveEvent::PauseKeyPressed => self.on_pause_key(effects),
            LiveEvent::KeysWait => {
                self.attention.has_focus(true);
                self.background.keys_wait();
            }
            LiveEvent::FocusChanged(has_focus) => self.attention.has_focus(has_focus),
            LiveEvent::AnswerEnded if self.has_gone_to_background() => {}
            LiveEvent::AnswerEnded => {
                self.background = BackgroundTurn::default();
                self.offer_undo();
                self.surface = Surface::Shell;
                // The relay forgets what it was asked for before an answer that the user began.
                self.connection.fired.is_coming = false;
                self.keep_code();
                self.entered_line.ended();
                if let Activity::Slash(slash) = std::mem::take(&mut self.activity) {
                    slash.end(effects);
                }
            }
            LiveEvent::CancelRequested { .. } if self.is_joining() => self.cancel_resume(effects),
            LiveEvent::CancelRequested { is_escape } => {
                if is_escape && self.activity.turn().is_some_and(|turn| !turn.is_over()) {
                    self.entered_line.bring_back();
                }
                self.cancel_slash(effects);
                self.cancel_turn(now, effects);
            }
            LiveEvent::AnswerKey(bytes) if self.on_resume_keys(&bytes, effects) => {}
            LiveEvent::AnswerKey(bytes) => {
                self.attention.has_focus(true);
                self.on_keys(&bytes, now, effects);
            }
            LiveEvent::UserCommandFinished(command) => {
                self.shell.seen = None;
                self.attention.last_end = ProgramStatus::Idle;
                self.note_failure(&command, effects);
                self.take_up_picked(&command, effects);
                let ran_in = std::mem::replace(&mut self.shell.cwd, command.cwd.clone());
                if !self.take_up_typed_ahead(&command, effects) {
                    let event = shell_event(command, &ran_in, (self.options.wall_clock_ms)());
                    self.keep_shell_event(event, effects);
                }
            }
            other => self.on_own_event(other, now, effects),
        }
    }

    /// What the relay says about a command of ours: it goes to the activity that waits for it.
    fn on_own_event(&mut self, event: LiveEvent, now: Instant, effects: &mut Vec<Effect>) {
        let rest = match &self.activity {
            Activity::Undo(_) => self.on_undo_event(event, now, effects),
            Activity::Resume(_) => self.on_resume_event(event, effects),
            Activity::Turn(_) => self.on_naming_event(event, effects),
            Activity::Slash(_) => self.on_pick_event(event, now, effects),
            Activity::Idle => Some(event),
        };
        if let Some(event) = rest {
            self.on_command_event(event, now, effects);
        }
    }

    /// The shell could not make room (it is busy, or gone): the line is as it was, the question is withdrawn.
    fn on_answer_refused(&mut self, effects: &mut Vec<Effect>) {
        self.surface = Surface::Shell;
        self.entered_line.refused();
        self.screen.above.clear();
        match std::mem::take(&mut self.activity) {
            Activity::Turn(turn) if !turn.is_over() && turn.was_sent() => self.call_off(turn.id(), effects),
            Activity::Slash(slash) => slash.end(effects),
            Activity::Idle | Activity::Turn(_) | Activity::Undo(_) | Activity::Resume(_) => {}
        }
    }

    /// Reports it to the daemon, if there is one, now or later.
    fn keep_shell_event(&mut self, mut event: ShellEvent, effects: &mut Vec<Effect>) {
        self.redactor.shell_event(&mut event);
        if self.connection.shell_events.len() == KEPT_SHELL_EVENTS {
            self.connection.shell_events.pop_front();
        }
        self.connection.shell_events.push_back(event.clone());
        if matches!(self.connection.link, LinkState::Up(_)) {
            effects.push(Effect::Send(ClientMessage::ShellEvent(event)));
        }
    }

    /// The user has seen enough: the prompt comes back without waiting for the daemon.
    fn cancel_turn(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let Some(turn) = self.activity.turn_mut().filter(|turn| !turn.is_over()) else { return };
        turn.hurry(now);
        let sent = turn.was_sent().then(|| turn.id());
        if let Some(turn_id) = sent {
            self.call_off(turn_id, effects);
        }
        self.print_cancelled();
        self.end_turn(effects);
    }

    /// Cancels the turn at the daemon: its answer is not awaited any more.
    fn call_off(&mut self, turn_id: TurnId, effects: &mut Vec<Effect>) {
        effects.push(Effect::Send(ClientMessage::CancelTurn { turn_id }));
        self.connection.cancelled_turn = Some(turn_id);
    }

    /// Nothing more comes of the turn. The prompt is given back when the terminal is ours and the last code is coloured.
    fn end_turn(&mut self, effects: &mut Vec<Effect>) {
        self.forget_stopped();
        if let Some(turn) = self.activity.turn_mut() {
            if turn.close_question() {
                effects.push(Effect::TakeKeyboard(false));
            }
            turn.end();
            self.consents.forget_unused();
            self.screen.is_dirty = true;
        }
    }

    fn close_if_due(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        if self.surface != Surface::Ours {
            return;
        }
        let Some(turn) = self.activity.turn_mut() else { return };
        if turn.is_over() && turn.is_settled(now) {
            let rest = turn.finish_text();
            self.append_text(rest);
            self.fold_thoughts();
            self.print_footer(now);
            if self.ask_next(now, effects) {
                return;
            }
            self.surface = Surface::Closing;
            effects.push(self.entered_line.end());
        }
    }

    fn on_deadline(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        self.give_up_pending(now, effects);
        self.give_up_git_check(now, effects);
        self.give_up_slash(now);
        self.on_question_time(now, effects);
        self.give_up_judging(now, effects);
        self.tell_of_silence(now);
        self.screen.is_dirty |= self.activity.turn_mut().is_some_and(|turn| turn.tick(now) | turn.progress.tick(now));
        if self.keyboard.escape_since.is_some_and(|since| now >= since + LONE_ESCAPE) {
            self.keyboard.escape_since = None;
            let inputs: Vec<_> = self.keyboard.reader.flush_escape().into_iter().collect();
            self.on_inputs(&inputs, now, effects);
        }
    }

    fn on_keys(&mut self, bytes: &[u8], now: Instant, effects: &mut Vec<Effect>) {
        let inputs = self.keyboard.reader.push(bytes);
        self.keyboard.escape_since = self.keyboard.reader.is_escape_pending().then_some(now);
        self.on_inputs(&inputs, now, effects);
    }

    fn on_resized(&mut self, columns: u16, rows: u16) {
        (self.screen.columns, self.screen.rows) = (columns, rows);
        if let Some(turn) = self.activity.turn_mut() {
            turn.set_width(columns.saturating_sub(1).max(1));
        }
        self.screen.is_dirty = true;
    }
}

#[cfg(test)]
mod tests;
