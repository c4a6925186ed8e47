//! Records a session in a prepared folder, driven as a person would. Its times are made up, so that it plays well on any machine.

use cohab_e2e::{Home, Size, Terminal, binaries, keys};

use crate::cast::{Cast, Event, Kind};

const SIZE: Size = Size { rows: 42, columns: 84 };
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
    /// The recorded part of the output.
    mark: usize,
    now_ms: u64,
    events: Vec<Event>,
}

/// Records the session: the text of an asciicast v2.
pub(crate) fn session() -> String {
    let home = Home::new().env("COHAB_PROVIDER", "offline").prompt(r"\[\e[32m\]\w\[\e[0m\] $ ", "~ $ ");
    home.write("shop/deploy.sh", "#!/bin/sh\necho deployed\n");
    home.write("shop/notes.md", "buy paper\n");
    for (name, size) in [("assets/film.mp4", 48_000_000), ("assets/cover.png", 2_500_000), ("logs/app.log", 3_000_000)]
    {
        home.write(&format!("shop/{name}"), &"x".repeat(size));
    }
    let terminal = Terminal::spawn_sized(home.in_terminal(binaries::program("cohab"), &[]), SIZE);
    let shown = home.path("").display().to_string();
    let mut recorder =
        Recorder { terminal, home: shown.trim_end_matches('/').to_owned(), mark: 0, now_ms: 0, events: Vec::new() };
    recorder.prepare();
    recorder.ask("what are the biggest files here?", "~/shop $ ");
    recorder.ask("go to the biggest folder", "~/shop/assets $ ");
    recorder.ask("cd ..", "~/shop $ ");
    recorder.line("? make deploy.sh executable");
    recorder.terminal.wait_for("the card", |view| view.shows("y once") && view.shows("chmod"));
    recorder.take();
    recorder.events.push(Event { at_ms: recorder.now_ms, kind: Kind::Marker("picture".into()) });
    recorder.now_ms += READ_MS;
    // A card ignores keys that were meant for something else.
    let _ = recorder.terminal.holds_within(std::time::Duration::from_millis(400), |_| false);
    recorder.terminal.send("y");
    recorder.prompt("~/shop $ ");
    recorder.ask("./deploy.sh", "~/shop $ ");
    Cast { columns: SIZE.columns, rows: SIZE.rows, events: recorder.events }.text("cohab")
}

impl Recorder {
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
        let _ = self.terminal.holds_within(std::time::Duration::from_millis(400), |_| false);
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
