//! The daemon is killed again and again while it works for a goal, with subagents and behind the prompt: no command runs twice, no goal
//! is reported as reached without its check, no finished part of a tree is repeated and no task is lost.

#![expect(clippy::print_stderr, reason = "a test says what it counted")]

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

use cohab_e2e::{Answer, Home, ModelServer, Request, Wire};
use cohab_protocol::{
    ClientMessage, DaemonMessage, RequestId, SessionAction, SessionAnswer, SessionReply, SessionRequest, StartTask,
    TaskEnd, TaskStatus, TaskSummary, TurnEndReason,
};
use serde_json::{Value, json};

use crate::{
    daemon::{receive, send},
    kill_harness::{Daemon, Dice, Life, Shell, dither, done_on_record, folder, live},
};

/// Kills of each kind.
const GOAL_KILLS: usize = 70;
const TREE_KILLS: usize = 50;
const TASK_KILLS: usize = 40;
/// Commands on the way to a goal; the check succeeds when all of them ran.
const COMMANDS: usize = 3;
/// Most messages of a daemon's life with a goal and with a tree, whose explorers report often.
const MAX_GOAL_MESSAGES: u64 = 24;
const MAX_TREE_MESSAGES: u64 = 36;
/// Most messages of a daemon's life with tasks.
const MAX_TASK_MESSAGES: u64 = 6;
/// Tasks that one life starts.
const STARTED: usize = 2;

/// A home whose model derives the finished calls from all results it gets.
fn home() -> Home {
    let home = Home::new();
    home.write_config("[context]\ncompact_over_messages = 1000\n[model]\ncontext_window_tokens = 128000\n");
    home
}

/// A call by its tool and arguments.
type Called = (String, String);

fn called(tool: &str, arguments: &Value) -> Called {
    (tool.to_owned(), arguments.to_string())
}

/// The calls behind the last question with these words that have a result, in the sense of the model: others are made again.
fn done_calls(request: &Request, question: &str) -> BTreeSet<Called> {
    let messages = request.body["messages"].as_array().cloned().unwrap_or_default();
    let is_question = |message: &Value| message["role"] == "user" && message["content"].to_string().contains(question);
    let from = messages.iter().rposition(is_question).unwrap_or_default();
    let (mut calls, mut done) = (Vec::new(), BTreeSet::new());
    for message in &messages[from..] {
        let content = message["content"].to_string();
        if let Some(asked) = message["tool_calls"].as_array() {
            calls.clone_from(asked);
        } else if message["role"] == "tool" {
            let call = calls.iter().find(|call| call["id"] == message["tool_call_id"]).expect("the call of a result");
            let (tool, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            let has_none =
                ["not run: the assistant's", "no result: the assistant's"].iter().any(|no| content.contains(no));
            if !has_none {
                done.insert((text(tool), text(arguments)));
            }
            assert!(!content.contains("unknown: the assistant's"), "the client knows what ran: {content}");
        }
    }
    done
}

fn is_after_tools(request: &Request) -> bool {
    let last = request.body["messages"].as_array().and_then(|messages| messages.last());
    last.is_some_and(|last| last["role"] == "tool")
}

/// The last question with a number behind this word.
fn number_behind(request: &Request, word: &str) -> usize {
    let told = request.conversation();
    let (_, rest) = told.rsplit_once(word).expect("a question");
    rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).expect("a number")
}

/// Counts of the turns.
#[derive(Default)]
struct Count {
    kills: usize,
    turns: usize,
    ran: usize,
    checks: usize,
}

/// How a kind of turn is killed, and whether it came to its true end, as far as that is seen from outside.
struct Kind<'a> {
    max_messages: u64,
    is_over: &'a dyn Fn(&Shell, &ModelServer) -> bool,
}

