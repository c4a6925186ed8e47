//! One row below the output of the assistant's command while that command is silent: its name, how long it has run, how to stop it.
//!
//! The row is drawn only where it cannot disturb: at the start of an empty row, behind output without any control sequence that is still
//! in force, while the terminal itself edits and echoes lines. It is gone before the next byte of output reaches the terminal.

use std::time::{Duration, Instant};

use cohab_conversation::ui::status::{fitted, one_line, seconds};
use cohab_term::theme;
use ratatui::text::{Line, Span};

/// A command that is silent for so long gets the row.
const SILENCE: Duration = Duration::from_secs(1);
const FRAMES: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇", "⠏", "⠛"];

/// The command that runs, as far as the row depends on it.
#[derive(Debug)]
pub struct CommandStatus {
    title: String,
    started: Instant,
    /// When the row is drawn, or drawn anew.
    due: Instant,
    is_at_row_start: bool,
    /// All it wrote was text and styles.
    is_plain: bool,
    has_style: bool,
    is_shown: bool,
}

impl CommandStatus {
    /// A command with this text begins.
    pub fn begun(title: &str, now: Instant) -> Self {
        Self {
            title: one_line(title.lines().next().unwrap_or_default()),
            started: now,
            due: now + SILENCE,
            is_at_row_start: true,
            is_plain: true,
            has_style: false,
            is_shown: false,
        }
    }

    /// Follows what reaches the terminal.
    pub fn follow(&mut self, output: &[u8], now: Instant) {
        let Some(last) = output.last() else { return };
        self.due = now + SILENCE;
        self.is_at_row_start = *last == b'\n';
        let mut rest = output;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, 0x1b | 0x0e | 0x0f)) {
            rest = &rest[at..];
            let style = rest.strip_prefix(b"\x1b[").and_then(|numbers| {
                let end = numbers.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'))?;
                (numbers[end] == b'm').then_some(&numbers[..end])
            });
            let Some(style) = style else {
                self.is_plain = false;
                return;
            };
            self.has_style = !matches!(style, b"" | b"0");
            rest = &rest[style.len() + 3..];
        }
    }

    /// When the row is to be drawn; never for a command that draws itself, or in the middle of a row.
    pub fn deadline(&self) -> Option<Instant> {
        (self.is_at_row_start && self.is_plain && !self.has_style).then_some(self.due)
    }

    /// The row is drawn now.
    pub fn draw(&mut self, width: usize, now: Instant) -> Line<'static> {
        self.is_shown = true;
        self.row(width, now)
    }

    /// Waits for more silence.
    pub fn put_off(&mut self, now: Instant) {
        self.due = now + SILENCE;
    }

    /// Takes note that the row goes; returns whether it was drawn.
    pub fn hide(&mut self) -> bool {
        std::mem::take(&mut self.is_shown)
    }

    fn row(&self, width: usize, now: Instant) -> Line<'static> {
        let elapsed_s = now.saturating_duration_since(self.started).as_secs();
        let frame = usize::try_from(elapsed_s).unwrap_or(0) % FRAMES.len();
        let facts = format!(" · {} · Ctrl-C stops", seconds(elapsed_s));
        let head = Line::from(vec![
            Span::styled(FRAMES[frame], theme::ACCENT),
            Span::styled(format!(" {}", self.title), theme::DIM),
        ]);
        let facts = Span::styled(facts, theme::DIM);
        let mut line = fitted(&head, width.saturating_sub(facts.width()));
        line.push_span(facts);
        cohab_term::ansi::cut_line(&line, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(output: &[&str]) -> bool {
        let now = Instant::now();
        let mut status = CommandStatus::begun("cargo test", now);
        output.iter().for_each(|bytes| status.follow(bytes.as_bytes(), now));
        assert!(status.deadline().is_none_or(|due| due == now + SILENCE));
        status.deadline().is_some()
    }

    #[test]
    fn only_a_command_that_writes_lines_gets_the_row() {
        for output in [&[][..], &["line\r\n"], &["a", "b\r\n"], &["\x1b[1;32mok\x1b[0m\r\n"], &["\x1b[31mx\x1b[m\r\n"]]
        {
            assert!(after(output), "{output:?}");
        }
        for output in [
            &["Name? "][..],
            &["50 %\r"],
            &["\x1b[31mred\r\n"],
            &["\x1b[2K\r\n"],
            &["\x1b[?25l\r\n", "line\r\n"],
            &["\x1b7x\x1b8\r\n"],
            &["\x1b]0;title\x07\r\n"],
            &["\x1b[3", "1mx\r\n"],
            &["\x0eqqq\x0f\r\n"],
        ] {
            assert!(!after(output), "{output:?}");
        }
    }

    #[test]
    fn the_row_names_the_command_and_fits() {
        let now = Instant::now();
        let status = CommandStatus::begun("cargo test --workspace\nls", now);
        let row = |width, seconds| status.row(width, now + Duration::from_secs(seconds)).to_string();
        assert_eq!(row(60, 12), "⠦ cargo test --workspace · 12 s · Ctrl-C stops");
        assert_eq!(row(36, 75), "⠴ cargo… · 1 min 15 s · Ctrl-C stops");
        assert!(row(10, 1).chars().count() <= 10);
    }
}
