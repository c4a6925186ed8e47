use std::{
    fs::{self, create_dir_all},
    os::unix::fs::symlink,
};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    super::testing::{ScriptedRunner, call_with, folder, intent, make_pipe, options, run},
    *,
};

async fn grep(cwd: &Path, args: Value) -> Result<ToolOutput, String> {
    run(&Grep::new(&options(cwd)), cwd, &args).await
}

fn make(dir: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = dir.join(name);
    create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[tokio::test]
async fn lines_are_shown_with_path_and_number_in_order() {
    let (_guard, dir) = folder();
    make(&dir, "b.txt", "x\nneedle two\n");
    make(&dir, "a/c.txt", "Needle one\r\nneedle\n");
    let output = grep(&dir, json!({"pattern": "needle"})).await.unwrap();
    assert_eq!(output.content, "a/c.txt:2:needle\nb.txt:2:needle two\n");
    assert_eq!(output.summary, "2 matches in 2 files");
    let output = grep(&dir, json!({"pattern": "^needle ", "ignore_case": true, "path": "a"})).await.unwrap();
    assert_eq!(output.content, "a/c.txt:1:Needle one\n");
    let output = grep(&dir, json!({"pattern": "needle", "path": "b.txt"})).await.unwrap();
    assert_eq!(output.content, "b.txt:2:needle two\n");
    let output = grep(&dir, json!({"pattern": "needle", "glob": "a/*.txt"})).await.unwrap();
    assert_eq!(output.content, "a/c.txt:2:needle\n");
    let output = grep(&dir, json!({"pattern": "nothing"})).await.unwrap();
    assert_eq!(output.content, format!("[no match in 2 files below {}]\n", dir.display()));
}

#[tokio::test]
async fn context_lines_are_marked_and_groups_are_separated() {
    let (_guard, dir) = folder();
    make(&dir, "a", "1\n2\nhit\n4\n5\n6\n7\nhit\n");
    make(&dir, "b", "hit\n");
    let output = grep(&dir, json!({"pattern": "hit", "context": 1})).await.unwrap();
    assert_eq!(output.content, "a-2-2\na:3:hit\na-4-4\n--\na-7-7\na:8:hit\n--\nb:1:hit\n");
}

#[tokio::test]
async fn a_wrong_expression_is_explained() {
    let (_guard, dir) = folder();
    let error = grep(&dir, json!({"pattern": "a(b"})).await.unwrap_err();
    assert!(error.starts_with("argument `pattern` is no regular expression:") && error.contains("unclosed group"));
    let error = grep(&dir, json!({"pattern": "a\\nb"})).await.unwrap_err();
    assert!(error.contains("\\n"), "{error}");
    assert!(grep(&dir, json!({"pattern": "(a{1000}){1000}"})).await.unwrap_err().contains("size"));
    assert!(grep(&dir, json!({"pattern": "x", "glob": "["})).await.unwrap_err().contains("glob pattern is wrong"));
}

#[tokio::test]
async fn results_are_bounded_in_matches_and_bytes() {
    let (_guard, dir) = folder();
    make(&dir, "many", "hit\n".repeat(5_000));
    let output = grep(&dir, json!({"pattern": "hit", "max": 3})).await.unwrap();
    assert_eq!(
        output.content,
        "many:1:hit\nmany:2:hit\nmany:3:hit\n[there are more matches; narrow the search or raise `max`]\n"
    );
    assert_eq!(output.summary, "3 matches or more in 1 file");
    make(&dir, "many", "hit\n".repeat(3));
    assert_eq!(grep(&dir, json!({"pattern": "hit", "max": 3})).await.unwrap().summary, "3 matches in 1 file");
    make(&dir, "long", format!("hit{}\n", "ä".repeat(2_000_000)));
    let output = grep(&dir, json!({"pattern": "hit", "path": "long"})).await.unwrap();
    assert!(output.content.len() < 700, "{}", output.content.len());
    make(&dir, "wide", format!("hit{}\n", "x".repeat(450)).repeat(900));
    let output = grep(&dir, json!({"pattern": "hit", "path": "wide", "max": 1000})).await.unwrap();
    assert!(output.content.len() < 64 * 1024 + 200 && output.content.contains("there are more matches"));
}

#[tokio::test]
async fn binaries_links_pipes_and_what_is_too_long_are_skipped() {
    let (_guard, dir) = folder();
    make(&dir, "binary", b"hit\0hit\n");
    make(&dir, "latin1", b"hit caf\xe9\n");
    make(&dir, "giant", "x".repeat(HELD_PLUS));
    make(&dir, "outside/secret", "hit\n");
    make_pipe(&dir.join("pipe"));
    create_dir_all(dir.join("in")).unwrap();
    symlink("../outside/secret", dir.join("in/link")).unwrap();
    symlink(".", dir.join("in/loop")).unwrap();
    let output = grep(&dir, json!({"pattern": "hit"})).await.unwrap();
    assert_eq!(
        output.content,
        "latin1:1:hit caf\u{fffd}\noutside/secret:1:hit\n[1 file skipped as binary; 1 file could not be read]\n"
    );
    let linked = grep(&dir, json!({"pattern": "hit", "path": "in"})).await.unwrap();
    assert!(linked.content.starts_with("[no match"));
    let pipe = grep(&dir, json!({"pattern": "hit", "path": "pipe"})).await.unwrap_err();
    assert!(pipe.ends_with("is neither a file nor a folder"));
}

/// Longer than the kept part of a line.
const HELD_PLUS: usize = 17 * 1024 * 1024;

#[test]
fn secret_files_are_left_out_unless_exactly_they_are_asked_for() {
    let (_guard, dir) = folder();
    make(&dir, "id_rsa", "KEY\n");
    make(&dir, "notes", "KEY\n");
    let limits = Limits { matches: 10, context_lines: 0, bytes: 1_000 };
    let found = |path: &str| {
        let args: GrepArguments =
            arguments::parse(&super::super::testing::object(&json!({"pattern": "KEY", "path": path})))?;
        let is_secret = |file: &Path| file.ends_with("id_rsa");
        find(
            &search_of(&args, &dir, &options(&dir))?,
            (&dir, &options(&dir).ignore),
            &limits,
            is_secret,
            &CancellationToken::new(),
        )
    };
    let output = found(".").unwrap();
    assert!(output.content.starts_with("notes:1:KEY\n[1 file left out because of secrets"), "{}", output.content);
    assert_eq!(found("id_rsa").unwrap().content, "id_rsa:1:KEY\n");
}

#[test]
fn the_intent_is_to_read_below_the_real_folder() {
    let (_guard, dir) = folder();
    create_dir_all(dir.join("real")).unwrap();
    symlink("real", dir.join("link")).unwrap();
    let intent = intent(&Grep::new(&options(&dir)), &dir, &json!({"pattern": "a.b", "path": "link"})).unwrap();
    assert_eq!(
        intent,
        Intent {
            title: "a.b in link".into(),
            effect: Effect::Read { path: dir.join("real"), pattern: Some("a.b".into()) }
        }
    );
}

#[tokio::test]
async fn a_cancelled_search_stops() {
    let (_guard, dir) = folder();
    make(&dir, "f", "x");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let tool = Grep::new(&options(&dir));
    let result = call_with(&tool, &ScriptedRunner::new(&dir), &cancel, &json!({"pattern": "x"})).await;
    assert_eq!(result.unwrap_err(), "cancelled before it ended");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_searched_without_harm(content in prop::collection::vec(any::<u8>(), 0..400), pattern in "[a-c.*(\\[]{1,6}") {
        let (_guard, dir) = folder();
        fs::write(dir.join("f"), &content).unwrap();
        let limits = Limits { matches: 5, context_lines: 1, bytes: 1_000 };
        let args: GrepArguments = arguments::parse(&super::super::testing::object(&json!({"pattern": pattern}))).unwrap();
        if let Ok(search) = search_of(&args, &dir, &options(&dir)) {
            let output = find(&search, (&dir, &options(&dir).ignore), &limits, |_| false, &CancellationToken::new()).unwrap();
            prop_assert!(output.content.len() < 1_200);
        }
    }
}
