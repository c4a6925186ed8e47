//! Simulates a shell that behaves. Its input waits in its terminal until its line editor or a program reads it, and each reads it as
//! the real ones do: so the receiver of each key is known exactly. Only the order of events is random.

use std::collections::BTreeSet;

use cohab_shell_relay::live::{LineDecision, LiveEvent, ShellState};
use cohab_shell_state::shell::Shell;

use crate::{
    bench::{Bench, mark, result_of},
    editor::{Key, bytes_of, first_key, ours, prompt_after},
    story::{letter, letters_in},
};

const STUB: &str = " stub";
const CLOSING_STEPS: usize = 60;

#[derive(Debug, PartialEq, Eq)]
enum Place {
    Editor,
    /// The agent's command with this id, or one of the user's.
    Program {
        id: Option<String>,
        reads: bool,
    },
}

struct World {
    bench: Bench,
    /// Keys sent and not yet read.
    terminal: String,
    place: Place,
    buffer: String,
    /// The line that is put aside, and whether it is a question, which need not come back.
    aside: (String, bool),
    /// zsh: the line at Enter, and the text for the next line.
    entered: String,
    next_line: String,
    /// The id of the command in the file; empty without a file.
    id: String,
    /// The ids of the command that the shell holds, and of the one that it ran last.
    next: String,
    last: String,
    ran: Vec<String>,
    asked: String,
    eaten: String,
    letters: u32,
    /// The last letter before each Enter for the shell.
    enters: BTreeSet<u32>,
    runs: u32,
    results: usize,
    has_asked: bool,
    /// The assistant has begun its answer again by itself, or wanted to.
    has_come_back: bool,
    /// Whether the assistant steps aside for keys.
    gives_way: bool,
}

/// Plays the story in `bytes`, and checks the receiver of each key.
pub fn play(shell: Shell, bytes: &[u8]) {
    let mut bench = Bench::booting(shell);
    bench.output(prompt_after(shell, None).as_bytes());
    let mut world = World {
        bench,
        terminal: String::new(),
        place: Place::Editor,
        buffer: String::new(),
        aside: (String::new(), false),
        entered: String::new(),
        next_line: String::new(),
        id: String::new(),
        next: String::new(),
        last: String::new(),
        ran: Vec::new(),
        asked: String::new(),
        eaten: String::new(),
        letters: 0,
        enters: BTreeSet::new(),
        runs: 0,
        results: 0,
        has_asked: false,
        has_come_back: false,
        gives_way: bytes.len().is_multiple_of(2),
    };
    for step in bytes.chunks_exact(2) {
        world.step(step[0], step[1]);
        world.collect();
    }
    world.come_to_rest();
    world.check();
}

impl World {
    fn step(&mut self, what: u8, which: u8) {
        match what % 18 {
            0..=3 => self.read_one(),
            4 => self.read_all(),
            5..=7 => self.type_letters(1 + which % 3),
            8 | 9 => self.press_enter(),
            10 => self.end_program(),
            11 => self.run(),
            12 => self.ask(),
            13 => self.end_answer(),
            15 | 16 => self.come_back(),
            14 => self.wait(u64::from(which) * 12),
            _ => {
                if let Place::Program { reads, .. } = &mut self.place {
                    *reads = which.is_multiple_of(2);
                }
            }
        }
    }

    /// A shell that works answers before long.
    fn wait(&mut self, ms: u64) {
        self.bench.wait(ms % 20);
        for _ in 0..ms / 20 {
            self.read_all();
            self.bench.wait(20);
        }
    }

    fn collect(&mut self) {
        loop {
            if let Some(file) = self.bench.fx.command_file.take() {
                self.id = file.id;
            }
            self.terminal += &String::from_utf8_lossy(&std::mem::take(&mut self.bench.fx.pty));
            let events = std::mem::take(&mut self.bench.fx.events);
            if events.is_empty() {
                return;
            }
            for event in events {
                self.results += usize::from(result_of(&event).is_some());
                if matches!(event, LiveEvent::CommandStarted { .. } | LiveEvent::CommandRefused { .. }) {
                    self.id.clear();
                }
                match event {
                    LiveEvent::LineEntered { text, .. } => {
                        let is_question = text.starts_with('?');
                        self.has_asked |= is_question;
                        self.bench.decide(if is_question { LineDecision::Assistant } else { LineDecision::Shell });
                    }
                    LiveEvent::KeysWait if self.gives_way => self.end_answer(),
                    _ => {}
                }
            }
        }
    }

