use cohab_protocol::{BudgetKind, BudgetUsed, Notice, NoticeKind, TurnProgress};

use super::*;

fn spent(tokens: Option<u64>, cost_microusd: Option<u64>) -> DaemonMessage {
    let usage = Usage { input_tokens: tokens, cost_microusd, ..Usage::default() };
    DaemonMessage::TurnProgress(TurnProgress { turn_id: TURN, usage })
}

fn step(step: u32, activity: StepActivity) -> DaemonMessage {
    DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step, activity })
}

fn read() -> StepActivity {
    StepActivity::ToolCall { tool: "read".into(), argument: "a.rs".into() }
}

fn thinking() -> StepActivity {
    StepActivity::ModelCall { model: "scripted/m".into() }
}

#[test]
fn the_line_says_what_a_turn_does_and_took() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(spent(Some(3_210), Some(12_345)));
    bench.daemon(step(1, read()));
    let expected = "----\n● step 2 · read a.rs · 3.2k tokens · about $0.0123 · Ctrl-C stops\n";
    assert_eq!(bench.shown(), expected);
    bench.daemon(spent(Some(4_000), None));
    assert_eq!(bench.shown(), "----\n● step 2 · read a.rs · 4.0k tokens · Ctrl-C stops\n");
}

#[test]
fn what_another_turn_took_is_not_this_ones() {
    let mut bench = Bench::in_a_turn();
    let usage = Usage { input_tokens: Some(9), ..Usage::default() };
    let turn_id = TurnId(Uuid::from_u128(99));
    bench.daemon(DaemonMessage::TurnProgress(TurnProgress { turn_id, usage }));
    assert!(!bench.shown().contains("tokens"));
}

#[test]
fn the_time_is_painted_once_a_second_and_only_while_the_turn_waits_here() {
    let mut bench = Bench::in_a_turn();
    for second in 1..=3 {
        let due = bench.app.deadline().expect("a clock");
        assert_eq!(due - bench.now, Duration::from_secs(1));
        bench.now = due;
        assert_eq!(bench.event(Event::Deadline), []);
        assert_eq!(bench.shown(), format!("----\n● thinking · scripted/m · {second} s · Ctrl-C stops\n"));
        assert!(!bench.app.wants_to_draw());
    }
    bench.chunk(0, "text");
    assert_eq!(bench.app.deadline(), None, "text tells by itself that something goes on");
    bench.daemon(step(1, read()));
    assert!(bench.app.deadline().is_some());
    bench.daemon(execute("ls", None));
    assert!(
        bench.app.deadline().is_none_or(|due| due > bench.now + Duration::from_secs(5)),
        "a command has the terminal"
    );
}

#[test]
fn where_nothing_is_painted_twice_each_step_is_a_sentence() {
    let mut bench = Bench::connected();
    bench.app.options.output_style = OutputStyle::Accessible;
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    bench.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
    bench.daemon(step(0, thinking()));
    assert_eq!(bench.shown(), "? why\nThinking with scripted/m.\n----\n");
    assert_eq!(bench.app.deadline(), None);
    let notice = |after_ms| Notice { turn_id: Some(TURN), kind: NoticeKind::Retry { after_ms }, text: "busy".into() };
    bench.daemon(DaemonMessage::Notice(notice(3_000)));
    assert_eq!(bench.shown(), "Trying again in 3 s: busy\n----\n");
    assert_eq!(bench.app.deadline(), None, "no countdown");
    bench.daemon(spent(Some(3_000), Some(10_000)));
    bench.daemon(step(1, read()));
    assert_eq!(bench.shown(), "Step 2: running read: a.rs, 3.0k tokens, about $0.0100.\n----\n");
    let (outcome, summary) = (StepOutcome::Done, "12 lines".into());
    bench.daemon(DaemonMessage::StepFinished(StepFinished {
        turn_id: TURN,
        step: 1,
        outcome,
        summary,
        elapsed_ms: 5,
        detail: None,
        only_reads: false,
    }));
    assert_eq!(bench.shown(), "Done: read, 12 lines, 5 ms.\n----\n");
}

#[test]
fn the_screen_is_emptied_only_where_all_of_it_that_counts_comes_back() {
    let mut bench = Bench::connected();
    assert!(!bench.app.takes_wipe_key(), "the shell has the terminal");
    bench = Bench::in_a_turn();
    assert!(bench.app.takes_wipe_key());
    bench.daemon(ask("touch a", false));
    assert!(!bench.app.takes_wipe_key(), "a question stands, maybe with rows that are not painted again");
}

#[test]
fn a_budget_is_told_of_once_half_of_it_is_used() {
    let mut bench = Bench::in_a_turn();
    let used =
        |percent| DaemonMessage::BudgetUsed(BudgetUsed { turn_id: TURN, budget: BudgetKind::DayTokens, percent });
    bench.daemon(step(1, read()));
    bench.daemon(used(49));
    assert_eq!(bench.shown(), "----\n● step 2 · read a.rs · Ctrl-C stops\n");
    bench.daemon(used(85));
    assert_eq!(bench.shown(), "----\n● step 2 · read a.rs · 85 % of today's tokens · Ctrl-C stops\n");
}
