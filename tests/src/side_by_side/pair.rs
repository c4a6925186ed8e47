//! Drives the two terminals of a case.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{
    case::{Case, Expectation, Input, Step},
    screenshot::{Shot, differences, history_differences},
    settle::{Canary, Watch, settle},
    shell::{Shell, named_path},
};
use crate::{
    Home, Terminal,
    deadline::{deadline, limit},
    terminal::View,
};

/// Longest wait for the second terminal to become equal to the first.
const PATIENCE: Duration = Duration::from_secs(6);
/// Pause between two looks at a state without notification.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Milliseconds to wait after each step, before the terminals are compared once more.
const PAUSE: &str = "COHAB_SIDE_BY_SIDE_PAUSE";
/// The search path for programs, the same on every machine: those of the system before additional ones.
const PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin";

/// No notice, no hint, no key of cohab's but Enter, the `?` and the judgement of the line: the features of all users.
const CONFIG: &str = "[client]\nfailure_hint = false\nnotify = false\n";

struct Side {
    terminal: Terminal,
    home: Home,
}

/// A shell alone and the same shell under cohab.
pub(crate) struct Pair<'case> {
    case: &'case Case,
    canary: Canary,
    plain: Side,
    cohab: Side,
}

impl<'case> Pair<'case> {
    /// Starts both and waits for their first prompts.
    pub(crate) fn start(case: &'case Case, shell: Shell, shell_program: &Path, cohab: &Path) -> Result<Self, String> {
        let side = |program: &Path| {
            let home = home_for(case, shell, shell_program)?;
            let command = home.in_terminal(program, &[]);
            Ok::<Side, String>(Side { terminal: Terminal::spawn_answering(command, case.size), home })
        };
        let canary = Canary::new().map_err(|error| format!("no terminal is left: {error}"))?;
        let pair = Self { case, canary, plain: side(shell_program)?, cohab: side(cohab)? };
        let has_begun = |view: &View| !view.text().trim().is_empty();
        if !pair.plain.terminal.holds_within(deadline(), has_begun) {
            return Err(pair.report("the plain shell shows no prompt", &[]));
        }
        pair.become_equal("the first prompt", false, |_| {})?;
        Ok(pair)
    }

    /// Does all steps, each until the terminals are equal.
    pub(crate) fn run(&self) -> Result<(), String> {
        for (index, step) in self.case.steps.iter().enumerate() {
            self.take(step, &format!("step {} of {}, {step:?}", index + 1, self.case.steps.len()))?;
        }
        let found = self.compare(history_differences);
        if !found.is_empty() {
            return Err(self.report("the scrollback", &found));
        }
        let missing = self.case.expectations.iter().find(|expected| {
            let history = self.plain.terminal.look(View::history);
            !match expected {
                Expectation::Contains(text) => history.lines().any(|row| row.contains(text.as_str())),
                Expectation::Row(text) => history.lines().any(|row| row == text.trim_end()),
            }
        });
        match missing {
            Some(expected) => Err(self.report(&format!("the case is wrong: plain lacks {expected:?}"), &[])),
            None => Ok(()),
        }
    }

    fn take(&self, step: &Step, what: &str) -> Result<(), String> {
        match step {
            Step::Wait(text) => self.wait_until(what, |view| view.shows(text)),
            Step::Gone(text) => self.wait_until(what, |view| !view.shows(text)),
            Step::Prompt => self.wait_until(what, |view| view.is_at_prompt("ps> ")),
            step => self.become_equal(what, step.ends_with_escape(), |pair| pair.act(step)),
        }
    }

    /// The plain one first: if it fails, the case is wrong.
    fn wait_until(&self, what: &str, is_met: impl Fn(&View) -> bool) -> Result<(), String> {
        if !self.plain.terminal.holds_within(deadline(), &is_met) {
            return Err(self.report(&format!("the case is wrong: {what}, not met by the plain shell"), &[]));
        }
        if !self.cohab.terminal.holds_within(limit(PATIENCE), &is_met) {
            return Err(self.report(&format!("{what}, not met under cohab"), &self.compare(differences)));
        }
        self.become_equal(what, false, |_| {})
    }

    fn act(&self, step: &Step) {
        let both = [&self.plain, &self.cohab];
        match step {
            Step::Send(inputs) => {
                // Before the first is sent: it may change the modes.
                let bytes = self.bytes(inputs);
                both.iter().for_each(|side| side.terminal.send(&bytes));
            }
            Step::Resize(size) => both.iter().for_each(|side| side.terminal.resize(*size)),
            Step::Feed(fifo) => both.iter().for_each(|side| feed(&side.home.path(fifo))),
            Step::Pause(time) => thread::sleep(Duration::from_millis(*time)),
            Step::Wait(_) | Step::Gone(_) | Step::Prompt => {}
        }
    }

    /// Both get the bytes for the modes of the plain one: the comparison finds any difference in modes.
    fn bytes(&self, inputs: &[Input]) -> String {
        let modes = |view: &View| (view.screen().application_cursor(), view.screen().bracketed_paste());
        let (is_application_mode, is_bracketed) = self.plain.terminal.look(modes);
        let mut bytes = String::new();
        for input in inputs {
            match input {
                Input::Key(key) => bytes.push_str(&key.bytes(is_application_mode)),
                Input::Text(text) => bytes.push_str(text),
                Input::Paste(text) if is_bracketed => {
                    let _ = write!(bytes, "\x1b[200~{}\x1b[201~", text.replace('\n', "\r"));
                }
                Input::Paste(text) => bytes.push_str(&text.replace('\n', "\r")),
            }
        }
        bytes
    }

