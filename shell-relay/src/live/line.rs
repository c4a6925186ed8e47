//! Keys at the prompt: what is a question is taken before Enter takes effect.

use std::time::Instant;

use super::{Cx, KEY_QUERY, KEY_TAKE, LineDecision, LiveEvent, LiveShell, Phase, Probe, QUERY_WAIT, Token, TokenKind};
use crate::shell::Shell;

/// The keys of the editor's quoted-insert.
const CTRL_Q: u8 = 0x11;
const CTRL_V: u8 = 0x16;

/// The line editor has been asked for its line; the user's Enter is held.
#[derive(Debug)]
pub(super) struct Ask {
    hotkey: bool,
    /// The key itself, for the case that it is not for us.
    key: Vec<u8>,
    step: AskStep,
}

#[derive(Debug)]
enum AskStep {
    Asked {
        until: Instant,
    },
    /// The driver decides.
    Answered {
        text: String,
    },
}

impl LiveShell {
    /// Answers [`LiveEvent::LineEntered`] (`Shell`: Enter takes effect) or [`LiveEvent::HotkeyPressed`] (`Shell`: nothing happens).
    /// `Assistant` begins an answer. Does nothing if no such event is open.
    pub fn decide_line(&mut self, decision: LineDecision, probe: &dyn Probe, now: Instant, fx: &mut super::Effects) {
        let cx = &mut Cx { probe, now, fx };
        if !matches!(self.ask, Some(Ask { step: AskStep::Answered { .. }, .. })) {
            return;
        }
        let Some(ask) = self.ask.take() else { return };
        match decision {
            LineDecision::Assistant => self.start_answer(KEY_TAKE, cx),
            LineDecision::Shell => {
                if let (false, AskStep::Answered { text }) = (ask.hotkey, ask.step) {
                    self.press_enter(&ask.key, Some(text), cx);
                }
                self.release_held(cx);
            }
        }
    }

    pub(super) fn shell_key(&mut self, token: Token<'_>, cx: &mut Cx<'_>) {
        match self.phase {
            Phase::Prompt => self.prompt_key(token, cx),
            Phase::Continuation => {
                self.prompt.last_key = Some(cx.now);
                cx.fx.pty.extend_from_slice(token.bytes);
            }
            _ => {
                self.prompt.keys_since_left = true;
                cx.fx.pty.extend_from_slice(token.bytes);
            }
        }
    }

    fn prompt_key(&mut self, token: Token<'_>, cx: &mut Cx<'_>) {
        let quoted =
            std::mem::replace(&mut self.prompt.quoting, matches!(token.bytes.last(), Some(&(CTRL_Q | CTRL_V))));
        match token.kind {
            _ if quoted => {
                self.prompt.typed = true;
                self.prompt.quoting = false;
            }
            TokenKind::Enter if self.prompt.typed && self.may_ask(cx) => return self.ask_for_line(false, token, cx),
            TokenKind::Hotkey if self.may_ask(cx) => return self.ask_for_line(true, token, cx),
            TokenKind::Enter | TokenKind::Accept => return self.press_enter(token.bytes, None, cx),
            TokenKind::Search => self.prompt.searched = true,
            _ => self.prompt.typed = true,
        }
        if self.prompt.enter_pending {
            self.prompt.keys_since_left = true;
        }
        self.prompt.last_key = Some(cx.now);
        cx.fx.pty.extend_from_slice(token.bytes);
    }

    fn press_enter(&mut self, key: &[u8], line: Option<String>, cx: &mut Cx<'_>) {
        self.prompt.enter_pending = true;
        self.prompt.searched = false;
        self.prompt.last_key = Some(cx.now);
        self.user.line = line;
        cx.fx.pty.extend_from_slice(key);
    }

    /// Whether a key of ours is safe: the line editor, and nothing of it but its main loop, reads it.
    fn may_ask(&self, cx: &Cx<'_>) -> bool {
        self.setup.shell == Shell::Bash
            && !self.prompt.searched
            && !self.prompt.enter_pending
            && self.prompt.unsettled_until().is_none_or(|until| cx.now >= until)
            && self.editor_reads(cx)
    }

    fn ask_for_line(&mut self, hotkey: bool, token: Token<'_>, cx: &mut Cx<'_>) {
        let step = AskStep::Asked { until: cx.now + QUERY_WAIT };
        self.ask = Some(Ask { hotkey, key: token.bytes.to_vec(), step });
        self.prompt.last_key = Some(cx.now);
        cx.fx.pty.extend_from_slice(KEY_QUERY);
    }

    pub(super) fn on_line(&mut self, cursor: usize, text: Option<String>, cx: &mut Cx<'_>) {
        if self.answer.is_some() {
            return self.on_leftover(text, cx);
        }
        let Some(ask @ Ask { step: AskStep::Asked { .. }, .. }) = &mut self.ask else { return };
        let Some(text) = text else {
            return self.give_up_asking(cx);
        };
        ask.step = AskStep::Answered { text: text.clone() };
        cx.fx.events.push(if ask.hotkey {
            LiveEvent::HotkeyPressed { text, cwd: self.cwd.clone() }
        } else {
            LiveEvent::LineEntered { text, cursor, cwd: self.cwd.clone() }
        });
    }

    pub(super) fn ask_deadline(&self) -> Option<Instant> {
        match self.ask {
            Some(Ask { step: AskStep::Asked { until }, .. }) => Some(until),
            _ => None,
        }
    }

    pub(super) fn tick_ask(&mut self, cx: &mut Cx<'_>) {
        if self.ask_deadline().is_some_and(|until| cx.now >= until) {
            self.give_up_asking(cx);
        }
    }

    /// The line is not known: Enter takes effect, the hotkey does not.
    fn give_up_asking(&mut self, cx: &mut Cx<'_>) {
        if let Some(ask) = self.ask.take() {
            if !ask.hotkey {
                self.press_enter(&ask.key, None, cx);
            }
            self.release_held(cx);
        }
    }
}
