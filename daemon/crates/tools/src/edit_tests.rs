use std::{fs, os::unix::fs::PermissionsExt};

use cohab_agent::port::Effect;
use proptest::prelude::*;
use serde_json::json;

use super::super::testing::{call, folder, intent, options, run};
use super::*;

fn arguments(old: &str, new: &str, replace_all: bool) -> EditArguments {
    EditArguments { path: "f".into(), old_string: old.into(), new_string: new.into(), replace_all }
}

fn error(text: &str, old: &str) -> String {
    let args = arguments(old, "new", false);
    replaced(text, &args).unwrap_err().explain(text, &args, true)
}

#[tokio::test]
async fn a_piece_is_replaced_and_the_rest_stays() {
    let (_guard, dir) = folder();
    fs::write(dir.join("f"), "a\nb\nc").unwrap();
    fs::set_permissions(dir.join("f"), fs::Permissions::from_mode(0o755)).unwrap();
    let tool = Edit::new(&options(&dir));
    let args = json!({"path": "f", "old_string": "b\nc", "new_string": "B"});
    let shown = intent(&tool, &dir, &args).unwrap();
    assert_eq!(shown.title, "f");
    let Effect::Write { path, diff } = shown.effect else { panic!("an edit writes") };
    assert_eq!(path, dir.join("f"));
    assert!(diff.contains("-b\n-c\n") && diff.contains("+B\n"), "{diff}");
    assert_eq!(call(&tool, &dir, &args).await.unwrap().summary, "+1 -2");
    assert_eq!(fs::read_to_string(dir.join("f")).unwrap(), "a\nB");
    assert_eq!(fs::metadata(dir.join("f")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[tokio::test]
async fn an_edit_of_a_file_that_changed_since_it_was_shown_writes_nothing() {
    let (_guard, dir) = folder();
    fs::write(dir.join("f"), "one two").unwrap();
    let tool = Edit::new(&options(&dir));
    let args = json!({"path": "f", "old_string": "two", "new_string": "2"});
    intent(&tool, &dir, &args).unwrap();
    fs::write(dir.join("f"), "another two").unwrap();
    assert!(call(&tool, &dir, &args).await.unwrap_err().contains("changed meanwhile"));
    fs::remove_file(dir.join("f")).unwrap();
    assert!(call(&tool, &dir, &args).await.unwrap_err().contains("no such file"));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    let (_guard, dir) = folder();
    fs::write(dir.join("latin1"), b"caf\xe9").unwrap();
    for (path, expected) in
        [("latin1", "is not UTF-8 text; use `sed` with `bash`"), ("gone", "no such file; make it with `write`")]
    {
        let args = json!({"path": path, "old_string": "c", "new_string": "d"});
        assert!(run(&Edit::new(&options(&dir)), &dir, &args).await.unwrap_err().ends_with(expected));
    }
}

#[test]
fn a_piece_that_is_not_there_is_answered_with_the_nearest_line() {
    assert_eq!(
        error("fn main() {\n    let count = 1;\n}\n", "    let counts = 2;"),
        "`old_string` is not in the file; the nearest line is 2: `let count = 1;`; read the file again"
    );
    assert_eq!(
        error("if x {\n\treturn;\n}\n", "if x {\n    return;"),
        "`old_string` is not in the file; it is there with other white space; the nearest line is 1: `if x {`; \
         read the file again"
    );
    assert_eq!(error("", "x"), "`old_string` is not in the file; read the file again");
    assert!(error("abc", "\n\n").starts_with("`old_string` is not in the file; read"));
}

#[test]
fn a_piece_that_is_there_more_than_once_is_answered_with_its_places() {
    assert_eq!(
        error("x = 1\ny\nx = 1\n", "x = 1"),
        "`old_string` is there 2 times (lines 1, 3); add lines around it to make it unique, or set `replace_all`"
    );
    assert!(error(&"x\n".repeat(9), "x").contains("9 times (lines 1, 2, 3, 4, 5, ...)"));
    assert!(error("aaa", "aa").contains("2 times"), "overlapping pieces are ambiguous, too");
}

#[test]
fn nothing_is_told_about_a_file_that_may_not_simply_be_read() {
    let text = "user = me\npassword = 123\npassword = 123\n";
    for old in ["password = 124", "password = 123"] {
        let args = arguments(old, "x", false);
        let told = replaced(text, &args).unwrap_err().explain(text, &args, false);
        assert_eq!(told, "`old_string` is not in the file exactly once; read it again");
    }
}

#[test]
fn the_first_line_of_an_error_says_in_short_what_is_wrong() {
    let (_guard, dir) = folder();
    fs::write(dir.join("f"), "x = 1\nx = 1\n").unwrap();
    let told = |old: &str| {
        let args = json!({"path": "f", "old_string": old, "new_string": "y"});
        intent(&Edit::new(&options(&dir)), &dir, &args).unwrap_err()
    };
    assert!(told("z").starts_with(&format!("text to replace not found\n{}/f: `old_string` is not in", dir.display())));
    assert!(told("x = 1").starts_with("text to replace found more than once\n"));
}

#[test]
fn edits_without_effect_are_refused() {
    assert!(error("abc", "").contains("is empty"));
    assert_eq!(replaced("abc", &arguments("b", "b", false)), Err(Mismatch::Same));
}

#[test]
fn crlf_files_keep_crlf_whatever_the_model_writes() {
    let edited = |text: &str, old: &str, new: &str| replaced(text, &arguments(old, new, false)).unwrap();
    assert_eq!(edited("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n");
    assert_eq!(edited("a\r\nb\r\n", "a\r\nb", "x\r\ny"), "x\r\ny\r\n");
    assert_eq!(edited("a\r\nb\r\n", "b", "b\nb"), "a\r\nb\r\nb\r\n");
    assert_eq!(edited("a\r\nb\nc\n", "b\nc", "x\ny"), "a\r\nx\ny\n", "mixed: what matches as it is stays as it is");
    assert_eq!(edited("a\r\nb\r\nc\n", "a\nb", "x\ny"), "x\r\ny\r\nc\n", "mixed: matched in its CRLF part");
}

#[test]
fn hostile_repetition_is_bounded_in_time_and_memory() {
    let text = "a".repeat(4_000_000);
    assert!(error(&text, &"a".repeat(2_000_000)).contains("2 times"));
    assert!(error(&text, &"b".repeat(100)).contains("not in the file"));
    assert_eq!(replaced(&text, &arguments("a", &text, true)), Err(Mismatch::TooLong));
}

proptest! {
    #[test]
    fn an_edit_is_exactly_a_replacement(
        text in "[ab\nä]{0,40}", old in "[ab\nä]{0,3}", new in "[abc\n]{0,3}", all in any::<bool>(),
    ) {
        let occurrences = (0..text.len()).filter(|at| text.is_char_boundary(*at) && text[*at..].starts_with(&old)).count();
        match replaced(&text, &arguments(&old, &new, all)) {
            Ok(result) => {
                prop_assert!(all || occurrences == 1);
                prop_assert_eq!(result, text.replace(&old, &new));
            }
            Err(_) => prop_assert!(old.is_empty() || old == new || occurrences == 0 || (!all && occurrences > 1)),
        }
    }

    #[test]
    fn an_edit_of_a_crlf_file_leaves_only_crlf(lines in prop::collection::vec("[ab]{0,3}", 1..9), new in "[ab\n]{0,4}") {
        let text: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        if let Ok(result) = replaced(&text, &arguments("a\nb", &new, true)) {
            prop_assert_eq!(result.matches('\n').count(), result.matches("\r\n").count());
            prop_assert_eq!(result.replace("\r\n", "\n"), text.replace("\r\n", "\n").replace("a\nb", &new));
        }
    }
}
