//! Screen tests for each card, message and state, on the screen of a terminal. Each file covers one area, each row of a file one
//! state:
//!
//! | file | what a user can see |
//! |---|---|
//! | `turn.rs` | waiting, the status line, text, steps, commands and what they changed, notices, errors, every end of a turn |
//! | `cards.rs` | every question for consent: each subject, each way to answer, what would be touched, hostile and very long fields |
//! | `background_turn.rs` | the user's prompt while a turn continues, the queue, the way back |
//! | `unasked.rs` | commands typed with added words; client questions: git's settings and, at 100 and 60 columns, stops by the lock |
//! | `commands.rs` | answers of `? /help` and the other commands, own programs next to the shell, requests that fail |
//! | `fired.rs` | what watchers have fired, at 80 and 60 columns |
//! | `looks.rs` | the bar left of answers; steps with long results |
//! | `shell.rs` | `cohab undo`, `cohab sessions resume`, lines that Escape brings back, questions about failures |
//!
//! A new card, message or state gets its row in one of these files. Each state is shown three times: 80 by 24, 40 by 24, and 80 by 24
//! in sentences without colours (`COHAB_ACCESSIBLE=1`, `TERM=dumb`). The styles of a row and its cursor are to the right
//! of the frame.
//!
//! Tests elsewhere: answers themselves in `markdown/tests/screen.rs` of `cohab-term`, the words next to the prompt in `hint/tests.rs` and
//! `cohab ask` in `ask/screen_tests.rs` of `cohab`, `cohab doctor` and `cohab shell-check` in `cohab-doctor`, `cohab setup` in
//! `tests/tests/e2e/setup_screens.rs`. Programs that print lines for a pipe have no screen.

use cohab_term::{
    ansi::ColorSupport,
    live_area::{Abilities, LiveArea},
    test_screen::TestScreen,
};

use super::*;

mod background_turn;
mod cards;
mod commands;
mod fired;
mod looks;
mod shell;
mod turn;
mod unasked;

const PROMPT: &[u8] = b"~/src $ ";

