//! Interprets any bytes as a story: the shell's output, the user's input, the agent's requests and the passing of time, in any order;
//! and checks the invariants. Used by the property tests here and by the fuzzer.

use std::collections::BTreeMap;

use cohab_shell_relay::live::{Keyboard, LineDecision, LiveEvent, ShellState};
use cohab_shell_state::shell::Shell;
use cohab_types::command::Interrupter;

use crate::{
    bench::{Bench, CHILD, NONCE, mark, result_of},
    editor::{Key, answer, bytes_of, keys_in, ours},
};

/// Marks that a shell, or a program that knows the nonce, may write at any moment.
const MARKS: [&str; 27] = [
    "W",
    "K;1",
    "K;0",
    "F;ble.sh",
    "N;1;q;0;vi",
    "B",
    "P",
    "C",
    "D;;0;/d",
    "S;0",
    "S;3",
    "X;x",
    "Q;1;q",
    "Q;0;",
    "Q;1",
    "Q;3;q%0Aq",
    "N;1;q",
    "N;1",
    "N;0;",
    "L;1",
    "O;1",
    "E;1;0;/e",
    "D;1;130;/e",
    "D;1;148;/e;stopped",
    "L;2",
    "O;2",
    "E;2;1;/e",
];

/// Possible output of a program. None of it is a mark of our shell.
const OUTPUTS: [&str; 17] = [
    "text\r\n",
    "\x1b[31mred\x1b[0m",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?25l\x1b[?1000;1006h\x1b[>1u\x1b=",
    "\x1b]0;title\x07",
    "\x1b]0;never ended ",
    "\x1b]7391;ffffffffffffffffffffffffffffffff;500;B\x07",
    "\x1b]7391;00112233445566778899aabbccddeeff;501;E;1;0;/f\x07",
    "\x1b]7391;",
    "00112233445566778899aabbccddeeff",
    "0011223344556677",
    "0011223344556677\x1b[m8899aabbccddeeff",
    "\x1b",
    "\x1b[6n\x1b[c\x1bP$q\x1b\\",
    "\u{9b}1m\u{202e}\0",
    "\r10%\r100%\n",
];

/// Keys with a meaning, and replies of the terminal. Letters are made separately, no two alike.
const KEYS: [&str; 14] = [
    "\r",
    "\n",
    "\x03",
    "\x1b",
    "\x12",
    "\x0f",
    "\x16",
    "\x1b\r",
    "\x1b[200~",
    "\x1b[201~",
    "\x1b[1;1R",
    "\x1b]11;rgb:0/0/0\x07",
    "\x1b[I",
    "\x1b[O",
];

const COMMANDS: [&str; 5] = ["true", "exit 3", "a\nb", "nul\0", "echo 'x"];

/// Steps to a quiet end; many more than any state needs.
const CLOSING_STEPS: usize = 16;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// All output to the terminal.
    pub terminal: Vec<u8>,
    /// All input to the shell.
    pub pty: Vec<u8>,
    /// Events in order; neighbouring pieces of one command's output are joined.
    pub events: Vec<LiveEvent>,
}

/// Plays a story and watches.
struct Player {
    bench: Bench,
    outcome: Outcome,
    /// The shell's output comes in pieces of this size.
    piece_bytes: usize,
    /// The number of sent bytes that the shell has obeyed.
    obeyed: usize,
    runs: u32,
    letters: u32,
    /// Reports of the shell that Enter was pressed.
    told: usize,
    cancels: usize,
    typed: Vec<u8>,
    /// Letters up to this one may be lost: a stop forgets text typed ahead.
    forgotten: u32,
    loaded: Option<String>,
}

/// Plays the story in `bytes` to the end of the shell, and checks all invariants. With pieces of any size the outcome is the same.
pub fn play(shell: Shell, bytes: &[u8], piece_bytes: usize) -> Outcome {
    let mut player = Player {
        bench: Bench::booting(shell),
        outcome: Outcome::default(),
        piece_bytes,
        obeyed: 0,
        runs: 0,
        letters: 0,
        told: 0,
        cancels: 0,
        typed: Vec::new(),
        forgotten: 0,
        loaded: None,
    };
    for step in bytes.chunks_exact(2) {
        player.step(step[0], step[1]);
    }
    player.come_to_rest();
    player.bench.end();
    player.collect();
    player.check_results();
    player.check_texts();
    player.outcome
}

impl Player {
    fn step(&mut self, what: u8, which: u8) {
        let before = self.bench.live.state();
        let pick = usize::from(which);
        match what % 22 {
            0..=3 => self.obey(pick),
            4 => self.shell(&self.finished(pick)),
            5 => self.shell(&mark(MARKS[pick % MARKS.len()])),
            6 => self.shell(OUTPUTS[pick % OUTPUTS.len()]),
            7 => self.shell_bytes(&[which; 3]),
            8 => self.type_letters(1 + pick % 3),
            9 | 10 => self.type_key(KEYS[pick % KEYS.len()]),
            11 => self.bench.wait(u64::from(which) * 12),
            12 | 13 => self.run(pick),
            14 => self.cancel(pick),
            15 => self.bench.live.begin_answer(&self.bench.probe, self.bench.now, &mut self.bench.fx),
            16 => self.bench.live.end_answer(pick % 2 == 0, &self.bench.probe, self.bench.now, &mut self.bench.fx),
            17 => self.decide(if pick % 2 == 0 { LineDecision::Shell } else { LineDecision::Assistant }),
            20 => self.bench.live.begin_answer_when_idle(&self.bench.probe, self.bench.now, &mut self.bench.fx),
            21 => self.bench.live.watch_focus(),
            18 => self.bench.live.set_keyboard(if pick % 2 == 0 { Keyboard::Shell } else { Keyboard::Assistant }),
            _ => self.change_kernel(pick),
        }
        let sent = self.collect();
        check_silence(self.bench.shell, before, self.bench.live.state(), what % 22, &sent);
    }

    fn change_kernel(&mut self, pick: usize) {
        let probe = &self.bench.probe;
        match pick % 6 {
            0..=2 => probe.editor_in_front(),
            3 => probe.program_in_front("vim", true),
            4 => probe.program_in_front("python3", false),
            _ => probe.replaced.set(!probe.replaced.get()),
        }
    }

    /// The end of the command at hand and the next prompt.
    fn finished(&self, pick: usize) -> String {
        match &self.loaded {
            Some(id) if !pick.is_multiple_of(4) => {
                mark(&format!("E;{id};0;/e")) + &mark(&format!("D;{id};0;/e")) + &mark("B")
            }
            _ => mark("D;;0;/e") + &mark("B"),
        }
    }

    /// The shell carries out the keys that it has not yet read. Enter need not lead to an accepted line.
    fn obey(&mut self, pick: usize) {
        let unread = String::from_utf8_lossy(&self.outcome.pty[self.obeyed..]).into_owned();
        self.obeyed = self.outcome.pty.len();
        let shell = self.bench.shell;
        for key in keys_in(shell, &unread) {
            let id = self.loaded.clone().unwrap_or_default();
            let text = match (key, pick % 8) {
                (Key::Enter, 0) => "chosen from a menu".to_owned(),
                (Key::Enter, 1) => String::new(),
                (Key::Enter, 2) if shell != Shell::Bash => mark("C"),
                _ => answer(shell, key, &id),
            };
            self.shell(&text);
        }
    }

    fn shell(&mut self, text: &str) {
        self.told += text.matches(&format!("{NONCE};{CHILD};N;")).count();
        self.shell_bytes(text.as_bytes());
    }

    fn shell_bytes(&mut self, bytes: &[u8]) {
        bytes.chunks(self.piece_bytes).for_each(|piece| self.bench.output(piece));
    }

    fn type_letters(&mut self, count: usize) {
        let text: String = (0..count).map(|_| self.fresh_letter()).collect();
        self.type_key(&text);
    }

    fn fresh_letter(&mut self) -> char {
        self.letters += 1;
        letter(self.letters)
    }

    fn type_key(&mut self, keys: &str) {
        self.typed.extend_from_slice(keys.as_bytes());
        self.bench.keys(keys.as_bytes());
    }

    fn run(&mut self, pick: usize) {
        self.runs += 1;
        self.bench.run(&format!("{:x}", self.runs), COMMANDS[pick % COMMANDS.len()]);
    }

    fn cancel(&mut self, pick: usize) {
        self.cancels += 1;
        let id = format!("{:x}", pick % 8);
        self.bench.live.cancel(&id, Interrupter::Turn, &self.bench.probe, self.bench.now, &mut self.bench.fx);
    }

    fn decide(&mut self, decision: LineDecision) {
        self.bench.decide(decision);
    }

    /// Takes the effects as the driver does; returns the bytes sent to the shell.
    fn collect(&mut self) -> Vec<u8> {
        let fx = &mut self.bench.fx;
        if let Some(file) = fx.command_file.take() {
            self.loaded = Some(file.id);
        }
        fx.signal = None;
        self.outcome.terminal.append(&mut fx.terminal);
        let sent = std::mem::take(&mut fx.pty);
        self.outcome.pty.extend_from_slice(&sent);
        for event in std::mem::take(&mut fx.events) {
            if matches!(event, LiveEvent::CancelRequested { .. }) {
                self.forgotten = self.letters;
            }
            join_or_push(&mut self.outcome.events, event);
        }
        sent
    }

    /// A shell that behaves from now on: everything ends, the prompt stands, and no key is held any more.
    fn come_to_rest(&mut self) {
        // Ends the paste and the sequence that the user, and a program, may have left open.
        self.type_key("\x1b[201~");
        self.shell("\x07\x1b\\\x1b[?1049l");
        self.bench.probe.replaced.set(false);
        for _ in 0..CLOSING_STEPS {
            self.bench.probe.editor_in_front();
            self.obey(usize::MAX);
            self.collect();
            self.shell(&self.finished(1));
            self.shell(&mark("D;;0;/e"));
            self.shell(&mark("B"));
            self.decide(LineDecision::Shell);
            self.bench.live.end_answer(false, &self.bench.probe, self.bench.now, &mut self.bench.fx);
            self.bench.wait(1_000);
            self.collect();
        }
        self.check_letters();
        assert_eq!(self.bench.live.state(), ShellState::Prompt, "{:?}", self.bench.live);
        assert_eq!(self.bench.live.deadline(), None, "{:?}", self.bench.live);
    }

    /// Asserts that the user's text was typed once and in order, or was for the assistant, or was forgotten by a stop.
    fn check_letters(&self) {
        let sent = letters_in(&String::from_utf8_lossy(&self.outcome.pty));
        let distinct: std::collections::BTreeSet<u32> = sent.iter().copied().collect();
        assert_eq!(distinct.len(), sent.len(), "typed twice: {sent:?}");
        // Keys for a command within an answer overtake those that wait for the prompt after it.
        let has_answer = self.outcome.events.contains(&LiveEvent::AnswerEnded);
        assert!(has_answer || sent.is_sorted(), "typed in another order: {sent:?}");
        let for_assistant: Vec<u32> = self.outcome.events.iter().flat_map(answer_keys).collect();
        for number in self.forgotten + 1..=self.letters {
            let places = usize::from(sent.contains(&number)) + usize::from(for_assistant.contains(&number));
            assert_eq!(places, 1, "letter {number} of {}: {:?}", self.letters, self.bench.live);
        }
        let count = |bytes: &[u8], key: u8| bytes.iter().filter(|byte| **byte == key).count();
        let enters = |bytes: &[u8]| count(bytes, b'\r') + count(bytes, b'\n');
        let (shell, sent) = (self.bench.shell, String::from_utf8_lossy(&self.outcome.pty));
        let keys = |key| sent.matches(bytes_of(shell, key)).count();
        let private = if shell == Shell::Fish { keys(Key::Enter) } else { 0 };
        assert!(enters(&self.outcome.pty) + private <= enters(&self.typed), "an Enter that nobody typed");
        assert!(keys(Key::Accept) <= self.told, "a line is accepted that nobody entered");
        // Escape is one for a command that reads lines, and each such case is reported.
        let is_escape = |event: &&LiveEvent| matches!(event, LiveEvent::EscapeInterrupts { .. });
        let escapes = self.outcome.events.iter().filter(is_escape).count();
        assert!(escapes <= count(&self.typed, 0x1b), "an Escape that nobody typed");
        assert!(
            count(&self.outcome.pty, 3) <= count(&self.typed, 3) + self.cancels + escapes,
            "a Ctrl-C that nobody typed"
        );
    }

    /// Every command gets exactly one result.
    fn check_results(&self) {
        let mut results: BTreeMap<&str, u32> = BTreeMap::new();
        for id in self.outcome.events.iter().filter_map(result_of) {
            *results.entry(id).or_default() += 1;
        }
        assert_eq!(results.len(), self.runs as usize, "{results:?}");
        assert!(results.values().all(|count| *count == 1), "{results:?}");
    }

    /// No mark is shown; the model's texts have no control characters and no nonce.
    fn check_texts(&self) {
        let shown = String::from_utf8_lossy(&self.outcome.terminal);
        assert!(!shown.contains(&format!("\x1b]7391;{NONCE};{CHILD};")), "a mark is shown: {shown:?}");
        for event in &self.outcome.events {
            let text = match event {
                LiveEvent::CommandFinished { outcome, .. } => &outcome.output,
                LiveEvent::UserCommandFinished(command) => &command.output_tail,
                LiveEvent::CommandOutput { bytes, .. } => {
                    assert!(!String::from_utf8_lossy(bytes).contains(NONCE), "the nonce in {event:?}");
                    continue;
                }
                _ => continue,
            };
            assert!(text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "controls in {text:?}");
            assert!(!text.contains(NONCE), "the nonce in {text:?}");
        }
    }
}

/// Asserts that no key of ours is sent while the shell is not known to read with its line editor.
fn check_silence(shell: Shell, before: ShellState, after: ShellState, what: u8, sent: &[u8]) {
    let is_deaf = |state| {
        matches!(
            state,
            ShellState::Boot
                | ShellState::Continuation
                | ShellState::RunningUser
                | ShellState::NotIntegrated
                | ShellState::Dead
        )
    };
    // One step of the shell may be several marks, with a prompt between them.
    if what > 4 && before == after && is_deaf(before) {
        let sent = String::from_utf8_lossy(sent);
        assert!(!sent.contains(ours(shell)), "sent in {before:?}: {sent:?}");
    }
}

fn join_or_push(events: &mut Vec<LiveEvent>, event: LiveEvent) {
    match (events.last_mut(), event) {
        (Some(LiveEvent::CommandOutput { bytes, .. }), LiveEvent::CommandOutput { bytes: more, .. })
        | (Some(LiveEvent::BackgroundOutput(bytes)), LiveEvent::BackgroundOutput(more)) => bytes.extend(more),
        (_, event) => events.push(event),
    }
}

/// The letters of a text that were typed, by number.
pub fn letters_in(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| u32::from(c).checked_sub(FIRST_LETTER).filter(|number| *number < LETTERS)).collect()
}

fn answer_keys(event: &LiveEvent) -> Vec<u32> {
    match event {
        LiveEvent::AnswerKey(keys) => letters_in(&String::from_utf8_lossy(keys)),
        _ => Vec::new(),
    }
}

const FIRST_LETTER: u32 = 0x4e00;
const LETTERS: u32 = 20_000;

pub fn letter(number: u32) -> char {
    char::from_u32(FIRST_LETTER + number % LETTERS).unwrap_or('?')
}
