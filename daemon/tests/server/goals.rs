//! Plays goal turns with random scripts: a turn is reported as answered only if its last check exited with 0.

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use async_trait::async_trait;
use cohab_assembly::assembly::ProviderChooser;
use cohab_config::model_settings::ModelSettings;
use cohab_context::ignore_rules::IgnoreRules;
use cohab_model_api::{
    BrokenArguments, Message, ModelEvent, ModelInfo, ModelProvider, ModelRequest, ProviderError, ProviderErrorKind,
    StopClass, ToolCall,
};
use cohab_models::resolution::{Choice, ChoiceError};
use cohab_tools::ToolOptions;
use cohab_types::environment::Variables;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::json;
use support::{Stage, result_with};

use super::*;

/// Turns in all, and how many of them go on at the same time.
const TURNS: u32 = 500;
const AT_ONCE: u32 = 4;
/// One in this many has a check that succeeds.
const SUCCESSES: u32 = 5;
/// Turns whose client goes away while the check runs.
const LOST: u32 = 8;
/// Most checks of a turn.
const MAX_CHECKS: u32 = 10;
/// Most answers without a usable call.
const MAX_BAD_ANSWERS: u32 = 3;
/// The longest script, but for its end.
const MAX_MOVES: u64 = 6;
/// One in this many of those that fail goes on to the limit of checks.
const LIMITED: u64 = 8;

/// Pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()].clone()
    }
}

/// What the model does when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    /// Says that it is done.
    Claims,
    /// Says what cohab says of a goal that is reached.
    ClaimsReached,
    /// Pauses its answer.
    Pauses,
    /// Says nothing.
    IsSilent,
    /// Has another command run, which succeeds.
    RunsOther,
    /// Runs the line of the check itself, which succeeds, under the id that the last check had.
    RunsCheck,
    /// Calls a tool that does not exist.
    CallsUnknown,
    /// Calls a tool with arguments that are no JSON.
    CallsBroken,
    /// The service rejects its call.
    IsRejected,
    /// Its answer is cut by the length limit.
    IsCut,
    Refuses,
    /// The service fails.
    Fails,
    /// The answer ends in the middle.
    BreaksOff,
}

/// Moves that do not end a turn.
const HARMLESS: [Move; 7] = [
    Move::Claims,
    Move::ClaimsReached,
    Move::Pauses,
    Move::IsSilent,
    Move::RunsOther,
    Move::RunsCheck,
    Move::CallsUnknown,
];
/// All others.
const FATAL: [Move; 6] =
    [Move::CallsBroken, Move::IsRejected, Move::IsCut, Move::Refuses, Move::Fails, Move::BreaksOff];

/// What becomes of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Check {
    Ends(CommandEnding, Option<i32>),
    /// The user refuses it on its card.
    IsRefused,
    /// The user cancels the turn on its card.
    CancelsOnCard,
    /// The user cancels the turn while it runs; it succeeds nevertheless.
    IsCancelled,
}

impl Check {
    fn has_succeeded(&self) -> bool {
        *self == Self::Ends(CommandEnding::Exited, Some(0))
    }

    /// Any check that does not succeed and does not end the turn.
    fn failing(dice: &mut Dice) -> Self {
        let by = dice.one_of(&[Interrupter::User, Interrupter::Turn, Interrupter::TimeLimit]);
        let codes = ["shell_gone", "shell_busy", "nested", "timed_out", "pty", "not_approved", "no_client", "of later"];
        let refused =
            CommandEnding::Refused { code: dice.one_of(&codes).into(), reason: "it cannot run now".to_owned() };
        let status = i32::try_from(dice.below(255)).unwrap() + 1;
        let any = dice.one_of(&[None, Some(0), Some(130)]);
        let (ending, status) = dice.one_of(&[
            (CommandEnding::Exited, Some(status)),
            (CommandEnding::Exited, Some(status)),
            (CommandEnding::Exited, None),
            (CommandEnding::Interrupted { by }, any),
            (CommandEnding::Stopped, any),
            (CommandEnding::StillRunning, any),
            (CommandEnding::ShellExited, any),
            (refused, any),
        ]);
        Self::Ends(ending, status)
    }
}

/// The script of a turn, as far as it is not played.
#[derive(Clone, Debug, Default)]
struct Script {
    /// Behind them the model claims to be done.
    moves: VecDeque<Move>,
    /// Behind them each check exits with 1.
    checks: VecDeque<Check>,
    line: String,
    begun: u32,
    /// Whether the next command is the model's.
    is_models: bool,
}

