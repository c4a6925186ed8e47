use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use futures::FutureExt;
use proptest::prelude::*;

use super::*;

const PATIENCE: Duration = Duration::from_secs(35);

type Waiting = Pin<Box<dyn Future<Output = Result<Held, NotLeased>>>>;

/// One step of a user of the shell.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A caller asks.
    Acquire,
    /// The holder is done, was cancelled, or its client is gone.
    Release,
    /// The waiting one at this place is dropped.
    Cancel(usize),
    /// Time passes, in seconds.
    Pass(u64),
    /// Only the waiting one at this place is looked at: the runtime polls in any order.
    Poll(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Acquire),
        3 => Just(Step::Release),
        2 => (0..MAX_WAITING).prop_map(Step::Cancel),
        1 => (1..40_u64).prop_map(Step::Pass),
        2 => (0..MAX_WAITING).prop_map(Step::Poll),
    ]
}

struct Model {
    lease: Lease,
    holder: Option<(usize, Held)>,
    /// In the order of asking.
    waiting: VecDeque<(usize, Waiting)>,
    asked: usize,
    served: Vec<usize>,
}

impl Model {
    fn new() -> Self {
        Self { lease: Lease::new(), holder: None, waiting: VecDeque::new(), asked: 0, served: Vec::new() }
    }

    fn take(&mut self, number: usize, held: Held) {
        assert!(self.holder.is_none(), "{number} got the shell beside {:?}", self.holder);
        self.served.push(number);
        self.holder = Some((number, held));
    }

    fn acquire(&mut self) {
        let (lease, number) = (self.lease.clone(), self.asked);
        self.asked += 1;
        let is_full = self.waiting.len() == MAX_WAITING;
        let mut asking: Waiting = Box::pin(async move { lease.acquire(number.to_string(), PATIENCE, |_| {}).await });
        match poll(&mut asking) {
            Poll::Ready(Ok(held)) => self.take(number, held),
            Poll::Ready(Err(error)) => assert!(is_full && matches!(error, NotLeased::Full { .. }), "{error}"),
            Poll::Pending => self.waiting.push_back((number, asking)),
        }
    }

    fn poll_at(&mut self, index: usize) {
        let Some((number, asking)) = self.waiting.get_mut(index) else { return };
        let number = *number;
        match poll(asking) {
            Poll::Pending => {}
            Poll::Ready(Err(error)) => {
                assert!(matches!(error, NotLeased::TimedOut { .. }), "{error}");
                self.waiting.remove(index);
            }
            Poll::Ready(Ok(held)) => {
                assert_eq!(index, 0, "{number} overtook somebody");
                self.waiting.remove(index);
                self.take(number, held);
            }
        }
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::Acquire => self.acquire(),
            Step::Release => self.holder = None,
            Step::Cancel(index) => drop(self.waiting.remove(index)),
            Step::Pass(seconds) => tokio::time::advance(Duration::from_secs(seconds)).await,
            Step::Poll(index) => self.poll_at(index),
        }
        let (_, waiting) = self.lease.counts();
        assert_eq!(waiting, self.waiting.len());
    }

    /// All callers leave; the shell must be free again.
    async fn end(mut self) {
        while !self.waiting.is_empty() || self.holder.is_some() {
            self.holder = None;
            (0..self.waiting.len()).rev().for_each(|index| self.poll_at(index));
        }
        assert!(self.served.is_sorted(), "{:?}", self.served);
        assert_eq!(self.lease.counts(), (0, 0));
        let again = self.lease.acquire("last".into(), PATIENCE, |_| panic!("it was lost"));
        assert!(again.now_or_never().is_some_and(|held| held.is_ok()));
    }
}

fn poll(asking: &mut Waiting) -> Poll<Result<Held, NotLeased>> {
    asking.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn there_is_one_holder_at_most_in_the_order_of_asking_and_the_right_is_never_lost(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut model = Model::new();
            for step in steps {
                model.step(step).await;
            }
            model.end().await;
        });
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_told_for_what_and_given_up_on_in_time() {
    let lease = Lease::new();
    let held = lease.acquire("make".into(), PATIENCE, |_| panic!("it was free")).await.unwrap();
    assert_eq!(lease.counts(), (1, 0));
    let mut told = Vec::new();
    let error = lease.acquire("ls".into(), PATIENCE, |holder| told.push(holder.to_owned())).await.unwrap_err();
    assert_eq!(
        (told, error.to_string().as_str()),
        (vec!["make".to_owned()], "the shell was not free within 35 s: `make` has it")
    );
    drop(held);
    assert_eq!(lease.counts(), (0, 0));
}

#[tokio::test]
async fn more_than_the_bound_are_turned_away() {
    let lease = Lease::new();
    let _held = lease.acquire("make".into(), PATIENCE, |_| {}).await.unwrap();
    let ask = || {
        let lease = lease.clone();
        async move { lease.acquire("ls".into(), PATIENCE, |_| {}).await }.boxed()
    };
    let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| ask()).collect();
    assert!(waiting.iter_mut().all(|asking| asking.now_or_never().is_none()));
    assert_eq!(lease.counts(), (1, MAX_WAITING));
    assert_eq!(ask().await.unwrap_err(), NotLeased::Full { holder: "make".into() });
    waiting.pop();
    assert!(ask().now_or_never().is_none(), "a place that was given up is free");
}
