use cohab_protocol::{Notice, NoticeKind};

use super::*;

#[test]
fn a_wait_counts_down_on_one_line_and_asks_for_no_more_time_than_that() {
    let mut bench = Bench::in_a_turn();
    let kind = NoticeKind::Retry { after_ms: 2_000 };
    bench.daemon(DaemonMessage::Notice(Notice { turn_id: Some(TURN), kind, text: "Svc is busy".into() }));
    let mut screens = vec![bench.shown()];
    while let Some(deadline) = bench.app.deadline() {
        bench.now = deadline;
        bench.event(Event::Deadline);
        assert!(bench.app.wants_to_draw());
        screens.push(bench.shown());
    }
    let lines: Vec<&str> =
        screens.iter().filter_map(|screen| screen.split_once("----\n")).map(|(_, area)| area).collect();
    assert_eq!(
        lines,
        [
            "↻ Trying again in 2 s: Svc is busy\n",
            "↻ Trying again in 1 s: Svc is busy\n",
            "↻ Trying again: Svc is busy\n"
        ]
    );
    bench.chunk(0, "Now.\n\n");
    assert!(!bench.shown().contains("again"));
}

#[test]
fn once_the_request_is_made_again_the_model_is_what_is_waited_for() {
    let mut bench = Bench::in_a_turn();
    let activity = StepActivity::ModelCall { model: "svc/m".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity }));
    let kind = NoticeKind::Retry { after_ms: 1_000 };
    bench.daemon(DaemonMessage::Notice(Notice { turn_id: Some(TURN), kind, text: "Svc is busy".into() }));
    assert!(bench.shown().contains("Trying again in 1 s"));
    bench.pass(1_000);
    bench.event(Event::Deadline);
    assert!(bench.app.wants_to_draw());
    assert!(bench.shown().ends_with("thinking · 1 s · Ctrl-C stops\n"), "{}", bench.shown());
}
