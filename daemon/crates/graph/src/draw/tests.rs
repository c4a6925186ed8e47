use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use super::*;
use crate::definition;

fn drawn(text: &str, columns: usize) -> String {
    drawing(&definition::read("flow.toml", text, &|_| Err("no files".to_owned())).expect(text), columns)
}

const REVIEW: &str = r#"
start = "check"
[state]
findings = { type = "list", reducer = "append" }
code = "number"
answer = "text"
[nodes.check]
kind = "parallel"
branches = ["lint", "test"]
join = "good"
[nodes.lint]
kind = "tool"
command = "cargo clippy --workspace --all-targets -- -D warnings"
output = "findings"
next = "good"
on_failure = "explain"
[nodes.explain]
kind = "llm"
role = "engineer"
prompt = "Explain what clippy says:\n{{findings}}"
next = "good"
[nodes.test]
kind = "tool"
command = ["cargo", "nextest", "run"]
status = "code"
next = "good"
[nodes.good]
kind = "condition"
when = [{ if = "code == 0", next = "look" }]
else = "fix"
[nodes.fix]
kind = "llm"
prompt = "Fix it"
next = "check"
[nodes.look]
kind = "subgraph"
next = "ask"
on_failure = "stop"
[nodes.look.flow]
name = "two eyes"
start = "read"
[nodes.look.flow.nodes.read]
kind = "tool"
tool = "read"
next = "end"
[nodes.look.flow.nodes.end]
kind = "end"
result = "looked"
[nodes.ask]
kind = "human"
question = "Ship it?"
choices = ["yes", "no"]
output = "answer"
next = "argue"
[nodes.argue]
kind = "debate"
question = "Was that right?"
next = "stop"
[nodes.stop]
kind = "end"
result = "{{findings}}"
"#;

#[test]
fn a_flow_is_drawn_in_80_columns() {
    insta::assert_snapshot!(drawn(REVIEW, 80));
}

#[test]
fn a_flow_is_drawn_in_40_columns() {
    insta::assert_snapshot!(drawn(REVIEW, 40));
}

#[test]
fn one_node_is_a_row() {
    assert_eq!(drawn("start = \"a\"\n[nodes.a]\nkind = \"end\"\n", 80), "○ a     end        done\n");
}

/// A chain in which every third node begins two branches.
fn long(count: usize) -> String {
    let mut text = "start = \"n0\"\nsteps = 1000\n".to_owned();
    for number in (0..count).step_by(3) {
        let (a, b, next) = (number + 1, number + 2, number + 3);
        let next = if next < count { format!("n{next}") } else { "end".to_owned() };
        text +=
            &format!("[nodes.n{number}]\nkind = \"parallel\"\nbranches = [\"n{a}\", \"n{b}\"]\njoin = \"{next}\"\n");
        for branch in [a, b] {
            text += &format!("[nodes.n{branch}]\nkind = \"llm\"\nprompt = \"look\"\nnext = \"{next}\"\n");
        }
    }
    text + "[nodes.end]\nkind = \"end\"\n"
}

#[test]
fn two_hundred_nodes_have_a_row_each() {
    let picture = drawn(&long(198), 60);
    assert_eq!(picture.lines().count(), 199);
    assert!(picture.lines().all(|line| line.width() <= 60));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_line_is_wider_than_the_terminal(columns in 1..120usize, count in 1..70usize) {
        for text in [REVIEW.to_owned(), long(count)] {
            let picture = drawn(&text, columns);
            prop_assert!(picture.lines().all(|line| line.width() <= columns), "{picture}");
        }
    }

    #[test]
    fn words_of_others_stay_words(words in "(?s)[^\"\\\\{}\r]{1,30}") {
        let text = format!("start = \"a\"\n[nodes.a]\nkind = \"human\"\nquestion = {}\nnext = \"z\"\n[nodes.z]\nkind = \"end\"\n",
            serde_json::to_string(&words).expect("text"));
        if let Ok(flow) = definition::read("f", &text, &|_| Err(String::new())) {
            let picture = drawing(&flow, 50);
            prop_assert!(picture.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert_eq!(picture.lines().count(), 2);
        }
    }
}
