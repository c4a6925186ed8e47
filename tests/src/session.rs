//! A session is a person at a prompt: types a line, waits for the next prompt.

use std::{ops::Deref, time::Duration};

use crate::{Home, Terminal, deadline::eventually, keys, processes};

/// The beginning of the row of keys of an approval card: for one command, for a dangerous one, for several.
pub const CARD_KEYS: [&str; 3] = ["y once", "y run", "y all"];

/// A card may ignore keys that come so soon that they were meant for another program.
const CARD_DEAF: Duration = Duration::from_millis(350);

/// This many looks in a row must find all asleep: a single one may fall between a write and its read, as the kernel passes the bytes of
/// a terminal on in a separate thread.
const LOOKS: u32 = 25;

/// A shell in a terminal, with the prompt it shows. It cannot outlive the home it was started in.
pub struct Session<'home> {
    terminal: Terminal,
    prompt: String,
    home: &'home Home,
}

impl Deref for Session<'_> {
    type Target = Terminal;

    fn deref(&self) -> &Terminal {
        &self.terminal
    }
}

impl<'home> Session<'home> {
    /// Waits for the first prompt. `prompt` is its last line as it looks on the screen.
    ///
    /// # Panics
    /// If it does not come.
    #[track_caller]
    pub(crate) fn start(terminal: Terminal, prompt: &str, home: &'home Home) -> Self {
        let session = Self { terminal, prompt: prompt.into(), home };
        session.wait_prompt();
        session
    }

    /// Waits until the cursor stands behind an empty prompt.
    ///
    /// # Panics
    /// If it does not in time.
    #[track_caller]
    pub fn wait_prompt(&self) {
        self.wait_for("an empty prompt", |view| view.is_at_prompt(&self.prompt));
    }

    /// Waits until the assistant, its daemon and the shell only wait for keys, messages or a model. The screen shows less: bash and
    /// fish lose a Ctrl-C that comes while they paint, and zsh shows its prompt before it reports it.
    ///
    /// # Panics
    /// If they do not in time.
    #[track_caller]
    pub fn wait_idle(&self) {
        let mut looks = 0;
        eventually("all of the terminal to sleep", || {
            let daemons = self.home.daemon_pids();
            let mut pids = daemons.iter().map(|pid| pid.as_raw_nonzero().get().unsigned_abs()).chain([self.pid()]);
            looks = if pids.all(processes::sleep) { looks + 1 } else { 0 };
            looks == LOOKS
        });
    }

    /// Types a line and waits until it is on the screen, without Enter.
    ///
    /// # Panics
    /// If it does not show up.
    #[track_caller]
    pub fn type_line(&self, line: &str) {
        self.wait_prompt();
        self.send(line);
        let typed = format!("{}{line}", self.prompt);
        let columns = self.look(|view| usize::from(view.screen().size().1.get()));
        if typed.chars().count() < columns {
            self.wait_for(&format!("`{line}` typed"), |view| view.cursor_row() == typed.trim_end());
        }
    }

    /// Types a line and Enter. Gives a mark of the moment before Enter.
    ///
    /// # Panics
    /// If the line does not show up.
    #[track_caller]
    pub fn submit(&self, line: &str) -> usize {
        self.type_line(line);
        let mark = self.mark();
        self.send(keys::ENTER);
        mark
    }

    /// Waits for the next prompt after [`submit`](Self::submit), and returns the output until then.
    ///
    /// # Panics
    /// If it does not come.
    #[track_caller]
    pub fn wait_next_prompt(&self, mark: usize) -> String {
        self.wait_for("the next prompt", |view| view.raw()[mark..].contains(&b'\n') && view.is_at_prompt(&self.prompt));
        self.raw_since(mark)
    }

    /// Runs a command of the user's and waits for the next prompt. Gives the raw bytes in between.
    ///
    /// # Panics
    /// If the prompt does not come back.
    #[track_caller]
    pub fn run(&self, line: &str) -> String {
        let mark = self.submit(line);
        self.wait_next_prompt(mark)
    }

    /// Asks a question with the `?` prefix, waits until `answer` is part of the screen's history and the prompt is back.
    ///
    /// # Panics
    /// If one of them does not come.
    #[track_caller]
    pub fn ask(&self, question: &str, answer: &str) -> String {
        let mark = self.submit(&format!("? {question}"));
        self.wait_answer(mark, answer)
    }

    /// Waits until `answer` is part of the screen's history and the prompt is back.
    ///
    /// # Panics
    /// If one of them does not come.
    #[track_caller]
    pub fn wait_answer(&self, mark: usize, answer: &str) -> String {
        // In this order: the history is much to look through while output still comes.
        self.wait_for(&format!("`{answer}` in the answer, and the prompt"), |view| {
            view.is_at_prompt(&self.prompt) && view.raw()[mark..].contains(&b'\n') && view.history().contains(answer)
        });
        self.raw_since(mark)
    }

    /// Waits for the approval card about `subject` (a command, a path) with its row of keys.
    ///
    /// # Panics
    /// If it does not come.
    #[track_caller]
    pub fn wait_approval(&self, subject: &str) {
        self.wait_for(&format!("the question whether `{subject}` may be done"), |view| {
            let card = view.text();
            card.contains(subject) && CARD_KEYS.iter().any(|keys| card.contains(keys))
        });
        self.outwait_deaf_card();
    }

    /// Waits until a card accepts keys for sure.
    pub fn outwait_deaf_card(&self) {
        let _ = self.holds_within(CARD_DEAF, |_| false);
    }

    /// Expects this prompt from now on.
    pub fn expect_prompt(&mut self, prompt: &str) {
        self.prompt = prompt.into();
    }
}
