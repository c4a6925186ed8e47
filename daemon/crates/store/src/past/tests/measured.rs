//! Measures stores with many commands.

#![expect(clippy::print_stderr, reason = "a measurement is read by a person")]

use std::time::{Duration, Instant};

use cohab_memory::past::{
    period::Period,
    record::{RunSource, TurnCommand},
};
use jiff::Timestamp;

use super::*;

/// Programs with what follows them; `{w}` is a word, `{n}` a number.
const LINES: [&str; 24] = [
    "git commit -m 'Fix {w} of {w}'",
    "git push origin {w}",
    "git status",
    "git checkout -b {w}-{w}",
    "git rebase -i HEAD~{n}",
    "cargo test -p {w} --test {w}{n}",
    "cargo build --release",
    "ls -la {w}/",
    "cd {w}/src/{w}",
    "ffmpeg -i {w}{n}.mov -c:v libx264 out/{w}.mp4",
    "docker run --rm -it -v $PWD:/{w} {w}:{n}",
    "kubectl get pods -n {w}",
    "kubectl logs {w}-{n} --tail 100 -f",
    "ssh {w}@host{n}.example.net",
    "rsync -av {w}/ backup:{w}/{n}/",
    "grep -rn '{w}' src/{w}",
    "find . -name '*{w}*' -mtime -{n}",
    "psql -h {w} -c 'select * from {w} where id = {n}'",
    "curl -s https://{w}.example.org/api/{w}/{n} | jq .{w}",
    "vim {w}/{w}.rs",
    "make {w}",
    "tar czf {w}-{n}.tar.gz {w}/",
    "chmod 600 ~/.ssh/{w}",
    "python3 scripts/{w}.py --{w} {n}",
];
/// 1 November 2026.
const NOW: i64 = 1_793_491_200_000;

/// A generator of numbers: the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// Small numbers are much more frequent.
    fn skewed(&mut self, limit: u64) -> u64 {
        let part = self.below(limit) + 1;
        self.below(part)
    }

    fn word(&mut self) -> String {
        const PARTS: [&str; 16] = [
            "up", "load", "er", "shop", "mail", "data", "base", "core", "net", "view", "log", "sync", "img", "auth",
            "web", "job",
        ];
        let number = self.skewed(4_096) as usize;
        let [one, two, three] = [number % 16, number / 16 % 16, number / 256].map(|part| PARTS[part]);
        if number < 256 { format!("{one}{two}") } else { format!("{one}{two}{three}") }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let mut parts = LINES[self.skewed(LINES.len() as u64) as usize].split('{');
        line.push_str(parts.next().unwrap());
        for part in parts {
            match part.split_at(2) {
                ("w}", rest) => line.push_str(&(self.word() + rest)),
                (_, rest) => line.push_str(&format!("{}{rest}", self.below(1_000))),
            }
        }
        line
    }

    fn run(&mut self, number: i64, total: i64) -> NewRun {
        // Three years, evenly.
        let at = NOW - (total - number) * (3 * 365 * 86_400_000 / total);
        NewRun {
            line: self.line(),
            at: Some(Timestamp::from_millisecond(at).unwrap()),
            folder: Some(format!("/home/ann/src/{}", self.skewed(300)).into()),
            exit_code: Some(i32::from(self.below(10) == 0)),
            duration: Some(Duration::from_millis(self.below(20_000))),
            output_tail: String::new(),
            source: RunSource::Shell,
        }
    }

    fn turn(&mut self, number: i64, total: i64) -> NewTurn {
        let words = |dice: &mut Self, count: u64| (0..count).map(|_| dice.word()).collect::<Vec<_>>().join(" ");
        NewTurn {
            turn: format!("turn{number}"),
            session: format!("session{}", number / 8),
            at: Timestamp::from_millisecond(NOW - (total - number) * (3 * 365 * 86_400_000 / total)).unwrap(),
            folder: format!("/home/ann/src/{}", self.skewed(300)).into(),
            question: format!("how do I {}", words(self, 8)),
            answer: words(self, 60),
            commands: vec![TurnCommand { line: self.line(), exit_code: Some(0) }],
            trust: 0.7,
        }
    }
}

/// Adds this many records; returns the time that the store took.
fn fill(store: &mut SqlitePast, runs: i64, turns: i64) -> Duration {
    let mut dice = Dice(7);
    let mut time = Duration::ZERO;
    for start in (0..runs).step_by(5_000) {
        let runs: Vec<_> = (start..(start + 5_000).min(runs)).map(|number| dice.run(number, runs)).collect();
        let begin = Instant::now();
        store.add(&runs, &[]).unwrap();
        time += begin.elapsed();
    }
    for start in (0..turns).step_by(500) {
        let turns: Vec<_> = (start..(start + 500).min(turns)).map(|number| dice.turn(number, turns)).collect();
        let begin = Instant::now();
        store.add(&[], &turns).unwrap();
        time += begin.elapsed();
    }
    time
}

fn group(term: &str, others: &[&str]) -> WordGroup {
    WordGroup { term: term.to_owned(), others: others.iter().map(|other| (*other).to_owned()).collect() }
}

