//! The only `select!`: terminal, shell, daemon, signals and timers go in as events, effects come out and are done here.
//!
//! A key takes the shortest way: read, relay, write. Nothing on it waits, allocates per key or ticks.

mod attention;
mod command_status;
mod drawing;
mod ending;
mod greeting;
mod link;
mod nested_shell;
mod process;
mod program;
mod prompt_line;
pub(crate) mod shell_io;
mod slash;
mod start;
mod state;
mod unintegrated_notice;
pub(crate) mod wake;

use std::{io, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use cohab_conversation::{app::App, approval::Lasting, effect::Effect, event::Event};
use cohab_policy_io::rules_file::{RuleBook, RulesFile};
use cohab_protocol::{Attach, Paths, SessionKey};
use cohab_sandbox::lock;
use cohab_shell_relay::{
    leftovers,
    live::{Effects, Keyboard, LiveEvent, LiveShell},
};
use cohab_term::{
    live_area::{Abilities, LiveArea},
    markdown::Highlighter,
    pace::FramePace,
    program_status::ProgramStatus,
};
use cohab_types::{client_settings::UndoKey, command::Mode, environment::TERMINAL_VARIABLE};
use greeting::Greeting;
use nested_shell::NestedShell;
use process::{approval_mode, catch_panic_messages, home};
use program::{Program, next_ended};
use shell_io::{Opened, ShellIo};
use state::{
    background::BackgroundColour,
    command_status::CommandStatus,
    focus::Focus,
    link::{Daemon, DaemonLink},
    notices::Notices,
    prompt_line::PromptLine,
};
use unintegrated_notice::UnintegratedNotice;
use wake::{Signals, Wake, highlighted, sleep_until};

use crate::{approval_environment, background_tasks::BackgroundTasks, terminal::Terminal};
pub use start::{ShellOutcome, Start};

/// Read from the terminal at once. Larger pastes come in several pieces.
const KEYS_BUFFER_BYTES: usize = 4 * 1024;
/// Read from the shell at once.
const SHELL_BUFFER_BYTES: usize = 64 * 1024;
/// Reads of that size that empty any PTY.
const PTY_MAX_READS: usize = 4;
/// Input for the shell that may wait; beyond, the terminal is not read.
const SHELL_QUEUE_BYTES: usize = 64 * 1024;

const CTRL_C: u8 = 0x03;
const CTRL_L: u8 = 0x0c;
const CTRL_O: u8 = 0x0f;
const BRACKETED_PASTE_ON: &[u8] = b"\x1b[?2004h";
const BRACKETED_PASTE_OFF: &[u8] = b"\x1b[?2004l";

/// Opens the shell and serves it to its end. The terminal is restored on every way out, a panic included.
#[must_use]
pub fn run(start: Start) -> ShellOutcome {
    let panic_message = catch_panic_messages();
    let served = std::panic::catch_unwind(AssertUnwindSafe(|| serve(start)));
    served.unwrap_or_else(|_| {
        let message = panic_message.lock().map(|message| message.clone()).unwrap_or_default();
        ShellOutcome::NotStarted(format!("internal error: {message}"))
    })
}

fn serve(start: Start) -> ShellOutcome {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return ShellOutcome::NotStarted(error.to_string()),
    };
    runtime.block_on(async {
        // Before the terminal is changed: from here on no signal leaves it so.
        let opened = Signals::listen().and_then(|signals| Ok((signals, Driver::open(start)?)));
        match opened {
            Ok((mut signals, mut driver)) => driver.run(&mut signals).await,
            Err(error) => ShellOutcome::NotStarted(error.to_string()),
        }
    })
}

struct Driver {
    terminal: Terminal,
    shell: ShellIo,
    live: LiveShell,
    app: App,
    area: LiveArea,
    daemon: DaemonLink,
    program: Option<Program>,
    paths: Paths,
    highlighter: Option<Highlighter>,
    fx: Effects,
    opened_at: Instant,
    pace: FramePace,
    has_been_used: bool,
    needs_resize: bool,
    undo_key: UndoKey,
    tasks: BackgroundTasks,
    focus: Focus,
    background: BackgroundColour,
    prompt_line: PromptLine,
    notices: Notices,
    command_status: Option<CommandStatus>,
    abilities: Abilities,
}

