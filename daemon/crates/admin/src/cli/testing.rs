//! A test home with two stored conversations, for the tests of the commands that read them.

use cohab_protocol::Paths;
use cohab_store::sessions::{
    Entry, KeepAll as _, Limits, SqliteStore,
    event::{Approval, Call, CallResult, Event},
};
use jiff::{Timestamp, Zoned, tz::TimeZone};

/// A separate folder for all files.
pub struct Home {
    _folder: tempfile::TempDir,
    pub paths: Paths,
}

/// The time of the tests: two hours after the last question.
pub fn now() -> Zoned {
    at(9_000).to_zoned(TimeZone::UTC)
}

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_000_000 + seconds).expect("a time")
}

pub fn call(command: &str, cwd: &str, approval: Approval) -> Event {
    Event::Call(Call {
        tool: "bash".into(),
        title: command.into(),
        command: Some(command.into()),
        proposed: None,
        cwd: cwd.into(),
        approval,
    })
}

pub fn result(output: &str, code: Option<i32>, cwd: &str) -> Event {
    Event::Result(CallResult {
        output: output.into(),
        is_error: false,
        exit_code: code,
        cwd: Some(cwd.into()),
        duration_ms: Some(1_250),
    })
}

pub fn question(text: &str, shell: &str) -> Event {
    Event::Question { text: text.into(), cwd: "/srv/shop".into(), shell: Some(shell.into()), piped_bytes: 0 }
}

pub fn answer(text: &str) -> Event {
    Event::Answer { text: text.into() }
}

impl Home {
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| root.clone()), 1000);
        Self { _folder: folder, paths }
    }

    /// A home and a work folder in it.
    pub fn with_work_folder() -> (Self, std::path::PathBuf) {
        let home = Self::empty();
        let work = home.paths.state_dir.parent().expect("a folder").join("work");
        std::fs::create_dir_all(&work).expect("made");
        let work = work.canonicalize().expect("a path");
        (home, work)
    }

    pub fn store(&self) -> SqliteStore {
        SqliteStore::create(&self.paths.sessions_file()).expect("it is made")
    }

    /// Adds a turn with these events, a second apart.
    pub fn turn(&self, session: &str, turn: &str, start: i64, title: &str, events: &[Event]) {
        let begin = Entry::Turn {
            session: session.into(),
            at: at(start),
            title: title.into(),
            cwd: "/srv/shop".into(),
            model: "openai-chat/large-4".into(),
            limits: Limits::of_days(90),
        };
        let event = |(index, event): (usize, &Event)| Entry::Event {
            session: session.into(),
            turn: turn.into(),
            at: at(start + i64::try_from(index).expect("few")),
            event: event.clone(),
        };
        let entries: Vec<Entry> = std::iter::once(begin).chain(events.iter().enumerate().map(event)).collect();
        self.store().keep_all(&entries).expect("they are kept");
    }

    /// Two sessions; the second has every kind of event.
    pub fn with_sessions() -> Self {
        let home = Self::empty();
        home.turn(
            "shell:1",
            "t1",
            0,
            "why is the disk full",
            &[
                question("why is the disk full", "bash"),
                call("du -h -d 1 .", "/srv/shop", Approval::NotNeeded),
                result("46M\t./assets\n49M\t.\n", Some(0), "/srv/shop"),
                answer("`./assets` has **46M**."),
                Event::Ended { reason: "answered".into() },
            ],
        );
        home.turn(
            "shell:2",
            "t2",
            1_800,
            "deploy \u{1b}[31mthe shop",
            &[
                Event::Shell {
                    line: Some("./deploy.sh".into()),
                    exit_code: 126,
                    cwd: "/srv/shop".into(),
                    duration_ms: 4,
                    output_tail: "Permission denied\n".into(),
                },
                question("fix it\u{7} and deploy", "bash"),
                Event::Reasoning { text: "It is not executable.".into() },
                answer("I make it executable first."),
                Event::Approval {
                    subject: "chmod u+x ./deploy.sh".into(),
                    reasons: vec!["changes files: `chmod`".into()],
                    is_dangerous: false,
                    decision: Approval::Edited,
                    note: "chmod 755 ./deploy.sh".into(),
                },
                Event::Call(Call {
                    tool: "bash".into(),
                    title: "chmod 755 ./deploy.sh".into(),
                    command: Some("chmod 755 ./deploy.sh".into()),
                    proposed: Some("chmod u+x ./deploy.sh".into()),
                    cwd: "/srv/shop".into(),
                    approval: Approval::Edited,
                }),
                result("", Some(0), "/srv/shop"),
                call("rm -rf /srv/old", "/srv/shop", Approval::Refused),
                Event::Result(CallResult {
                    output: "the user refused".into(),
                    is_error: true,
                    ..CallResult::default()
                }),
                call("cat <<EOF > note\nit's ```done```\nEOF", "/srv/shop", Approval::Once),
                result("", Some(0), "/srv/shop"),
                call("cd /srv && ./check", "/srv/shop", Approval::Session),
                result("broken\u{1b}]0;title\u{7}\n", Some(3), "/srv"),
                answer("It is deployed.\n\n```sh\nls\n```"),
                Event::Usage { sent_tokens: Some(10), received_tokens: Some(5), cost_microusd: None },
                Event::Ended { reason: "answered".into() },
            ],
        );
        home
    }
}
