//! Tests of the state machine alone: a simulated shell of marks, a simulated clock.

mod enter;
mod happenings;
mod rows;
mod waits;

use std::cell::Cell;

use cohab_types::command::{CommandRequest, Ending, Interrupter};

use std::time::Duration;

use super::*;

const NONCE: &str = "00112233445566778899aabbccddeeff";
const CHILD: u32 = 500;

struct FakeProbe {
    front: Cell<i32>,
    canonical: Cell<bool>,
    echo: Cell<bool>,
    asked: Cell<u32>,
    /// The program in front ends after the next question, and the shell's line editor begins.
    ends_behind_question: Cell<bool>,
}

impl FakeProbe {
    fn answer<T>(&self, answer: T) -> Option<T> {
        self.asked.set(self.asked.get() + 1);
        if self.ends_behind_question.take() {
            self.front.set(CHILD as i32);
            self.canonical.set(false);
        }
        Some(answer)
    }
}

impl Probe for FakeProbe {
    fn foreground_pgid(&self) -> Option<i32> {
        self.answer(self.front.get())
    }

    fn terminal_modes(&self) -> Option<TerminalModes> {
        self.answer(TerminalModes { echo: self.echo.get(), canonical: self.canonical.get() })
    }

    fn foreground_name(&self) -> Option<String> {
        Some("sleep".into())
    }

    fn shell_replaced(&self) -> bool {
        false
    }
}

struct Bench {
    live: LiveShell,
    probe: FakeProbe,
    now: Instant,
    fx: Effects,
}

impl Bench {
    fn booting() -> Self {
        let now = Instant::now();
        let setup = LiveSetup { shell: Shell::Bash, nonce: NONCE.into(), child_pid: CHILD, initial_cwd: "/".into() };
        let probe = FakeProbe {
            front: Cell::new(CHILD as i32),
            canonical: Cell::new(false),
            echo: Cell::new(false),
            asked: Cell::new(0),
            ends_behind_question: Cell::new(false),
        };
        Self { live: LiveShell::new(setup, now), probe, now, fx: Effects::default() }
    }

    fn at_prompt() -> Self {
        let mut bench = Self::booting();
        bench.marks(&["D;;0;/home", "B"]);
        bench.wait(1000);
        bench.fx.clear();
        bench
    }

    fn output(&mut self, bytes: &[u8]) {
        self.live.shell_output(bytes, &self.probe, self.now, &mut self.fx);
    }

    fn marks(&mut self, bodies: &[&str]) {
        for body in bodies {
            self.output(format!("\x1b]7391;{NONCE};{CHILD};{body}\x07").as_bytes());
        }
    }

    fn keys(&mut self, keys: &[u8]) {
        self.live.user_input(keys, &self.probe, self.now, &mut self.fx);
    }

    /// Lets time pass, ticking when it is due.
    fn wait(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        for _ in 0..10_000 {
            let Some(due) = self.live.deadline().filter(|due| *due <= until) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(due);
            self.live.tick(&self.probe, self.now, &mut self.fx);
        }
        panic!("the deadline does not move: {:?}", self.live);
    }

    fn run(&mut self, id: &str) {
        self.run_text(id, "text");
    }

    fn run_text(&mut self, id: &str, text: &str) {
        let timeout = Duration::from_secs(10);
        let request = CommandRequest { id: id.into(), text: text.into(), timeout, wants_env_delta: false };
        self.live.run(request, &self.probe, self.now, &mut self.fx);
    }

    /// A command on its way until its output begins.
    fn started(id: &str) -> Self {
        let mut bench = Self::at_prompt();
        bench.run(id);
        bench.marks(&["S;0", "B", &format!("L;{id}"), "B", "C", &format!("O;{id}")]);
        bench.probe.front.set(600);
        bench.probe.canonical.set(true);
        bench.probe.echo.set(true);
        bench.fx.clear();
        bench
    }

    fn pty(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.fx.pty)).into_owned()
    }

    fn refusals(&self) -> Vec<&'static str> {
        let codes = self.fx.events.iter().filter_map(|event| match event {
            LiveEvent::CommandRefused { error, .. } => Some(error.code()),
            _ => None,
        });
        codes.collect()
    }

    fn endings(&self) -> Vec<Ending> {
        let endings = self.fx.events.iter().filter_map(|event| match event {
            LiveEvent::CommandFinished { outcome, .. } => Some(outcome.ending),
            _ => None,
        });
        endings.collect()
    }
}