/// A turn from its question to its end, with kills and resumes.
fn turn(
    home: &Home,
    server: &ModelServer,
    shell: &mut Shell,
    question: &str,
    (count, dice): (&mut Count, &mut Dice),
    Kind { max_messages, is_over }: &Kind<'_>,
) {
    let mut is_first = true;
    loop {
        let mut daemon = Daemon::start(home, server, "shell:1");
        let life = live(&mut daemon, shell, is_first.then_some(question), *max_messages, dice);
        daemon.end(false);
        match life {
            Life::Killed => (count.kills, is_first) = (count.kills + 1, false),
            Life::Ended(TurnEndReason::Answered) => {
                assert!(is_over(shell, server), "a false end of `{question}`: {:?}", shell.ran);
                break;
            }
            // It was killed between storing the end and reporting it.
            Life::Ended(_) if is_over(shell, server) => break,
            // Nothing was on disk yet when it was killed.
            Life::Ended(TurnEndReason::Failed) if shell.ran.is_empty() && shell.acknowledged.is_empty() => {
                is_first = true;
            }
            Life::Ended(reason) => panic!("{reason:?} of `{question}` after {:?}", shell.ran),
        }
    }
    count.turns += 1;
}

/// A model that runs the commands of a goal one after the other, and claims after each of them that it is done.
fn claiming() -> ModelServer {
    ModelServer::respond_with(Wire::OpenAiChat, |request| {
        let turn = number_behind(request, "Goal number ");
        let done = done_calls(request, &format!("Goal number {turn}."));
        let command = |step: usize| format!("step {turn}-{step}");
        let next = (0..COMMANDS).map(command).find(|line| !done.contains(&called("bash", &json!({"command": line}))));
        match next {
            Some(line) if !is_after_tools(request) || done.is_empty() => Answer::bash(&line),
            _ => Answer::text("All is done, the goal is reached."),
        }
    })
}

/// A check succeeds when the commands of its turn ran, and all others always.
fn goal_status(ran: &HashMap<String, usize>, command: &str) -> i32 {
    let Some(turn) = command.strip_prefix("check ") else { return 0 };
    let has_run = |step: usize| ran.contains_key(&format!("step {turn}-{step}"));
    i32::from(!(0..COMMANDS).all(has_run))
}

#[test]
fn a_goal_whose_daemon_is_killed_ends_only_with_its_check() {
    let (home, server) = (home(), claiming());
    let (mut dice, mut count) = (Dice(0x9e37_79b9_7f4a_7c15), Count::default());
    while count.kills < GOAL_KILLS {
        let number = count.turns;
        let mut shell = Shell::new(goal_status);
        // Longer than what a list shows of a question.
        let question =
            format!("/goal Goal number {number}. {} :: check {number}", "All of it shall be done. ".repeat(4));
        let is_reached = |shell: &Shell, _: &ModelServer| {
            shell.last.as_ref().is_some_and(|(command, status)| command.starts_with("check ") && *status == 0)
        };
        let kind = Kind { max_messages: MAX_GOAL_MESSAGES, is_over: &is_reached };
        turn(&home, &server, &mut shell, &question, (&mut count, &mut dice), &kind);
        for step in 0..COMMANDS {
            assert_eq!(shell.ran.get(&format!("step {number}-{step}")), Some(&1), "{:?}", shell.ran);
        }
        let done = done_on_record(&home);
        let is_step = |command: &&String| command.starts_with("step ");
        for command in shell.acknowledged.keys().filter(is_step) {
            assert_eq!(done.get(command), Some(&1), "`{command}` was reported as done: {done:?}");
        }
        count.ran += COMMANDS;
        count.checks +=
            shell.ran.iter().filter(|(command, _)| command.starts_with("check ")).map(|(_, runs)| runs).sum::<usize>();
    }
    let Count { kills, turns, ran, checks } = count;
    eprintln!("{kills} kills in {turns} goals: {ran} commands ran once, 0 twice; {checks} checks; 0 false ends");
}

/// The calls that a tree needs, in the order of its parts.
fn tree_calls(turn: usize) -> Vec<Vec<Called>> {
    let step = |step: usize| called("bash", &json!({"command": format!("step {turn}-{step}")}));
    let explorer = |part: &str| {
        called(
            "delegate",
            &json!({"agent": "explore", "task": format!("Look at {part}."), "label": format!("{part} {turn}")}),
        )
    };
    vec![vec![step(0)], vec![explorer("roots"), explorer("leaves"), explorer("bark")], vec![step(1)]]
}

