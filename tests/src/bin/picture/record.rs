//! Records sessions in a prepared folder, driven as a person would. Its times are made up, so that it plays well on any machine.

use std::{fs, path::Path, time::Duration};

use cohab_e2e::{Answer, Home, ModelServer, Size, Terminal, Wire, binaries, keys, session::CARD_KEYS};
use serde_json::json;

use crate::cast::{Cast, Event, Kind};

const COLUMNS: u16 = 84;
/// The shown name of the home folder, wherever that is.
const SHOWN_HOME: &str = "/home/ann";
/// Pauses between two keys, two rows of output, and for reading.
const KEY_MS: u64 = 55;
const ROW_MS: u64 = 30;
const READ_MS: u64 = 1_800;
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

struct Recorder {
    terminal: Terminal,
    home: String,
    rows: u16,
    /// The recorded part of the output.
    mark: usize,
    now_ms: u64,
    events: Vec<Event>,
}

/// A recording of the README, by the name of its files.
pub(crate) struct Recording {
    pub(crate) name: &'static str,
    rows: u16,
    record: fn(u16) -> Cast,
}

/// The README's recordings.
pub(crate) const RECORDINGS: [Recording; 3] = [
    Recording { name: "model", rows: 36, record: with_a_model },
    Recording { name: "card", rows: 22, record: with_a_card },
    Recording { name: "undo", rows: 24, record: with_an_undo },
];

impl Recording {
    /// The text of an asciicast v2.
    pub(crate) fn text(&self) -> String {
        (self.record)(self.rows).text(&format!("cohab: {}", self.name))
    }
}

/// A model finds out why a command failed: it reads two files and answers with a table. The model is the scripted one of the tests.
fn with_a_model(rows: u16) -> Cast {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::bash("tail -n 3 logs/deploy.log && cat deploy.conf").usage(2_140, 41),
            Answer::text(FINDING).in_pieces_of(48).usage(2_310, 96),
            Answer::bash("cd logs && ls -1").usage(2_480, 22),
            Answer::text("You are in `logs`; the log of today is `deploy.log`.").usage(2_560, 18),
        ],
    );
    let home = shop(Home::with_model(&server));
    let mut recorder = Recorder::start(&home, rows);
    recorder.ask("./deploy.sh", "~/shop $ ");
    recorder.ask("? why did that fail", "~/shop $ ");
    recorder.ask("? take me to the logs", "~/shop/logs $ ");
    recorder.end()
}

/// The answer of the scripted model.
const FINDING: &str = "The deploy asks for a port that another program holds:\n\n\
    | file | says |\n|---|---|\n| `deploy.conf` | `port = 8080` |\n| `logs/deploy.log` | `bind: address in use` |\n\n\
    Set `port` to a free one, such as **8081**, and run `./deploy.sh` again.\n";

/// The built-in assistant asks before it changes a file's mode.
fn with_a_card(rows: u16) -> Cast {
    let home = shop(Home::new().env("COHAB_PROVIDER", "offline"));
    home.write("shop/start.sh", "#!/bin/sh\necho started\n");
    let mut recorder = Recorder::start(&home, rows);
    recorder.ask("./start.sh", "~/shop $ ");
    recorder.line("? fix it");
    recorder.card("chmod");
    recorder.marker();
    recorder.approve();
    recorder.prompt("~/shop $ ");
    recorder.ask("./start.sh", "~/shop $ ");
    recorder.end()
}

/// A model changes a file, and `cohab undo` brings it and the folder back.
fn with_an_undo(rows: u16) -> Cast {
    let edit = json!({"path": "deploy.conf", "old_string": "port = 8080", "new_string": "port = 8081"});
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::call("edit", &edit).usage(2_140, 41),
            Answer::bash("export PORT=8081").usage(2_210, 20),
            Answer::text("The port is 8081 now, in the file and in `$PORT`.").usage(2_300, 19),
        ],
    );
    let home = shop(Home::with_model(&server));
    let mut recorder = Recorder::start(&home, rows);
    recorder.line("? use port 8081");
    recorder.card("deploy.conf");
    recorder.approve();
    recorder.card("export");
    recorder.approve();
    recorder.prompt("~/shop $ ");
    recorder.ask("cohab undo", "~/shop $ ");
    recorder.ask("cat deploy.conf", "~/shop $ ");
    recorder.end()
}

