use std::{fs, path::Path, sync::Mutex};

use futures::{FutureExt as _, future::BoxFuture};
use jiff::ToSpan as _;
use tokio::{
    sync::watch,
    time::{advance, timeout},
};

use super::*;
use crate::parse::parse;

/// No watcher.
const NONE: [WatcherId; 0] = [];

/// A clock that is set by hand.
struct SetClock {
    now: Mutex<Zoned>,
    changed: watch::Sender<()>,
}

impl SetClock {
    fn at(time: &str) -> Arc<Self> {
        Arc::new(Self { now: Mutex::new(time.parse().expect(time)), changed: watch::Sender::new(()) })
    }

    fn set(&self, now: Zoned) {
        *self.now.lock().unwrap() = now;
        self.changed.send_replace(());
    }

    fn pass(&self, seconds: i64) {
        self.set(self.now().checked_add(seconds.seconds()).unwrap());
    }
}

impl Clock for SetClock {
    fn now(&self) -> Zoned {
        self.now.lock().unwrap().clone()
    }

    fn reached(&self, due: Timestamp) -> BoxFuture<'_, ()> {
        async move {
            let mut changes = self.changed.subscribe();
            while self.now().timestamp() < due {
                changes.changed().await.expect("the clock lives");
            }
        }
        .boxed()
    }
}

struct Bench {
    engine: Engine,
    clock: Arc<SetClock>,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let clock = SetClock::at("2026-11-29T14:00:00+00:00[UTC]");
        let engine = Engine::new(Arc::clone(&clock) as _);
        Self { engine, clock, folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).expect("a file");
    }

    fn watch(&self, condition: &str, is_repeat: bool) -> Watch {
        let condition = parse(condition, self.path(), self.path()).expect(condition);
        let anchor = look::begin(&condition).expect("something to wait for");
        let due = match &condition {
            Condition::Time(rule) => rule.next(&self.clock.now()).map(|next| next.timestamp()),
            _ => None,
        };
        Watch { condition, is_repeat, anchor, due }
    }

    fn add(&mut self, id: WatcherId, condition: &str, is_repeat: bool) {
        let watch = self.watch(condition, is_repeat);
        self.engine.add(id, watch);
    }

    /// All that happens until nothing has for this time.
    async fn happens_within(&mut self, time: Duration) -> Vec<Happened> {
        let mut all = Vec::new();
        while let Ok(wake) = timeout(time, self.engine.wait()).await {
            all.extend(self.engine.take(wake).await);
        }
        all
    }

    /// The watchers that fire until nothing has happened for three seconds.
    async fn fired(&mut self) -> Vec<WatcherId> {
        let ids = self.happens_within(Duration::from_secs(3)).await.into_iter().map(|happened| match happened {
            Happened::Held(id, _) => id,
            Happened::Failed(id, reason) => panic!("{id} failed: {reason}"),
        });
        ids.collect()
    }
}

/// The kernel's reports come when they come; no clock waits for them.
async fn let_the_kernel_report() {
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(20))).await.expect("it sleeps");
}

