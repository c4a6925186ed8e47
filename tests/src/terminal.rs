//! A terminal for tests: a PTY, a program in it, and a readable vt100 screen.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, OnceLock},
    thread,
    time::Duration,
};

use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    deadline::{deadline, lock, wait_while_not},
    emulation::{Emulation, Reports},
};

/// Keys as a terminal sends them.
pub mod keys {
    /// Enter.
    pub const ENTER: &str = "\r";
    /// Alt with Enter.
    pub const ALT_ENTER: &str = "\x1b\r";
    /// Escape alone.
    pub const ESC: &str = "\x1b";
    /// Control with C.
    pub const CTRL_C: &str = "\x03";
    /// Control with D.
    pub const CTRL_D: &str = "\x04";
    /// Control with U.
    pub const CTRL_U: &str = "\x15";
    /// Control with Z.
    pub const CTRL_Z: &str = "\x1a";
    /// Cursor up.
    pub const UP: &str = "\x1b[A";
    /// Cursor left.
    pub const LEFT: &str = "\x1b[D";
}

/// Rows kept above the screen.
const SCROLLBACK_ROWS: usize = 4_000;
/// Bytes of the raw log; more is shown on the screen but not kept.
const RAW_LOG_BYTES: usize = 64 * 1024 * 1024;

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub columns: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

impl Size {
    fn pty(self) -> PtySize {
        PtySize { rows: self.rows, cols: self.columns, pixel_width: 0, pixel_height: 0 }
    }
}

/// The content of the terminal at one moment.
pub struct View {
    parser: vt100::Parser<Emulation>,
    raw: Vec<u8>,
    exit: Option<ExitStatus>,
    is_at_end: bool,
}

impl View {
    /// The rows of the screen, top first, without blanks at their ends.
    #[must_use]
    pub fn rows(&self) -> Vec<String> {
        let columns = self.parser.screen().size().1.get();
        self.parser.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect()
    }

    /// The screen as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// Scrollback and screen as text.
    #[must_use]
    pub fn history(&self) -> String {
        let mut screen = self.parser.screen().clone();
        let (height, columns) = (usize::from(screen.size().0.get()), screen.size().1.get());
        let mut lines = Vec::new();
        let mut above = screen.scrollback_len();
        while above > 0 {
            screen.set_scrollback(above);
            let rows = screen.rows(0, columns).take(above.min(height));
            lines.extend(rows.map(|row| row.trim_end().to_owned()));
            above = above.saturating_sub(height);
        }
        lines.extend(self.rows());
        lines.join("\n")
    }

    /// The first row that contains `text`, from 0.
    #[must_use]
    pub fn row_of(&self, text: &str) -> Option<usize> {
        self.rows().iter().position(|row| row.contains(text))
    }

    /// Whether the screen contains `text` in one row.
    #[must_use]
    pub fn shows(&self, text: &str) -> bool {
        self.row_of(text).is_some()
    }

    /// Row and column of the cursor, from 0.
    #[must_use]
    pub fn cursor(&self) -> (usize, usize) {
        let (row, column) = self.parser.screen().cursor_position();
        (usize::from(row), usize::from(column))
    }

    /// Whether the cursor stands behind `prompt` on an otherwise empty line.
    #[must_use]
    pub fn is_at_prompt(&self, prompt: &str) -> bool {
        let (_, column) = self.cursor();
        column == prompt.chars().count() && self.cursor_row() == prompt.trim_end()
    }

    /// The row of the cursor, without the dim words at its right edge: a hint next to the line is not part of it.
    #[must_use]
    pub fn cursor_row(&self) -> String {
        let (row, _) = self.parser.screen().cursor_position();
        let columns = self.parser.screen().size().1.get();
        let cell = |column: u16| self.parser.screen().cell(row, column);
        let is_beside = |column: &u16| cell(*column).is_none_or(|cell| cell.dim() || cell.contents().trim().is_empty());
        let end = columns - u16::try_from((0..columns).rev().take_while(is_beside).count()).unwrap_or(0);
        let text = self.parser.screen().contents_between(row, 0, row, end);
        text.trim_end().to_owned()
    }

