//! The bench measures the cost of cohab: figures next to those of raw bash and of a minimal proxy, and next to their bars.

mod audit;
mod calls;
mod clients;
mod confine;
mod contestants;
mod context;
mod echo;
mod flood;
mod gate;
mod idle;
mod long;
mod memory;
mod policy;
mod process;
mod pty;
mod relay;
mod relay_turn;
mod report;
mod scrub;
mod start;
mod store;
mod stream;
mod stream_chunks;
mod stream_cost;
mod teams;
mod wires;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use report::Report;

const USAGE: &str =
    "Usage: bench [echo|flood|start|idle|relay|relay-turn|stream|wires|clients|calls|gate|policy|context|store|audit|scrub|confine|memory|teams|all]... [--rounds N]
              [--fast]

  --rounds N   rounds of each measure (default 20; flood takes a fifth of it)
  --fast       stream: 8,000 chunks in 16 s instead of 80 s
";

/// The measures and their duration.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    measures: Vec<String>,
    rounds: usize,
    is_fast: bool,
}

const MEASURES: [&str; 20] = [
    "echo",
    "flood",
    "start",
    "idle",
    "relay",
    "relay-turn",
    "stream",
    "wires",
    "clients",
    "calls",
    "gate",
    "scrub",
    "policy",
    "context",
    "store",
    "audit",
    "confine",
    "long",
    "memory",
    "teams",
];

/// The command line, or nothing if it is wrong or asks for help.
fn parse(arguments: impl IntoIterator<Item = String>) -> Option<Options> {
    let mut options = Options { measures: Vec::new(), rounds: 20, is_fast: false };
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "all" => options.measures.extend(MEASURES.map(str::to_owned)),
            "--rounds" => options.rounds = arguments.next()?.parse().ok().filter(|rounds| *rounds > 0)?,
            "--fast" => options.is_fast = true,
            measure if MEASURES.contains(&measure) => options.measures.push(argument),
            _ => return None,
        }
    }
    if options.measures.is_empty() {
        options.measures.extend(MEASURES.map(str::to_owned));
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = parse(std::env::args().skip(1)) else {
        let _ = io::stderr().write_all(USAGE.as_bytes());
        return ExitCode::from(2);
    };
    let mut report = Report::default();
    for measure in &options.measures {
        report.note(&format!("measuring {measure}"));
        match measure.as_str() {
            "echo" => echo::measure(&mut report, options.rounds),
            "flood" => flood::measure(&mut report, options.rounds.div_ceil(5)),
            "start" => start::measure(&mut report, options.rounds),
            "idle" => idle::measure(&mut report),
            "relay" => relay::measure(&mut report, options.rounds),
            "relay-turn" => relay_turn::measure(&mut report, options.rounds),
            "long" => long::measure(&mut report),
            "memory" => memory::measure(&mut report, options.rounds),
            "teams" => teams::measure(&mut report, options.rounds),
            "context" => context::measure(&mut report, options.rounds),
            "gate" => gate::measure(&mut report, options.rounds),
            "scrub" => scrub::measure(&mut report, options.rounds),
            "policy" => policy::measure(&mut report, options.rounds),
            "store" => store::measure(&mut report, options.rounds),
            "audit" => audit::measure(&mut report, options.rounds),
            "confine" => confine::measure(&mut report, options.rounds),
            "clients" => clients::measure(&mut report),
            "calls" => calls::measure(&mut report),
            "wires" => wires::measure(&mut report, options.rounds),
            _ => stream::measure(&mut report, options.rounds, options.is_fast),
        }
    }
    let _ = io::stdout().write_all(report.table().as_bytes());
    ExitCode::from(u8::from(report.has_misses()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn without_a_measure_all_are_taken() {
        let options = parse(words("--rounds 3 --fast")).expect("a fine line");
        assert_eq!((options.measures.len(), options.rounds, options.is_fast), (MEASURES.len(), 3, true));
        assert_eq!(parse(words("echo idle")).expect("a fine line").measures, ["echo", "idle"]);
    }

    #[test]
    fn a_wrong_line_is_no_options() {
        for line in ["nonsense", "--rounds", "--rounds 0", "--rounds x", "--help"] {
            assert_eq!(parse(words(line)), None, "{line}");
        }
    }
}
