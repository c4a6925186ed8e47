//! Follows the line at the prompt: gives keys, output and verdicts to the hint and to the classifier's thread.

use std::time::Instant;

use cohab_conversation::{
    event::Event,
    line_question::{LineQuestion, QuestionId, first_word},
};
use cohab_line_classifier::Decision;
use cohab_shell_relay::live::{LiveEvent, ShellState, UntouchedPrompt};

use super::{Driver, state::prompt_line::Insertion};
use crate::{hint::Wanted, prompt_line::classifier_thread::LineVerdict};

/// Around a paste, where the line editor wants it marked.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const NEXT_ROW: &[u8] = b"\r\n";

/// Whether the first thing that this output shows is a new row; `None` as long as it shows nothing.
fn begins_with_a_new_row(output: &[u8]) -> Option<bool> {
    let mut rest = output;
    loop {
        rest = match rest {
            [] => return None,
            [b'\n', ..] => return Some(true),
            [b'\r', rest @ ..] => rest,
            [ESC, b'[', rest @ ..] => behind(rest, |byte| matches!(byte, b'@'..=b'~')),
            [ESC, b']', rest @ ..] => behind(rest, |byte| matches!(byte, BEL | b'\\')),
            [ESC, b'(' | b')', _, rest @ ..] | [ESC, _, rest @ ..] => rest,
            [ESC] => return None,
            _ => return Some(false),
        };
    }
}

/// The bytes behind the first one that ends a sequence.
fn behind(bytes: &[u8], ends: impl Fn(u8) -> bool) -> &[u8] {
    bytes.iter().position(|&byte| ends(byte)).map_or(&[], |at| &bytes[at + 1..])
}

impl Driver {
    /// Keys before they go to the shell. True: they were for us.
    pub(super) fn take_prompt_keys(&mut self, bytes: &[u8]) -> bool {
        let at_prompt = self.live.state() == ShellState::Prompt;
        if at_prompt
            && self.prompt_line.flip_key.is(bytes)
            && self.prompt_line.hint.takes_flip(|line| self.app.is_fixed(line))
        {
            let wanted = self.prompt_line.hint.flip(&mut self.prompt_line.out);
            self.ask_for_hint(wanted);
            self.write_hint();
            return true;
        }
        let is_followed = self.prompt_line.hint.keys(bytes, at_prompt, Instant::now(), &mut self.prompt_line.out);
        self.prompt_line.keys_ahead |= !is_followed && !matches!(bytes, b"\x1b" | b"\x03");
        self.write_hint();
        false
    }

    /// What the shell wrote, with the hint out of its way.
    pub(super) fn write_shell_output(&mut self) {
        self.prompt_line.hint.before_output(&mut self.prompt_line.out);
        self.write_hint();
        self.hide_command_status();
        if self.prompt_line.wants_gap
            && let Some(is_new_row) = begins_with_a_new_row(&self.fx.terminal)
        {
            self.prompt_line.wants_gap = false;
            self.terminal.write(if is_new_row { b"" } else { NEXT_ROW });
        }
        self.terminal.pass(&self.fx.terminal);
        match self.live.state() {
            ShellState::Boot
            | ShellState::Precmd
            | ShellState::Prompt
            | ShellState::Continuation
            | ShellState::Answering => self.prompt_line.hint.after_output(&self.fx.terminal, Instant::now()),
            _ => self.prompt_line.hint.left(self.fx.terminal.ends_with(b"\n")),
        }
        self.fx.terminal.clear();
    }

    /// An event of the shell's, before the application gets it.
    pub(super) fn note_for_prompt_line(&mut self, event: &LiveEvent) {
        match event {
            LiveEvent::PromptReady => {
                self.prompt_line_ready();
                self.insert_text();
            }
            LiveEvent::AnswerEnded => self.prompt_line.answer_ended = true,
            // An answer may begin without a key: the hint next to the prompt must not stand in it.
            LiveEvent::AnswerReady => {
                self.prompt_line.hint.keys(&[], false, Instant::now(), &mut self.prompt_line.out);
                self.write_hint();
            }
            LiveEvent::LineEntered { text, is_command, .. } => {
                self.prompt_line.takes_pastes = self.live.modes().bracketed_paste();
                if let Some(row) = self.notices.nested_shell.entered(text, self.abilities) {
                    self.live.show_above_output(row);
                }
                self.prompt_line.remember_word(text, *is_command);
                let flipped = self.prompt_line.hint.take_flipped(text);
                self.app.decide_ahead(flipped);
            }
            LiveEvent::HotkeyPressed { text, is_command, .. } => {
                self.prompt_line.takes_pastes = self.live.modes().bracketed_paste();
                self.prompt_line.remember_word(text, *is_command);
            }
            _ => {}
        }
    }

