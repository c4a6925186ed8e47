//! The edge of the check: starts the shell, tries it out, gathers facts. Blocking; every wait has a limit.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use cohab_protocol::socket::secure_directory;
use cohab_shell_relay::live::LiveEvent;
use cohab_shell_state::shell::Shell;
use cohab_system::process::surroundings::Surroundings;
use cohab_text::sanitize::one_line;
use rustix::termios::{Termios, tcgetattr};

use super::{
    Start,
    facts::{Facts, FolderFacts, PlaceFacts, ShellFacts, StartEnd, StartFacts, Version, least_version},
    hidden::{HiddenShell, Unmet},
    rc, trial,
};

/// The whole check.
const TOTAL_LIMIT: Duration = Duration::from_secs(20);
/// To the first prompt.
const START_LIMIT: Duration = Duration::from_secs(10);
/// From a line editor that reads to the mark of its prompt.
const MARK_LIMIT: Duration = Duration::from_millis(500);
/// To the prompt of a shell without us.
const PLAIN_LIMIT: Duration = Duration::from_secs(4);
/// To the prompt of an unknown shell.
const UNKNOWN_LIMIT: Duration = Duration::from_secs(1);
/// For starts that only measure.
const MEASURE_LIMIT: Duration = Duration::from_secs(3);
/// So many more starts of each kind, as long as there is time.
const MEASURED_STARTS: usize = 5;
/// `SHELL --version`.
const VERSION_LIMIT: Duration = Duration::from_secs(2);
/// Read of its answer.
const VERSION_MAX_BYTES: u64 = 4096;
/// A wrapper of the shell has become the shell after this.
const REPLACED_AFTER: Duration = Duration::from_secs(2);

/// The check was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// Finds everything out about the first shell of `start` that starts. `stop` ends it soon.
pub(crate) fn examine(start: &Start, surroundings: &Surroundings, stop: &AtomicBool) -> Result<Facts, Cancelled> {
    let examination = Examination { start, modes: terminal_modes(), deadline: Instant::now() + TOTAL_LIMIT, stop };
    examination.run(surroundings)
}

/// What can be found without starting the shell: the first that could be, its version, the folder, the start-up files. At most 2 s.
pub(crate) fn look(start: &Start, surroundings: &Surroundings) -> Facts {
    let never = AtomicBool::new(false);
    let examination = Examination { start, modes: None, deadline: Instant::now() + VERSION_LIMIT, stop: &never };
    let is_program = |path: &&PathBuf| rustix::fs::access(*path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    let found = start.shells.iter().find(is_program).cloned();
    let before = start.shells.iter().take_while(|path| Some(*path) != found.as_ref());
    let passed_over = before.map(|path| one_line(&format!("{}: it is no program", path.display()), 200)).collect();
    let (place, folder) = (examine_place(surroundings), examine_folder(&start.options.runtime_dir));
    let mut facts = examination.nothing_started(passed_over, place, folder);
    if let Some(path) = found {
        let kind = Shell::of(&path);
        facts.start.ours = StartEnd::Prompt;
        facts.shell.version = examination.version(&path);
        facts.shell.path = path;
        facts.shell.kind = kind;
        facts.rc = examination.examine_rc(kind, "");
    }
    facts
}

struct Examination<'a> {
    start: &'a Start,
    modes: Option<Termios>,
    deadline: Instant,
    stop: &'a AtomicBool,
}

impl<'a> Examination<'a> {
    fn run(&self, surroundings: &Surroundings) -> Result<Facts, Cancelled> {
        let folder = examine_folder(&self.start.options.runtime_dir);
        let mut passed_over = Vec::new();
        let mut opened = None;
        for program in &self.start.shells {
            // As in the client: without its folder no shell gets the integration.
            let tried = self.open(program, folder.error.is_none());
            match tried {
                Ok(shell) => {
                    opened = Some((program.clone(), shell));
                    break;
                }
                Err(error) => passed_over.push(one_line(&format!("{}: {error}", program.display()), 200)),
            }
        }
        let place = examine_place(surroundings);
        let Some((path, shell)) = opened else {
            return Ok(self.nothing_started(passed_over, place, folder));
        };
        let kind = Shell::of(&path);
        let version = if kind == Shell::Other { None } else { self.version(&path) };
        let facts = ShellFacts { kind, path, version, is_login: self.start.options.is_login, passed_over };
        let (start, relay) = self.examine_shell(shell, &facts)?;
        let rc = self.examine_rc(kind, &start.printed);
        let has_hotkey = self.has_hotkey();
        Ok(Facts { shell: facts, place, folder, start, rc, has_hotkey, relay })
    }

