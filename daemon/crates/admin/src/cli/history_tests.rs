use super::{
    super::testing::{Home, now},
    *,
};

fn args(session: Option<&str>, number: usize) -> HistoryArgs {
    HistoryArgs { number, session: session.map(str::to_owned), plain: false, json: false }
}

#[test]
fn commands_are_listed_with_what_stood_around_them() {
    let home = Home::with_sessions();
    let commands = read(&args(None, 20), &home.paths).expect("they can be read");
    insta::assert_snapshot!(table(&commands, &now(), "/srv".as_ref(), None));
    insta::assert_snapshot!("at_a_terminal", table(&commands, &now(), "/srv".as_ref(), Some(40)));
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
    assert_eq!(table(&commands, &now(), "/".as_ref(), Some(80)), "The assistant has not run a command yet.\n");
    assert!(read(&args(Some("last"), 20), &home.paths).is_err());
}

#[test]
fn a_terminal_gets_rows_that_fit_and_a_file_all_there_is() {
    let home = Home::with_sessions();
    let mut commands = read(&args(None, 1), &home.paths).expect("they can be read");
    let question = "why is every word of this rather long question so important to me and to you".to_owned();
    commands[0].question = Some(question.clone());
    let in_a_file = table(&commands, &now(), "/srv".as_ref(), None);
    assert!(in_a_file.contains(&question) && in_a_file.lines().count() == 3, "{in_a_file}");
    let at_a_terminal = table(&commands, &now(), "/srv".as_ref(), Some(30));
    assert!(at_a_terminal.lines().all(|row| row.width() <= 30 && row.trim_end() == row), "{at_a_terminal}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let cut = words(&at_a_terminal).into_iter().filter(|word| !word.ends_with('…')).collect::<Vec<_>>();
    assert!(words(&in_a_file).starts_with(&cut), "no word is broken: {at_a_terminal}");
}
