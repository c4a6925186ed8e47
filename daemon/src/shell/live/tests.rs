use super::*;

fn result(ending: wire::CommandEnding) -> wire::CommandExecutionResult {
    wire::CommandExecutionResult {
        call_id: CallId::fresh(),
        ending,
        exit_code: Some(3),
        output: "out".into(),
        total_bytes: 3,
        truncated_bytes: 0,
        cwd: PathBuf::from("/tmp").into(),
        env_delta: wire::EnvDelta {
            set: vec![
                wire::EnvChange { name: "KEY".into(), value: None },
                wire::EnvChange { name: "A".into(), value: Some("1".into()) },
            ],
            unset: vec!["B".into()],
        },
        duration_ms: 1500,
        mode: wire::RunMode::Live,
    }
}

#[test]
fn a_result_becomes_an_outcome_with_secrets_masked() {
    let outcome = outcome(result(wire::CommandEnding::Exited), true).unwrap();
    assert_eq!(
        (outcome.ending, outcome.status, outcome.duration),
        (Ending::Exited, Some(3), Duration::from_millis(1500))
    );
    let change = |name: &str, value: Option<&str>| EnvChange { name: name.into(), value: value.map(Into::into) };
    assert_eq!(outcome.env_delta, [change("A", Some("1")), change("B", None), change("KEY", Some("<masked>"))]);
}

#[test]
fn the_environment_is_left_out_unless_it_was_asked_for() {
    assert!(outcome(result(wire::CommandEnding::Exited), false).unwrap().env_delta.is_empty());
}

#[test]
fn a_refusal_keeps_its_code_and_its_reason() {
    for (code, expected) in [("shell_busy", "shell_busy"), ("nested", "nested"), ("something new", "refused")] {
        let refused = wire::CommandEnding::Refused { code: code.into(), reason: "vim runs".into() };
        let error = outcome(result(refused), true).unwrap_err();
        assert_eq!((error.code(), error.to_string()), (expected, "vim runs".into()));
    }
}