    fn become_equal(&self, what: &str, is_behind_escape: bool, act: impl FnOnce(&Self)) -> Result<(), String> {
        let mut watches = [&self.plain, &self.cohab].map(|side| Watch::begin(&side.terminal, is_behind_escape));
        act(self);
        let end = Instant::now() + limit(PATIENCE);
        loop {
            let is_at_rest = settle(&mut watches, &self.canary);
            let found = self.compare(differences);
            if found.is_empty() && is_at_rest {
                return self.linger(what);
            }
            if !is_at_rest {
                return Err(self.report(&format!("the case is wrong: {what} does not come to rest"), &found));
            }
            if Instant::now() >= end {
                return Err(self.report(what, &found));
            }
            thread::park_timeout(LOOK_AGAIN);
        }
    }

    /// Waits for events that appear only when the user pauses, if the caller wants that.
    fn linger(&self, what: &str) -> Result<(), String> {
        let Some(pause) = std::env::var(PAUSE).ok().and_then(|pause| pause.parse().ok()) else { return Ok(()) };
        thread::sleep(Duration::from_millis(pause));
        let found = self.compare(differences);
        if found.is_empty() { Ok(()) } else { Err(self.report(&format!("{what}, after a pause"), &found)) }
    }

    fn compare(&self, compare: impl Fn(&Shot, &Shot) -> Vec<String>) -> Vec<String> {
        let masks_pids = self.case.masks_pids;
        let (left, right) = (self.plain.home.path(""), self.cohab.home.path(""));
        let (left, right) = (left.components().collect::<PathBuf>(), right.components().collect::<PathBuf>());
        self.plain.terminal.look(|plain| {
            self.cohab.terminal.look(|cohab| {
                let plain = Shot { view: plain, home: &left, masks_pids };
                let cohab = Shot { view: cohab, home: &right, masks_pids };
                compare(&plain, &cohab)
            })
        })
    }

    fn report(&self, what: &str, differences: &[String]) -> String {
        let history = |side: &Side| side.terminal.look(View::history).trim_end().lines().map(str::to_owned).collect();
        let (left, right): (Vec<String>, Vec<String>) = (history(&self.plain), history(&self.cohab));
        let width = left.iter().map(|row| row.chars().count()).max().unwrap_or(0).max("plain".len());
        let mut report = format!("{what}\n");
        for difference in differences {
            let _ = writeln!(report, "  - {difference}");
        }
        let _ = writeln!(report, "    {:width$} | cohab", "plain");
        for at in 0..left.len().max(right.len()) {
            let row = |rows: &[String]| rows.get(at).cloned().unwrap_or_default();
            let mark = if row(&left) == row(&right) { ' ' } else { '#' };
            let _ = writeln!(report, "  {mark} {:width$} | {}", row(&left), row(&right));
        }
        let tail = self.cohab.terminal.look(|view| {
            let raw = view.raw();
            raw[raw.len().saturating_sub(300)..].escape_ascii().to_string()
        });
        let _ = writeln!(report, "    last bytes under cohab: {tail}");
        report
    }
}

/// A home with the files of the case.
fn home_for(case: &Case, shell: Shell, program: &Path) -> Result<Home, String> {
    let home = Home::new().without("HISTFILE").env("SHELL", &program.display().to_string()).env("PATH", PATH);
    let home = case.environment.iter().fold(home, |home, (name, value)| home.env(name, value));
    let named = case.needs.iter().filter_map(|need| need.strip_prefix('$'));
    let named = named.filter_map(|variable| Some((variable, named_path(variable)?)));
    let home = named.fold(home, |home, (variable, path)| home.env(variable, &path.display().to_string()));
    home.write_config(CONFIG);
    let rc: String = case.rc.iter().map(|line| format!("{line}\n")).collect();
    home.write(".bashrc", "");
    let head = if case.is_headless { "" } else { shell.rc_head() };
    home.write(shell.rc_file(), &format!("{head}{rc}"));
    // At its first start in a new home fish 3 has python read all manuals, in the background.
    home.write(".local/share/fish/generated_completions/.keep", "");
    for (name, text, is_program) in &case.files {
        home.write(name, text);
        if *is_program {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(home.path(name), mode).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    for name in &case.fifos {
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, home.path(name), FileType::Fifo, mode, 0).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(home)
}

/// Writes a line into a FIFO as soon as it has a reader; with a time limit, as the other terminal may have lost its reader.
fn feed(fifo: &Path) {
    let end = Instant::now() + limit(PATIENCE);
    while Instant::now() < end {
        let opened = fs::OpenOptions::new().write(true).custom_flags(0o4000).open(fifo);
        if let Ok(mut fifo) = opened {
            let _ = fifo.write_all(b"go\n");
            return;
        }
        thread::park_timeout(LOOK_AGAIN);
    }
}
