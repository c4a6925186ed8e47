use super::{
    super::testing::{Home, now},
    *,
};

fn args(session: Option<&str>, number: usize) -> HistoryArgs {
    HistoryArgs { number, session: session.map(str::to_owned), json: false }
}

#[test]
fn commands_are_listed_with_what_stood_around_them() {
    let home = Home::with_sessions();
    let commands = read(&args(None, 20), &home.paths).expect("they can be read");
    insta::assert_snapshot!(table(&commands, &now(), "/srv".as_ref()));
    let json: Value = serde_json::from_str(&json(&commands)).expect("JSON");
    let edited = &json["commands"][1];
    assert_eq!(edited["proposed"], "chmod u+x ./deploy.sh");
    assert_eq!(
        (&edited["approval"], &edited["exit_code"]),
        (&Value::from("asked once, edited by you"), &Value::from(0))
    );
    assert_eq!(edited["author"], "assistant, edited by you");
}

#[test]
fn a_number_stays_a_commands_own() {
    let home = Home::with_sessions();
    let numbers = |args: HistoryArgs| -> Vec<u64> {
        read(&args, &home.paths).expect("they can be read").iter().map(|command| command.row.number).collect()
    };
    let all = numbers(args(None, 20));
    assert_eq!(numbers(args(None, 2)), all[3..], "the newest");
    assert_eq!(numbers(args(Some("last"), 20)), all[1..]);
    home.store().remove(&["shell:1".into()]).expect("it is removed");
    assert_eq!(numbers(args(None, 20)), all[1..]);
}

#[test]
fn nothing_is_said_where_nothing_ran() {
    let home = Home::empty();
    let commands = read(&args(None, 20), &home.paths).expect("nothing is there");
    assert_eq!(table(&commands, &now(), "/".as_ref()), "The assistant has run no command yet.\n");
    assert!(read(&args(Some("last"), 20), &home.paths).is_err());
}
