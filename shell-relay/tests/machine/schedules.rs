//! Tests the hand-over with generated schedules of faults: each mark at any time, also after a refusal, each write of the command file
//! refused, each side stopped between any two of its steps. In all of them no command runs twice, and every report is true.

use std::collections::{BTreeMap, VecDeque};

use cohab_shell_relay::live::{LineDecision, LiveEvent, ShellState};
use cohab_shell_state::shell::Shell;
use cohab_types::command::{Ending, Interrupter};
use proptest::prelude::*;

use crate::{
    bench::{Bench, mark},
    editor::{Key, SHELLS, bytes_of, first_key, prompt_after},
};

const CLOSING_STEPS: usize = 60;

/// A step of the shell between two of which it can be stopped.
#[derive(Clone, Debug)]
enum Step {
    Read,
    Tell(String),
    /// The stub is accepted with the command that is held.
    Begin,
    Effect(String),
    End(String),
    /// A command of the user's, or an empty line.
    Users,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Ran,
    NeverRuns,
    MayRun,
}

/// A shell that may be stopped anywhere, and the reports that the client has received from it.
struct World {
    bench: Bench,
    /// Bytes written by the client, not yet read by the shell.
    input: String,
    /// Bytes written by the shell, not yet read by the client.
    output: String,
    steps: VecDeque<Step>,
    file: Option<String>,
    refuses_files: bool,
    next: Option<String>,
    last: Option<String>,
    line: String,
    aside: String,
    runs: u32,
    ran: BTreeMap<String, u32>,
    told: BTreeMap<String, Told>,
}

