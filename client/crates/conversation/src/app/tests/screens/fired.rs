//! Screens with fires of watchers.

use super::{super::fired::fired, *};

impl Stage {
    fn fires(&mut self, firing: WatcherFired) {
        self.daemon(DaemonMessage::WatcherFired(firing));
    }
}

#[test]
fn what_watchers_fire() {
    let states: &[State] = &[
        ("a line", |stage| {
            stage.connect();
            stage.fires(fired(3, 1, None));
            stage.live(LiveEvent::AnswerReady);
        }),
        ("a long line of a log", |stage| {
            stage.connect();
            let what = "server.log: 2026-11-29T14:02:11Z ERROR connection to db.internal:5432 refused (and 12 more)";
            stage.fires(WatcherFired { label: "errors".into(), what: what.into(), ..fired(3, 1, None) });
            stage.live(LiveEvent::AnswerReady);
        }),
        ("several at once", |stage| {
            stage.connect();
            stage.fires(fired(3, 1, None));
            stage.fires(WatcherFired { what: "port 8080 is open".into(), ..fired(4, 1, None) });
            stage.live(LiveEvent::AnswerReady);
        }),
        ("a question is asked", |stage| {
            stage.connect();
            stage.fires(fired(3, 1, Some("run the smoke tests")));
            stage.live(LiveEvent::AnswerReady);
            stage.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
        }),
        ("a question of another folder is answered", |stage| {
            stage.connect();
            let folder = Path::new("/home/ann/shop").into();
            stage.fires(WatcherFired { folder, ..fired(3, 1, Some("run the smoke tests")) });
            stage.live(LiveEvent::AnswerReady);
            stage.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
            stage.text(0, "All 12 pass.");
            stage.end(TurnEndReason::Answered);
        }),
        ("it is over", |stage| {
            stage.connect();
            let what = "stopped: /home/ann/src/build cannot be read: No such file or directory (os error 2)";
            stage.fires(WatcherFired { what: what.into(), ..fired(3, 1, None) });
            stage.live(LiveEvent::AnswerReady);
        }),
        ("some fired while the user was away", |stage| {
            stage.connect();
            let text = "2 watchers fired while you were away: cohab watch list".into();
            stage.daemon(DaemonMessage::Notice(wire::Notice { turn_id: None, kind: wire::NoticeKind::Info, text }));
            stage.live(LiveEvent::AnswerReady);
        }),
    ];
    insta::assert_snapshot!("fired", seen_at(states, [80, 60]));
}