#[test]
fn bytes_pass_both_ways_without_asking_the_kernel() {
    let mut bench = Bench::at_prompt();
    bench.keys(b"x");
    bench.keys(b"\r");
    bench.marks(&["Q;1;x"]);
    bench.live.decide_line(LineDecision::Shell, &bench.probe, bench.now, &mut bench.fx);
    bench.marks(&["C"]);
    bench.fx.clear();
    let asked = bench.probe.asked.get();
    bench.output(b"any \x1b[31mbytes\xff\x1b]52;c;x\x07");
    bench.keys(b"keys\x1b[A\x1b\r\x12");
    assert_eq!(bench.fx.terminal, b"any \x1b[31mbytes\xff\x1b]52;c;x\x07");
    assert_eq!(bench.pty(), "keys\x1b[A\x1b\r\x12");
    assert_eq!(bench.probe.asked.get(), asked);
    assert_eq!(bench.live.deadline(), None);
}

#[test]
fn a_foreign_editor_ends_the_asking_with_a_reason() {
    let mut bench = Bench::booting();
    bench.marks(&["F;ble.sh"]);
    assert_eq!(bench.live.state(), ShellState::NotIntegrated);
    assert!(matches!(&bench.fx.events[..], [LiveEvent::NotIntegrated { reason }] if reason.contains("ble.sh")));
}

#[test]
fn answers_of_the_terminal_are_never_held() {
    let mut bench = Bench::at_prompt();
    bench.run("a1");
    assert_eq!(bench.pty(), "\x1b[7391;1~");
    bench.keys(b"held\x1b[3;4R\x1b]11;rgb:0/0/0\x07");
    assert_eq!(bench.pty(), "\x1b[3;4R\x1b]11;rgb:0/0/0\x07");
}

#[test]
fn nothing_of_a_commands_text_is_typed_whatever_stands_in_it() {
    let text = "echo \x1b[201~a\x03b\u{9b}6n\x7f\r\nrm x\n";
    let mut bench = Bench::at_prompt();
    bench.run_text("a1", text);
    let file = bench.fx.command_file.take().expect("it goes by a file");
    assert_eq!(file.content.as_slice(), format!("a1\n{text}").as_bytes());
    bench.marks(&["S;4", "B", "L;a1", "B", "C", "O;a1", "E;a1;0;/", "D;a1;0;/", "B"]);
    assert_eq!(bench.pty(), "\x1b[7391;1~\x1b[7391;2~\x1b[7391;3~\x1b[7391;4~");
    assert!(!String::from_utf8_lossy(&bench.fx.terminal).contains(['\x7f', '\u{9b}', '\x03']));
}

#[test]
fn the_users_own_programs_write_what_they_like() {
    let mut bench = Bench::at_prompt();
    bench.keys(b"vim\n");
    bench.marks(&["C"]);
    bench.probe.front.set(600);
    bench.fx.clear();
    let bytes = b"\x1b]0;t\x07\x1b]52;c;aGk=\x07\x1bP$qm\x1b\\\x1b[6n\x1b[?1049h\x1b(0\x0e\x9b5n\xc2\x9b\x1b]8;;x:\x07\x1b]133;A\x07";
    bytes.iter().for_each(|byte| bench.output(&[*byte]));
    assert_eq!(bench.fx.terminal, bytes);
}

#[test]
fn a_busy_shell_is_waited_for_so_long() {
    let mut bench = Bench::at_prompt();
    bench.keys(b"sleep 99\n");
    bench.marks(&["C"]);
    bench.probe.front.set(600);
    bench.run("a1");
    bench.wait(29_999);
    assert!(bench.refusals().is_empty());
    bench.wait(2);
    assert_eq!(bench.refusals(), ["shell_busy"]);
}