impl World {
    fn new(shell: Shell) -> Self {
        let mut bench = Bench::booting(shell);
        bench.output(prompt_after(shell, None).as_bytes());
        bench.wait(1_000);
        bench.fx.clear();
        Self {
            bench,
            input: String::new(),
            output: String::new(),
            steps: VecDeque::new(),
            file: None,
            refuses_files: false,
            next: None,
            last: None,
            line: String::new(),
            aside: String::new(),
            runs: 0,
            ran: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    fn happen(&mut self, what: u8, which: u8) {
        let pick = u64::from(which);
        match what % 20 {
            0..=5 => (0..=which % 4).for_each(|_| self.shell_step()),
            6..=8 => self.deliver(usize::from(which)),
            // The client looks at its clock before it reads.
            9 | 10 => self.bench.wait(pick * 50),
            11..=13 => self.run(),
            14 => self.cancel(which),
            15 => self.bench.live.begin_answer(&self.bench.probe, self.bench.now, &mut self.bench.fx),
            16 => self.bench.end_answer(),
            17 => self.bench.keys([&b"x"[..], b"\r", b"\x03"][usize::from(which % 3)]),
            18 => self.interrupt(),
            _ if which.is_multiple_of(2) => self.refuses_files = !self.refuses_files,
            _ => self.file = None,
        }
        self.collect();
    }

    fn run(&mut self) {
        self.runs += 1;
        self.bench.run(&format!("{:x}", self.runs), "true");
    }

    fn cancel(&mut self, which: u8) {
        let id = format!("{:x}", u32::from(which) % (self.runs + 1));
        let Bench { live, probe, now, fx, .. } = &mut self.bench;
        if which.is_multiple_of(2) {
            live.cancel(&id, Interrupter::User, probe, *now, fx);
        } else {
            live.withdraw(&id, probe, *now, fx);
        }
    }

    /// SIGINT from outside: the shell drops its next action, and a new prompt comes. Input that was read stays read.
    fn interrupt(&mut self) {
        let is_at_prompt = self.steps.iter().all(|step| matches!(step, Step::Read | Step::Tell(_)));
        let id = self.steps.iter().find_map(|step| match step {
            Step::Effect(id) | Step::End(id) => Some(id.clone()),
            _ => None,
        });
        self.steps.clear();
        self.line.clear();
        let id = id.filter(|_| !is_at_prompt);
        self.next = None;
        let told = (self.bench.shell != Shell::Fish || id.is_some()).then(|| id.as_deref().unwrap_or_default());
        self.output += &prompt_after(self.bench.shell, told).replace(";0;/home", ";130;/home");
    }

    fn prompt(&mut self, id: Option<&str>) {
        self.next = None;
        let told = (self.bench.shell != Shell::Fish || id.is_some()).then(|| id.unwrap_or_default());
        self.output += &prompt_after(self.bench.shell, told);
    }

    fn shell_step(&mut self) {
        let Some(step) = self.steps.pop_front() else { return self.read_key() };
        match step {
            Step::Read => self.next = self.file.clone().filter(|id| self.last.as_ref() != Some(id)),
            Step::Tell(what) => self.output += &what,
            Step::Begin => match self.next.take() {
                None => self.tell("L;-"),
                Some(id) => {
                    self.last = Some(id.clone());
                    self.line.clear();
                    self.output += &(mark("C") + &mark(&format!("O;{id}")));
                    self.steps.extend([Step::Effect(id.clone()), Step::End(id)]);
                }
            },
            Step::Effect(id) => *self.ran.entry(id).or_default() += 1,
            Step::End(id) => {
                self.output += &mark(&format!("E;{id};0;/e"));
                self.prompt(Some(&id));
            }
            Step::Users => {
                if !std::mem::take(&mut self.line).is_empty() {
                    self.output += &mark("C");
                    self.output += &prompt_after(self.bench.shell, Some(""));
                    self.next = None;
                } else {
                    self.prompt(None);
                }
            }
        }
    }

    /// bash paints its prompt with its mark after each widget.
    fn tell(&mut self, body: &str) {
        let painted = if self.bench.shell == Shell::Bash { mark("B") } else { String::new() };
        self.steps.push_front(Step::Tell(mark(body) + &painted));
    }

    fn read_key(&mut self) {
        let shell = self.bench.shell;
        if let Some(typed) = self.typed_command() {
            self.next = Some(typed).filter(|id| self.last.as_ref() != Some(id));
            let held = format!("L;{}", self.next.as_deref().unwrap_or("-"));
            return self.tell(&held);
        }
        let Some(key) = first_key(shell, &self.input) else {
            if !self.input.is_empty() {
                match self.input.remove(0) {
                    '\r' => self.steps.push_back(Step::Users),
                    '\x03' => self.interrupt(),
                    letter => self.line.push(letter),
                }
            }
            return;
        };
        self.input.drain(..bytes_of(shell, key).len());
        let told = format!("{};{}", self.line.len(), self.line);
        match key {
            Key::Stash | Key::Take => {
                self.aside = std::mem::take(&mut self.line);
                self.tell(&format!("S;{}", self.aside.len()));
            }
            Key::Restore => self.line.insert_str(0, &std::mem::take(&mut self.aside)),
            Key::Load => {
                // The report names the command that was read, however much later.
                let held = self.file.clone().filter(|id| self.last.as_ref() != Some(id));
                self.tell(&format!("L;{}", held.as_deref().unwrap_or("-")));
                self.steps.push_front(Step::Read);
            }
            Key::Run => self.steps.push_back(Step::Begin),
            Key::Fence => self.tell("L;="),
            Key::Query => self.tell(&format!("Q;{told}")),
            Key::Clear => {
                self.line.clear();
                self.tell("S;0");
            }
            Key::Fresh => {
                self.line.clear();
                self.steps.push_back(Step::Users);
            }
            Key::Enter if self.line.is_empty() => self.steps.push_back(Step::Users),
            Key::Enter => self.tell(&format!("N;{told}")),
            Key::Accept => self.steps.push_back(Step::Users),
        }
    }

    /// The id of a command that was typed because its file could not be written.
    fn typed_command(&mut self) -> Option<String> {
        let (before, after) = match self.bench.shell {
            Shell::Fish => ("\x1erp", "\x1ert"),
            Shell::Bash => ("\x1b[7391;p~", "\x1b[201~\x1b[7391;t~"),
            _ => ("\x1b[7391;p~", "\x1b[201~"),
        };
        let rest = self.input.strip_prefix(before)?;
        let end = rest.find(after)?;
        let id = rest[..end].split('%').next().unwrap_or_default().to_owned();
        self.input.drain(..before.len() + end + after.len());
        Some(id)
    }

    /// The client reads some of what the shell wrote.
    fn deliver(&mut self, at_most: usize) {
        let end = self.output.len().min(at_most.max(1) * 8);
        let bytes: String = self.output.drain(..end).collect();
        self.bench.output(bytes.as_bytes());
    }

    fn collect(&mut self) {
        loop {
            if let Some(file) = self.bench.fx.command_file.take() {
                if self.refuses_files {
                    self.bench.fx.pty.truncate(file.keys_from);
                    self.bench.fx.command_file = Some(file);
                    let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
                    let Bench { live, probe, now, fx, .. } = &mut self.bench;
                    live.command_not_written(&error, probe, *now, fx);
                } else {
                    self.file = Some(file.id);
                }
            }
            self.input += &String::from_utf8_lossy(&std::mem::take(&mut self.bench.fx.pty));
            let events = std::mem::take(&mut self.bench.fx.events);
            if events.is_empty() && self.bench.fx.command_file.is_none() && self.bench.fx.pty.is_empty() {
                return;
            }
            events.into_iter().for_each(|event| self.note(event));
        }
    }

    fn note(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::CommandStarted { id } => {
                self.file.take_if(|file| *file == id);
            }
            LiveEvent::CommandRefused { id, error } => {
                self.file.take_if(|file| *file == id);
                let told = if error.may_have_run() { Told::MayRun } else { Told::NeverRuns };
                assert_eq!(self.told.insert(id, told), None, "reported twice");
            }
            LiveEvent::CommandFinished { id, outcome } => {
                let has_ended = (outcome.ending, outcome.status) == (Ending::Exited, Some(0));
                let told = if has_ended { Told::Ran } else { Told::MayRun };
                assert_eq!(self.told.insert(id, told), None, "reported twice");
            }
            LiveEvent::LineEntered { .. } => self.bench.decide(LineDecision::Shell),
            _ => {}
        }
    }

    fn come_to_rest(&mut self) {
        self.refuses_files = false;
        for _ in 0..CLOSING_STEPS {
            for _ in 0..200 {
                self.shell_step();
                self.deliver(usize::MAX / 16);
                self.collect();
            }
            self.bench.wait(700);
            self.collect();
            self.bench.end_answer();
            self.collect();
            let is_quiet = self.input.is_empty() && self.output.is_empty() && self.steps.is_empty();
            if is_quiet && self.told.len() == self.runs as usize && self.bench.live.state() == ShellState::Prompt {
                return;
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.told.len(), self.runs as usize, "not all were reported: {:?}", self.bench.live);
        for (id, told) in &self.told {
            let count = self.ran.get(id).copied().unwrap_or(0);
            let is_true = match told {
                Told::Ran => count == 1,
                Told::NeverRuns => count == 0,
                Told::MayRun => count <= 1,
            };
            assert!(is_true, "command {id} ran {count} times, reported: {told:?}: {:?}", self.bench.live);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_command_runs_twice_and_every_report_is_true(
        shell in proptest::sample::select(SHELLS.as_slice()),
        bytes in proptest::collection::vec(any::<u8>(), 0..160),
    ) {
        let mut world = World::new(shell);
        for step in bytes.chunks_exact(2) {
            world.happen(step[0], step[1]);
        }
        world.come_to_rest();
        world.check();
    }
}