impl Script {
    fn random(number: u32, dice: &mut Dice) -> Self {
        let has_success = number.is_multiple_of(SUCCESSES);
        let mut moves = vec![Move::Claims; usize::from(has_success || dice.below(10) > 0)];
        for _ in 0..dice.below(MAX_MOVES) {
            let is_fatal = !has_success && dice.below(12) == 0;
            let next = if is_fatal { dice.one_of(&FATAL) } else { dice.one_of(&HARMLESS) };
            let bad = moves.iter().filter(|one| **one == Move::CallsUnknown).count();
            moves.push(if next == Move::CallsUnknown && has_success && bad > 1 { Move::Claims } else { next });
        }
        // The model that claims again and again is the one that a goal is for; but it takes many checks.
        if !has_success && dice.below(LIMITED) > 0 {
            moves.push(dice.one_of(&FATAL[2..]));
        }
        let failing = if has_success { dice.below(6) } else { dice.below(9) };
        let mut checks: VecDeque<Check> = (0..failing).map(|_| Check::failing(dice)).collect();
        let needs_card = dice.below(4) == 0;
        if has_success {
            checks.push_back(Check::Ends(CommandEnding::Exited, Some(0)));
        } else if dice.below(4) == 0 {
            checks.push_back(match needs_card {
                true => dice.one_of(&[Check::IsRefused, Check::CancelsOnCard]),
                false => Check::IsCancelled,
            });
        }
        let line = format!("{} {number}", if needs_card { "make" } else { "ls" });
        Self { moves: moves.into(), checks, line, ..Self::default() }
    }

    fn next_check(&mut self) -> Check {
        self.begun += 1;
        self.checks.pop_front().unwrap_or(Check::Ends(CommandEnding::Exited, Some(1)))
    }

    /// The end that the rules of goals give this turn.
    fn expected(mut self) -> TurnEndReason {
        let (mut has_spoken, mut bad_answers, mut rejected) = (false, 0, 0);
        loop {
            let next = self.moves.pop_front().unwrap_or(Move::Claims);
            has_spoken |= matches!(next, Move::Claims | Move::ClaimsReached | Move::Pauses);
            match next {
                Move::Claims | Move::ClaimsReached | Move::Pauses => {}
                Move::IsSilent if has_spoken => {}
                Move::RunsOther | Move::RunsCheck => {
                    bad_answers = 0;
                    continue;
                }
                Move::CallsUnknown | Move::CallsBroken if bad_answers + 1 < MAX_BAD_ANSWERS => {
                    bad_answers += 1;
                    continue;
                }
                Move::IsRejected if rejected == 0 => {
                    rejected += 1;
                    continue;
                }
                Move::IsCut => return TurnEndReason::Length,
                Move::Refuses => return TurnEndReason::Refused,
                _ => return TurnEndReason::Failed,
            }
            if self.begun == MAX_CHECKS {
                return TurnEndReason::StepLimit;
            }
            match self.next_check() {
                check if check.has_succeeded() => return TurnEndReason::Answered,
                Check::IsRefused => return TurnEndReason::Failed,
                Check::CancelsOnCard | Check::IsCancelled => return TurnEndReason::Cancelled,
                Check::Ends(..) => {}
            }
        }
    }
}

/// A model that plays the script whose number its question names.
#[derive(Clone, Default)]
struct Player(Arc<Mutex<HashMap<u32, Script>>>);

impl Player {
    fn scripts(&self) -> MutexGuard<'_, HashMap<u32, Script>> {
        self.0.lock().unwrap()
    }

    fn with<R>(&self, number: u32, play: impl FnOnce(&mut Script) -> R) -> R {
        play(self.scripts().get_mut(&number).expect("a script"))
    }
}

impl ModelProvider for Player {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: "scripted".into(), model: "player".into(), origin: "test".into(), is_offline: false }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let number = request.messages.iter().find_map(|message| match message {
            Message::User { text, .. } => text.split_once("work number ")?.1.split('.').next()?.parse().ok(),
            _ => None,
        });
        stream::iter(self.with(number.expect("the question names its script"), answer)).boxed()
    }
}