#[test]
fn a_cancel_climbs_but_never_hits_the_shell_itself() {
    let mut bench = Bench::started("a1");
    bench.live.cancel("a1", Interrupter::Turn, &bench.probe, bench.now, &mut bench.fx);
    assert_eq!(bench.pty(), "\x03");
    for (ms, signal) in [(2000, Signal::Interrupt), (1000, Signal::Terminate)] {
        bench.wait(ms - 1);
        assert_eq!(bench.fx.signal, None);
        bench.wait(1);
        assert_eq!(bench.fx.signal.take(), Some(ForegroundSignal { pgid: 600, signal }));
    }
    bench.probe.front.set(CHILD as i32);
    bench.wait(3000);
    assert_eq!(bench.fx.signal, None);
}

#[test]
fn time_stands_still_at_a_password_prompt() {
    let mut bench = Bench::started("a1");
    bench.output(b"password: ");
    bench.probe.echo.set(false);
    bench.wait(60_000);
    let waiting = LiveEvent::WaitingForInput { id: "a1".into(), what: AwaitedInput::Password };
    assert_eq!(bench.fx.events.iter().filter(|event| **event == waiting).count(), 1);
    assert!(bench.endings().is_empty());
    bench.probe.echo.set(true);
    bench.wait(9_000);
    assert!(bench.endings().is_empty());
    bench.wait(1_500);
    assert_eq!(bench.endings(), [Ending::StillRunning]);
    bench.marks(&["E;a1;0;/", "D;a1;0;/", "B"]);
    assert_eq!(bench.endings(), [Ending::StillRunning]);
}

#[test]
fn a_mark_that_is_not_expected_changes_nothing() {
    let mut bench = Bench::at_prompt();
    bench.marks(&["E;a1;0;/x", "O;a1", "L;a1", "Q;0;x", "S;0", "X;cont", "N;0;x"]);
    assert_eq!((bench.live.state(), bench.pty()), (ShellState::Prompt, String::new()));
    let mut bench = Bench::started("a1");
    bench.marks(&["E;a2;0;/x", "D;;0;/x", "O;a1", "S;3", "P", "C", "L;a1"]);
    assert_eq!(bench.live.state(), ShellState::RunningAgent);
    assert!(bench.endings().is_empty());
}

#[test]
fn a_shell_without_marks_is_told_and_may_come_late() {
    let mut bench = Bench::booting();
    bench.output(b"$ ");
    bench.wait(4_999);
    assert!(bench.fx.events.is_empty());
    bench.wait(1);
    assert!(matches!(bench.fx.events.as_slice(), [LiveEvent::NotIntegrated { .. }]));
    assert_eq!(bench.live.deadline(), None);
    bench.marks(&["D;;0;/", "B"]);
    assert_eq!(bench.fx.events.last(), Some(&LiveEvent::PromptReady));
}

#[test]
fn an_interrupt_that_the_terminal_takes_is_no_typing_ahead() {
    // In the middle of an answer the next step waits while the editor may still have keys to read.
    for (keys, canonical, is_ready_at_once) in
        [(&b"\x03"[..], true, true), (&b"\x03"[..], false, false), (&b"x\x03"[..], true, false)]
    {
        let mut bench = Bench::at_prompt();
        bench.live.begin_answer(&bench.probe, bench.now, &mut bench.fx);
        bench.marks(&["S;0", "B"]);
        bench.run("a1");
        bench.marks(&["L;a1", "B", "C", "O;a1"]);
        bench.probe.front.set(600);
        bench.probe.canonical.set(canonical);
        bench.fx.clear();
        bench.keys(keys);
        bench.probe.front.set(CHILD as i32);
        bench.probe.canonical.set(false);
        bench.marks(&["D;a1;130;/home", "B"]);
        assert_eq!(bench.fx.events.contains(&LiveEvent::AnswerReady), is_ready_at_once, "{keys:?} {canonical}");
        assert_eq!(bench.endings(), [Ending::Interrupted { by: Interrupter::User }]);
    }
}