    fn type_letters(&mut self, count: u8) {
        for _ in 0..count {
            self.letters += 1;
            self.bench.keys(letter(self.letters).to_string().as_bytes());
        }
    }

    fn press_enter(&mut self) {
        // While a line is aside, Enter is for the line typed in its place.
        let is_for_line = self.aside.1 || self.aside.0.is_empty();
        if is_for_line && matches!(self.bench.live.state(), ShellState::Prompt | ShellState::RunningUser) {
            self.enters.insert(self.letters);
        }
        self.bench.keys(b"\r");
    }

    fn ask(&mut self) {
        self.bench.keys(b"?");
        self.type_letters(1);
        self.press_enter();
    }

    fn come_back(&mut self) {
        if self.bench.live.state() != ShellState::Answering {
            self.has_come_back = true;
            self.bench.live.begin_answer_when_idle(&self.bench.probe, self.bench.now, &mut self.bench.fx);
        }
    }

    fn end_answer(&mut self) {
        self.bench.live.end_answer(false, &self.bench.probe, self.bench.now, &mut self.bench.fx);
    }

    fn run(&mut self) {
        self.runs += 1;
        self.bench.run(&format!("{:x}", self.runs), "true");
    }

    fn marks(&mut self, bodies: &[&str]) {
        self.bench.marks(bodies);
        self.collect();
    }

    fn read_all(&mut self) {
        self.collect();
        for _ in 0..1000 {
            if self.terminal.is_empty() || matches!(self.place, Place::Program { reads: false, .. }) {
                return;
            }
            self.read_one();
            self.collect();
        }
        panic!("the shell and we talk without end: {:?}", self.bench.live);
    }

    fn read_one(&mut self) {
        self.collect();
        let shell = self.bench.shell;
        match self.place {
            Place::Program { reads: false, .. } => {}
            Place::Program { reads: true, .. } => {
                let read = std::mem::take(&mut self.terminal);
                assert!(!read.contains(ours(shell)), "a program gets {read:?}: {:?}", self.bench.live);
                self.eaten += &read;
            }
            Place::Editor => {
                if let Some(key) = first_key(shell, &self.terminal) {
                    self.terminal.drain(..bytes_of(shell, key).len());
                    self.obey(key);
                } else if let Some(c) = self.terminal.chars().next() {
                    self.terminal.drain(..c.len_utf8());
                    if c == '\r' { self.accept() } else { self.buffer.push(c) }
                }
            }
        }
    }

    /// bash paints its prompt with its mark after each widget.
    fn tell(&mut self, body: &str) {
        let painted = if self.bench.shell == Shell::Bash { mark("B") } else { String::new() };
        let mark = if body.is_empty() { String::new() } else { mark(body) };
        self.bench.output((mark + &painted).as_bytes());
    }

    fn obey(&mut self, key: Key) {
        let shell = self.bench.shell;
        let line = format!("{};{}", self.buffer.chars().count(), encoded(&self.buffer));
        match key {
            Key::Stash | Key::Take => {
                let (before, was_question) = std::mem::replace(&mut self.aside, (String::new(), key == Key::Take));
                assert!(was_question || before.is_empty(), "{before} is lost: {:?}", self.bench.live);
                self.asked += &before;
                self.aside.0 = std::mem::take(&mut self.buffer);
                self.tell(&format!("S;{}", self.aside.0.chars().count()));
            }
            Key::Restore => {
                let (before, _) = std::mem::take(&mut self.aside);
                self.buffer.insert_str(0, &before);
                self.tell("");
            }
            Key::Load if self.id.is_empty() || self.id == self.last => self.tell("L;-"),
            Key::Load => {
                self.next.clone_from(&self.id);
                self.tell(&format!("L;{}", self.id));
            }
            Key::Run if self.next.is_empty() => self.tell("L;-"),
            Key::Run => {
                assert!(self.buffer.is_empty(), "{} is lost: {:?}", self.buffer, self.bench.live);
                self.buffer = STUB.into();
                self.last = std::mem::take(&mut self.next);
                self.accept();
            }
            Key::Fence => self.tell("L;="),
            Key::Query => self.tell(&format!("Q;{line}")),
            Key::Clear => {
                self.buffer.clear();
                self.tell("S;0");
            }
            Key::Fresh => self.accept(),
            Key::Enter if self.buffer.is_empty() => self.accept_unasked(),
            // More keys wait: they were typed ahead.
            Key::Enter if shell != Shell::Fish && !self.terminal.is_empty() => self.accept_unasked(),
            Key::Enter => {
                self.entered.clone_from(&self.buffer);
                self.tell(&format!("N;{line}"));
            }
            Key::Accept if shell != Shell::Fish => {
                if let Some(rest) = self.buffer.strip_prefix(self.entered.as_str()) {
                    self.next_line = rest.to_owned();
                    self.buffer = std::mem::take(&mut self.entered);
                    self.accept();
                }
            }
            Key::Accept => self.accept(),
        }
    }