impl Driver {
    fn open(mut start: Start) -> io::Result<Self> {
        let now = Instant::now();
        let session = SessionKey::of_shell();
        start.options.environment.push((TERMINAL_VARIABLE.into(), session.0.clone().into()));
        let background = BackgroundColour::new(start.config.client.theme);
        let mut abilities = Abilities::from_env();
        abilities.colors = abilities.colors.on(background.known());
        let approval = approval_mode(&start.config)?;
        let mut terminal = Terminal::open()?;
        let (columns, rows) = terminal.size();
        let Opened { shell, mut live, complaint } =
            shell_io::open(&start, terminal.saved_modes(), (columns, rows), now)?;
        if let Some(complaint) = complaint {
            terminal.write(format!("cohab: {complaint}\r\n").as_bytes());
        }
        let rules = Arc::new(RulesFile::new(start.paths.rules_file()));
        let highlighter = abilities.colors.has_colours().then(Highlighter::new);
        let launcher: fn() -> _ = if start.config.client.lock { || lock::launcher().ok() } else { || None };
        let has_lock = launcher().is_some();
        let environment = approval_environment::of_this_process(home(), shell.kind(), &start.paths, Lasting::Shell);
        let book = RuleBook::new(Arc::clone(&rules));
        let options = start.options(approval, launcher, book, environment, abilities.output_style, highlighter.clone());
        let prompt_line = PromptLine::new(&options, columns, &start, shell.names_file());
        let keys = &start.config.key_variables;
        let daemon = DaemonLink::new(session, start.session, shell.name(), approval, has_lock, start.model, keys);
        // A resumed conversation says more.
        let greeting = Greeting::due(&start.paths.state_dir).filter(|_| daemon.session_before.is_none());
        if greeting.is_some() {
            live.greet(greeting::line(&start.config, &daemon.attach.settings, columns, abilities));
        }
        let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
        Ok(Self {
            area: LiveArea::new(columns, rows, abilities),
            app: App::new(options, cwd, columns, rows),
            terminal,
            shell,
            live,
            daemon,
            program: None,
            paths: start.paths,
            highlighter,
            fx: Effects::default(),
            opened_at: now,
            pace: FramePace::default(),
            has_been_used: false,
            needs_resize: false,
            undo_key: start.config.client.undo_key,
            tasks: BackgroundTasks::new(rules),
            focus: Focus::new(&start.config),
            background,
            prompt_line,
            notices: Notices {
                unintegrated: UnintegratedNotice::new(abilities.colors),
                greeting,
                nested_shell: NestedShell::default(),
            },
            command_status: None,
            abilities,
        })
    }

    async fn run(&mut self, signals: &mut Signals) -> ShellOutcome {
        let runtime_dir = self.paths.runtime_dir.clone();
        // Nothing waits for it. Not before the shell has all its descriptors.
        tokio::task::spawn_blocking(move || leftovers::sweep(&runtime_dir));
        let mut keys = vec![0; KEYS_BUFFER_BYTES];
        let mut output = vec![0; SHELL_BUFFER_BYTES];
        loop {
            let wake = self.wait(signals, &mut keys, &mut output).await;
            match wake {
                Wake::Keys(Ok(0)) => return ShellOutcome::Exited(128 + 1),
                Wake::Keys(Ok(count)) => self.on_keys(&keys[..count]),
                Wake::Keys(Err(error)) => return self.outcome_of_failure(&error),
                Wake::Shell(Ok(0) | Err(_)) => return self.end().await,
                Wake::Shell(Ok(count)) => self.on_output(&output[..count]),
                Wake::TerminalWritable => self.terminal.flush(),
                Wake::ShellWritable => self.shell.flush(),
                Wake::Link(event) => self.on_link(event),
                Wake::Resized => self.on_resized(),
                Wake::ChildEnded if self.shell.has_ended() => {
                    self.drain(&mut output);
                    return self.end().await;
                }
                Wake::ChildEnded => {}
                Wake::Killed(status) => {
                    self.leave();
                    return ShellOutcome::Killed(status);
                }
                Wake::Verdict(verdict) => self.on_verdict(verdict),
                Wake::ProgramEnded(output) => {
                    self.program = None;
                    self.handle(Event::ProgramEnded(output));
                }
                Wake::Highlighted => self.handle(Event::Redraw),
                Wake::Done(done) => self.handle(Event::Done(done)),
                Wake::Time => {
                    self.read_what_is_there(&mut output);
                    self.on_time();
                }
            }
            self.settle();
            self.show_unintegrated_notice();
            self.attend();
            self.draw_if_due();
        }
    }