    fn prompt_line_ready(&mut self) {
        let ahead = std::mem::take(&mut self.prompt_line.keys_ahead);
        let put_back = std::mem::take(&mut self.prompt_line.answer_ended).then(|| self.app.line_put_back()).flatten();
        let line = match put_back {
            Some(line) => Some(line).filter(|_| !ahead),
            None => (self.live.untouched_prompt() == UntouchedPrompt::Stands).then_some(""),
        };
        self.prompt_line.hint.prompt_ready(line, Instant::now());
    }

    /// Puts text on the prompt that stands, if some waits for it. Nothing of it can run: either the line editor takes it as a paste, or it
    /// is text without control characters.
    fn insert_text(&mut self) {
        let Some(Insertion { text, is_picked }) = self.prompt_line.insertion.take() else { return };
        let is_plain = !text.contains(char::is_control);
        if !is_picked && self.live.untouched_prompt() != UntouchedPrompt::Stands {
            return self.prompt_line.hint.announce("not inserted: you typed meanwhile", Instant::now());
        }
        if self.prompt_line.takes_pastes {
            self.on_keys(&[PASTE_BEGINS, text.as_bytes(), PASTE_ENDS].concat());
        } else if is_plain {
            self.on_keys(text.as_bytes());
        } else {
            self.prompt_line.hint.announce("this shell's prompt holds one line only", Instant::now());
        }
    }

    /// The terminal has another size.
    pub(super) fn resize_hint(&mut self, columns: u16) {
        self.prompt_line.hint.resized(columns, &mut self.prompt_line.out);
        self.write_hint();
    }

    /// Time has passed.
    pub(super) fn tick_hint(&mut self, now: Instant) {
        let wanted = self.prompt_line.hint.tick(now, &mut self.prompt_line.out);
        self.ask_for_hint(wanted);
        self.write_hint();
    }

    /// The classifier has judged.
    pub(super) fn on_verdict(&mut self, LineVerdict { id, decision }: LineVerdict) {
        match id {
            QuestionId::Enter(id) => self.handle(Event::Judged { id, decision }),
            QuestionId::Hint(id) => {
                self.prompt_line.hint.decided(id, decision, &mut self.prompt_line.out);
                self.write_hint();
            }
        }
    }

    /// Draws what is left and gives the prompt back, with the line or without.
    pub(super) fn end_answer(&mut self, with_line: bool, now: Instant) {
        self.draw_last();
        self.prompt_line.wants_gap = self.app.wants_gap();
        self.live.end_answer(with_line, self.shell.probe(), now, &mut self.fx);
    }

    /// Enter is held for this.
    pub(super) fn ask_classifier(&mut self, question: LineQuestion) {
        if let (QuestionId::Enter(id), false) = (question.id, self.prompt_line.classifier.ask(question)) {
            self.handle(Event::Judged { id, decision: Decision::Shell });
        }
    }

    fn ask_for_hint(&mut self, wanted: Option<Wanted>) {
        let Some(Wanted { id, line }) = wanted else { return };
        if let Some(decision) = self.app.look_at_typed(&line) {
            return self.prompt_line.hint.decided(id, decision, &mut self.prompt_line.out);
        }
        let is_command = self.prompt_line.told.get(first_word(&line)).copied();
        let cwd = self.live.cwd().to_owned();
        self.prompt_line.classifier.ask(LineQuestion { id: QuestionId::Hint(id), line, cwd, is_command });
    }

    fn write_hint(&mut self) {
        if !self.prompt_line.out.is_empty() {
            self.terminal.write(&self.prompt_line.out);
            self.prompt_line.out.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_brings_a_blank_row_is_recognized() {
        for (output, is_new_row) in [
            ("", None),
            ("\x1b[?2004l\r\x1b]0;title\x07", None),
            ("$ ", Some(false)),
            ("\r\x1b[K\x1b[32m~/src\x1b[m $ ", Some(false)),
            ("\r\n$ ", Some(true)),
            ("\x1b[?2004h\x1b]7;file:///\x1b\\\x1b[m\n\x1b[1m~/src\r\n> ", Some(true)),
            ("\x1b(B\x1b[m", None),
        ] {
            assert_eq!(begins_with_a_new_row(output.as_bytes()), is_new_row, "{output:?}");
        }
    }
}