    /// Every byte so far, up to the bound of the log.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The vt100 screen, for modes and colours.
    #[must_use]
    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// The state that is not on the screen: title, bells, modes that vt100 does not know.
    #[must_use]
    pub fn reports(&self) -> &Reports {
        &self.parser.callbacks().reports
    }

    /// The end of the program, once all its output is on the screen.
    #[must_use]
    pub fn exit(&self) -> Option<&ExitStatus> {
        self.exit.as_ref().filter(|_| self.is_at_end)
    }
}

type Writer = Mutex<Box<dyn Write + Send>>;

struct Shared {
    /// The `/proc` folder of the thread that reads what the program writes.
    reader: OnceLock<PathBuf>,
    view: Mutex<View>,
    changed: Condvar,
}

/// A program in a terminal. It is killed when this is dropped.
pub struct Terminal {
    shared: Arc<Shared>,
    writer: Arc<Writer>,
    master: Box<dyn MasterPty + Send>,
    pid: Option<Pid>,
}

impl Terminal {
    /// Starts a program in a terminal of 24 rows and 80 columns.
    #[must_use]
    pub fn spawn(command: CommandBuilder) -> Self {
        Self::spawn_sized(command, Size::default())
    }

    /// Starts a program in a terminal of this size.
    ///
    /// # Panics
    /// If the system has no PTY left, or the program does not start.
    #[must_use]
    pub fn spawn_sized(command: CommandBuilder, size: Size) -> Self {
        Self::spawn_any(command, size, false)
    }

    /// Starts a program in a terminal that answers queries (device attributes, cursor position, colours) as xterm does.
    ///
    /// # Panics
    /// As [`spawn_sized`](Self::spawn_sized).
    #[must_use]
    pub fn spawn_answering(command: CommandBuilder, size: Size) -> Self {
        Self::spawn_any(command, size, true)
    }

    fn spawn_any(command: CommandBuilder, size: Size, answers: bool) -> Self {
        let pty = native_pty_system().openpty(size.pty()).expect("the system has a PTY left");
        let mut child = pty.slave.spawn_command(command).expect("the program starts");
        drop(pty.slave);
        let reader = pty.master.try_clone_reader().expect("a fresh PTY can be read");
        let writer = Arc::new(Mutex::new(pty.master.take_writer().expect("a fresh PTY can be written")));
        let pid = child.process_id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let shared =
            Arc::new(Shared { reader: OnceLock::new(), view: Mutex::new(empty_view(size)), changed: Condvar::new() });
        let for_reader = Arc::clone(&shared);
        let answer_to = answers.then(|| Arc::clone(&writer));
        thread::spawn(move || read_to_end(reader, &for_reader, answer_to.as_deref()));
        let for_waiter = Arc::clone(&shared);
        thread::spawn(move || {
            let exit = child.wait().ok();
            lock(&for_waiter.view).exit = exit;
            for_waiter.changed.notify_all();
        });
        Self { shared, writer, master: pty.master, pid }
    }

