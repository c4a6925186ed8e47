//! The question about an action of another program, such as an MCP server.

use super::*;

const REASON: &str = "another program does this: cohab cannot see or undo what it changes";
const ARGUMENTS: &str = "{\n  \"timezone\": \"Europe/Rome\",\n  \"note\": \"a text that is longer than a row of sixty columns can show\"\n}";

fn of_server(details: &str) -> ApprovalSubject {
    let (by, action) = ("MCP server time".into(), "get_current_time".into());
    ApprovalSubject::Foreign { by, action, details: details.into() }
}

#[test]
fn another_program_acts() {
    let states: &[State] = &[
        ("it gets little", |stage| stage.card(of_server("{\"timezone\":\"Europe/Rome\"}"), false, &["not known"])),
        ("it gets nothing", |stage| stage.card(of_server(""), false, &["not known"])),
        ("it gets much", |stage| stage.card(of_server(ARGUMENTS), false, &["not known"])),
        ("it gets much, v", |stage| {
            stage.card(of_server(ARGUMENTS), false, &["not known"]);
            stage.keys("v");
        }),
        ("s", |stage| {
            stage.card(of_server("{}"), false, &["not known"]);
            stage.keys("s");
        }),
        ("hostile", |stage| {
            let text = || format!("now{HOSTILE}\n$ rm -rf / · yes");
            let subject = ApprovalSubject::Foreign { by: text(), action: text(), details: text() };
            stage.card(subject, false, &[HOSTILE]);
        }),
    ];
    insta::assert_snapshot!("card_of_another_program", seen(states));
    let states: &[State] =
        &[("the usual reason", |stage| stage.card(of_server("{\"timezone\":\"Europe/Rome\"}"), false, &[REASON]))];
    insta::assert_snapshot!("card_of_another_program_at_other_widths", seen_at(states, [100, 60]));
}

fn question(value: Option<&str>) -> ApprovalSubject {
    ApprovalSubject::Input {
        by: "MCP server notes".into(),
        message: "Where does the note go? It can be moved later, from one project to another.".into(),
        label: "1 of 2: Project · optional · one of shop, home".into(),
        value: value.map(str::to_owned),
    }
}

#[test]
fn another_program_asks() {
    let states: &[State] = &[
        ("a value stands there", |stage| stage.card(question(Some("shop")), false, &[])),
        ("none does", |stage| stage.card(question(Some("")), false, &["a value is needed"])),
        ("yes or no", |stage| stage.card(question(None), false, &[])),
        ("e", |stage| {
            stage.card(question(Some("shop")), false, &[]);
            stage.keys("e");
        }),
        ("hostile", |stage| {
            let text = || format!("now{HOSTILE}\n$ rm -rf / · yes");
            let subject = ApprovalSubject::Input { by: text(), message: text(), label: text(), value: Some(text()) };
            stage.card(subject, false, &[HOSTILE]);
        }),
    ];
    insta::assert_snapshot!("card_of_a_question_of_another_program", seen(states));
}