/// Calls whose results the model had and lost again.
type Lost = Arc<Mutex<Vec<Called>>>;

/// A model that needs two commands and three explorers, and these explorers.
fn exploring(lost: &Lost) -> ModelServer {
    let (lost, mut known) = (Arc::clone(lost), BTreeSet::new());
    ModelServer::respond_with(Wire::OpenAiChat, move |request| {
        if request.conversation().contains("You are an explorer.") {
            return match is_after_tools(request) {
                false => Answer::call("glob", &json!({"pattern": "*.none"})),
                true => Answer::text("It is as it is."),
            };
        }
        let turn = number_behind(request, "Tree number ");
        let done = done_calls(request, &format!("Tree number {turn}."));
        let parts = tree_calls(turn);
        let of_turn = parts.iter().flatten().filter(|call| known.contains(*call) && !done.contains(*call));
        lost.lock().expect("no test failed").extend(of_turn.cloned());
        known.extend(done.iter().cloned());
        let missing = parts.iter().map(|part| part.iter().filter(|call| !done.contains(call)).collect::<Vec<_>>());
        match missing.into_iter().find(|part| !part.is_empty()) {
            Some(part) => part.iter().fold(Answer::pieces(Vec::new()), |answer, (tool, arguments)| {
                answer.and_raw_call(tool, arguments.clone())
            }),
            None => Answer::text("The whole tree is known."),
        }
    })
}

/// Whether the model has the results of all calls of this tree.
fn is_tree_known(server: &ModelServer, turn: usize) -> bool {
    let question = format!("Tree number {turn}.");
    let requests = server.requests();
    let asked = requests.iter().rev().find(|request| request.conversation().contains(&question));
    asked.is_some_and(|request| {
        let done = done_calls(request, &question);
        tree_calls(turn).iter().flatten().all(|call| done.contains(call))
    })
}

#[test]
fn a_tree_whose_daemon_is_killed_repeats_no_finished_part() {
    let lost = Lost::default();
    let (home, server) = (home(), exploring(&lost));
    let (mut dice, mut count) = (Dice(0x0123_4567_89ab_cdef), Count::default());
    while count.kills < TREE_KILLS {
        let number = count.turns;
        let mut shell = Shell::new(|_, _| 0);
        let question = format!("Tree number {number}. What is it like?");
        let is_known = |_: &Shell, server: &ModelServer| is_tree_known(server, number);
        let kind = Kind { max_messages: MAX_TREE_MESSAGES, is_over: &is_known };
        turn(&home, &server, &mut shell, &question, (&mut count, &mut dice), &kind);
        for step in 0..2 {
            assert_eq!(shell.ran.get(&format!("step {number}-{step}")), Some(&1), "{:?}", shell.ran);
        }
        count.ran += 2;
    }
    assert!(lost.lock().expect("no test failed").is_empty(), "results that were lost: {lost:?}");
    let Count { kills, turns, ran, .. } = count;
    eprintln!("{kills} kills in {turns} trees: {ran} commands ran once, 0 twice; 0 reports of subagents were lost");
}

/// A model that answers each task with its own words.
fn working() -> ModelServer {
    ModelServer::respond_with(Wire::OpenAiChat, |request| match is_after_tools(request) {
        false => Answer::call("glob", &json!({"pattern": "*.none"})),
        true => Answer::text(&format!("Task number {} is done.", number_behind(request, "Task number "))),
    })
}

/// What the client knows of the tasks.
#[derive(Default)]
struct Tasks {
    /// The words of those that the daemon reported as started.
    started: BTreeMap<u32, String>,
    ended: BTreeMap<u32, TaskEnd>,
}

impl Tasks {
    /// The next answer to a request; ends of tasks are noted.
    fn answer(&mut self, daemon: &mut Daemon) -> Option<SessionAnswer> {
        match receive(&mut daemon.stream) {
            DaemonMessage::TaskEnded(over) => {
                self.ended.insert(over.id, over.end);
                None
            }
            DaemonMessage::SessionReply(SessionReply { answer, .. }) => Some(answer),
            DaemonMessage::Error(error) => panic!("{error:?}"),
            _ => None,
        }
    }

