//! Fuzzes the fold of the wire that this program is named after: any bytes in any chunks end in exactly one terminal event, the result is
//! always the same, and it has no tool call unless the answer is complete.
//!
//! The last two bytes of the input are the size of the chunks and the mode of the answer; the bytes before them are the answer. So a
//! recorded answer is a valid input, too.
#![no_main]

use cohab_models::replay::Replay;
use cohab_model_api::{ModelEvent, StopClass};
use libfuzzer_sys::fuzz_target;

fn replay(how: u8) -> Replay {
    let wire = env!("CARGO_BIN_NAME").trim_start_matches("fold_").replace('_', "-");
    let mut replay = Replay::of(&wire).expect("the program is called after a wire");
    if how & 1 == 1 {
        replay = replay.cut();
    }
    if how & 6 == 6 { replay.in_one_piece() } else { replay }
}

fn check(events: &[ModelEvent]) {
    let is_terminal = |event: &&ModelEvent| {
        matches!(event, ModelEvent::Stop { .. } | ModelEvent::Failed(_) | ModelEvent::Incomplete { .. })
    };
    assert_eq!(events.iter().filter(is_terminal).count(), 1, "{events:?}");
    let last = events.last().expect("a terminal event");
    assert!(is_terminal(&last), "{events:?}");
    let has_calls = events.iter().any(|event| matches!(event, ModelEvent::ToolCallDone(_)));
    let may_have_calls =
        matches!(last, ModelEvent::Stop { class, .. } if !matches!(class, StopClass::Length | StopClass::Refusal));
    assert!(!has_calls || may_have_calls, "{events:?}");
}

fuzz_target!(|input: &[u8]| {
    let [answer @ .., size, how] = input else { return };
    let replay = replay(*how);
    let whole = replay.events([answer.to_vec()]);
    check(&whole);
    let size = usize::from(size % 64) + 1;
    let chunks: Vec<Vec<u8>> = answer.chunks(size).map(<[u8]>::to_vec).collect();
    assert_eq!(replay.events(chunks), whole);
});
