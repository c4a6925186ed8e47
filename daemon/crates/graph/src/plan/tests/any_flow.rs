//! Properties of runs of any flow.

use proptest::prelude::*;

use super::*;

/// A part of a flow.
#[derive(Clone, Debug)]
enum Shape {
    Work,
    Choice(Vec<Shape>, Vec<Shape>),
    Parallel(Vec<Vec<Shape>>),
    Loop(Vec<Shape>),
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let shape = Just(Shape::Work).prop_recursive(3, 24, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (some(), some()).prop_map(|(yes, no)| Shape::Choice(yes, no)),
            prop::collection::vec(some(), 2..4).prop_map(Shape::Parallel),
            some().prop_map(Shape::Loop),
        ]
    });
    prop::collection::vec(shape, 1..4)
}

/// Writes the definition of shapes.
#[derive(Default)]
struct Writer {
    text: String,
    count: usize,
}

impl Writer {
    fn node(&mut self, name: &str, lines: &str) -> String {
        self.text += &format!("[nodes.{name}]\n{lines}\n");
        name.to_owned()
    }

    fn name(&mut self, letter: &str) -> String {
        self.count += 1;
        format!("{letter}{}", self.count)
    }

    fn work(&mut self, next: &str) -> String {
        let name = self.name("w");
        self.node(&name, &format!("kind = \"llm\"\nprompt = \"{{{{n}}}}\"\noutput = \"n\"\nnext = \"{next}\""))
    }

    /// Returns the first node of these, which lead to `next`.
    fn all(&mut self, shapes: &[Shape], next: &str) -> String {
        shapes.iter().rev().fold(next.to_owned(), |next, shape| self.one(shape, &next))
    }

    fn one(&mut self, shape: &Shape, next: &str) -> String {
        match shape {
            Shape::Work => self.work(next),
            Shape::Choice(yes, no) => {
                let (yes, no) = (self.all(yes, next), self.all(no, next));
                let name = self.name("c");
                self.node(
                    &name,
                    &format!("kind = \"condition\"\nwhen = [{{ if = \"n > 1\", next = \"{yes}\" }}]\nelse = \"{no}\""),
                )
            }
            Shape::Parallel(branches) => {
                let join = self.work(next);
                let branches: Vec<String> = branches.iter().map(|branch| self.all(branch, &join)).collect();
                let name = self.name("p");
                self.node(&name, &format!("kind = \"parallel\"\nbranches = {branches:?}\njoin = \"{join}\""))
            }
            Shape::Loop(body) => {
                let name = self.name("l");
                let first = self.all(body, &name);
                self.node(
                    &name,
                    &format!(
                        "kind = \"condition\"\nwhen = [{{ if = \"n > 2\", next = \"{first}\" }}]\nelse = \"{next}\""
                    ),
                );
                first
            }
        }
    }
}

fn flow_of(shapes: &[Shape], steps: u32) -> Flow {
    let mut writer = Writer::default();
    let end = writer.node("end", "kind = \"end\"");
    let start = writer.all(shapes, &end);
    flow(&format!("start = \"{start}\"\nsteps = {steps}\n[state]\nn = \"number\"\n{}", writer.text))
}