fn queries() -> Vec<(&'static str, PastQuery)> {
    let days = |from: i64, until: i64| {
        let at = |days: i64| Timestamp::from_millisecond(NOW - days * 86_400_000).unwrap();
        Some(Period { from: Some(at(from)), until: Some(at(until)) })
    };
    let words = |groups: Vec<WordGroup>| PastQuery { groups, ..PastQuery::default() };
    let git = || group("git", &[]);
    let mixed = || {
        vec![
            group("convert", &["ffmpeg", "magick"]),
            group("video", &["mp4", "mov", "libx264"]),
            group("shopmail", &[]),
        ]
    };
    let folder = || Some(PathBuf::from("/home/ann/src/277"));
    vec![
        ("common word", words(vec![git()])),
        ("two common words", words(vec![git(), group("test", &["cargo", "nextest"])])),
        ("mixed", words(mixed())),
        ("rare words", words(vec![group("viewimgshop", &[]), group("jobjobweb", &[]), group("coreviewup", &[])])),
        (
            "eight groups",
            words(
                ["git", "push", "upload", "backup", "test", "fix", "docker", "src"].map(|term| group(term, &[])).into(),
            ),
        ),
        ("common, last week", PastQuery { period: days(7, 0), ..words(vec![git()]) }),
        ("common, a week two years ago", PastQuery { period: days(730, 723), ..words(vec![git()]) }),
        ("mixed, a year", PastQuery { period: days(730, 365), ..words(mixed()) }),
        ("common, rare folder", PastQuery { folder: folder(), ..words(vec![git()]) }),
        ("mixed, failed", PastQuery { has_succeeded: Some(false), ..words(mixed()) }),
        ("nothing, last week", PastQuery { period: days(7, 0), ..PastQuery::default() }),
        ("nothing, rare folder", PastQuery { folder: folder(), ..PastQuery::default() }),
        ("nothing, home", PastQuery { folder: Some("/home/ann".into()), ..PastQuery::default() }),
        ("nothing", PastQuery::default()),
        ("unknown word", words(vec![group("xyzzy", &[])])),
    ]
}

fn quantiles(times: &mut [Duration]) -> String {
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    format!("p50 {:?}, p95 {:?}, p99 {:?}, max {:?}", at(50), at(95), at(99), at(100))
}

fn measure(runs: i64, turns: i64) {
    let bench = Bench::new();
    let mut store = bench.open();
    let filled = fill(&mut store, runs, 0);
    file::empty_log(&store.connection).unwrap();
    let bytes = fs::metadata(bench.file()).unwrap().len();
    let counts = store.counts().unwrap();
    let (_, entries) = index::totals(&store.connection).unwrap();
    eprintln!(
        "{runs} runs of {} lines, {entries} entries: {filled:?}, {} bytes each",
        counts.lines,
        bytes / runs.unsigned_abs()
    );
    eprintln!("{turns} turns: {:?}", fill(&mut store, 0, turns));
    let mut all = Vec::new();
    let mut all_opened = Vec::new();
    for (name, query) in queries() {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..20 {
            let begin = Instant::now();
            hits = store.search(&query).unwrap().hits.len();
            times.push(begin.elapsed());
            let begin = Instant::now();
            SqlitePast::open_existing(&bench.file(), &bench.keys()).unwrap().unwrap().search(&query).unwrap();
            all_opened.push(begin.elapsed());
        }
        all.extend_from_slice(&times);
        eprintln!("  {name}: {hits} hits, {}", quantiles(&mut times));
    }
    eprintln!("  all searches: {}", quantiles(&mut all));
    eprintln!("  all searches with opening: {}", quantiles(&mut all_opened));
    let mut dice = Dice(99);
    let mut times: Vec<_> = (0..2_000)
        .map(|number| {
            let run = dice.run(runs + number, runs);
            let begin = Instant::now();
            store.add(&[run], &[]).unwrap();
            let time = begin.elapsed();
            store.settle().unwrap();
            time
        })
        .collect();
    eprintln!("  one addition: {}", quantiles(&mut times));
    let begin = Instant::now();
    assert_eq!(store.changed().unwrap(), []);
    eprintln!("  check of all seals: {:?}", begin.elapsed());
    let begin = Instant::now();
    assert!(store.forget(&PastSelection::Ids(vec![PastId::Line(5), PastId::Turn(5)])).unwrap() > 0);
    eprintln!("  forget two: {:?}", begin.elapsed());
    let begin = Instant::now();
    let half = Timestamp::from_millisecond(NOW - 365 * 86_400_000).unwrap();
    let forgotten = store.forget(&PastSelection::Before { at: half, timeless: true }).unwrap();
    eprintln!("  forget {forgotten}: {:?}", begin.elapsed());
}

#[test]
#[ignore = "measures: run with --run-ignored only --no-capture"]
fn searches_and_additions_are_fast_at_100_000_items() {
    measure(90_000, 10_000);
}

#[test]
#[ignore = "measures: run with --run-ignored only --no-capture"]
fn a_command_takes_few_bytes_at_200_000_runs() {
    measure(200_000, 0);
}

#[test]
#[ignore = "measures: run with --run-ignored only --no-capture"]
fn searches_and_additions_are_fast_at_a_million_runs() {
    measure(1_000_000, 20_000);
}
