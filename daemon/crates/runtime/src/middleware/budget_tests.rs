use std::sync::Mutex;

use cohab_model_api::TokenUsage;
use cohab_store::row::{CallRow, ModelKey};
use jiff::Timestamp;

use super::*;

const NO_LIMITS: Limits =
    Limits { tokens_per_turn: 0, tokens_per_day: 0, cost_per_day_microusd: 0, time_per_turn: Duration::ZERO };

fn used(turn_tokens: u64, day_tokens: u64, day_cost: u64, seconds: u64) -> Used {
    Used {
        turn: Spent { tokens: turn_tokens, cost_microusd: 0 },
        day: Spent { tokens: day_tokens, cost_microusd: day_cost },
        time: Duration::from_secs(seconds),
    }
}

#[test]
fn a_budget_is_used_up_when_nothing_is_left_and_zero_is_no_limit() {
    let all = Limits {
        tokens_per_turn: 100,
        tokens_per_day: 1_000,
        cost_per_day_microusd: 2_000_000,
        time_per_turn: Duration::from_secs(60),
    };
    for (limits, used, expected) in [
        (NO_LIMITS, used(u64::MAX, u64::MAX, u64::MAX, u64::MAX / 2_000), None),
        (all, used(99, 999, 1_999_999, 59), None),
        (all, used(100, 0, 0, 0), Some(LimitKind::TurnTokens)),
        (all, used(0, 1_000, 0, 0), Some(LimitKind::DayTokens)),
        (all, used(0, 5_000, 9_000_000, 99), Some(LimitKind::DayTokens)),
        (all, used(0, 0, 2_000_001, 0), Some(LimitKind::DayCost)),
        (all, used(0, 0, 0, 60), Some(LimitKind::TurnTime)),
        (Limits { tokens_per_day: u64::MAX, ..NO_LIMITS }, used(0, u64::MAX, 0, 0), Some(LimitKind::DayTokens)),
    ] {
        assert_eq!(limits.exceeded(used).map(|gauge| gauge.kind), expected, "{limits:?} {used:?}");
    }
}

#[test]
fn the_tightest_one_is_told_in_percent() {
    let limits = Limits { tokens_per_turn: 1_000, tokens_per_day: 1_000_000, ..NO_LIMITS };
    let told = |used| limits.tightest(used).map(|gauge| (gauge.kind, gauge.percent()));
    assert_eq!(told(used(250, 849_999, 0, 0)), Some((LimitKind::DayTokens, 84)));
    assert_eq!(told(used(990, 849_999, 0, 0)), Some((LimitKind::TurnTokens, 99)));
    assert_eq!(told(used(u64::MAX, 0, 0, 0)), Some((LimitKind::TurnTokens, u16::MAX)));
    assert_eq!(NO_LIMITS.tightest(used(1, 1, 1, 1)), None);
}

#[test]
fn what_is_told_names_the_budget_what_took_it_and_the_way_out() {
    let text = |kind, used, limit| {
        let error = Gauge { kind, used, limit }.used_up();
        format!("{error}\n{}", error.hint().unwrap_or_default())
    };
    insta::assert_snapshot!(
        [
            text(LimitKind::TurnTokens, 52_000, 50_000),
            text(LimitKind::DayTokens, 1_003_211, 1_000_000),
            text(LimitKind::DayCost, 5_010_000, 5_000_000),
            text(LimitKind::DayCost, 19_600, 10_000),
            text(LimitKind::TurnTime, 600_000, 600_000),
        ]
        .join("\n")
    );
}

fn today() -> Date {
    Date::constant(2026, 3, 1)
}

fn budget(limits: Limits, store: &Arc<Store>, told: &Arc<Mutex<Vec<u16>>>) -> Budget {
    let told = Arc::clone(told);
    Budget {
        limits,
        store: Arc::clone(store),
        clock: Arc::new(TurnClock::start()),
        today,
        tell: Box::new(move |gauge| told.lock().unwrap().push(gauge.percent())),
    }
}

fn took(store: &Store, tokens: u64) {
    let at: Timestamp = today().to_zoned(jiff::tz::TimeZone::system()).unwrap().timestamp();
    store.record(CallRow {
        at,
        session: "shell:another".into(),
        turn: "t".into(),
        wire: "w".into(),
        model: ModelKey { host: "h".into(), model: "m".into() },
        usage: TokenUsage { input: Some(tokens), ..TokenUsage::default() },
        cost_source: None,
        took_ms: None,
    });
}

#[tokio::test]
async fn what_other_terminals_take_meanwhile_counts_and_calls_that_are_paid_still_run() {
    let (store, told) = (Arc::new(Store::in_memory()), Arc::default());
    let budget = budget(Limits { tokens_per_day: 1_000, ..NO_LIMITS }, &store, &told);
    let mut state = TurnState::new(Vec::new(), "q".into());
    let ask = StepKind::ModelCall { allow_tools: true };
    took(&store, 850);
    assert!(budget.before_step(ask, &mut state).await.is_continue());
    budget.observe(Fact::StepEnded(&state)).await;
    took(&store, 200);
    assert!(budget.before_step(StepKind::ToolCalls, &mut state).await.is_continue());
    let ControlFlow::Break(Err(error)) = budget.before_step(ask, &mut state).await else { panic!("it goes on") };
    assert!(error.to_string().contains("1.0k were used today") || error.to_string().contains("used today"), "{error}");
    assert_eq!(*told.lock().unwrap(), [85]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_cut_off_when_it_has_worked_long_enough() {
    let (store, told) = (Arc::new(Store::in_memory()), Arc::default());
    let budget = budget(Limits { time_per_turn: Duration::from_secs(60), ..NO_LIMITS }, &store, &told);
    let began = tokio::time::Instant::now();
    let (_, error) = futures::join!(budget.clock.stands_still(sleep(Duration::from_secs(40))), budget.passed());
    assert_eq!(began.elapsed().as_secs(), 100, "waiting for the user is no work");
    assert!(matches!(error, TurnError::Stopped { .. }));
}
