use proptest::prelude::*;

use super::*;
use crate::flow::{CallTemplate, MAX_NODES, NodeId, NodeKind};

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("there is no file `{name}`"))
}

fn faults(text: &str) -> Vec<String> {
    let problems = read("flow.toml", text, &no_files).expect_err(text);
    assert!(problems.iter().all(|problem| !problem.hint.is_empty()));
    problems.iter().map(ToString::to_string).collect()
}

const REVIEW: &str = r#"
name = "review"
start = "split"
steps = 20

[state]
goal = "text"
findings = { type = "list", reducer = "append" }
rounds = { type = "number", reducer = "sum", value = 1_0 }
code = "number"
is_good = { type = "flag", value = true }
notes = { type = "map", reducer = "merge", value = { a = "b" } }

[nodes.split]
kind = "parallel"
branches = ["lint", "look"]
join = "verdict"

[nodes.lint]
kind = "tool"
command = "cargo clippy"
output = "findings"
status = "code"
next = "verdict"

[nodes.look]
kind = "llm"
prompt = "Look for {{goal}}"
role = "reviewer"
output = "findings"
next = "verdict"
on_failure = "verdict"

[nodes.verdict]
kind = "condition"
when = [{ if = "code == 0 and rounds < 20", next = "ask" }]
else = "stop"

[nodes.ask]
kind = "human"
question = "Merge it?\n{{findings}}"
choices = ["yes", "no"]
next = "search"

[nodes.search]
kind = "tool"
tool = "grep"
arguments = { pattern = "{{goal}}", limit = 3, deep = [true, "x"] }
next = "talk"

[nodes.talk]
kind = "debate"
question = "{{goal}}?"
output = "goal"
next = "done"

[nodes.done]
kind = "end"
result = "{{findings}}"

[nodes.stop]
kind = "end"
status = "failed"
"#;

#[test]
fn each_kind_of_node_is_read() {
    let flow = read("flow.toml", REVIEW, &no_files).expect("a flow");
    assert_eq!((flow.name.as_str(), flow.max_steps, flow.start), ("review", 20, NodeId(0)));
    let words: Vec<&str> = flow.nodes.iter().map(|node| node.kind.word()).collect();
    let expected = ["parallel", "command", "llm", "condition", "human", "tool", "debate", "end", "end"];
    assert_eq!(words, expected);
    let place = |name: &str| flow.nodes.iter().find(|node| node.name == name).and_then(|node| node.place);
    assert_eq!(place("lint").map(|place| place.branch), Some(0));
    assert_eq!(place("look").map(|place| place.branch), Some(1));
    assert_eq!((place("split"), place("verdict")), (None, None));
    assert_eq!(flow.keys[2].initial, crate::value::StateValue::Number(10.0));
}

#[test]
fn a_flow_without_a_name_has_that_of_its_file() {
    let text = "start = \"a\"\n[nodes.a]\nkind = \"end\"\n";
    let flow = read("a/b/nightly.toml", text, &no_files).expect("a flow");
    assert_eq!((flow.name.as_str(), flow.max_steps), ("nightly", 100));
}