/// The model's next answer.
fn answer(script: &mut Script) -> Vec<ModelEvent> {
    let text = |text: &str| ModelEvent::TextDelta(text.to_owned());
    let stop = |class| ModelEvent::Stop { class, provider_data: None };
    let failed = |kind| {
        let message = "the service failed".to_owned();
        ModelEvent::Failed(ProviderError { kind, message, hint: None, retry_after: None, overflow: None })
    };
    let call = |id: String, name: &str, command: &str| {
        let args = json!({ "command": command }).as_object().cloned().unwrap();
        vec![ModelEvent::ToolCallDone(ToolCall { id, name: name.into(), args: Ok(args.into()) }), stop(StopClass::Tool)]
    };
    let fresh = || uuid::Uuid::new_v4().simple().to_string();
    let next = script.moves.pop_front().unwrap_or(Move::Claims);
    script.is_models = matches!(next, Move::RunsOther | Move::RunsCheck);
    match next {
        Move::Claims => vec![text("Done, all is well."), stop(StopClass::End)],
        Move::ClaimsReached => {
            vec![text(&format!("The goal is reached: `{}` succeeds.", script.line)), stop(StopClass::End)]
        }
        Move::Pauses => vec![text("A moment."), stop(StopClass::Pause)],
        Move::IsSilent => vec![stop(StopClass::End)],
        Move::RunsOther => call(fresh(), "bash", "ls of the model"),
        Move::RunsCheck => call(format!("goal-{}", script.begun.max(1)), "bash", &script.line),
        Move::CallsUnknown => call(fresh(), "finish", "now"),
        Move::CallsBroken => {
            let args = Err(BrokenArguments { raw: "{".into(), error: "no JSON".into() });
            vec![ModelEvent::ToolCallDone(ToolCall { id: fresh(), name: "bash".into(), args }), stop(StopClass::Tool)]
        }
        Move::IsRejected => vec![failed(ProviderErrorKind::ToolUseFailed)],
        Move::IsCut => vec![text("Done, because"), stop(StopClass::Length)],
        Move::Refuses => vec![text("No."), stop(StopClass::Refusal)],
        Move::Fails => vec![text("Done"), failed(ProviderErrorKind::Server)],
        Move::BreaksOff => vec![text("Done"), ModelEvent::Incomplete { reason: "it broke off".into() }],
    }
}

#[async_trait]
impl ProviderChooser for Player {
    async fn choose(&self, _: &ModelSettings, _: &Variables) -> Result<Choice, ChoiceError> {
        Ok(Choice::Ready(Arc::new(self.clone())))
    }
}

/// A daemon with this model and the delivered tools.
async fn server(player: &Player) -> Server {
    let ignore = IgnoreRules::new("/home/ann".into(), "/home/ann/ignore".into());
    let options = ToolOptions {
        home: "/home/ann".into(),
        command_timeout: Duration::from_secs(60),
        output_max_bytes: 65_536,
        ignore,
    };
    let tools = cohab_tools::registry(&options);
    Server::playing(Stage { chooser: Arc::new(player.clone()), tools, model_calls: 0 }).await
}

/// How a turn went.
struct Went {
    reason: TurnEndReason,
    text: String,
    errors: usize,
    checks: u32,
    /// Whether the check that ran last succeeded.
    has_succeeded: bool,
}

async fn ask(client: &mut Client, number: u32, line: &str) -> TurnId {
    client.ask_in(Path::new("/home/ann"), &format!("/goal work number {number}. :: {line}")).await
}

/// A turn from its question to its end.
async fn play(client: &mut Client, player: &Player, number: u32) -> Went {
    let line = player.with(number, |script| script.line.clone());
    let turn_id = ask(client, number, &line).await;
    let mut went =
        Went { reason: TurnEndReason::Failed, text: String::new(), errors: 0, checks: 0, has_succeeded: false };
    loop {
        match client.next().await {
            DaemonMessage::ApprovalRequest(card) => {
                let decision = player.with(number, |script| match script.checks.front() {
                    Some(Check::IsRefused) if !script.is_models => ApprovalDecision::Refused { note: String::new() },
                    Some(Check::CancelsOnCard) if !script.is_models => ApprovalDecision::CancelTurn,
                    _ => ApprovalDecision::Once,
                });
                client.reply(card.approval_id, decision).await;
            }
            DaemonMessage::ExecuteCommand(call) => {
                let is_models = player.with(number, |script| std::mem::take(&mut script.is_models));
                if is_models {
                    client.send(result_with(call.call_id, "it is there", 0)).await;
                    continue;
                }
                assert_eq!(call.command, line);
                went.checks += 1;
                let check = player.with(number, Script::next_check);
                went.has_succeeded = check.has_succeeded();
                if check == Check::IsCancelled {
                    client.send(ClientMessage::CancelTurn { turn_id }).await;
                }
                client.send(ended(call.call_id, &check, went.checks)).await;
            }
            DaemonMessage::AgentStreamChunk(AgentStreamChunk { delta: ChunkDelta::Text(more), .. }) => {
                went.text.push_str(&more);
            }
            DaemonMessage::Error(_) => went.errors += 1,
            DaemonMessage::TurnEnded(ended) => {
                went.reason = ended.reason;
                return went;
            }
            _ => {}
        }
    }
}