    /// Types.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn send(&self, keys: &str) {
        self.send_bytes(keys.as_bytes());
    }

    /// Types any bytes.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn send_bytes(&self, bytes: &[u8]) {
        let mut writer = lock(&self.writer);
        let sent = writer.write_all(bytes).and_then(|()| writer.flush());
        if let Err(error) = sent {
            panic!("cannot type: {error}\n{}", self.dump());
        }
    }

    /// Waits until `condition` holds.
    ///
    /// # Panics
    /// With `what` and the screen if it does not hold in time.
    #[track_caller]
    pub fn wait_for(&self, what: &str, mut condition: impl FnMut(&View) -> bool) {
        if wait_while_not(&self.shared.view, &self.shared.changed, deadline(), |view| condition(view)).is_err() {
            panic!("waited in vain for {what}\n{}", self.dump());
        }
    }

    /// Whether `condition` comes to hold within `time`. For things that must *not* happen, and for limits.
    #[must_use]
    pub fn holds_within(&self, time: Duration, mut condition: impl FnMut(&View) -> bool) -> bool {
        wait_while_not(&self.shared.view, &self.shared.changed, time, |view| condition(view)).is_ok()
    }

    /// Waits until a row of the screen contains `text`.
    ///
    /// # Panics
    /// If none does in time.
    #[track_caller]
    pub fn wait_text(&self, text: &str) {
        self.wait_for(&format!("`{text}` on the screen"), |view| view.shows(text));
    }

    /// Waits until the program has ended and all it wrote is on the screen.
    ///
    /// # Panics
    /// If it does not end in time.
    #[track_caller]
    pub fn wait_exit(&self) -> ExitStatus {
        self.wait_for("the end of the program", |view| view.exit().is_some());
        self.look(|view| view.exit().cloned()).expect("it was waited for")
    }

    /// Looks at the terminal as it is now.
    pub fn look<R>(&self, look: impl FnOnce(&View) -> R) -> R {
        look(&lock(&self.shared.view))
    }

    /// The number of bytes so far: a mark for [`raw_since`](Self::raw_since).
    #[must_use]
    pub fn mark(&self) -> usize {
        self.look(|view| view.raw().len())
    }

    /// The output since a mark, as text.
    #[must_use]
    pub fn raw_since(&self, mark: usize) -> String {
        self.look(|view| String::from_utf8_lossy(&view.raw()[mark..]).into_owned())
    }

    /// Changes the size, as a window manager would.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn resize(&self, size: Size) {
        lock(&self.shared.view).parser.set_size(at_least_one(size.rows), at_least_one(size.columns));
        self.master.resize(size.pty()).expect("the terminal is open");
    }

    /// Process id of the program.
    ///
    /// # Panics
    /// If the system did not give one.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.expect("a program that started has an id").as_raw_nonzero().get().unsigned_abs()
    }

    /// A file of the program's `/proc` folder.
    #[must_use]
    pub fn proc_file(&self, name: &str) -> String {
        let path = Path::new("/proc").join(self.pid().to_string()).join(name);
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// The `/proc` folder of the thread that reads what the program writes, once it has begun.
    #[must_use]
    pub fn reader_task(&self) -> Option<&Path> {
        self.shared.reader.get().map(PathBuf::as_path)
    }

    /// All facts that a person needs to see why a test failed.
    #[must_use]
    pub fn dump(&self) -> String {
        self.look(|view| {
            let raw = view.raw();
            let tail = &raw[raw.len().saturating_sub(600)..];
            format!(
                "--- terminal, cursor at {:?}, exit {:?} ---\n{}\n--- last bytes ---\n{}\n---",
                view.cursor(),
                view.exit,
                view.history().trim_end(),
                tail.escape_ascii()
            )
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let has_ended = self.look(|view| view.exit.is_some());
        if let (false, Some(pid)) = (has_ended, self.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn at_least_one(count: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(count).unwrap_or(std::num::NonZeroU16::MIN)
}

fn empty_view(size: Size) -> View {
    let (rows, columns) = (at_least_one(size.rows), at_least_one(size.columns));
    let parser = vt100::Parser::new_with_callbacks(rows, columns, SCROLLBACK_ROWS, Emulation::default());
    View { parser, raw: Vec::new(), exit: None, is_at_end: false }
}

fn read_to_end(mut reader: Box<dyn Read + Send>, shared: &Shared, answer_to: Option<&Writer>) {
    if let Ok(task) = std::fs::read_link("/proc/thread-self") {
        let _ = shared.reader.set(Path::new("/proc").join(task));
    }
    let mut buffer = vec![0; 64 * 1024];
    loop {
        // Linux reports the end of the other side as an error.
        let bytes = reader.read(&mut buffer).unwrap_or(0);
        let mut view = lock(&shared.view);
        if bytes == 0 {
            view.is_at_end = true;
            drop(view);
            shared.changed.notify_all();
            return;
        }
        view.parser.process(&buffer[..bytes]);
        let room = RAW_LOG_BYTES - view.raw.len();
        view.raw.extend_from_slice(&buffer[..bytes.min(room)]);
        let answers = std::mem::take(&mut view.parser.callbacks_mut().answers);
        drop(view);
        if let (false, Some(writer)) = (answers.is_empty(), answer_to) {
            // A program that has ended needs no answer.
            let _ = lock(writer).write_all(&answers);
        }
        shared.changed.notify_all();
    }
}
