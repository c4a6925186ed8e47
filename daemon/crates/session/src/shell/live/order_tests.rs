//! Tests random orders of asking, giving up, ending, leaving and returning: one command at a time, and the shell is never lost.

use proptest::prelude::*;

use super::{
    tests::{Bench, Running, id, interrupt, result},
    *,
};

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A caller wants to run a command.
    Run,
    /// The caller is dropped.
    Drop(usize),
    /// Its turn is cancelled.
    Cancel(usize),
    /// The client's command starts.
    Start,
    /// The client's command waits for the user.
    Wait,
    /// The client's command ends.
    End,
    /// The client loses its connection, with its shell as it is.
    Leave,
    /// It comes back.
    Return,
    /// Time passes, in seconds.
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Run),
        1 => (0..6_usize).prop_map(Step::Drop),
        1 => (0..6_usize).prop_map(Step::Cancel),
        3 => Just(Step::Start),
        1 => Just(Step::Wait),
        3 => Just(Step::End),
        1 => Just(Step::Leave),
        2 => Just(Step::Return),
        1 => (1..80_u64).prop_map(Step::Pass),
    ]
}

/// The daemon's side of a session, and a client that obeys.
struct World {
    bench: Bench,
    turn_id: TurnId,
    wanted: Vec<Running>,
    asked: u128,
    /// The command in the client's shell.
    shell: Option<CallId>,
    is_away: bool,
    /// It was away while a command ran: the daemon may have given that one up without its knowledge.
    was_away: bool,
}

impl World {
    fn new() -> Self {
        let bench = Bench::new();
        let turn_id = TurnId::fresh();
        bench.session.begin_turn(turn_id, "/".into(), CancellationToken::new()).unwrap();
        Self { bench, turn_id, wanted: Vec::new(), asked: 0, shell: None, is_away: false, was_away: false }
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::Run => {
                self.asked += 1;
                self.wanted.push(self.bench.run(&id(self.asked), "make"));
            }
            Step::Drop(index) => self.wanted.get(index).iter().for_each(|(task, _)| task.abort()),
            Step::Cancel(index) => self.wanted.get(index).iter().for_each(|(_, cancel)| cancel.cancel()),
            Step::Start => self.tell(Session::command_started),
            Step::Wait => self.tell(Session::command_waits),
            Step::End => self.end(wire::CommandEnding::Exited),
            Step::Leave => {
                self.is_away |= self.bench.session.detach(1);
                self.was_away |= self.shell.is_some();
            }
            Step::Return => self.come_back(),
            Step::Pass(seconds) => tokio::time::advance(Duration::from_secs(seconds)).await,
        }
        self.bench.settle().await;
        self.read().await;
        self.wanted.retain(|(task, _)| !task.is_finished());
    }

    fn come_back(&mut self) {
        if std::mem::take(&mut self.is_away) {
            let from = wire::ResumePoint { turn_id: self.turn_id, next_seq: 0 };
            assert!(self.bench.attach(1, Some(from)));
        }
    }

    fn tell(&self, what: impl Fn(&Session, CallId)) {
        if let Some(call_id) = self.shell.filter(|_| !self.is_away) {
            what(&self.bench.session, call_id);
        }
    }

    fn end(&mut self, ending: wire::CommandEnding) {
        if self.is_away {
            return;
        }
        if let Some(call_id) = self.shell.take() {
            self.was_away = false;
            self.bench.session.command_ended(wire::CommandExecutionResult { call_id, ..result(ending) });
        }
    }

    /// The client takes what the daemon says.
    async fn read(&mut self) {
        while let Some(message) = self.bench.session.next_waiting(1).map(Arc::unwrap_or_clone) {
            match message {
                DaemonMessage::ExecuteCommand(command) if self.shell.is_none() => self.shell = Some(command.call_id),
                DaemonMessage::ExecuteCommand(command) => {
                    let is_repeat = self.shell == Some(command.call_id);
                    assert!(is_repeat || self.was_away, "a second command came while one runs");
                    if !is_repeat {
                        let ending = wire::CommandEnding::Refused { code: "shell_busy".into(), reason: String::new() };
                        let call_id = command.call_id;
                        self.bench.session.command_ended(wire::CommandExecutionResult { call_id, ..result(ending) });
                    }
                }
                DaemonMessage::InterruptCommand { call_id, .. } if self.shell == Some(call_id) => {
                    self.end(wire::CommandEnding::Interrupted { by: wire::Interrupter::Turn });
                }
                other => assert!(interrupt(&other) || !matches!(other, DaemonMessage::Error(_)), "{other:?}"),
            }
            self.bench.settle().await;
        }
    }

    /// Everything ends; then a command runs as in a new session.
    async fn end_all(mut self) {
        self.come_back();
        while !self.wanted.is_empty() || self.bench.session.lease().counts() != (0, 0) {
            self.step(Step::End).await;
            self.step(Step::Pass(1)).await;
        }
        self.step(Step::End).await;
        self.step(Step::Run).await;
        assert_eq!(self.shell.map(|call| call.to_string()), Some(id(self.asked)), "the shell was lost");
        self.step(Step::End).await;
        assert!(self.wanted.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn commands_never_interleave_and_the_shell_is_never_lost(steps in prop::collection::vec(step(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut world = World::new();
            for step in steps {
                world.step(step).await;
            }
            world.end_all().await;
        });
    }
}