#[test]
fn escape_interrupts_a_command_that_reads_lines_and_no_other() {
    for (canonical, echo, output, is_interrupt) in [
        (true, true, "", true),
        (false, true, "", false),
        (true, false, "password: ", false),
        (true, true, "\x1b[?1049h", false),
    ] {
        let mut bench = Bench::started("a1");
        // What fills the screen reads single keys when it begins.
        bench.probe.canonical.set(false);
        bench.output(output.as_bytes());
        bench.probe.canonical.set(canonical);
        bench.probe.echo.set(echo);
        bench.fx.clear();
        bench.keys(b"\x1b[A");
        assert_eq!(bench.pty(), "\x1b[A", "an arrow is no escape");
        bench.fx.clear();
        bench.keys(b"\x1b");
        assert_eq!(bench.pty(), if is_interrupt { "\x03" } else { "\x1b" }, "{canonical} {echo} {output:?}");
        let told = LiveEvent::EscapeInterrupts { id: "a1".into() };
        assert_eq!(bench.fx.events.contains(&told), is_interrupt);
        bench.marks(&["E;a1;130;/", "D;a1;130;/", "B"]);
        let by_user = Ending::Interrupted { by: Interrupter::User };
        assert_eq!(bench.endings(), [if is_interrupt { by_user } else { Ending::Exited }]);
    }
}

#[test]
fn the_interrupt_key_before_the_command_is_handed_over_takes_it_back() {
    let mut bench = Bench::at_prompt();
    bench.run("a1");
    bench.keys(b"\x03");
    assert_eq!(bench.refusals(), ["cancelled"]);
    assert_eq!(bench.live.state(), ShellState::Prompt);
}

#[test]
fn the_party_that_interrupts_a_command_is_reported() {
    for (by, presses_key) in [(Interrupter::Turn, true), (Interrupter::TimeLimit, true), (Interrupter::User, false)] {
        let mut bench = Bench::started("a1");
        // The first key did not end it.
        bench.keys(b"\x03");
        if !presses_key {
            bench.keys(b"\x03");
        } else {
            bench.live.cancel("a1", by, &bench.probe, bench.now, &mut bench.fx);
            bench.keys(b"\x03");
        }
        bench.marks(&["E;a1;130;/", "D;a1;130;/", "B"]);
        assert_eq!(bench.endings(), [Ending::Interrupted { by }]);
    }
}

#[test]
fn a_command_is_withdrawn_only_before_it_is_handed_over() {
    let withdraw = |bench: &mut Bench| bench.live.withdraw("a1", &bench.probe, bench.now, &mut bench.fx);
    let mut bench = Bench::at_prompt();
    bench.keys(b"sleep 99\n");
    bench.marks(&["C"]);
    bench.probe.front.set(600);
    bench.run("a1");
    assert!(withdraw(&mut bench), "queued");
    assert_eq!(bench.refusals(), ["cancelled"]);

    for marks in [&[][..], &["S;0"]] {
        let mut bench = Bench::at_prompt();
        bench.run("a1");
        bench.marks(marks);
        assert!(withdraw(&mut bench), "the run key is not pressed");
        assert_eq!(bench.refusals(), ["cancelled"]);
        bench.pty();
        bench.marks(&["L;a1"]);
        assert_eq!(bench.pty(), "", "and never will be");
    }

    let mut bench = Bench::at_prompt();
    bench.live.begin_answer(&bench.probe, bench.now, &mut bench.fx);
    bench.marks(&["S;0", "B"]);
    bench.run("a1");
    for marks in [&["L;a1"][..], &["B", "C"], &["O;a1"]] {
        bench.marks(marks);
        bench.fx.pty.clear();
        assert!(!withdraw(&mut bench) && bench.fx.pty.is_empty() && bench.refusals().is_empty(), "{marks:?}");
    }
    bench.marks(&["E;a1;0;/", "D;a1;0;/", "B"]);
    assert_eq!(bench.endings(), [Ending::Exited]);
}

#[test]
fn what_an_ended_program_wrote_stays_guarded_while_the_line_editor_begins() {
    for asked_before in [true, false] {
        let mut bench = Bench::started("a1");
        bench.probe.ends_behind_question.set(asked_before);
        bench.output(b"a\x1b[21tb");
        assert_eq!(bench.fx.terminal, b"ab", "{asked_before}");
    }
    let mut bench = Bench::started("a1");
    bench.probe.canonical.set(false);
    bench.output(b"a\x1b[21tb");
    assert_eq!(bench.fx.terminal, b"a\x1b[21tb", "a program that reads keys");
}
