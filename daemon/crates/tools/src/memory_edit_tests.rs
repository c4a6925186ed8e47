use std::sync::Mutex;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{super::testing, *};

type Proposed = Arc<Mutex<Vec<BlockEdit>>>;

/// Both tools, and what they propose; a block `full` takes no more.
fn desk() -> ([Arc<dyn Tool>; 2], Proposed) {
    let proposed = Proposed::default();
    let inbox = Arc::clone(&proposed);
    let propose: ProposeEdit = Arc::new(move |edit, _| {
        if edit.label.as_str() == "full" {
            return Err("the inbox is full".to_owned());
        }
        inbox.lock().unwrap().push(edit);
        Ok(())
    });
    (tools(&propose), proposed)
}

#[tokio::test]
async fn both_tools_propose_and_say_so() {
    let ([append, replace], proposed) = desk();
    let added = json!({"label": "human", "text": "\r\n uses \u{1b}[31mfish\n"});
    let output = testing::run(append.as_ref(), Path::new("/"), &added).await.unwrap();
    assert_eq!(output.content, "Proposed. The block human stays as it is until the user accepts it.");
    let replaced = json!({"label": "notes", "old": "fish", "new": ""});
    testing::run(replace.as_ref(), Path::new("/"), &replaced).await.unwrap();
    let edit = |label: &str, change| BlockEdit { label: label.parse().unwrap(), change };
    assert_eq!(
        *proposed.lock().unwrap(),
        [
            edit("human", BlockChange::Append { text: " uses fish".to_owned() }),
            edit("notes", BlockChange::Replace { old: "fish".to_owned(), new: String::new() }),
        ]
    );
}

#[tokio::test]
async fn an_intent_shows_the_change_and_proposes_nothing() {
    let ([append, replace], proposed) = desk();
    let title = |tool: &Arc<dyn Tool>, args: &Value| {
        let intent = testing::intent(tool.as_ref(), Path::new("/"), args).unwrap();
        assert!(matches!(intent.effect, Effect::Internal));
        intent.title
    };
    assert_eq!(title(&append, &json!({"label": "human", "text": "one\ntwo"})), "human: one (+1 line)");
    assert_eq!(title(&replace, &json!({"label": "human", "old": "a", "new": "b"})), "human: a -> b");
    assert_eq!(*proposed.lock().unwrap(), []);
}

#[tokio::test]
async fn wrong_arguments_and_a_refused_proposal_are_errors() {
    let ([append, replace], proposed) = desk();
    let long = "x".repeat(8_001);
    for (tool, args, fault) in [
        (&append, json!({"label": "Human", "text": "x"}), "`label` is not the name of a block: "),
        (&append, json!({"label": "human", "text": " \n\u{7}"}), "`text` must not be empty"),
        (&append, json!({"label": "human", "text": long}), "`text` must have at most 8000"),
        (&append, json!({"label": "full", "text": "x"}), "the inbox is full"),
        (&append, json!({"label": "human"}), "`text`"),
        (&replace, json!({"label": "human", "old": "", "new": "x"}), "`old` must not be empty"),
        (&replace, json!({"label": "human", "old": "x", "new": long}), "`new` must have at most 8000"),
    ] {
        let error = testing::call(tool.as_ref(), Path::new("/"), &args).await.unwrap_err();
        assert!(error.contains(fault), "{error}");
    }
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let runner = testing::ScriptedRunner::new(Path::new("/"));
    let args = json!({"label": "human", "text": "x"});
    assert!(testing::call_with(append.as_ref(), &runner, &cancelled, &args).await.is_err());
    assert_eq!(*proposed.lock().unwrap(), []);
}

#[test]
fn the_descriptions_name_the_delivered_blocks_and_the_rule() {
    for (tool, name) in desk().0.iter().zip(["memory_append", "memory_replace"]) {
        let spec = tool.spec();
        assert_eq!(spec.name, name);
        for part in ["`persona` (how the assistant behaves)", "`human`", "`project`", "before the user accepts it"] {
            assert!(spec.description.contains(part), "{}", spec.description);
        }
        assert!(!spec.parameters.to_string().contains("$ref"), "{}", spec.parameters);
    }
}
