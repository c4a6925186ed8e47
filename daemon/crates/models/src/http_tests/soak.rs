//! Many requests at once and many in a row.

use std::{collections::BTreeSet, path::Path};

use async_trait::async_trait;
use cohab_agent::{
    Agent, TurnLimits, TurnPorts, TurnStack, TurnState,
    port::{Effect, Intent, NoSink, Tool, ToolContext, ToolOutput},
    runner::CommandRunner,
};
use cohab_model_api::JsonObject;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use tokio_util::sync::CancellationToken;

use super::*;

/// Turns, over all wires.
const TURNS: usize = 200;
/// Most requests for one question: the first, two repetitions, and each thing that is done once.
const MOST_REQUESTS: usize = 8;
/// Time limit for all of them; beyond it something hangs.
const HANG_LIMIT: Duration = Duration::from_secs(30);

/// Remembers what it ran.
#[derive(Default)]
struct Ledger(Mutex<Vec<String>>);

#[async_trait]
impl Tool for Ledger {
    fn spec(&self) -> ToolSpec {
        question().tools.remove(0)
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let command = args.get("command").and_then(Value::as_str).ok_or("`command` is missing")?.to_owned();
        Ok(Intent { title: command.clone(), effect: Effect::RunCommand { command: command.into() } })
    }

    async fn call(&self, args: &JsonObject, _: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let command = args["command"].as_str().expect("`intent` looked").to_owned();
        self.0.lock().expect("no test panics with it").push(command.clone());
        Ok(ToolOutput::text(format!("came-of {command}"), String::new()))
    }
}

struct NoShell;

#[async_trait]
impl CommandRunner for NoShell {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> std::path::PathBuf {
        "/".into()
    }
}

/// Numbers that look random.
fn next_random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).expect("31 bits")
}

