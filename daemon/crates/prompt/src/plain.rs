//! Asks questions as numbered lines: for terminals that cannot move their cursor, and for screen readers.

use std::io::{self, BufRead as _, Read as _};

use secrecy::SecretString;

use super::{Check, Prompt, Row, Stopped, Tone, fuzzy, terminal::Terminal};

/// Longest answer, in bytes.
const MAX_LINE_BYTES: u64 = 8 * 1024;
/// Most rows that are printed at once.
const MAX_ROWS: usize = 20;

/// Asks line by line.
pub struct Plain {
    terminal: Terminal,
}

impl Plain {
    /// Asks at this terminal.
    #[must_use]
    pub fn new(terminal: Terminal) -> Self {
        Self { terminal }
    }

    fn print(&self, text: &str) -> Result<(), Stopped> {
        Ok(self.terminal.write(text.as_bytes())?)
    }

    fn read(&self) -> Result<String, Stopped> {
        let mut line = String::new();
        if io::stdin().lock().take(MAX_LINE_BYTES).read_line(&mut line)? == 0 {
            return Err(Stopped::Cancelled);
        }
        Ok(line.trim().to_owned())
    }

    fn print_rows(&self, rows: &[Row], shown: &[usize]) -> Result<(), Stopped> {
        for index in shown.iter().take(MAX_ROWS) {
            let Row { name, remark, .. } = &rows[*index];
            let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
            self.print(&format!("  {}. {name}{remark}\n", index + 1))?;
        }
        if shown.len() > MAX_ROWS {
            self.print(&format!("  and {} more; type a part of a name to see them\n", shown.len() - MAX_ROWS))?;
        }
        Ok(())
    }
}

impl Prompt for Plain {
    fn say(&mut self, tone: Tone, text: &str) -> Result<(), Stopped> {
        let label = if tone == Tone::Failed { "Failed: " } else { "" };
        self.print(&format!("{label}{text}\n"))
    }

    fn wait(&mut self, text: &str) -> Result<(), Stopped> {
        self.print(&format!("{text}\n"))
    }

    fn choose(&mut self, question: &str, rows: &[Row], preselected: usize) -> Result<usize, Stopped> {
        self.print(&format!("{question}\n"))?;
        let mut shown: Vec<usize> = (0..rows.len()).collect();
        loop {
            self.print_rows(rows, &shown)?;
            self.print(&format!("Number, or a part of the name [{}]: ", preselected + 1))?;
            let answer = self.read()?;
            if answer.is_empty() {
                return Ok(preselected);
            }
            let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let by_name = || rows.iter().position(|row| row.name.eq_ignore_ascii_case(&answer));
            if let Some(index) = number.filter(|index| *index < rows.len()).or_else(by_name) {
                return Ok(index);
            }
            shown = fuzzy::matching(rows, &answer);
            match shown.as_slice() {
                [only] => return Ok(*only),
                [] => {
                    self.print(&format!("No entry matches {answer:?}.\n"))?;
                    shown = (0..rows.len()).collect();
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<String, Stopped> {
        loop {
            self.print(&format!("{question} ({hint})\n> "))?;
            let answer = self.read()?;
            match check(&answer) {
                Ok(()) => return Ok(answer),
                Err(what) => self.print(&format!("{what}\n"))?,
            }
        }
    }

    fn secret(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<SecretString, Stopped> {
        loop {
            self.print(&format!("{question} ({hint})\n> "))?;
            let answer = {
                let _modes = self.terminal.unechoed()?;
                self.read()?
            };
            self.print("\n")?;
            match check(&answer) {
                Ok(()) => return Ok(answer.into()),
                Err(what) => self.print(&format!("{what}\n"))?,
            }
        }
    }
}
