use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::{sleep, timeout};

use super::*;

struct Bench {
    switch: watch::Sender<bool>,
    told: Arc<Mutex<Vec<bool>>>,
    clock: Arc<TurnClock>,
    pause: Pause,
}

fn bench() -> Bench {
    let (switch, is_wanted) = watch::channel(false);
    let (told, clock) = (Arc::<Mutex<Vec<bool>>>::default(), Arc::new(TurnClock::start()));
    let tell = Arc::clone(&told);
    let pause = Pause::new(is_wanted, Arc::clone(&clock), Box::new(move |holds| tell.lock().unwrap().push(holds)));
    Bench { switch, told, clock, pause }
}

async fn step(pause: &Pause) {
    let mut state = TurnState::new(Vec::new(), "q".into());
    assert!(pause.before_step(StepKind::ToolCalls, &mut state).await.is_continue());
}

#[tokio::test(start_paused = true)]
async fn a_turn_holds_before_its_next_step_and_its_time_stands_still() {
    let Bench { switch, told, clock, pause } = bench();
    step(&pause).await;
    assert!(told.lock().unwrap().is_empty(), "nobody paused");
    switch.send_replace(true);
    assert!(timeout(Duration::from_secs(60), step(&pause)).await.is_err());
    assert_eq!((told.lock().unwrap().clone(), clock.worked()), (vec![true], Duration::ZERO));
    let has_gone_on = AtomicBool::new(false);
    futures::join!(
        async {
            step(&pause).await;
            has_gone_on.store(true, Ordering::Relaxed);
        },
        async {
            sleep(Duration::from_secs(5)).await;
            assert!(!has_gone_on.load(Ordering::Relaxed));
            switch.send_replace(false);
        }
    );
    assert_eq!(*told.lock().unwrap(), [true, true, false]);
}

#[tokio::test]
async fn a_switch_that_is_gone_holds_nobody_up() {
    let Bench { switch, pause, .. } = bench();
    switch.send_replace(true);
    drop(switch);
    step(&pause).await;
}
