use cohab_model_api::Message;
use cohab_store::sessions::{Entry, KeepAll as _, steps::AgentStatus};

use super::super::{
    testing::{Home, now},
    trace::tests::with_steps,
};
use super::*;

fn interrupted_home() -> Home {
    let home = with_steps(AgentStatus::Running);
    let messages = vec![Message::user("fix it".into())];
    let entry = Entry::Conversation { session: "shell:2".into(), from: 0, messages };
    home.store().keep_all(&[entry]).expect("it is kept");
    home
}

#[test]
fn what_was_interrupted_is_listed() {
    let home = interrupted_home();
    let found = interrupted(None, &home.paths).expect("it can be read");
    insta::assert_snapshot!(table(&found, &now()));
    let json = row(&found[0]);
    assert_eq!((&json["steps_done"], &json["turn"]["state"]["status"]), (&json!(5), &json!("running")));
}

#[test]
fn what_has_ended_is_not() {
    let args = ResumeArgs { id: None, list: false, json: false };
    for home in [Home::empty(), Home::with_sessions(), with_steps(AgentStatus::Completed)] {
        let Err(Failure::Other(message, _)) = try_run(&args, &home.paths, &mut Vec::new()) else { panic!("nothing") };
        assert_eq!(message, "nothing to resume: no turn was interrupted");
    }
}