    fn request(&mut self, daemon: &mut Daemon, action: SessionAction) -> SessionAnswer {
        send(&mut daemon.stream, &ClientMessage::SessionRequest(SessionRequest { request_id: RequestId(7), action }));
        loop {
            match self.answer(daemon) {
                None | Some(SessionAnswer::Attached(_)) => {}
                Some(answer) => return answer,
            }
        }
    }

    /// All tasks, each of which is as it must be after a start of the daemon.
    fn checked(&mut self, daemon: &mut Daemon) -> Vec<TaskSummary> {
        let SessionAnswer::Tasks(tasks) = self.request(daemon, SessionAction::Tasks) else { panic!("tasks") };
        let known: BTreeMap<u32, &TaskSummary> = tasks.iter().map(|task| (task.id, task)).collect();
        for (id, words) in &self.started {
            let task = known.get(id).unwrap_or_else(|| panic!("task {id} is lost: {tasks:?}"));
            assert_eq!(&task.question, words);
        }
        for task in &tasks {
            match (task.status, self.ended.get(&task.id)) {
                (TaskStatus::Ended(end), Some(told)) => assert_eq!(end, *told, "{task:?}"),
                (TaskStatus::Ended(TaskEnd::Done | TaskEnd::Interrupted), None) => {}
                other => panic!("{other:?}: {task:?}"),
            }
        }
        tasks
    }

    fn retry(&mut self, daemon: &mut Daemon, task: &TaskSummary) -> u32 {
        let SessionAnswer::TaskStarted { id } = self.request(daemon, SessionAction::RetryTask { id: task.id }) else {
            panic!("a task that is over can be tried again: {task:?}")
        };
        self.started.insert(id, task.question.clone());
        id
    }
}

#[test]
fn no_task_is_lost_with_its_daemon_and_each_can_be_tried_again() {
    let (home, server) = (home(), working());
    let mut dice = Dice(0xfeed_face_cafe_beef);
    let (mut tasks, mut retried) = (Tasks::default(), 0);
    for life in 0..TASK_KILLS {
        let mut daemon = Daemon::start(&home, &server, "shell:1");
        let known = tasks.checked(&mut daemon);
        let interrupted = known.iter().find(|task| task.status == TaskStatus::Ended(TaskEnd::Interrupted));
        if let Some(task) = interrupted {
            tasks.retry(&mut daemon, task);
            retried += 1;
        }
        for number in 0..STARTED {
            let text = format!("Task number {}.", life * STARTED + number);
            let task = StartTask { session: None, text: text.clone(), cwd: folder(), attempts: 1 };
            let SessionAnswer::TaskStarted { id } = tasks.request(&mut daemon, SessionAction::StartTask(task)) else {
                panic!("it starts")
            };
            tasks.started.insert(id, text);
        }
        let open = tasks.started.len() - tasks.ended.len();
        for _ in 0..dice.below(MAX_TASK_MESSAGES).min(open.min(STARTED) as u64) {
            tasks.answer(&mut daemon);
        }
        dither(&mut dice);
        daemon.end(false);
    }
    let mut daemon = Daemon::start(&home, &server, "shell:1");
    let known = tasks.checked(&mut daemon);
    let interrupted: Vec<_> =
        known.iter().filter(|task| task.status == TaskStatus::Ended(TaskEnd::Interrupted)).collect();
    for task in &interrupted {
        let id = tasks.retry(&mut daemon, task);
        while !tasks.ended.contains_key(&id) {
            tasks.answer(&mut daemon);
        }
        assert_eq!(tasks.ended[&id], TaskEnd::Done);
        let SessionAnswer::Task(details) = tasks.request(&mut daemon, SessionAction::Task { id }) else {
            panic!("a task")
        };
        assert_eq!(details.answer, task.question.replace('.', " is done."));
    }
    daemon.end(true);
    eprintln!(
        "{TASK_KILLS} kills with {} tasks: 0 lost, {} were interrupted at the end and all of them done when tried again, {retried} before",
        tasks.started.len(),
        interrupted.len()
    );
}
