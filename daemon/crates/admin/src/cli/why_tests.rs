use super::{
    super::testing::{Home, now},
    *,
};

/// Number of the command with this text.
fn number(home: &Home, text: &str) -> u64 {
    let commands = home.store().commands(None, 20).expect("they can be read");
    let is_it = |row: &&EventRow| matches!(&row.event, Event::Call(call) if call.title.contains(text));
    commands.iter().find(is_it).expect("it ran").number
}

fn shown(home: &Home, text: &str) -> ShownCommand {
    read(&WhyArgs { number: number(home, text), json: false }, &home.paths).expect("it is there")
}

#[test]
fn the_conversation_behind_a_command_is_told() {
    let home = Home::with_sessions();
    let told: Vec<String> =
        ["chmod", "rm -rf", "./check", "du -h"].map(|one| text(&shown(&home, one), &now(), "/srv".as_ref())).into();
    let told = told.join("----\n");
    assert!(!told.contains(['\u{1b}', '\u{7}']), "{told:?}");
    insta::assert_snapshot!(told);
}

#[test]
fn json_has_the_whole_turn() {
    let home = Home::with_sessions();
    let json: serde_json::Value = serde_json::from_str(&json(&shown(&home, "chmod"))).expect("JSON");
    assert_eq!(json["command"]["command"], "chmod 755 ./deploy.sh");
    assert_eq!(json["events"].as_array().map(Vec::len), Some(16));
    assert_eq!(json["session"]["questions"], 1);
}

#[test]
fn an_id_of_no_command_is_told_with_what_helps() {
    let home = Home::with_sessions();
    for (home, number) in [(&home, 1), (&home, u64::MAX), (&Home::empty(), 2)] {
        let Err(Failure::Other(message, hint)) = read(&WhyArgs { number, json: false }, &home.paths) else {
            panic!("{number}")
        };
        assert_eq!(message, format!("there is no command with the id {number}"));
        assert_eq!(hint.as_deref(), Some("`cohab history` lists the commands with their ids"));
    }
}