/// A fault of every kind that `answer` can have.
fn faulty(fixture: &Fixture, kind: usize, answer: &str, random: usize) -> Reply {
    let cut = answer.len() * (random % 100) / 100;
    let (head, tail) = answer.as_bytes().split_at(cut);
    let stream = |bytes: &[u8]| Reply::new(200, fixture.content_type(), bytes);
    let transient = (fixture.error)(Fault::Overload, "not now").expect("each wire has one");
    match kind {
        0 => Reply::new(429, "retry-after: 2", b"{}"),
        1 => Reply::new(500, "x: y", b"<html>"),
        2 => Reply::new(503, "x: y", b""),
        3 => Reply::json(400, r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#),
        4 => Reply::nothing(),
        5 => stream(head),
        6 => stream(head).then_reset(),
        7 => stream(head).then_stall(),
        8 => stream(&[head, b"\n\n\xff{nonsense\n\n", tail].concat()),
        9 => fixture.stream(&(fixture.half("half") + &fixture.bytes(&[transient]) + answer)),
        10 => fixture.stream(&fixture.answer("")),
        11 => fixture.stream(&fixture.call_answer(Ended::Length)),
        12 => Reply::new(302, "location: /elsewhere", b""),
        _ => Reply::new(200, "content-type: text/html", b"<html>Hello</html>"),
    }
}
const FAULTS: usize = 14;

#[tokio::test]
async fn turns_with_every_fault_end_and_run_no_command_twice() {
    let timeouts = TimeoutSettings { byte_idle_ms: Some(40), ..settings().timeouts };
    let settings = ModelSettings { timeouts, max_output_tokens: Some(1000), ..settings() };
    let wires = fixtures().count();
    for (seed, fixture) in (1_u64..).zip(fixtures()) {
        let (mut random, mut calls) = (seed, 0);
        let server = Server::answering(move |seen| {
            let body = seen.body.to_string();
            let is_answered = body.rfind("came-of") > body.rfind("question-");
            calls += usize::from(!is_answered);
            let answer = if is_answered {
                fixture.answer("So it is.")
            } else {
                let payloads = (fixture.text)("Look.")
                    .into_iter()
                    .chain((fixture.call)(&format!("c{calls}"), &format!("run-{calls}")));
                fixture.ended(payloads.collect(), Ended::Tool)
            };
            let is_faulty = next_random(&mut random).is_multiple_of(5);
            let (kind, at) = (next_random(&mut random) % FAULTS, next_random(&mut random));
            Some(if is_faulty {
                faulty(fixture, kind, &answer, at)
            } else {
                fixture.stream(&answer).in_random_pieces(at)
            })
        })
        .await;
        let base = format!("http://{}/v1", server.address);
        let provider = provider_with(endpoint(&base, fixture.wire()), &settings, Arc::new(NoWaiting::default()));
        let ledger = Arc::new(Ledger::default());
        let agent = Agent {
            provider: Arc::new(provider),
            tools: [("bash".to_owned(), Arc::clone(&ledger) as Arc<dyn Tool>)].into(),
            stack: TurnStack::default(),
            ports: TurnPorts::default(),
            runner: Arc::new(NoShell),
            system: "system".to_owned(),
            limits: TurnLimits { model_calls: 5 },
        };
        let turns = TURNS / wires;
        let (mut ends, mut ran) = (0, 0);
        for turn in 0..turns {
            let mut state = TurnState::new(Vec::new(), format!("question-{turn}"));
            let cancel = CancellationToken::new();
            let ended = tokio::time::timeout(HANG_LIMIT, agent.run_turn(&mut state, &NoSink, &cancel)).await;
            ends += usize::from(ended.expect("no turn hangs").is_ok());
            let now = ledger.0.lock().expect("no test panics with it").len();
            assert!(now - ran <= 1, "{} {turn}: one question, one command", fixture.wire);
            ran = now;
            assert!(state.pending_calls().is_empty(), "each call has its result");
        }
        let commands = ledger.0.lock().expect("no test panics with it").clone();
        let different: BTreeSet<&String> = commands.iter().collect();
        assert_eq!(commands.len(), different.len(), "{}: no command runs twice", fixture.wire);
        assert!(ends > turns / 2, "{}: only {ends} of {turns} turns ended well", fixture.wire);
    }
}

#[tokio::test]
async fn whatever_a_service_does_a_question_ends_after_few_requests() {
    let timeouts = TimeoutSettings { byte_idle_ms: Some(40), ..settings().timeouts };
    let settings = ModelSettings { timeouts, max_output_tokens: Some(1000), ..settings() };
    for fixture in fixtures() {
        let answer = fixture.call_answer(Ended::Tool);
        for seed in 1..40 {
            let mut random = seed;
            let replies = (0..MOST_REQUESTS + 1).map(|_| {
                let (kind, at) = (next_random(&mut random) % FAULTS, next_random(&mut random));
                faulty(fixture, kind, &answer, at)
            });
            let bench = bench_with(fixture.wire(), &settings, replies.collect()).await;
            let events = tokio::time::timeout(HANG_LIMIT, bench.ask()).await.expect("no question hangs");
            assert!(bench.server.seen().len() <= MOST_REQUESTS, "{} {seed}: {events:?}", fixture.wire);
            let shown =
                events.iter().rposition(|event| matches!(event, ModelEvent::Retrying { discard_shown: true, .. }));
            let last_try = &events[shown.map_or(0, |at| at + 1)..];
            assert!(text_of(last_try).matches("Look").count() <= 1, "{} {seed}: {events:?}", fixture.wire);
        }
    }
}

#[tokio::test]
async fn conversations_at_the_same_time_do_not_mix() {
    for fixture in fixtures() {
        let mut asked = 0;
        let server = Server::answering(move |seen| {
            asked += 1;
            let body = seen.body.to_string();
            let number = body.split("number-").nth(1).and_then(|rest| rest.split('.').next()).unwrap_or_default();
            let words = format!("{number} ").repeat(30);
            let payloads = words.split_inclusive(' ').flat_map(|word| (fixture.text)(word)).collect();
            Some(fixture.stream(&fixture.ended(payloads, Ended::Stop)).in_random_pieces(asked))
        })
        .await;
        let base = format!("http://{}/v1", server.address);
        let provider = provider_with(endpoint(&base, fixture.wire()), &settings(), Arc::new(NoWaiting::default()));
        let answers = (0..20).map(|number| {
            let mut request = question();
            request.messages = vec![Message::user(format!("number-{number}."))];
            provider.stream(request).collect::<Vec<ModelEvent>>()
        });
        for (number, events) in futures::future::join_all(answers).await.iter().enumerate() {
            assert_eq!(text_of(events), format!("{number} ").repeat(30), "{}", fixture.wire);
        }
    }
}