/// Watchers of each kind, 250 of each.
fn add_a_thousand(bench: &mut Bench) {
    for id in 0..1_000_u32 {
        match id % 4 {
            0 => bench.add(id, &format!("file f{id} appears"), true),
            1 => {
                fs::create_dir(bench.path().join(format!("d{id}"))).expect("a folder");
                bench.add(id, &format!("folder d{id} changes"), true);
            }
            2 => bench.add(id, &format!("log l{id} matches /ERROR/"), true),
            _ => bench.add(id, "at 15:00", true),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_watchers_wake_up_for_nothing_but_what_they_wait_for() {
    let mut bench = Bench::new();
    add_a_thousand(&mut bench);
    assert_eq!(bench.fired().await, NONE);
    let wakes = bench.engine.wakes();
    advance(Duration::from_secs(7 * 24 * 3_600)).await;
    assert_eq!(bench.fired().await, NONE);
    assert_eq!(bench.engine.wakes(), wakes, "nothing happened");
    bench.write("other", "x");
    bench.write("l2", "ERROR\n");
    let_the_kernel_report().await;
    assert_eq!(bench.fired().await, [2]);
    let wakes_for_two = bench.engine.wakes() - wakes;
    assert!(wakes_for_two <= 6, "{wakes_for_two} wake-ups");
    bench.clock.pass(3_600);
    assert_eq!(bench.fired().await.len(), 250);
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_thousand_watchers_take_few_megabytes() {
    /// Memory of this process, in KiB: each test has a process to itself.
    fn resident_kib() -> u64 {
        let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
        let row = status.lines().find_map(|row| row.strip_prefix("VmRSS:")).expect("it has a row");
        row.trim().trim_end_matches(" kB").parse().expect("a number")
    }
    let mut bench = Bench::new();
    bench.add(5_000, "file x appears", true);
    bench.fired().await;
    let before = resident_kib();
    add_a_thousand(&mut bench);
    bench.fired().await;
    let taken = resident_kib().saturating_sub(before);
    assert!(taken <= 10 * 1024, "{taken} KiB");
}

#[tokio::test(start_paused = true)]
async fn many_writes_are_one_firing_and_later_ones_another() {
    let mut bench = Bench::new();
    bench.write("a", "0");
    bench.add(1, "file a changes", true);
    bench.add(2, "file a changes", false);
    assert_eq!(bench.fired().await, NONE);
    for number in 1..=20 {
        bench.write("a", &"x".repeat(number));
    }
    let_the_kernel_report().await;
    assert_eq!(bench.fired().await, [1, 2]);
    bench.write("a", "again");
    let_the_kernel_report().await;
    assert_eq!(bench.fired().await, [1], "the other one was to fire once");
}

#[tokio::test(start_paused = true)]
async fn a_watcher_fires_at_most_once_in_a_second() {
    let mut bench = Bench::new();
    bench.write("a.log", "");
    bench.add(1, "log a.log matches /ERROR/", true);
    assert_eq!(bench.fired().await, NONE);
    let (began, mut held, mut text) = (Instant::now(), Vec::new(), String::new());
    for _ in 0..50 {
        text += "ERROR\n";
        bench.write("a.log", &text);
        let_the_kernel_report().await;
        held.extend(bench.happens_within(Duration::from_millis(100)).await);
    }
    held.extend(bench.happens_within(Duration::from_secs(3)).await);
    let counts: Vec<u64> = held
        .iter()
        .map(|happened| match happened {
            Happened::Held(_, held) => held.count,
            Happened::Failed(_, reason) => panic!("{reason}"),
        })
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 50, "each line counts once: {counts:?}");
    assert!(counts.len() as u64 <= 1 + began.elapsed().as_secs(), "{counts:?} in {:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_changed_before_it_is_waited_for_counts() {
    let mut bench = Bench::new();
    bench.write("a", "0");
    let watch = bench.watch("file a changes", false);
    bench.write("a", "11");
    bench.engine.add(1, watch);
    assert_eq!(bench.fired().await, [1]);
}

#[tokio::test(start_paused = true)]
async fn names_of_changed_entries_are_reported_without_what_a_terminal_obeys() {
    let mut bench = Bench::new();
    bench.add(1, "folder . changes", false);
    assert_eq!(bench.fired().await, NONE);
    bench.write("a\x1b[31m\nb", "x");
    let_the_kernel_report().await;
    let happened = bench.happens_within(Duration::from_secs(3)).await;
    let [Happened::Held(1, held)] = &happened[..] else { panic!("{happened:?}") };
    assert!(held.detail.len() == 1 && !held.detail[0].contains(char::is_control), "{:?}", held.detail);
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_goes_fails_its_watchers() {
    let mut bench = Bench::new();
    fs::create_dir(bench.path().join("sub")).unwrap();
    bench.add(1, "folder sub changes", true);
    assert_eq!(bench.fired().await, NONE);
    fs::remove_dir(bench.path().join("sub")).unwrap();
    let_the_kernel_report().await;
    let happened = bench.happens_within(Duration::from_secs(3)).await;
    assert!(matches!(&happened[..], [Happened::Failed(1, _)]), "{happened:?}");
    assert_eq!(bench.engine.ids().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn times_come_repeat_and_are_missed() {
    let mut bench = Bench::new();
    bench.add(1, "in 10m", false);
    bench.add(2, "every 15m", true);
    bench.add(3, "at 14:30", true);
    bench.add(4, "cron '0 * * * *'", true);
    assert_eq!(bench.fired().await, NONE);
    bench.clock.pass(600);
    assert_eq!(bench.fired().await, [1]);
    bench.clock.pass(300);
    assert_eq!(bench.fired().await, [2]);
    bench.clock.pass(900);
    assert_eq!(bench.fired().await, [2, 3]);
    // The machine sleeps.
    bench.clock.pass(26 * 3_600);
    let happened = bench.happens_within(Duration::from_secs(3)).await;
    let told: Vec<(u32, bool, String)> = happened
        .into_iter()
        .map(|happened| match happened {
            Happened::Held(id, held) => {
                let due = held.due.expect("it repeats").to_zoned(jiff::tz::TimeZone::UTC);
                (id, held.is_late, due.strftime("%d %H:%M").to_string())
            }
            Happened::Failed(_, reason) => panic!("{reason}"),
        })
        .collect();
    // Each of them once, however often it was missed.
    let expected = [(2, true, "30 16:45"), (3, true, "01 14:30"), (4, true, "30 17:00")];
    assert_eq!(told, expected.map(|(id, late, due)| (id, late, due.to_owned())));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_ends_and_wakes_the_engine_once() {
    let mut bench = Bench::new();
    let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep runs");
    bench.add(1, &format!("process {} ends", child.id()), false);
    assert_eq!(bench.happens_within(Duration::from_millis(200)).await, []);
    let wakes = bench.engine.wakes();
    assert_eq!(bench.happens_within(Duration::from_millis(300)).await, []);
    assert_eq!(bench.engine.wakes(), wakes, "a process that runs wakes no one");
    child.kill().expect("it ends");
    child.wait().expect("it has ended");
    assert_eq!(bench.fired().await, [1]);
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_port_of_this_machine_is_looked_at_once_a_second() {
    let mut bench = Bench::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    bench.add(1, &format!("port {} opens", free.port()), false);
    bench.add(2, &format!("port {} opens", free.port()), false);
    for _ in 0..10 {
        let wake = bench.engine.wait().await;
        assert_eq!(bench.engine.take(wake).await, []);
    }
    let began = Instant::now();
    for _ in 0..10 {
        let wake = bench.engine.wait().await;
        bench.engine.take(wake).await;
    }
    assert!(began.elapsed() >= Duration::from_secs(9), "{:?}", began.elapsed());
    let _listener = std::net::TcpListener::bind(free).unwrap();
    let mut ids = Vec::new();
    while ids.len() < 2 {
        let wake = bench.engine.wait().await;
        ids.extend(bench.engine.take(wake).await.into_iter().map(|happened| match happened {
            Happened::Held(id, _) => id,
            Happened::Failed(_, reason) => panic!("{reason}"),
        }));
    }
    assert_eq!(ids, [1, 2]);
}