    /// Waits for the next thing to do. The shell's output comes last, so that a flood delays neither keys nor signals.
    async fn wait(&mut self, signals: &mut Signals, keys: &mut [u8], output: &mut [u8]) -> Wake {
        let deadline = self.deadline();
        tokio::select! {
            biased;
            wake = signals.next() => wake,
            count = self.terminal.read(keys), if self.shell.queued_bytes() < SHELL_QUEUE_BYTES => Wake::Keys(count),
            () = self.terminal.writable() => Wake::TerminalWritable,
            () = self.shell.writable() => Wake::ShellWritable,
            event = self.daemon.next() => Wake::Link(event),
            verdict = self.prompt_line.classifier.next() => Wake::Verdict(verdict),
            output = next_ended(&mut self.program) => Wake::ProgramEnded(output),
            () = highlighted(self.highlighter.as_ref()) => Wake::Highlighted,
            done = self.tasks.next() => Wake::Done(done),
            () = sleep_until(deadline) => Wake::Time,
            count = self.shell.read(output), if !self.terminal.is_backed_up() => Wake::Shell(count),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let frame = if self.app.wants_to_draw() { self.pace.deadline() } else { None };
        let own = [
            self.live.deadline(),
            self.app.deadline(),
            self.prompt_line.hint.deadline(),
            self.command_status_deadline(),
        ];
        own.into_iter().chain([frame]).flatten().min()
    }

    fn on_keys(&mut self, bytes: &[u8]) {
        let keys = self.take_background(bytes);
        let bytes = keys.as_ref();
        if bytes.is_empty() {
            return;
        }
        self.has_been_used = true;
        self.notices.unintegrated.typed(bytes);
        if self.take_prompt_keys(bytes) {
            return;
        }
        if self.undo_key.is(bytes) && self.app.takes_undo_key(self.live.untouched_prompt()) {
            return self.handle(Event::UndoKeyPressed);
        }
        if matches!(bytes, [CTRL_C] | b"\x1b[99;5u") && self.app.takes_stop_key(self.live.untouched_prompt()) {
            return self.handle(Event::StopKeyPressed);
        }
        if matches!(bytes, [CTRL_O] | b"\x1b[111;5u") && self.app.takes_thoughts_key() {
            return self.handle(Event::ThoughtsKeyPressed);
        }
        if matches!(bytes, [CTRL_L] | b"\x1b[108;5u") && self.app.takes_wipe_key() {
            return self.wipe();
        }
        self.live.user_input(bytes, self.shell.probe(), Instant::now(), &mut self.fx);
    }

    fn on_output(&mut self, bytes: &[u8]) {
        self.live.shell_output(bytes, self.shell.probe(), Instant::now(), &mut self.fx);
    }

    /// Called before the clock is looked at, so that no time limit passes for a mark that lies in the PTY already. Reads more than a
    /// PTY holds, but nothing of a flood that the terminal cannot take.
    fn read_what_is_there(&mut self, buffer: &mut [u8]) {
        for _ in 0..PTY_MAX_READS {
            if self.terminal.is_backed_up() && !self.live.awaits_an_answer() {
                return;
            }
            let Some(count) = self.shell.read_now(buffer) else { return };
            self.on_output(&buffer[..count]);
            self.settle();
        }
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        if self.live.deadline().is_some_and(|due| due <= now) {
            self.live.tick(self.shell.probe(), now, &mut self.fx);
        }
        if self.app.deadline().is_some_and(|due| due <= now) {
            self.handle(Event::Deadline);
        }
        self.tick_command_status(now);
        self.tick_hint(now);
    }

    fn on_resized(&mut self) {
        let (columns, rows) = self.terminal.size();
        self.area.resize(columns, rows);
        self.resize_hint(columns);
        self.handle(Event::Resized { columns, rows });
        self.needs_resize = true;
        self.resize_shell_if_visible();
    }

    /// While the terminal is ours the shell's prompt is hidden: it learns of a new size when it draws again, or it would repaint
    /// its prompt into the answer.
    fn resize_shell_if_visible(&mut self) {
        if self.needs_resize && !self.app.owns_terminal() {
            self.needs_resize = false;
            self.shell.resize(self.terminal.size());
        }
    }

    fn handle(&mut self, event: Event) {
        for effect in self.app.handle(event, Instant::now()) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        let now = Instant::now();
        match effect {
            Effect::Connect => self.open_link(self.daemon.attach.clone(), Daemon::Started),
            // Who joins a session asks for something.
            Effect::LookForDaemon if self.daemon.session_before.is_some() => {
                self.open_link(self.daemon.attach.clone(), Daemon::Started);
            }
            // What the user waits for is not waited for without a daemon.
            Effect::LookForDaemon if self.paths.watchers_signal().exists() => {
                self.open_link(self.daemon.attach.clone(), Daemon::Started);
            }
            Effect::LookForDaemon => self.open_link(self.daemon.attach.clone(), Daemon::LookedFor),
            Effect::Join(session) => self.join(session),
            Effect::Resume(from) => {
                self.open_link(Attach { resume: Some(from), ..self.daemon.attach.clone() }, Daemon::Needed);
            }
            Effect::Send(message) => {
                if self.daemon.link.as_mut().is_some_and(|link| !link.send(message)) {
                    let hint = "run `cohab daemon restart`".to_owned();
                    self.lose_link("the daemon does not read any more".to_owned(), hint);
                }
            }
            Effect::DecideLine(decision) => self.live.decide_line(decision, self.shell.probe(), now, &mut self.fx),
            Effect::EndAnswer => self.end_answer(false, now),
            Effect::EndAnswerWithLine => self.end_answer(true, now),
            Effect::Judge(question) => self.ask_classifier(question),
            Effect::Learn(question, decision) => self.prompt_line.classifier.learn(question, decision),
            Effect::Announce(text) => self.prompt_line.hint.announce(&text, Instant::now()),
            Effect::Run(request) => {
                self.draw_last();
                self.live.run(request, self.shell.probe(), now, &mut self.fx);
            }
            Effect::RunFilled(request, filled) => {
                self.draw_last();
                self.live.run_filled(request, &filled, self.shell.probe(), now, &mut self.fx);
            }
            Effect::RunAsItIs(request) => {
                self.draw_last();
                self.live.run_as(request, Mode::Live, self.shell.probe(), now, &mut self.fx);
            }
            Effect::BeginAnswer => self.live.begin_answer(self.shell.probe(), now, &mut self.fx),
            Effect::ComeBack => self.live.begin_answer_when_idle(self.shell.probe(), now, &mut self.fx),
            Effect::Notify(text) => self.focus.notify(&text, &mut self.terminal),
            Effect::CancelCommand(id, by) => self.live.cancel(&id, by, self.shell.probe(), now, &mut self.fx),
            Effect::WithdrawCommand(id) => {
                self.live.withdraw(&id, self.shell.probe(), now, &mut self.fx);
            }
            Effect::Begin(task) => self.tasks.begin(task),
            Effect::TakeKeyboard(true) => {
                self.live.set_keyboard(Keyboard::Assistant);
                self.mark_pastes(true);
            }
            Effect::TakeKeyboard(false) => {
                self.live.set_keyboard(Keyboard::Shell);
                self.mark_pastes(false);
            }
            effect => self.perform_for_slash(effect),
        }
    }

    /// The keys are with the shell, and nothing of what it makes of them is on the terminal yet.
    fn show_unintegrated_notice(&mut self) {
        let in_full_screen = self.live.modes().alternate_screen();
        if let Some(rows) = self.notices.unintegrated.take_rows(in_full_screen, self.area.max_columns()) {
            self.terminal.write(&rows);
        }
    }

    /// A paste must not count as keys that answer a question, also where the shell does not ask for marks around pastes.
    fn mark_pastes(&mut self, on: bool) {
        if !self.abilities.is_dumb && !self.live.modes().bracketed_paste() {
            self.terminal.write(if on { BRACKETED_PASTE_ON } else { BRACKETED_PASTE_OFF });
        }
    }

    /// Does what the relay wants until it wants nothing more.
    fn settle(&mut self) {
        loop {
            if let Some(error) = self.shell.apply(&mut self.fx) {
                self.live.command_not_written(&error, self.shell.probe(), Instant::now(), &mut self.fx);
                // It may be typed instead.
                continue;
            }
            if !self.fx.terminal.is_empty() {
                self.write_shell_output();
            }
            if self.fx.events.is_empty() {
                break;
            }
            for event in std::mem::take(&mut self.fx.events) {
                self.on_live(event);
            }
        }
        self.resize_shell_if_visible();
    }

    fn on_live(&mut self, event: LiveEvent) {
        self.note_for_prompt_line(&event);
        self.note_command(&event);
        match event {
            LiveEvent::BackgroundOutput(bytes) => self.show_background_output(&bytes),
            LiveEvent::PromptReady => {
                self.has_been_used = true;
                self.shell.remember_shell();
                if let Some(greeting) = self.notices.greeting.take() {
                    // Nothing waits for it.
                    tokio::task::spawn_blocking(move || greeting.count());
                }
                self.handle(Event::Live(LiveEvent::PromptReady));
            }
            LiveEvent::NotIntegrated { reason } => self.notices.unintegrated.found(reason),
            event => self.handle(Event::Live(event)),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.focus.tell_status(ProgramStatus::Idle, &mut self.terminal);
        self.terminal.restore(self.live.modes(), self.abilities.is_dumb);
    }
}