#[test]
fn every_fault_has_its_line_and_says_what_to_do() {
    let with = |nodes: &str| {
        format!("start = \"a\"\n[state]\nn = \"number\"\nt = \"text\"\n[nodes.z]\nkind = \"end\"\n{nodes}")
    };
    for (nodes, expected) in [
        ("[nodes.a]\nkind = \"lmm\"", "8:8: there is no kind `lmm`"),
        ("[nodes.a]\nprompt = \"x\"", "7:8: node `a` has no `kind`"),
        ("[nodes.a]\nkind = \"llm\"\nprompt = \"x {{m}}\"\nnext = \"z\"", "9:13: `m` is no key of the state"),
        ("[nodes.a]\nkind = \"llm\"\nprompt = 3\nnext = \"z\"", "9:10: `prompt` of node `a` is not a \"text\""),
        ("[nodes.a]\nkind = \"llm\"\nprompt = \"\"\nnext = \"y\"", "10:8: there is no node `y`"),
        ("[nodes.a]\nkind = \"llm\"\nprompt = \"\"", "7:8: node `a` has no `next`"),
        ("[nodes.a]\nkind = \"llm\"\npromt = \"\"\nprompt = \"\"\nnext = \"z\"", "9:1: node `a` has no entry `promt`"),
        ("[nodes.a]\nkind = \"llm\"\nprompt = \"\"\noutput = \"m\"\nnext = \"z\"", "10:10: `m` is no key of the state"),
        (
            "[nodes.a]\nkind = \"tool\"\ncommand = \"echo {{t}}\"\nnext = \"z\"",
            "9:17: a shell line cannot hold the value of `t`: its text would run as code",
        ),
        ("[nodes.a]\nkind = \"tool\"\nnext = \"z\"", "7:8: node `a` has nothing to run, or two things"),
        (
            "[nodes.a]\nkind = \"tool\"\ncommand = \"x\"\nstatus = \"t\"\nnext = \"z\"",
            "10:10: an exit status is a number",
        ),
        (
            "[nodes.a]\nkind = \"tool\"\ntool = \"x\"\nstatus = \"n\"\nnext = \"z\"",
            "10:10: only a command has an exit status",
        ),
        (
            "[nodes.a]\nkind = \"condition\"\nwhen = [{ if = \"n = 1\", next = \"z\" }]\nelse = \"z\"",
            "9:19: `=` is not a comparison; write `==`",
        ),
        ("[nodes.a]\nkind = \"condition\"\nwhen = []", "7:8: node `a` has no `else`"),
        ("[nodes.a]\nkind = \"end\"\nstatus = \"good\"", "9:10: there is no status `good`"),
        ("[nodes.a]\nkind = \"parallel\"\nbranches = [\"z\"]\njoin = \"z\"", "9:12: there are fewer than two branches"),
        ("[nodes.a]\nkind = \"subgraph\"\nfile = \"x.toml\"\nnext = \"z\"", "9:8: there is no file `x.toml`"),
        ("[nodes.\"a b\"]\nkind = \"end\"", "7:8: `a b` cannot be the name of a node"),
        ("[nodes.a\nkind", "7:9: "),
    ] {
        let found = faults(&with(nodes));
        let expected = format!("flow.toml:{expected}");
        assert!(found.iter().any(|fault| fault.starts_with(&expected)), "{nodes}\n{found:#?}");
    }
}

#[test]
fn faults_of_the_state_and_of_the_flow_are_found_together() {
    let text = "start = \"b\"\nsteps = 10_001\n[state]\na = \"string\"\nb = { type = \"text\", reducer = \"sum\" }\n\
                c = { type = \"number\", value = \"x\" }\nand = \"text\"\nd = 3\n[nodes.a]\nkind = \"end\"\n";
    let expected = [
        "flow.toml:1:9: there is no node `b`",
        "flow.toml:2:9: `steps` is out of range",
        "flow.toml:4:5: there is no type `string`",
        "flow.toml:5:32: `sum` does not join values of the type `text`",
        "flow.toml:6:32: the value of key `c` is not of the type `number`",
        "flow.toml:7:1: `and` cannot be the name of a key",
        "flow.toml:8:5: key `d` has no type",
    ];
    assert_eq!(faults(text), expected);
}