/// Runs a flow: each number picks the visit that is finished next and its result. Returns the log.
fn played(flow: &Flow, picks: &[u8]) -> Vec<LogEntry> {
    let (mut progress, mut log) = (Progress::new(flow), Vec::new());
    let mut picks = picks.iter().cycle();
    while let Plan::Run(visits) = progress.plan() {
        let pick = picks.next().copied().unwrap_or_default();
        let visit = visits[usize::from(pick) % visits.len()];
        let outcome = match flow.node(visit.node).kind.is_work() {
            true => text(&(pick % 4).to_string()),
            false => NodeOutcome::Passed,
        };
        let entry = LogEntry::Finished { visited: progress.visited(visit), outcome };
        progress.apply(&entry).expect("it was planned");
        log.push(entry);
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn each_branch_runs_once_before_its_join(shapes in shapes(), picks in prop::collection::vec(any::<u8>(), 1..40)) {
        let flow = flow_of(&shapes, 300);
        let mut progress = Progress::new(&flow);
        for entry in played(&flow, &picks) {
            let LogEntry::Finished { visited, .. } = &entry else { unreachable!() };
            let id = progress.names[visited.node.as_str()];
            progress.apply(&entry).expect("the log of this flow");
            for (parallel, node) in flow.ids() {
                let NodeKind::Parallel { branches } = &node.kind else { continue };
                // One place in each branch at most, or it has arrived.
                let inside = |branch: usize| {
                    let own = |active: &&Active| {
                        let mut place = flow.node(active.node).place;
                        while let Some(at) = place {
                            if at.parallel == parallel {
                                return at.branch == branch;
                            }
                            place = flow.node(at.parallel).place;
                        }
                        false
                    };
                    progress.active.iter().filter(own).count()
                };
                let waiting = progress.arrived.get(&parallel).copied().unwrap_or_default();
                let open = (0..branches.len()).filter(|branch| inside(*branch) > 0).count();
                let is_waited_for = open > 0 || waiting > 0;
                // Branches with a parallel node inside whose branches have all but one arrived count as open, too.
                prop_assert!(!is_waited_for || waiting <= branches.len());
                if node.next == Some(id) {
                    prop_assert!(!is_waited_for, "the join {} ran with branches open", visited.node);
                    let join_visits = progress.visits[id.0];
                    prop_assert_eq!(join_visits, progress.visits[parallel.0]);
                    for branch in branches {
                        prop_assert!(progress.visits[branch.0] >= join_visits);
                    }
                }
            }
            // No place is there twice.
            let mut places: Vec<NodeId> = progress.active.iter().map(|active| active.node).collect();
            let count = places.len();
            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len(), count);
        }
    }

    #[test]
    fn a_run_continues_at_any_prefix_of_its_log(
        shapes in shapes(),
        picks in prop::collection::vec(any::<u8>(), 1..40),
        at in any::<prop::sample::Index>(),
    ) {
        let flow = flow_of(&shapes, 200);
        let log = played(&flow, &picks);
        let cut = at.index(log.len() + 1);
        let mut progress = Progress::of_log(&flow, &log[..cut]).expect("a prefix");
        let done: Vec<&Visited> = log[..cut].iter().filter_map(|entry| match entry {
            LogEntry::Finished { visited, .. } => Some(visited),
            _ => None,
        }).collect();
        if let Plan::Run(visits) = progress.plan() {
            for visit in visits {
                prop_assert!(!done.contains(&&progress.visited(visit)));
            }
        }
        for entry in &log[cut..] {
            progress.apply(entry).expect("the rest follows");
        }
        prop_assert_eq!(progress.plan(), Progress::of_log(&flow, &log).expect("the whole").plan());
    }

    #[test]
    fn no_run_has_more_steps_than_its_flow_allows(
        shapes in shapes(),
        picks in prop::collection::vec(any::<u8>(), 1..40),
        steps in 1..60u32,
    ) {
        let flow = flow_of(&shapes, steps);
        let log = played(&flow, &picks);
        prop_assert!(log.len() <= usize::try_from(steps).unwrap());
        let progress = Progress::of_log(&flow, &log).expect("the log");
        let (status, _) = ending(&progress);
        prop_assert!(status == RunStatus::Done || status == RunStatus::Limit && log.len() == usize::try_from(steps).unwrap());
    }

    #[test]
    fn any_entries_are_taken_or_refused(
        shapes in shapes(),
        entries in prop::collection::vec(("[wcpl][0-9]{1,2}|end", 0..3u32, any::<bool>()), 0..40),
    ) {
        let flow = flow_of(&shapes, 50);
        let mut progress = Progress::new(&flow);
        for (node, visit, passed) in entries {
            let outcome = if passed { NodeOutcome::Passed } else { text("1") };
            let before = progress.plan();
            if progress.apply(&finished(&node, visit, outcome)).is_err() {
                prop_assert_eq!(progress.plan(), before);
            }
        }
    }
}
