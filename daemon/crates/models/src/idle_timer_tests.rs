use std::future::{pending, ready};

use super::*;

const LIMIT: Duration = Duration::from_secs(10);

async fn elapsed_s(timer: &mut IdleTimer, limit: Duration) -> u64 {
    let start = Instant::now();
    assert_eq!(timer.limit(limit, pending::<()>()).await, None);
    start.elapsed().as_secs()
}

async fn wait_s(timer: &mut IdleTimer, seconds: u64) {
    assert_eq!(timer.limit(LIMIT, sleep(Duration::from_secs(seconds))).await, Some(()));
}

#[tokio::test(start_paused = true)]
async fn waits_count_together_until_a_restart() {
    let mut timer = IdleTimer::new(LIMIT);
    wait_s(&mut timer, 6).await;
    assert_eq!(elapsed_s(&mut timer, LIMIT).await, 4);
    timer.restart();
    wait_s(&mut timer, 6).await;
    timer.restart();
    assert_eq!(elapsed_s(&mut timer, LIMIT).await, 10);
}

#[tokio::test(start_paused = true)]
async fn a_shorter_limit_counts_at_once() {
    let mut timer = IdleTimer::new(LIMIT);
    wait_s(&mut timer, 1).await;
    assert_eq!(elapsed_s(&mut timer, Duration::from_secs(2)).await, 1);
}

#[tokio::test(start_paused = true)]
async fn time_before_the_first_wait_does_not_count() {
    let mut timer = IdleTimer::new(LIMIT);
    sleep(2 * LIMIT).await;
    assert_eq!(timer.limit(LIMIT, ready(7)).await, Some(7));
    assert_eq!(elapsed_s(&mut timer, LIMIT).await, 10);
}