/// The prepared folder.
fn shop(home: Home) -> Home {
    let home = home.prompt(r"\[\e[32m\]\w\[\e[0m\] $ ", "~ $ ");
    home.write("shop/deploy.conf", "host = shop.example\nport = 8080\n");
    home.write("shop/logs/deploy.log", "12:00:01 build ok\n12:00:04 starting\n12:00:04 bind: address in use\n");
    home.write("shop/deploy.sh", "#!/bin/sh\necho 'deploy failed, see logs/deploy.log'\nexit 1\n");
    set_executable(&home.path("shop/deploy.sh"));
    home
}

fn set_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
}

impl Recorder {
    fn start(home: &Home, rows: u16) -> Self {
        let size = Size { rows, columns: COLUMNS };
        let terminal = Terminal::spawn_sized(home.in_terminal(binaries::program("cohab"), &[]), size);
        let shown = home.path("").display().to_string();
        let mut recorder = Self {
            terminal,
            home: shown.trim_end_matches('/').to_owned(),
            rows,
            mark: 0,
            now_ms: 0,
            events: Vec::new(),
        };
        recorder.prepare();
        recorder
    }

    fn end(self) -> Cast {
        Cast { columns: COLUMNS, rows: self.rows, events: self.events }
    }

    /// Waits for a card about these words.
    fn card(&mut self, words: &str) {
        self.terminal.wait_for("the card", |view| CARD_KEYS.iter().any(|keys| view.shows(keys)) && view.shows(words));
        self.take();
    }

    /// The picture shows the screen at this time.
    fn marker(&mut self) {
        self.events.push(Event { at_ms: self.now_ms, kind: Kind::Marker("picture".into()) });
    }

    fn approve(&mut self) {
        self.now_ms += READ_MS;
        // A card ignores keys that were meant for something else.
        let _ = self.terminal.holds_within(Duration::from_millis(400), |_| false);
        self.terminal.send("y");
    }

    /// An empty screen in the prepared folder. First-start work of a new shell is done before.
    fn prepare(&mut self) {
        self.terminal.wait_for("a prompt", |view| view.is_at_prompt("~ $ "));
        self.terminal.send("cd shop\r");
        self.terminal.wait_for("a prompt", |view| view.is_at_prompt("~/shop $ "));
        self.terminal.send("clear\r");
        self.terminal.wait_for("an empty screen", |view| view.cursor().0 == 0 && view.is_at_prompt("~/shop $ "));
        let raw = self.terminal.raw_since(0);
        self.mark = raw.rfind(CLEAR).unwrap_or(0);
        self.take();
    }

    /// Types a line, waits for its end and the next prompt.
    fn ask(&mut self, line: &str, prompt: &str) {
        self.line(line);
        self.prompt(prompt);
    }

    fn line(&mut self, line: &str) {
        self.now_ms += READ_MS;
        for letter in line.chars() {
            let before = self.terminal.mark();
            self.terminal.send(&letter.to_string());
            self.terminal.wait_for("the echo", |view| view.raw().len() > before);
            self.now_ms += KEY_MS;
            self.take();
        }
        let _ = self.terminal.holds_within(Duration::from_millis(400), |_| false);
        self.now_ms += READ_MS / 3;
        self.take();
        self.terminal.send(keys::ENTER);
    }

    fn prompt(&mut self, prompt: &str) {
        let (prompt, mark) = (prompt.to_owned(), self.mark);
        self.terminal
            .wait_for("the next prompt", |view| view.raw()[mark..].contains(&b'\n') && view.is_at_prompt(&prompt));
        self.take();
    }

    /// Records new output, a row at a time.
    fn take(&mut self) {
        let new = self.terminal.raw_since(self.mark);
        self.mark += new.len();
        let shown = new.replace(&self.home, SHOWN_HOME);
        for row in shown.split_inclusive('\n') {
            self.events.push(Event { at_ms: self.now_ms, kind: Kind::Output(row.to_owned()) });
            if row.ends_with('\n') {
                self.now_ms += ROW_MS;
            }
        }
    }
}
