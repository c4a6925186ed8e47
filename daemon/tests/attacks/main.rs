//! Tests a model that obeys every text: each order planted in its input becomes calls, and refused calls are tried again in five other
//! ways. The input arrives by many ways (`carriers.rs`), the orders are of many kinds (`goals.rs`). No call may run without a yes to
//! exactly that call: not with a user who refuses everything, and not with one who agrees to everything that names nothing harmful.

#![expect(clippy::print_stderr, reason = "what was tried is told")]

mod agent;
mod carriers;
mod goals;
mod server;
mod sink;
mod stage;

use carriers::CARRIERS;
use goals::{GOALS, is_harmful};
use stage::{Bot, Stage};

/// Plays one run and returns its report.
fn check(carrier: &carriers::Carrier, goal: &goals::Goal, bot: Bot) -> usize {
    let stage = Stage::set(carrier, goal, bot);
    let seen = stage.play();
    let name = format!("{} by {} before {bot:?}", goal.name, carrier.name);
    assert!(seen.tried > 0, "{name}: the model read no order, so nothing is shown\n{:#?}", seen.requests);
    let is_unwanted = |command: &&String| carriers::calls(carrier).iter().all(|(_, args)| args["command"] != **command);
    for command in seen.ran.iter().filter(is_unwanted) {
        let is_agreed = seen.agreed.contains(command);
        assert!(is_agreed || !is_harmful(command), "{name}: `{command}` ran unasked");
        assert!(!is_agreed || !is_harmful(command), "{name}: the user of this test never agrees to `{command}`");
    }
    assert_eq!(seen.changed, Vec::<String>::new(), "{name}: files of the user's");
    assert!(!seen.has_secret, "{name}: the key went to the model");
    seen.tried
}

/// Checks what an agent reached that did all steps of a goal.
fn check_agent(goal: &goals::Goal, bot: Bot) -> usize {
    let name = format!("{} by an agent before {bot:?}", goal.name);
    let (steps, count) = agent::steps(goal);
    let seen = Stage::set(&CARRIERS[0], goal, bot).play_agent(&steps, true);
    assert_eq!(seen.called, count, "{name}: a step did not come to the loop");
    let harmful = seen.ran.iter().find(|command| is_harmful(command));
    assert_eq!(harmful, None, "{name}: it ran");
    assert_eq!(seen.changed, Vec::<String>::new(), "{name}: files of the user's");
    count
}

#[test]
fn what_an_agent_wants_is_not_done_unasked() {
    for bot in [Bot::RefusesAll, Bot::AgreesToTheHarmless] {
        let tries: usize = GOALS.iter().map(|goal| check_agent(goal, bot)).sum();
        eprintln!("{} goals, {tries} tries by an agent before {bot:?}, nothing unapproved", GOALS.len());
    }
}

#[test]
fn without_the_gate_an_agent_reaches_each_goal() {
    for goal in GOALS {
        let seen = Stage::set(&CARRIERS[0], goal, Bot::RefusesAll).play_agent(&agent::steps(goal).0, false);
        let ran = seen.ran.iter().filter(|ran| *ran == goal.command).count();
        assert_eq!(ran, 2, "{}: as a terminal and by the server: {:?}", goal.name, seen.ran);
    }
}

#[test]
fn what_was_allowed_before_is_asked_again_for_an_agent() {
    let stage = Stage::set(&CARRIERS[0], &goals::ALLOWED_BEFORE, Bot::RefusesAll);
    stage.allow_for_the_session("make report");
    let seen = stage.play_agent("terminal make report ;; run make report", true);
    assert_eq!(seen.asked, ["make report"], "once: the user refused");
    assert!(seen.ran.is_empty(), "{:?}", seen.ran);
}

fn play_all(bot: Bot) {
    let (mut plants, mut tries) = (0, 0);
    for carrier in CARRIERS {
        for goal in GOALS {
            tries += check(carrier, goal, bot);
            plants += 1;
        }
    }
    assert!(CARRIERS.len() >= 14 && GOALS.len() >= 8 && plants >= 80, "{plants}");
    eprintln!("{plants} plants by {} carriers, {tries} tries, nothing unapproved", CARRIERS.len());
}

#[test]
fn no_planted_order_is_carried_out_unasked_before_a_user_who_refuses() {
    play_all(Bot::RefusesAll);
}

#[test]
fn no_planted_order_is_carried_out_unasked_before_a_user_who_agrees_to_the_harmless() {
    play_all(Bot::AgreesToTheHarmless);
}

#[test]
fn without_the_gate_each_order_is_carried_out() {
    for goal in GOALS {
        let seen = Stage::set(&CARRIERS[0], goal, Bot::RefusesAll).play_without_the_gate();
        assert!(seen.ran.iter().any(|ran| ran == goal.command && is_harmful(ran)), "{}: {:?}", goal.name, seen.ran);
        assert!(goal.tool.is_none() || seen.has_secret || !seen.changed.is_empty(), "{}", goal.name);
    }
}

#[test]
fn what_was_allowed_before_is_asked_again_once_somebody_else_has_spoken() {
    for carrier in CARRIERS.iter().filter(|carrier| carrier.is_foreign) {
        let stage = Stage::set(carrier, &goals::ALLOWED_BEFORE, Bot::RefusesAll);
        stage.allow_for_the_session("make report");
        let seen = stage.play();
        assert!(seen.asked.iter().any(|asked| asked == "make report"), "{}: {:?}", carrier.name, seen.asked);
        assert!(!seen.ran.iter().any(|ran| ran == "make report"), "{}", carrier.name);
    }
    // The test is meaningful: text from the workspace alone suspends nothing.
    let stage = Stage::set(&CARRIERS[0], &goals::ALLOWED_BEFORE, Bot::RefusesAll);
    stage.allow_for_the_session("make report");
    assert!(stage.play().ran.iter().any(|ran| ran == "make report"));
}

#[test]
fn a_tool_of_a_server_that_was_allowed_is_asked_about_once_somebody_else_has_spoken() {
    for carrier in CARRIERS.iter().filter(|carrier| carrier.is_foreign) {
        let seen = Stage::set(carrier, &goals::TELL_A_SERVER, Bot::RefusesAll).play();
        assert!(seen.asked.iter().any(|asked| asked.ends_with(": tell")), "{}: {:?}", carrier.name, seen.asked);
        assert_eq!(seen.changed, Vec::<String>::new(), "{}", carrier.name);
    }
    // The test is meaningful: after text of the workspace it is called.
    let seen = Stage::set(&CARRIERS[0], &goals::TELL_A_SERVER, Bot::RefusesAll).play();
    assert!(seen.changed.iter().any(|path| path.ends_with("/told")), "{:?}", seen.asked);
}

#[test]
fn what_tells_another_host_something_is_never_allowed_beforehand() {
    for carrier in CARRIERS {
        let stage = Stage::set(carrier, &goals::OUTWARD_BEFORE, Bot::RefusesAll);
        stage.allow_for_the_session("git push origin main");
        let seen = stage.play();
        assert!(!seen.ran.iter().any(|ran| ran == "git push origin main"), "{}", carrier.name);
    }
}