/// What a person sees, and what happened before.
type State = (&'static str, fn(&mut Stage));

/// An application at a terminal, with a shell that is as good as its output.
struct Stage {
    bench: Bench,
    area: LiveArea,
    terminal: TestScreen,
}

impl Stage {
    fn new(columns: u16, output_style: OutputStyle) -> Self {
        const ROWS: u16 = 24;
        let mut bench = Bench::new();
        bench.app.options.output_style = output_style;
        bench.event(Event::Resized { columns, rows: ROWS });
        let colors = output_style.choose(ColorSupport::Ansi16, ColorSupport::None);
        // The terminal of the tests cuts rows that are too long.
        let abilities = Abilities { colors, output_style, is_dumb: false, has_links: false, rewraps: false };
        let mut terminal = TestScreen::new(columns, ROWS);
        terminal.process(PROMPT);
        Self { bench, area: LiveArea::new(columns, ROWS, abilities), terminal }
    }

    /// The daemon is there.
    fn connect(&mut self) {
        self.live(LiveEvent::PromptReady);
        self.bench.link_up();
    }

    /// This was asked, and the daemon has taken it.
    fn ask(&mut self, question: &str) {
        self.connect();
        self.enter(&format!("? {question}"));
        self.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
    }

    /// Enter is pressed on a line that is for us, and the shell makes room.
    fn enter(&mut self, line: &str) {
        let effects = self.bench.enter(line);
        self.obey(effects);
        self.live(LiveEvent::AnswerReady);
    }

    fn live(&mut self, event: LiveEvent) {
        self.event(Event::Live(event));
    }

    fn daemon(&mut self, message: DaemonMessage) {
        self.event(Event::Daemon(Box::new(message)));
    }

    /// Keys. A letter is first pressed by itself, and Enter makes it count at once.
    fn keys(&mut self, keys: &str) {
        let (letter, rest) = keys.split_at(keys.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(keys.len()).min(1));
        let enter = if letter.is_empty() { "" } else { "\r" };
        for keys in [letter, enter, rest].into_iter().filter(|keys| !keys.is_empty()) {
            self.live(LiveEvent::AnswerKey(keys.as_bytes().to_vec()));
        }
    }

    fn event(&mut self, event: Event) {
        let effects = self.bench.event(event);
        self.obey(effects);
    }

    /// Time passes, as the driver lets it.
    fn pass(&mut self, milliseconds: u64) {
        let end = self.bench.now + Duration::from_millis(milliseconds);
        while let Some(due) = self.bench.app.deadline().filter(|due| *due <= end) {
            self.bench.now = self.bench.now.max(due);
            self.event(Event::Deadline);
        }
        self.bench.now = end;
    }

    /// The model writes.
    fn text(&mut self, seq: u64, text: &str) {
        let delta = ChunkDelta::Text(text.into());
        self.daemon(DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id: TURN, seq, delta }));
    }

    fn end(&mut self, reason: TurnEndReason) {
        self.daemon(ended(reason));
    }

    /// What the driver does with it, as far as it is seen.
    fn obey(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::EndAnswer | Effect::EndAnswerWithLine => {
                    self.draw_last();
                    if self.bench.app.wants_gap() {
                        self.terminal.process(b"\r\n");
                    }
                    self.live(LiveEvent::AnswerEnded);
                    let line = self.bench.app.line_put_back().unwrap_or_default().to_owned();
                    self.terminal.process(PROMPT);
                    self.terminal.process(line.as_bytes());
                    self.live(LiveEvent::PromptReady);
                }
                Effect::Run(_) | Effect::RunFilled(..) | Effect::RunAsItIs(_) => self.draw_last(),
                _ => {}
            }
        }
        self.draw();
    }

    fn draw(&mut self) {
        if self.bench.app.wants_to_draw() {
            let mut frame = self.bench.app.frame();
            if frame.area.is_empty() && self.bench.app.keeps_a_row() {
                frame.area.push(Line::default());
            }
            let mut bytes = Vec::new();
            self.area.draw(&frame.above, &frame.area, frame.cursor, &mut bytes);
            self.terminal.process(&bytes);
        }
    }

    fn draw_last(&mut self) {
        let frame = self.bench.app.last_frame();
        let mut bytes = Vec::new();
        self.area.draw(&frame.above, &[], None, &mut bytes);
        self.terminal.process(&bytes);
    }

    /// A command of the agent's runs, prints this and ends so.
    fn command_ran(&mut self, output: &str, status: i32, changes: &[(&str, Option<&str>, Option<&str>)]) {
        self.ran_as(CALL.to_string(), output, status, changes);
    }

    fn ran_as(&mut self, id: String, output: &str, status: i32, changes: &[(&str, Option<&str>, Option<&str>)]) {
        self.live(LiveEvent::CommandStarted { id: id.clone() });
        self.terminal.process(output.replace('\n', "\r\n").as_bytes());
        self.live(undo::observed(&id, changes));
        let outcome =
            CommandOutcome { status: Some(status), output: output.into(), cwd: CWD.into(), ..outcome(Ending::Exited) };
        self.live(LiveEvent::CommandFinished { id, outcome });
        self.live(LiveEvent::AnswerReady);
    }
}

/// All states of an area at each width and in each look.
fn seen(states: &[State]) -> String {
    seen_at(states, [80, 40])
}

fn seen_at<const WIDTHS: usize>(states: &[State], widths: [u16; WIDTHS]) -> String {
    let mut all = String::new();
    for (name, happens) in states {
        let widths = widths.map(|columns| (columns, OutputStyle::Rich, format!("{columns} columns")));
        for (columns, output_style, how) in
            widths.into_iter().chain([(80, OutputStyle::Accessible, "sentences".to_owned())])
        {
            let mut stage = Stage::new(columns, output_style);
            happens(&mut stage);
            all += &format!("==== {name} ({how})\n{}\n", stage.terminal.seen());
        }
    }
    all
}

/// A step of the model's.
fn step(number: u32, activity: StepActivity) -> DaemonMessage {
    DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: number, activity })
}

fn tool(tool: &str, argument: &str) -> StepActivity {
    StepActivity::ToolCall { tool: tool.into(), argument: argument.into() }
}

fn step_ended(number: u32, outcome: StepOutcome, summary: &str, elapsed_ms: u64) -> DaemonMessage {
    let summary = summary.into();
    DaemonMessage::StepFinished(StepFinished {
        turn_id: TURN,
        step: number,
        outcome,
        summary,
        elapsed_ms,
        detail: None,
        only_reads: false,
    })
}