/// A flow with these nodes that starts at `a` and has the end `z`.
fn shape(nodes: &[(&str, &str)]) -> Result<Flow, Vec<String>> {
    let mut text = "start = \"a\"\n[nodes.z]\nkind = \"end\"\n".to_owned();
    for (name, ways) in nodes {
        let node = match ways.split_once("=>") {
            Some((branches, join)) => format!("kind = \"parallel\"\nbranches = {branches}\njoin = \"{}\"", join.trim()),
            None => {
                let mut ways = ways.split_whitespace();
                let (next, failure) = (ways.next().unwrap_or_default(), ways.next());
                let failure = failure.map_or(String::new(), |to| format!("\non_failure = \"{to}\""));
                format!("kind = \"llm\"\nprompt = \"x\"\nnext = \"{next}\"{failure}")
            }
        };
        text += &format!("[nodes.{name}]\n{node}\n");
    }
    read("flow.toml", &text, &no_files).map_err(|problems| problems.into_iter().map(|one| one.message).collect())
}

#[test]
fn branches_are_apart_and_lead_to_their_join() {
    let fork = ("a", "[\"b\", \"c\"] => j");
    let join = ("j", "z");
    shape(&[fork, ("b", "j"), ("c", "d"), ("d", "c j"), join]).expect("a loop in a branch");
    shape(&[fork, ("b", "[\"e\", \"f\"] => j"), ("e", "j"), ("f", "j"), ("c", "j"), join]).expect("one join of both");
    shape(&[fork, ("b", "j"), ("c", "j"), ("j", "a z")]).expect("a loop around it");
    for (nodes, expected) in [
        (vec![("b", "d"), ("c", "d"), ("d", "j")], "two branches of `a` share the node `d`"),
        (vec![("b", "z j"), ("c", "j")], "the branch `b` leads to the end `z`"),
        (vec![("b", "b"), ("c", "j")], "the branch `b` does not lead to the join `j`"),
        (vec![("b", "a j"), ("c", "j")], "the branch `b` leads back to `a`"),
        (vec![("b", "j"), ("c", "j"), ("d", "c")], "nothing leads to the node `d`"),
    ] {
        let nodes: Vec<_> = nodes.into_iter().chain([fork, join]).collect();
        let found = shape(&nodes).expect_err(expected);
        assert!(found.iter().any(|message| message == expected), "{found:?}");
    }
    let into = [("a", "p b"), ("p", "[\"b\", \"c\"] => j"), ("b", "j"), ("c", "j"), join];
    let found = shape(&into).expect_err("a way into a branch");
    assert!(found.contains(&"`a` leads into a branch of `p`".to_owned()), "{found:?}");
    let itself = shape(&[("a", "[\"b\", \"j\"] => j"), ("b", "j"), join]).expect_err("the join is a branch");
    assert!(itself.contains(&"the branch `j` is the join itself".to_owned()), "{itself:?}");
}

#[test]
fn a_flow_needs_an_end_that_can_be_reached() {
    let found = shape(&[("a", "a")]).expect_err("no end");
    assert_eq!(found, ["nothing leads to the node `z`", "the flow has no end that can be reached"]);
}

const INNER: &str = "start = \"ask\"\n[state]\nq = \"text\"\n[nodes.ask]\nkind = \"llm\"\nprompt = \"{{q}}\"\noutput = \"q\"\n\
                     next = \"out\"\n[nodes.out]\nkind = \"end\"\nresult = \"{{q}}\"\n";

#[test]
fn a_subgraph_is_a_part_of_the_flow_with_names_of_its_own() {
    let outer = "start = \"sub\"\n[state]\nq = \"text\"\n[nodes.sub]\nkind = \"subgraph\"\nfile = \"inner.toml\"\n\
                 with = { q = \"about {{q}}\" }\noutput = \"q\"\nnext = \"out\"\n[nodes.out]\nkind = \"end\"\n";
    let files = |name: &str| if name == "inner.toml" { Ok(INNER.to_owned()) } else { Err("no".to_owned()) };
    let flow = read("flow.toml", outer, &files).expect("a flow");
    let names: Vec<&str> = flow.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["sub", "out", "sub/ask", "sub/out"]);
    assert_eq!(flow.keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["q", "sub/q"]);
    assert!(matches!(&flow.nodes[0].kind, NodeKind::Enter { flow, .. } if flow == "sub"));
    assert!(matches!(flow.nodes[3].kind, NodeKind::Leave { enter: NodeId(0), .. }));
    // The same in its place.
    let inline = outer.replace("file = \"inner.toml\"\n", "")
        + "[nodes.sub.flow]\nstart = \"ask\"\n[nodes.sub.flow.state]\nq = \"text\"\n[nodes.sub.flow.nodes.ask]\nkind = \"end\"\n";
    assert_eq!(read("flow.toml", &inline, &no_files).expect("a flow").nodes.len(), 3);
    // A fault in another file is one of that file.
    let broken = |_: &str| Ok(INNER.replace("{{q}}\"\noutput", "{{r}}\"\noutput"));
    let found = read("flow.toml", outer, &broken).expect_err("a fault");
    assert_eq!(found[0].to_string(), "inner.toml:6:11: `r` is no key of the state");
}