/// The client's report on a check. Its output differs, so that the model does not look stuck.
fn ended(call_id: CallId, check: &Check, count: u32) -> ClientMessage {
    let ClientMessage::CommandExecutionResult(mut report) = result_with(call_id, &format!("check {count}"), 0) else {
        unreachable!()
    };
    if let Check::Ends(ending, status) = check {
        (report.ending, report.exit_code) = (ending.clone(), *status);
    }
    ClientMessage::CommandExecutionResult(report)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_goal_of_500_is_reported_as_reached_without_its_check() {
    let player = Player::default();
    let server = server(&player).await;
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let scripts: Vec<Script> = (0..TURNS).map(|number| Script::random(number, &mut dice)).collect();
    player.scripts().extend((0..).zip(scripts.clone()));
    let some = async |first: u32| {
        let mut ends = Vec::new();
        for number in (first..TURNS).step_by(AT_ONCE as usize) {
            let mut client = server.client(&format!("shell:{number}")).await;
            let went = play(&mut client, &player, number).await;
            ends.push(verified(went, &scripts[number as usize]));
        }
        ends
    };
    let ends = futures::future::join_all((0..AT_ONCE).map(some)).await.concat();
    let count = |wanted: TurnEndReason| ends.iter().filter(|end| **end == wanted).count();
    assert_eq!((ends.len(), count(TurnEndReason::Answered)), (TURNS as usize, (TURNS / SUCCESSES) as usize));
    let others = [TurnEndReason::Cancelled, TurnEndReason::StepLimit, TurnEndReason::Refused, TurnEndReason::Length];
    for end in others.into_iter().chain([TurnEndReason::Failed]) {
        assert!(count(end) > 4, "{} times {end:?}", count(end));
    }
}

/// The end of a turn, which is the true one.
fn verified(went: Went, script: &Script) -> TurnEndReason {
    let Went { reason, text, errors, checks, has_succeeded } = went;
    assert_eq!(reason == TurnEndReason::Answered, has_succeeded, "a false end: {reason:?} {script:?}");
    assert_eq!(reason, script.clone().expected(), "{script:?}");
    assert_eq!(errors, usize::from(reason == TurnEndReason::Failed), "{script:?}");
    assert!(checks <= MAX_CHECKS, "{checks} checks: {script:?}");
    if has_succeeded {
        let said = format!("The goal is reached: `{}` succeeds.", script.line);
        assert!(text.ends_with(&said), "{text}");
    }
    reason
}

#[tokio::test]
async fn a_check_whose_client_went_away_is_no_success() {
    let player = Player::default();
    let server = server(&player).await;
    let mut turns = Vec::new();
    for number in 0..LOST {
        let moves = [Move::ClaimsReached, Move::Fails].into();
        let line = format!("ls {number}");
        player.scripts().insert(number, Script { moves, line: line.clone(), ..Script::default() });
        let session = format!("shell:{number}");
        let mut client = server.client(&session).await;
        let turn_id = ask(&mut client, number, &line).await;
        let call_id = client.execute().await.call_id;
        // In half of them it had begun.
        if number.is_multiple_of(2) {
            client.started(call_id).await;
            client.request(SessionAction::Status).await;
        }
        turns.push((session, turn_id));
    }
    let mut observer = server.greeted().await;
    while running(&mut observer).await > 0 {
        tokio::task::yield_now().await;
    }
    for (session, turn_id) in turns {
        let mut client = server.greeted().await;
        client.attach(resume(&session, turn_id, 0)).await;
        let (text, ended) = client.answer_from(0).await;
        assert_eq!(ended.reason, TurnEndReason::Failed, "{text}");
    }
}
