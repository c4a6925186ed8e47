use super::*;

fn text(text: &str) -> ChunkDelta {
    ChunkDelta::Text(text.into())
}

fn interrupt() -> DaemonMessage {
    DaemonMessage::InterruptCommand { call_id: cohab_protocol::CallId::fresh(), by: cohab_protocol::Interrupter::Turn }
}

fn started() -> (Timeline, TurnId) {
    let mut timeline = Timeline::default();
    let turn_id = TurnId::fresh();
    timeline.begin(turn_id);
    assert_eq!(timeline.next(|_| false).map(Arc::unwrap_or_clone), Some(DaemonMessage::TurnStarted { turn_id }));
    (timeline, turn_id)
}

/// Takes everything that waits; chunks as `seq:text`.
fn drain(timeline: &mut Timeline) -> Vec<String> {
    std::iter::from_fn(|| timeline.next(|_| false).map(Arc::unwrap_or_clone))
        .map(|message| match message {
            DaemonMessage::AgentStreamChunk(chunk) => {
                format!("{}:{}", chunk.seq, text_of(&chunk.delta).unwrap_or("reset"))
            }
            other => format!("{other:?}").split([' ', '(']).next().unwrap_or_default().to_owned(),
        })
        .collect()
}

#[test]
fn waiting_text_is_joined_and_seq_has_no_gaps() {
    let (mut timeline, _) = started();
    timeline.push_delta(text("a"));
    assert_eq!(drain(&mut timeline), ["0:a"]);
    timeline.push_delta(text("b"));
    timeline.push_delta(text("c"));
    timeline.push_delta(ChunkDelta::Reasoning("r".into()));
    timeline.push_delta(text("d"));
    timeline.push_delta(ChunkDelta::Reset);
    timeline.push_delta(text("e"));
    assert_eq!(drain(&mut timeline), ["1:bc", "2:r", "3:d", "4:reset", "5:e"]);
    assert_eq!(timeline.chunks(), 6);
}

#[test]
fn text_is_not_joined_across_another_message() {
    let (mut timeline, _) = started();
    timeline.push_delta(text("a"));
    timeline.push(interrupt());
    timeline.push_delta(text("b"));
    assert_eq!(drain(&mut timeline), ["0:a", "InterruptCommand", "1:b"]);
}

#[test]
fn a_client_that_comes_back_gets_the_rest_from_its_seq() {
    let (mut timeline, turn_id) = started();
    for one in ["a", "b", "c"] {
        timeline.push_delta(text(one));
        drain(&mut timeline);
    }
    timeline.push_delta(text("d"));
    assert_eq!(timeline.resume(ResumePoint { turn_id, next_seq: 1 }), Resumed::Complete);
    assert_eq!(drain(&mut timeline), ["1:b", "2:c", "3:d"]);
    assert_eq!(timeline.resume(ResumePoint { turn_id, next_seq: 4 }), Resumed::Complete);
    assert_eq!(drain(&mut timeline), [""; 0]);
    assert_eq!(timeline.resume(ResumePoint { turn_id: TurnId::fresh(), next_seq: 0 }), Resumed::OtherTurn);
}

#[test]
fn what_is_moot_is_passed_over() {
    let (mut timeline, _) = started();
    timeline.push(interrupt());
    timeline.push_delta(text("a"));
    let next = timeline.next(|message| matches!(message, DaemonMessage::InterruptCommand { .. }));
    assert!(matches!(next.as_deref(), Some(DaemonMessage::AgentStreamChunk(_))));
}

#[test]
fn what_waits_for_a_stalled_reader_fills_the_room() {
    let (mut timeline, _) = started();
    let piece = "x".repeat(1000);
    let mut pieces = 0;
    while timeline.has_room() {
        timeline.push_delta(text(&piece));
        pieces += 1;
    }
    assert!(pieces <= MAX_WAITING_BYTES / 1000 + 1, "{pieces}");
    let longest = timeline.entries.iter().map(|entry| entry.bytes).max().unwrap();
    assert!(longest <= MAX_JOINED_BYTES + ENTRY_BYTES);
    timeline.skip();
    assert!(timeline.has_room());
}