#[test]
fn a_flow_that_is_a_part_of_itself_is_refused() {
    let own = "start = \"a\"\n[nodes.a]\nkind = \"subgraph\"\nfile = \"flow.toml\"\nnext = \"z\"\n[nodes.z]\nkind = \"end\"\n";
    let found = read("flow.toml", own, &|_| Ok(own.to_owned())).expect_err("endless");
    assert!(found.iter().any(|problem| problem.message.contains("nested deeper")), "{found:?}");
}

#[test]
fn sizes_are_bounded() {
    let large = format!("# {}", "x".repeat(FILE_MAX_BYTES));
    assert_eq!(faults(&large), [format!("flow.toml:1:1: the file is larger than {FILE_MAX_BYTES} bytes")]);
    let many = |count: usize| {
        let node = |number| format!("[nodes.n{number}]\nkind = \"llm\"\nprompt = \"\"\nnext = \"n{}\"\n", number + 1);
        let nodes: String = (1..count).map(node).collect();
        format!("start = \"n1\"\n{nodes}[nodes.n{count}]\nkind = \"end\"\n")
    };
    read("flow.toml", &many(MAX_NODES), &no_files).expect("as many as may be");
    assert!(faults(&many(MAX_NODES + 1)).iter().any(|fault| fault.contains("more than 2000 nodes")));
}

#[test]
fn words_keep_values_apart_and_lines_keep_other_braces() {
    let text = "start = \"a\"\n[state]\nt = \"text\"\n[nodes.a]\nkind = \"tool\"\ncommand = [\"grep\", \"-e{{t}}\"]\nnext = \"b\"\n\
                [nodes.b]\nkind = \"tool\"\ncommand = \"docker ps --format '{{.Names}} {{x}}'\"\nnext = \"z\"\n\
                [nodes.z]\nkind = \"end\"\n";
    let flow = read("flow.toml", text, &no_files).expect("a flow");
    let call = |place: usize| match &flow.nodes[place].kind {
        NodeKind::Tool { call, .. } => call.clone(),
        other => panic!("{other:?}"),
    };
    assert!(matches!(call(0), CallTemplate::Words(words) if words.len() == 2 && words[1].has_values()));
    assert_eq!(call(1), CallTemplate::Line("docker ps --format '{{.Names}} {{x}}'".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_a_flow_or_has_faults_in_it(
        cuts in prop::collection::vec((0..REVIEW.len(), 0..12usize, "[a-z\"\\[\\]{}= \n.é]{0,4}"), 1..6),
    ) {
        let mut text = REVIEW.to_owned();
        for (at, length, new) in cuts {
            let end = (at + length).min(text.len());
            if text.is_char_boundary(at.min(end)) && text.is_char_boundary(end) {
                text.replace_range(at.min(end)..end, &new);
            }
        }
        if let Err(problems) = read("flow.toml", &text, &no_files) {
            prop_assert!(!problems.is_empty());
            let lines = text.matches('\n').count() + 1;
            prop_assert!(problems.iter().all(|one| (1..=lines).contains(&one.line) && one.column >= 1));
        }
    }
}
