use proptest::prelude::*;

use super::*;

fn read_text(text: &str) -> Result<HookFile, String> {
    read(text.as_bytes(), Path::new("/h/hooks.json"))
}

fn fault(text: &str) -> String {
    read_text(text).expect_err("it is wrong")
}

#[test]
fn the_format_of_claude_code_is_read() {
    let file = read_text(
        r#"{
          "permissions": {"allow": ["Bash(ls)"]},
          "hooks": {
            "PreToolUse": [
              {"matcher": "Bash", "hooks": [
                {"type": "command", "command": "~/guard.sh", "timeout": 5},
                {"type": "command", "command": "log"}
              ]},
              {"hooks": [{"type": "command", "command": "all"}]}
            ],
            "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "done", "timeout": 0.5}]}]
          }
        }"#,
    )
    .unwrap();
    let rows: Vec<String> = file
        .hooks
        .iter()
        .map(|hook| format!("{} {} {} {:?}", hook.event, hook.matcher.shown(), hook.command, hook.limit))
        .collect();
    assert_eq!(
        rows,
        ["PreToolUse Bash ~/guard.sh 5s", "PreToolUse Bash log 60s", "PreToolUse * all 60s", "Stop * done 500ms"]
    );
    assert_eq!(file.remarks, Vec::<String>::new());
}

#[test]
fn what_is_not_used_is_named_and_the_rest_works() {
    let file = read_text(
        r#"{"hooks": {
            "TeammateIdle": [{"what": ["ever"]}],
            "PreToolUse": [{"hooks": [
                {"type": "prompt", "prompt": "is it safe?"},
                {"type": "command", "command": "guard", "if": "Bash(rm *)", "timeout": 86400}
            ]}]
        }}"#,
    )
    .unwrap();
    assert_eq!(file.hooks.len(), 1);
    assert_eq!(file.hooks[0].limit, Duration::from_secs(600));
    assert_eq!(
        file.remarks,
        [
            "hooks of `TeammateIdle` do not run: cohab has no such event",
            "a hook of PreToolUse does not run: its type is `prompt`, not `command`",
            "`guard` of PreToolUse has an `if`, which is not used: it runs for each call",
        ]
    );
    let off = read_text(
        r#"{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#,
    );
    assert!(off.unwrap().hooks.is_empty());
    assert!(read_text("{}").unwrap().hooks.is_empty());
}

#[test]
fn faults_are_named_with_their_line() {
    let cut = fault("{\n \"hooks\": {\n");
    assert!(cut.starts_with("line 3: EOF"), "{cut}");
    let hook = |hook: &str| format!("{{\n\"hooks\": {{\n\"Stop\": [{{\"hooks\": [\n{hook}\n]}}]}}}}");
    for (text, expected) in [
        (r#"{"type": "command", "command": " "}"#, "line 4: `command` is empty"),
        (r#"{"type": "command", "command": "x", "timeout": 0}"#, "line 4: `timeout` is a number of seconds above 0"),
        (r#"{"type": "command", "command": "x", "timeout": "5"}"#, "line 4: invalid type: string \"5\", expected f64"),
        (r#"{"command": "x"}"#, "line 4: missing field `type`"),
    ] {
        assert_eq!(fault(&hook(text)), expected);
    }
    let matcher = fault("{\"hooks\": {\n\"Stop\": [{\"matcher\": \"(\", \"hooks\": []}]}}");
    assert!(matcher.starts_with("line 2: the matcher `(`"), "{matcher}");
    let one = r#"{"type": "command", "command": "x"}"#;
    let many = vec![one; 65].join(",");
    assert_eq!(fault(&hook(&many)), "65 hooks are more than 64");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(content in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&content, Path::new("/h"));
    }

    #[test]
    fn any_json_near_the_format_is_read_or_refused_in_one_line(
        event in "[A-Za-z]{0,12}|PreToolUse",
        matcher in "\\PC{0,20}",
        command in "\\PC{0,40}",
        timeout in any::<f64>(),
    ) {
        let json = serde_json::json!({
            "hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": timeout}]}]}
        });
        if let Err(error) = read(json.to_string().as_bytes(), Path::new("/h")) {
            prop_assert!(!error.chars().any(char::is_control), "{error:?}");
        }
    }
}