#[test]
fn what_was_sent_is_kept_within_its_bound_and_a_gap_is_told() {
    let (mut timeline, turn_id) = started();
    let piece = "x".repeat(MAX_JOINED_BYTES);
    for _ in 0..MAX_KEPT_BYTES / MAX_JOINED_BYTES + 10 {
        timeline.push_delta(text(&piece));
        drain(&mut timeline);
    }
    let kept: usize = timeline.entries.iter().map(|entry| entry.bytes).sum();
    assert!(kept <= MAX_KEPT_BYTES);
    assert_eq!(timeline.resume(ResumePoint { turn_id, next_seq: 0 }), Resumed::Gap);
    assert_eq!(timeline.resume(ResumePoint { turn_id, next_seq: timeline.chunks() }), Resumed::Complete);
}

#[test]
fn a_new_turn_forgets_what_was_sent_but_not_what_waits() {
    let (mut timeline, _) = started();
    timeline.push_delta(text("sent"));
    drain(&mut timeline);
    timeline.push_delta(text("waits"));
    timeline.begin(TurnId::fresh());
    timeline.push_delta(text("new"));
    assert_eq!(drain(&mut timeline), ["1:waits", "TurnStarted", "0:new"]);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(256))]

    /// After any pushes, takes and replays counters agree with the entries, and a full replay is the whole text.
    #[test]
    fn any_order_of_events_keeps_text_and_counts(steps in proptest::collection::vec((0..4u8, "[a-z]{0,9}"), 0..60)) {
        let (mut timeline, turn_id) = started();
        let mut whole = String::new();
        for (kind, piece) in steps {
            match kind {
                0 | 1 => {
                    whole.push_str(&piece);
                    timeline.push_delta(text(&piece));
                }
                2 => { timeline.next(|_| false).map(Arc::unwrap_or_clone); }
                _ => { timeline.resume(ResumePoint { turn_id, next_seq: timeline.chunks() / 2 }); }
            }
            let bytes = |entries: &mut dyn Iterator<Item = &TimelineEntry>| entries.map(|entry| entry.bytes).sum::<usize>();
            proptest::prop_assert_eq!(timeline.sent_bytes, bytes(&mut timeline.entries.iter().take(timeline.cursor)));
            proptest::prop_assert_eq!(timeline.waiting_bytes, bytes(&mut timeline.entries.iter().skip(timeline.cursor)));
        }
        timeline.resume(ResumePoint { turn_id, next_seq: 0 });
        let mut replayed = String::new();
        for (expected_seq, message) in std::iter::from_fn(|| timeline.next(|_| false).map(Arc::unwrap_or_clone)).filter_map(|message| match message {
            DaemonMessage::AgentStreamChunk(chunk) => Some(chunk),
            _ => None,
        }).enumerate() {
            proptest::prop_assert_eq!(message.seq, expected_seq as u64);
            replayed.push_str(text_of(&message.delta).unwrap_or_default());
        }
        proptest::prop_assert_eq!(replayed, whole);
    }
}

#[test]
fn what_was_sent_and_is_moot_is_forgotten() {
    let (mut timeline, turn_id) = started();
    timeline.push(interrupt());
    timeline.push_delta(text("a"));
    timeline.push(interrupt());
    drain(&mut timeline);
    timeline.push(interrupt());
    let before = timeline.sent_bytes;
    timeline.forget_moot(|message| matches!(message, DaemonMessage::InterruptCommand { .. }));
    assert!(timeline.sent_bytes < before);
    assert_eq!(drain(&mut timeline), ["InterruptCommand"], "what waits stays");
    assert_eq!(timeline.resume(ResumePoint { turn_id, next_seq: 0 }), Resumed::Complete);
    assert_eq!(drain(&mut timeline), ["TurnStarted", "0:a", "InterruptCommand"]);
}
