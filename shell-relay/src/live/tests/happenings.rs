//! Tests with random events in random order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Happening {
    Marks(Vec<u8>),
    Output(Vec<u8>),
    Keys(Vec<u8>),
    Time(u64),
    Run,
    Cancel(u8),
    BeginAnswer,
    EndAnswer(bool),
    Decide(bool),
    Keyboard(bool),
    Canonical(bool),
    Front(bool),
}

fn happening() -> impl Strategy<Value = Happening> {
    let body = proptest::sample::select(vec![
        "B",
        "B",
        "P",
        "C",
        "D;;0;/d",
        "S;0",
        "S;3",
        "X;x",
        "Q;1;a",
        "Q;0;",
        "Q;1",
        "L;1",
        "O;1",
        "E;1;0;/e",
        "D;1;130;/e",
        "L;2",
        "O;2",
        "E;2;1;/e",
    ]);
    let mark = body.prop_map(|body| format!("\x1b]7391;{NONCE};{CHILD};{body}\x07").into_bytes());
    let key = proptest::sample::select(vec![
        "a",
        "\r",
        "\n",
        "\x03",
        "\x1b",
        "\x12",
        "\x1b\r",
        "\x1b[200~",
        "\x1b[201~",
        "\x1b[1;1R",
    ]);
    prop_oneof![
        8 => proptest::collection::vec(mark, 1..4).prop_map(|marks| Happening::Marks(marks.concat())),
        2 => proptest::collection::vec(any::<u8>(), 0..20).prop_map(Happening::Output),
        4 => proptest::collection::vec(key, 1..4).prop_map(|keys| Happening::Keys(keys.concat().into_bytes())),
        3 => (0u64..3000).prop_map(Happening::Time),
        2 => Just(Happening::Run),
        1 => (1u8..4).prop_map(Happening::Cancel),
        2 => Just(Happening::BeginAnswer),
        2 => any::<bool>().prop_map(Happening::EndAnswer),
        2 => any::<bool>().prop_map(Happening::Decide),
        1 => any::<bool>().prop_map(Happening::Keyboard),
        1 => any::<bool>().prop_map(Happening::Canonical),
        1 => any::<bool>().prop_map(Happening::Front),
    ]
}

impl Bench {
    fn happen(&mut self, happening: Happening, runs: &mut u32) {
        match happening {
            Happening::Marks(bytes) | Happening::Output(bytes) => self.output(&bytes),
            Happening::Keys(keys) => self.keys(&keys),
            Happening::Time(ms) => self.wait(ms),
            Happening::Run => {
                *runs += 1;
                self.run(&format!("{runs:x}"));
            }
            Happening::Cancel(id) => {
                self.live.cancel(&format!("{id:x}"), Interrupter::Turn, &self.probe, self.now, &mut self.fx);
            }
            Happening::BeginAnswer => self.live.begin_answer(&self.probe, self.now, &mut self.fx),
            Happening::EndAnswer(restore) => self.live.end_answer(restore, &self.probe, self.now, &mut self.fx),
            Happening::Decide(shell) => {
                let decision = if shell { LineDecision::Shell } else { LineDecision::Assistant };
                self.live.decide_line(decision, &self.probe, self.now, &mut self.fx);
            }
            Happening::Keyboard(assistant) => {
                self.live.set_keyboard(if assistant { Keyboard::Assistant } else { Keyboard::Shell });
            }
            Happening::Canonical(canonical) => self.probe.canonical.set(canonical),
            Happening::Front(shell) => self.probe.front.set(if shell { CHILD as i32 } else { 600 }),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_happens_each_command_gets_one_result_and_nobody_panics(story in proptest::collection::vec(happening(), 0..60)) {
        let mut bench = Bench::booting();
        let mut runs = 0;
        for happening in story {
            bench.happen(happening, &mut runs);
        }
        bench.live.shell_ended(Some(0), bench.now, &mut bench.fx);
        let mut results: BTreeMap<&str, u32> = BTreeMap::new();
        for event in &bench.fx.events {
            if let LiveEvent::CommandFinished { id, .. } | LiveEvent::CommandRefused { id, .. } = event {
                *results.entry(id).or_default() += 1;
            }
        }
        prop_assert_eq!(results.len(), runs as usize);
        prop_assert!(results.values().all(|count| *count == 1), "{:?}", results);
    }
}
