use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn captured(bytes: impl Into<Vec<u8>>) -> Captured {
    Captured { bytes: bytes.into(), is_cut: false }
}

fn exited(status: i32, output: impl Into<Vec<u8>>, errors: impl Into<Vec<u8>>) -> HookEnd {
    HookEnd::Exited { status, output: captured(output), errors: captured(errors) }
}

fn printed(event: HookEvent, output: &Value) -> Reply {
    read(event, &exited(0, output.to_string(), ""))
}

fn is_block(reply: &Reply) -> bool {
    matches!(reply.objection, Objection::Block(_))
}

#[test]
fn status_0_is_no_objection_and_2_is_one_with_its_errors_as_the_reason() {
    assert_eq!(read(HookEvent::PreToolUse, &exited(0, "checked\n", "noise")), Reply::default());
    let blocked = read(HookEvent::PreToolUse, &exited(2, "{\"decision\": \"approve\"}", "use trash instead\n"));
    assert_eq!(blocked.objection, Objection::Block("use trash instead".into()));
    let silent = read(HookEvent::PreToolUse, &exited(2, "", ""));
    assert_eq!(silent.objection, Objection::Block("it gave no reason".into()));
}

#[test]
fn a_guard_that_does_not_work_lets_nothing_pass_and_an_observer_does() {
    let cut = Captured { bytes: b"{\"decision\": \"approve\"".to_vec(), is_cut: true };
    let ends = [
        exited(1, "", "Traceback"),
        exited(127, "", "sh: guard: not found"),
        exited(137, "", ""),
        exited(0, "{", ""),
        exited(0, "{\"decision\": \"perhaps\"}", ""),
        exited(0, "{\"continue\": \"yes\"}", ""),
        exited(0, b"\xff\xfe{}".to_vec(), ""),
        HookEnd::Exited { status: 0, output: cut, errors: Captured::default() },
        HookEnd::Late(5),
        HookEnd::NotRun("no such folder".into()),
    ];
    for end in &ends {
        for event in HookEvent::ALL {
            let reply = read(event, end);
            assert_eq!(is_block(&reply), event.is_guard(), "{event}: {end:?}");
            assert!(reply.fault.is_some(), "{event}: {end:?}");
        }
    }
}

#[test]
fn the_strictest_of_all_decisions_counts() {
    let decided = |general: Value, permission: Value| {
        let output = json!({
            "decision": general, "reason": "g",
            "hookSpecificOutput": {"permissionDecision": permission, "permissionDecisionReason": "p"},
        });
        printed(HookEvent::PreToolUse, &output).objection
    };
    assert_eq!(decided(json!(null), json!("allow")), Objection::None);
    assert_eq!(decided(json!("approve"), json!("ask")), Objection::Ask("p".into()));
    assert_eq!(decided(json!("block"), json!("allow")), Objection::Block("g".into()));
    assert_eq!(decided(json!("approve"), json!("deny")), Objection::Block("p".into()));
    let request = json!({"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "not today"}}});
    assert_eq!(printed(HookEvent::PermissionRequest, &request).objection, Objection::Block("not today".into()));
    let request = json!({"hookSpecificOutput": {"decision": {"behavior": "allow"}}});
    assert_eq!(printed(HookEvent::PermissionRequest, &request), Reply::default());
}

#[test]
fn texts_go_to_the_model_or_to_the_user() {
    let output = json!({
        "systemMessage": "two\nlines \u{1b}[31mred", "suppressOutput": true, "unknown": 1,
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "it is\tMonday\u{1b}[2J"},
    });
    let reply = printed(HookEvent::UserPromptSubmit, &output);
    assert_eq!(reply.context.as_deref(), Some("it is\tMonday"));
    assert!(!reply.message.as_deref().unwrap().contains(['\u{1b}', '\n']), "{reply:?}");
    for event in HookEvent::ALL {
        let plain = read(event, &exited(0, "branch: main\n", "")).context;
        assert_eq!(plain.as_deref(), event.takes_plain_text().then_some("branch: main"), "{event}");
    }
}

#[test]
fn a_hook_may_end_the_turn_and_that_is_an_objection_too() {
    let output = json!({"continue": false, "stopReason": "enough"});
    let reply = printed(HookEvent::PreToolUse, &output);
    assert_eq!((reply.stop.as_deref(), is_block(&reply)), (Some("enough"), true));
    let reply = printed(HookEvent::PostToolUse, &output);
    assert_eq!((reply.stop.as_deref(), is_block(&reply)), (Some("enough"), false));
}

#[test]
fn only_a_call_that_is_wanted_can_be_changed() {
    let output = json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls"}}});
    assert!(printed(HookEvent::PreToolUse, &output).updated_input.is_some());
    assert!(printed(HookEvent::PermissionRequest, &output).updated_input.is_none());
}

#[test]
fn a_long_plain_text_that_is_cut_within_a_character_is_text() {
    let output = Captured { bytes: "xü".as_bytes()[..2].to_vec(), is_cut: true };
    let end = HookEnd::Exited { status: 0, output, errors: Captured::default() };
    assert_eq!(read(HookEvent::SessionStart, &end).context.as_deref(), Some("x"));
}

fn any_end() -> impl Strategy<Value = HookEnd> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..200);
    let json = "\\{(\"(decision|continue|reason|stopReason|hookSpecificOutput)\": ?(\"(block|approve|\\PC{0,8})\"|true|false|null|\\{\\}),?){0,3}\\}";
    let output = prop_oneof![bytes(), json.prop_map(String::into_bytes), "\\PC{0,80}".prop_map(String::into_bytes)];
    let exited = (-1..300, output, bytes(), any::<bool>()).prop_map(|(status, output, errors, is_cut)| {
        HookEnd::Exited { status, output: Captured { bytes: output, is_cut }, errors: captured(errors) }
    });
    prop_oneof![8 => exited, 1 => any::<u64>().prop_map(HookEnd::Late), 1 => "\\PC{0,40}".prop_map(HookEnd::NotRun)]
}

proptest! {
    #[test]
    fn whatever_a_hook_says_is_harmless_text_and_guards_fail_closed(end in any_end(), at in 0..HookEvent::ALL.len()) {
        let event = HookEvent::ALL[at];
        let reply = read(event, &end);
        let reason = match &reply.objection {
            Objection::None => None,
            Objection::Ask(reason) | Objection::Block(reason) => Some(reason),
        };
        for text in [reason, reply.context.as_ref(), reply.stop.as_ref()].into_iter().flatten() {
            prop_assert!(!text.is_empty() && text.len() <= MAX_TEXT_BYTES + 200);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
        }
        let is_well = matches!(end, HookEnd::Exited { status: 0, .. });
        if event.is_guard() && (!is_well || reply.fault.is_some()) {
            prop_assert!(is_block(&reply));
        }
        if let HookEnd::Exited { status: 2, .. } = end {
            prop_assert!(is_block(&reply));
        }
    }
}