    fn open(&self, program: &Path, is_integrated: bool) -> io::Result<HiddenShell<'a>> {
        HiddenShell::start(program, &self.start.options, self.modes.as_ref(), is_integrated, self.deadline, self.stop)
    }

    fn nothing_started(&self, mut passed_over: Vec<String>, place: PlaceFacts, folder: FolderFacts) -> Facts {
        let path = self.start.shells.first().cloned().unwrap_or_else(|| PathBuf::from("/bin/sh"));
        let error = if passed_over.is_empty() { "no shell was found".into() } else { passed_over.remove(0) };
        let ours = StartEnd::Failed(error);
        Facts {
            shell: ShellFacts {
                kind: Shell::of(&path),
                path,
                version: None,
                is_login: self.start.options.is_login,
                passed_over,
            },
            place,
            folder,
            start: StartFacts {
                ours,
                first: Duration::ZERO,
                plain: None,
                with: None,
                without: None,
                marks: Default::default(),
                printed: String::new(),
            },
            rc: Default::default(),
            has_hotkey: self.has_hotkey(),
            relay: None,
        }
    }

    fn has_hotkey(&self) -> bool {
        !self.start.options.hotkey.is_empty()
    }

    fn examine_shell(
        &self,
        mut shell: HiddenShell<'a>,
        facts: &ShellFacts,
    ) -> Result<(StartFacts, Option<super::facts::RelayFacts>), Cancelled> {
        let integrated = shell.is_integrated();
        let ours = if integrated { self.wait_prompt(&mut shell)? } else { StartEnd::NotIntegrated };
        let first = shell.started.elapsed();
        let (printed, _) = shell.printed.render();
        let relay = match ours {
            StartEnd::Prompt => Some(trial::examine(&mut shell, facts.kind).map_err(|_| Cancelled)?),
            _ => None,
        };
        let mut start = StartFacts { ours, first, plain: None, with: None, without: None, marks: shell.marks, printed };
        drop(shell);
        match start.ours {
            StartEnd::Prompt if first < MEASURE_LIMIT / 2 => self.measure_starts(&facts.path, &mut start)?,
            StartEnd::Prompt => {}
            // It would be the same without us.
            StartEnd::Replaced { .. } => {}
            _ => start.plain = Some(self.start_plain(&facts.path)?),
        }
        Ok((start, relay))
    }

    /// Waits for the first marked prompt, or for what makes it impossible.
    fn wait_prompt(&self, shell: &mut HiddenShell<'a>) -> Result<StartEnd, Cancelled> {
        let is_ready = |shell: &HiddenShell<'_>| shell.events.contains(&LiveEvent::PromptReady);
        let is_unmarked = |shell: &HiddenShell<'_>| {
            let given_up = shell.events.iter().any(|event| matches!(event, LiveEvent::NotIntegrated { .. }));
            // A start-up file that is still busy may yet lead to a marked prompt.
            given_up && shell.editor_reads()
        };
        let is_replaced =
            |shell: &HiddenShell<'_>| shell.started.elapsed() >= REPLACED_AFTER && shell.replaced_by().is_some();
        let mut waited = shell.wait(START_LIMIT, |shell| is_ready(shell) || is_unmarked(shell) || is_replaced(shell));
        if waited.is_ok() && !is_ready(shell) && !is_replaced(shell) {
            // The line editor reads just before its prompt is written.
            waited = shell
                .wait(MARK_LIMIT, is_ready)
                .or_else(|unmet| if unmet == Unmet::Late { Ok(()) } else { Err(unmet) });
        }
        let replaced_by = shell.replaced_by();
        Ok(match (waited, replaced_by) {
            _ if is_ready(shell) => StartEnd::Prompt,
            (Err(Unmet::Cancelled), _) => return Err(Cancelled),
            (Err(Unmet::Ended), _) => StartEnd::Ended { status: shell.ended.unwrap_or(0) },
            (_, Some(name)) => StartEnd::Replaced { by: one_line(&name, 40) },
            (Ok(()), None) => StartEnd::Unmarked,
            (Err(Unmet::Late), None) => self.slow(shell),
        })
    }

    fn slow(&self, shell: &HiddenShell<'a>) -> StartEnd {
        StartEnd::Slow { running: shell.running().map(|name| one_line(&name, 40)), after: shell.started.elapsed() }
    }

    /// Starts the shell without us, to see whose fault it is.
    fn start_plain(&self, program: &Path) -> Result<StartEnd, Cancelled> {
        let mut shell = match self.open(program, false) {
            Ok(shell) => shell,
            Err(error) => return Ok(StartEnd::Failed(one_line(&error.to_string(), 200))),
        };
        let limit = if Shell::of(program) == Shell::Other { UNKNOWN_LIMIT } else { PLAIN_LIMIT };
        Ok(match shell.wait_editor(limit) {
            Ok(_) => StartEnd::Prompt,
            Err(Unmet::Cancelled) => return Err(Cancelled),
            Err(Unmet::Ended) => StartEnd::Ended { status: shell.ended.unwrap_or(0) },
            Err(Unmet::Late) => self.slow(&shell),
        })
    }

    /// The best of several starts of each kind, in turns. Both end when the line editor reads.
    fn measure_starts(&self, program: &Path, start: &mut StartFacts) -> Result<(), Cancelled> {
        let until = (Instant::now() + MEASURE_LIMIT).min(self.deadline);
        for _ in 0..MEASURED_STARTS {
            for is_integrated in [false, true] {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(Cancelled);
                }
                let Ok(mut shell) = self.open(program, is_integrated) else { return Ok(()) };
                let Ok(time) = shell.wait_editor(until.saturating_duration_since(Instant::now())) else {
                    return Ok(());
                };
                let best = if is_integrated { &mut start.with } else { &mut start.without };
                *best = Some(best.map_or(time, |best| best.min(time)));
            }
        }
        Ok(())
    }

    fn examine_rc(&self, kind: Shell, printed: &str) -> super::facts::RcFacts {
        let home = std::env::home_dir().unwrap_or_else(|| "/".into());
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let files = rc::files(kind, self.start.options.is_login, &home, variable);
        rc::examine(&rc::read(&files, &home), printed)
    }

    /// What `SHELL --version` says, without start-up files.
    fn version(&self, program: &Path) -> Option<Version> {
        least_version(Shell::of(program))?;
        let mut command = Command::new(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let give_up = (Instant::now() + VERSION_LIMIT).min(self.deadline);
        while child.try_wait().ok()?.is_none() {
            if Instant::now() >= give_up || self.stop.load(Ordering::Relaxed) {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut text = Vec::new();
        child.stdout.take()?.take(VERSION_MAX_BYTES).read_to_end(&mut text).ok()?;
        Version::find(&String::from_utf8_lossy(&text))
    }
}

/// The modes that a shell in this terminal would start with.
fn terminal_modes() -> Option<Termios> {
    let terminal = OpenOptions::new().read(true).open("/dev/tty").ok()?;
    tcgetattr(terminal).ok()
}

fn examine_folder(path: &Path) -> FolderFacts {
    let error = secure_directory(path).err().map(|error| error.to_string());
    let free_bytes = rustix::fs::statvfs(path).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    // A folder of mode 0700 may still be on a disk that is read-only or full.
    let error = error.or_else(|| try_to_write(path).err().map(|error| format!("{}: {error}", path.display())));
    FolderFacts { path: path.to_owned(), error: error.map(|error| one_line(&error, 200)), free_bytes }
}

fn try_to_write(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!("check-{}", uuid::Uuid::new_v4().simple()));
    let written = fs::write(&file, [b'x'; 4096]);
    // Absent if it could not be made.
    let _ = fs::remove_file(&file);
    written
}

fn examine_place(surroundings: &Surroundings) -> PlaceFacts {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    PlaceFacts {
        term: std::env::var("TERM").ok().filter(|term| !term.is_empty()).map(|term| one_line(&term, 60)),
        has_cwd: std::env::current_dir().is_ok(),
        has_dev_tty: fs::metadata("/dev/tty").is_ok_and(|meta| meta.file_type().is_char_device()),
        is_inside_cohab: surroundings.is_inside_cohab,
        is_inside_tmux: is_set("TMUX"),
        is_inside_screen: is_set("STY"),
        is_over_ssh: is_set("SSH_CONNECTION"),
    }
}
