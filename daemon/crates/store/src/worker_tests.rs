use super::*;

type Writes = Arc<Mutex<Vec<Vec<u32>>>>;

/// A worker that gathers for `gathers`, and its writes; empty ones are left out.
fn worker(gathers: Duration) -> (Worker<u32>, Writes) {
    let writes = Writes::default();
    let seen = Arc::clone(&writes);
    let worker = Worker::new(PathBuf::from("/none"), "numbers are", gathers, move |_| {
        let seen = Arc::clone(&seen);
        Ok(Box::new(move |jobs| {
            if !jobs.is_empty() {
                seen.lock().expect("no thread panics with it").push(jobs.to_vec());
            }
            Ok(())
        }))
    });
    (worker, writes)
}

fn taken(writes: &Writes) -> Vec<Vec<u32>> {
    std::mem::take(&mut writes.lock().expect("no thread panics with it"))
}

const FOR_EVER: Duration = Duration::from_secs(3_600);

#[test]
fn jobs_under_a_hold_wait_for_the_one_that_a_caller_waits_for() {
    let (worker, writes) = worker(FOR_EVER);
    let _hold = worker.hold();
    (0..10).for_each(|job| worker.enqueue(job));
    assert_eq!(worker.enqueue_acknowledged(10).blocking_recv(), Ok(true));
    assert_eq!(taken(&writes), [(0..=10).collect::<Vec<u32>>()]);
    (0..3).for_each(|job| worker.enqueue(job));
    worker.flush();
    assert_eq!(taken(&writes).concat(), [0, 1, 2]);
}

#[test]
fn jobs_are_written_when_the_last_hold_ends_and_without_one_at_once() {
    let (worker, writes) = worker(FOR_EVER);
    let hold = worker.hold();
    worker.enqueue(1);
    worker.enqueue(2);
    drop(hold);
    let told = worker.enqueue_acknowledged(3);
    assert_eq!(told.blocking_recv(), Ok(true));
    assert_eq!(taken(&writes).concat(), [1, 2, 3]);
}

#[test]
fn jobs_are_written_after_the_time_although_nobody_waits() {
    let (worker, writes) = worker(Duration::from_millis(1));
    let _hold = worker.hold();
    worker.enqueue(1);
    let give_up = std::time::Instant::now() + Duration::from_secs(20);
    while taken(&writes).is_empty() {
        assert!(std::time::Instant::now() < give_up, "nothing was written");
        thread::yield_now();
    }
}

#[test]
fn many_jobs_do_not_wait_until_some_are_lost() {
    let (worker, writes) = worker(FOR_EVER);
    let _hold = worker.hold();
    for job in 0..u32::try_from(MAX_JOBS).expect("a small number") / 2 {
        worker.enqueue(job);
    }
    let give_up = std::time::Instant::now() + Duration::from_secs(20);
    while taken(&writes).is_empty() {
        assert!(std::time::Instant::now() < give_up, "nothing was written");
        thread::yield_now();
    }
    assert!(!worker.has_complained());
}