    fn accept_unasked(&mut self) {
        if self.bench.shell == Shell::Bash {
            self.tell("W");
        }
        self.accept();
    }

    fn accept(&mut self) {
        let line = std::mem::take(&mut self.buffer);
        if line.is_empty() {
            return self.prompt(None);
        }
        let id = (line == STUB).then(|| self.last.clone());
        self.bench.probe.program_in_front("cat", true);
        match &id {
            Some(id) => self.marks(&["C", &format!("O;{id}")]),
            None => {
                self.ran.push(line);
                self.marks(&["C"]);
            }
        }
        self.place = Place::Program { id, reads: false };
    }

    fn prompt(&mut self, command: Option<&str>) {
        self.place = Place::Editor;
        self.next.clear();
        self.bench.probe.editor_in_front();
        self.buffer = std::mem::take(&mut self.next_line);
        let empty_line = self.bench.shell != Shell::Fish;
        let command = command.or(empty_line.then_some(""));
        self.bench.output(prompt_after(self.bench.shell, command).as_bytes());
    }

    fn end_program(&mut self) {
        let Place::Program { id, .. } = std::mem::replace(&mut self.place, Place::Editor) else { return };
        if let Some(id) = &id {
            self.marks(&[&format!("E;{id};0;/e")]);
        }
        self.prompt(Some(id.as_deref().unwrap_or_default()));
    }

    fn come_to_rest(&mut self) {
        for _ in 0..CLOSING_STEPS {
            self.read_all();
            self.end_program();
            self.wait(500);
            self.collect();
            self.end_answer();
            self.wait(3_000);
            self.collect();
            let live = &self.bench.live;
            if (live.state(), live.deadline()) == (ShellState::Prompt, None) && self.terminal.is_empty() {
                return;
            }
        }
    }

    fn check(&self) {
        let live = &self.bench.live;
        assert_eq!((live.state(), live.deadline(), self.results), (ShellState::Prompt, None, self.runs as usize));
        let still = if self.aside.1 { "" } else { self.aside.0.as_str() };
        assert_eq!(still, "", "a line stays away: {live:?}");
        let ran = self.ran.concat();
        let all = [ran.as_str(), &self.asked, &self.eaten, &self.buffer, &self.aside.0].map(letters_in).concat();
        let distinct: BTreeSet<u32> = all.iter().copied().collect();
        assert_eq!((all.len(), distinct), (self.letters as usize, (1..=self.letters).collect()), "{live:?}");
        // Keys for a command within an answer overtake those that wait for the prompt after it.
        if self.has_asked || self.has_come_back {
            return;
        }
        for line in self.ran.iter().chain([&self.buffer]) {
            let letters = letters_in(line);
            assert!(letters.is_sorted(), "typed in another order: {letters:?}");
            let joins = |pair: &[u32]| pair[0] + 1 == pair[1] && self.enters.contains(&pair[0]);
            assert!(!letters.windows(2).any(joins), "two lines became one: {letters:?}, {:?}", self.enters);
        }
        let last = self.enters.last().copied().unwrap_or(0);
        assert!(letters_in(&self.buffer).iter().all(|letter| *letter > last), "an Enter did nothing: {live:?}");
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
