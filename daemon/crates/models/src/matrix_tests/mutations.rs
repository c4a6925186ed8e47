//! Corrupted recorded answers, in any chunks, end as any answer does.

use cohab_model_api::StopClass;
use proptest::prelude::*;

use super::rewrite::in_pieces_of;
use super::*;

/// A change of an answer; positions are parts of its length in 1/65536.
#[derive(Clone, Debug)]
enum Change {
    Byte { at: u16, to: u8 },
    Remove { at: u16, length: u8 },
    Repeat { at: u16, length: u8 },
    Insert { at: u16, text: &'static str },
    PartTwice { at: u16 },
    PartAway { at: u16 },
    Cut { at: u16 },
}

const TEXTS: [&str; 14] = [
    "null",
    "\"\"",
    "{}",
    "[]",
    "0",
    "-1",
    "true",
    "\n\n",
    "\r",
    "\"id\":\"x\",",
    "\\",
    "\u{feff}",
    "data: {\"error\":{}}\n\n",
    "\"index\":1,",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<u16>(), any::<u8>()).prop_map(|(at, to)| Change::Byte { at, to }),
        (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Change::Remove { at, length }),
        (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Change::Repeat { at, length }),
        (any::<u16>(), prop::sample::select(&TEXTS[..])).prop_map(|(at, text)| Change::Insert { at, text }),
        any::<u16>().prop_map(|at| Change::PartTwice { at }),
        any::<u16>().prop_map(|at| Change::PartAway { at }),
        any::<u16>().prop_map(|at| Change::Cut { at }),
    ]
}

fn apply(change: &Change, bytes: &mut Vec<u8>) {
    let place = |at: u16, length: usize| usize::from(at) * length / 0x1_0000;
    let span =
        |at: u16, more: u8, length: usize| place(at, length)..(place(at, length) + usize::from(more)).min(length);
    let part = |at: u16, bytes: &[u8]| {
        let at = place(at, bytes.len());
        let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        start..bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end + 1)
    };
    match *change {
        Change::Byte { at, to } => {
            let at = place(at, bytes.len());
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = to);
        }
        Change::Remove { at, length } => drop(bytes.drain(span(at, length, bytes.len()))),
        Change::Repeat { at, length } => bytes.extend_from_within(span(at, length, bytes.len())),
        Change::Insert { at, text } => {
            let at = place(at, bytes.len());
            drop(bytes.splice(at..at, text.bytes()));
        }
        Change::PartTwice { at } => {
            let part = part(at, bytes);
            let copy = bytes[part.clone()].to_vec();
            drop(bytes.splice(part.end..part.end, copy));
        }
        Change::PartAway { at } => drop(bytes.drain(part(at, bytes))),
        Change::Cut { at } => bytes.truncate(place(at, bytes.len())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn a_wrong_answer_ends_once_runs_nothing_unfinished_and_reads_alike_in_any_chunks(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..5),
        size in 1usize..64,
        is_cut: bool,
    ) {
        let fixtures = all();
        let fixture = which.get(&fixtures);
        let mut bytes = fixture.text.clone().into_bytes();
        changes.iter().for_each(|change| apply(change, &mut bytes));
        let replay = if is_cut { fixture.replay().cut() } else { fixture.replay() };
        let events = read(replay, in_pieces_of(bytes.len().max(1), &bytes));
        prop_assert_eq!(&read(replay, in_pieces_of(size, &bytes)), &events);
        let has_calls = events.iter().any(|event| matches!(event, ModelEvent::ToolCallDone(_)));
        let may_call = |class: &StopClass| !matches!(class, StopClass::Length | StopClass::Refusal);
        let is_stopped = matches!(events.last(), Some(ModelEvent::Stop { class, .. }) if may_call(class));
        prop_assert!(!has_calls || is_stopped, "{:?}", events);
    }
}
