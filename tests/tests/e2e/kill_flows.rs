//! The process that runs a flow is killed again and again: no finished node runs again, and each run comes to its end.

#![expect(clippy::print_stderr, reason = "a test says what it counted")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually, home::Finished};
use serde_json::Value;

use crate::kill_harness::{Dice, dither};

/// Kills in all.
const KILLS: usize = 40;
/// Exit status of a run that waits for an answer.
const WAITS: i32 = 5;
/// About the length of a whole log behind the text of the flow, in bytes.
const LOG_BYTES: u64 = 1_400;

/// Tools on end, three branches at the same time, a model and a condition. Each tool leaves a line.
const FLOW: &str = r#"
start = "first"
[state]
said = "text"
[nodes.first]
kind = "tool"
command = "echo first >> ran.txt"
next = "split"
[nodes.split]
kind = "parallel"
branches = ["left", "right", "ask"]
join = "good"
[nodes.left]
kind = "tool"
command = "echo left >> ran.txt"
next = "left2"
[nodes.left2]
kind = "tool"
command = "echo left2 >> ran.txt"
next = "good"
[nodes.right]
kind = "tool"
command = "echo right >> ran.txt"
next = "good"
[nodes.ask]
kind = "llm"
prompt = "Is it good?"
output = "said"
next = "good"
[nodes.good]
kind = "condition"
when = [{ if = "said contains \"yes\"", next = "last" }]
else = "bad"
[nodes.last]
kind = "tool"
command = "echo last >> ran.txt"
next = "done"
[nodes.done]
kind = "end"
result = "all ran"
[nodes.bad]
kind = "end"
status = "failed"
"#;
const TOOLS: [&str; 5] = ["first", "left", "left2", "right", "last"];

struct Bench {
    home: Home,
}

impl Bench {
    fn new(server: &ModelServer) -> Self {
        let home = Home::with_model(server);
        home.write_config("[sandbox]\nprofile = \"full\"\n[model]\ncontext_window_tokens = 64000\n");
        home.write("flow/flow.toml", FLOW);
        assert_eq!(home.run(&["trust", &home.path("flow").display().to_string()]).status, Some(0));
        Self { home }
    }

    fn logs(&self) -> BTreeSet<PathBuf> {
        let files = fs::read_dir(self.home.paths().state_dir.join("flows")).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect()
    }

    /// The whole entries of a log.
    fn entries(log: &PathBuf) -> Vec<Value> {
        let text = fs::read_to_string(log).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().skip(2).map(|line| serde_json::from_str::<Value>(line).expect("an entry")[2].clone()).collect()
    }

    /// The visits that are finished, in the order of the log.
    fn finished(log: &PathBuf) -> Vec<(String, u64)> {
        let entries = Self::entries(log).into_iter().filter(|entry| entry["entry"] == "finished");
        entries
            .map(|entry| {
                (entry["node"].as_str().expect("a name").to_owned(), entry["visit"].as_u64().expect("a number"))
            })
            .collect()
    }

    /// Runs `cohab flow` with these words and kills it when its log has grown by as much as the dice decide, unless it ends before.
    fn killed(&self, words: &[&str], known: &BTreeSet<PathBuf>, dice: &mut Dice) -> Finished {
        let mut command = self.home.cohab_process(words);
        command.current_dir(self.home.path("flow"));
        // It becomes the daemon's program, in the same process.
        let mut child = command.spawn().expect("it starts");
        let length = || {
            let logs = self.logs().into_iter().filter(|log| words[1] == "resume" || !known.contains(log));
            logs.filter_map(|log| fs::metadata(log).ok()).map(|facts| facts.len()).sum::<u64>()
        };
        let before = if words[1] == "resume" { length() } else { FLOW.len() as u64 };
        let wanted = before + dice.below(LOG_BYTES);
        eventually("the log to grow", || length() >= wanted || child.try_wait().is_ok_and(|status| status.is_some()));
        dither(dice);
        // It may have ended by itself.
        let _ = child.kill();
        self.home.finish(child)
    }
}

/// One run of the flow, from its begin to its end, with as many kills as that takes.
fn run(bench: &Bench, dice: &mut Dice, kills: &mut usize) -> Option<usize> {
    let known = bench.logs();
    let began = bench.killed(&["flow", "run", "flow.toml", "--approve", "all"], &known, dice);
    *kills += usize::from(began.status.is_none());
    let log = bench.logs().difference(&known).next().cloned()?;
    let id = log.file_stem().and_then(|name| name.to_str()).expect("the id of the run").to_owned();
    let (mut again, mut last, mut finished) = (BTreeMap::<String, usize>::new(), began, Bench::finished(&log));
    while last.status != Some(0) {
        let mut words = vec!["flow", "resume", &id, "--approve", "all"];
        let node = last
            .stdout
            .lines()
            .find_map(|line| Some(line.split_once("` was interrupted")?.0.rsplit_once('`')?.1.to_owned()));
        if last.status == Some(WAITS) {
            let node = node.as_deref().expect("only interrupted nodes ask");
            *again.entry(node.to_owned()).or_default() += 1;
            words.extend(["--answer", "again", "--node", node]);
            last = bench.killed(&words, &known, dice);
        } else {
            last = bench.killed(&words, &known, dice);
        }
        *kills += usize::from(last.status.is_none());
        let now = Bench::finished(&log);
        assert_eq!(now[..finished.len()], finished, "what is finished stays so");
        finished = now;
        match last.status {
            // It was killed between storing the end and telling of it.
            Some(1) if last.stderr.contains("is over: done") => break,
            // It was killed before a whole line of it was on the disk: nothing had begun.
            Some(1) if last.stderr.contains("the beginning is missing") && finished.is_empty() => return None,
            None | Some(0 | WAITS) => {}
            _ => panic!("{last:?}"),
        }
    }
    assert_eq!(finished.iter().collect::<BTreeSet<_>>().len(), finished.len(), "{finished:?}");
    let ran = fs::read_to_string(bench.home.path("flow/ran.txt")).expect("it ran");
    for tool in TOOLS {
        let runs = ran.lines().filter(|line| *line == tool).count();
        let allowed = 1 + again.get(tool).copied().unwrap_or(0);
        assert!((1..=allowed).contains(&runs), "`{tool}` ran {runs} times, the user allowed {allowed}: {ran}");
    }
    Some(again.values().sum())
}

#[test]
fn a_flow_that_is_killed_repeats_no_finished_node() {
    let server = ModelServer::respond_with(Wire::OpenAiChat, |_| Answer::text("yes , it is"));
    let bench = Bench::new(&server);
    let mut dice = Dice(0x5eed_0f0f_1357_9bdf);
    let (mut kills, mut runs, mut again) = (0, 0, 0);
    while kills < KILLS {
        let _ = fs::remove_file(bench.home.path("flow/ran.txt"));
        if let Some(asked) = run(&bench, &mut dice, &mut kills) {
            (runs, again) = (runs + 1, again + asked);
        }
    }
    eprintln!(
        "{kills} kills in {runs} runs: 0 finished nodes ran again; {again} interrupted ones did when the user said so"
    );
}
