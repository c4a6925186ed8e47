//! Keys at the prompt: what is a question is taken before Enter takes effect.

use std::time::{Duration, Instant};

use super::{
    Cx, Enter, Interrupted, Key, LineDecision, LiveEvent, LiveShell, Phase, Probe, QUERY_WAIT, Restore, Token,
    TokenKind,
};
use crate::shell::Shell;

/// Enter painted something, and so long nothing more came.
const MENU_QUIET: Duration = Duration::from_millis(80);
/// The keys of the editor's quoted-insert.
const CTRL_Q: u8 = 0x11;
const CTRL_V: u8 = 0x16;
/// Ctrl-A, Ctrl-E, Ctrl-G, Ctrl-U: whatever they are bound to, bash's search ends with them.
const ENDS_SEARCH: [u8; 4] = [0x01, 0x05, 0x07, 0x15];

/// The line editor has been asked for its line; the user's Enter is held.
#[derive(Debug)]
pub(super) struct Ask {
    hotkey: bool,
    /// The key itself, for the case that it is not for us.
    key: Vec<u8>,
    /// It came by itself.
    is_alone: bool,
    step: AskStep,
}

#[derive(Debug)]
enum AskStep {
    Asked {
        since: Instant,
        /// By Enter itself, and not by a query.
        told: bool,
    },
    /// The driver decides.
    Answered { text: String },
}

/// What the line editor says of its line.
#[derive(Debug)]
pub(super) struct LineTold {
    pub cursor: usize,
    pub text: Option<String>,
    pub is_command: Option<bool>,
}

impl LiveShell {
    /// Answers [`LiveEvent::LineEntered`] (`Shell`: Enter takes effect) or [`LiveEvent::HotkeyPressed`] (`Shell`: nothing happens).
    /// `Assistant` begins an answer. If no such event is open (any more), `Shell` does nothing, and
    /// `Assistant` is refused unless an answer is on.
    pub fn decide_line(&mut self, decision: LineDecision, probe: &dyn Probe, now: Instant, fx: &mut super::Effects) {
        let cx = &mut Cx { probe, now, fx };
        let Some(ask) = self.ask.take_if(|ask| matches!(ask.step, AskStep::Answered { .. })) else {
            if decision == LineDecision::Assistant && self.answer.is_none() {
                let error = super::queue::not_at_prompt("not_ready", "the line is gone");
                cx.fx.events.push(LiveEvent::AnswerRefused(error));
            }
            return;
        };
        match decision {
            LineDecision::Assistant => self.start_answer(Key::Take, cx),
            LineDecision::Shell => {
                if let (false, AskStep::Answered { text }) = (ask.hotkey, ask.step) {
                    self.accept(&ask.key, Some(text), cx);
                }
                self.release_held(cx);
                self.advance_queue(cx);
            }
        }
    }

    pub(super) fn shell_key(&mut self, token: Token<'_>, cx: &mut Cx<'_>) {
        match self.phase {
            Phase::Prompt => self.prompt_key(token, cx),
            Phase::Precmd { .. } if token.kind == TokenKind::Hotkey => self.hold_until_settled(token),
            Phase::Continuation => {
                self.prompt.last_key = Some(cx.now);
                cx.fx.pty.extend_from_slice(token.bytes);
            }
            _ => {
                if self.phase == Phase::Running && token.kind == TokenKind::Enter {
                    self.look_for_replaced_shell(cx);
                }
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
            TokenKind::Hotkey if self.prompt.unsettled_until().is_some_and(|until| cx.now < until) => {
                return self.hold_until_settled(token);
            }
            TokenKind::Enter => return self.press_enter(token.bytes, None, cx),
            TokenKind::Accept if self.dialect.accepts_by_ctrl_o => return self.press_enter(token.bytes, None, cx),
            TokenKind::Search if self.dialect.search_takes_keys => self.prompt.searched = true,
            _ => {
                self.prompt.typed = true;
                self.prompt.searched &= !token.bytes.iter().any(|byte| ENDS_SEARCH.contains(byte));
            }
        }
        if self.prompt.entered_at.is_some() {
            self.prompt.keys_since_left = true;
        }
        self.prompt.interrupted = match token.kind {
            TokenKind::Interrupt if !quoted => Interrupted::Sent,
            _ => Interrupted::No,
        };
        self.prompt.accepting = false;
        self.prompt.last_key = Some(cx.now);
        cx.fx.pty.extend_from_slice(token.bytes);
    }

    /// The hotkey at a prompt that is about to stand, or whose line is still being typed ahead: no widget of the shell's is to have it.
    fn hold_until_settled(&mut self, token: Token<'_>) {
        self.held.push(token);
        let prompt_told = self.phase == Phase::Prompt;
        self.restore = Some(Restore { prompt_told, ..Restore::at_next_prompt(false, false) });
    }

    fn press_enter(&mut self, key: &[u8], line: Option<String>, cx: &mut Cx<'_>) {
        self.prompt.keys_since_left |= self.prompt.entered_at.is_some();
        self.prompt.entered_at = Some(cx.now);
        self.prompt.accepting = false;
        self.prompt.searched = false;
        self.prompt.last_key = Some(cx.now);
        self.user.line = line;
        cx.fx.pty.extend_from_slice(key);
    }

    /// The line that was asked for is a command.
    fn accept(&mut self, key: &[u8], line: Option<String>, cx: &mut Cx<'_>) {
        match self.dialect.enter {
            Enter::Held => self.press_enter(key, line, cx),
            Enter::Told { .. } => {
                let mut accept = Vec::new();
                self.dialect.press(Key::Accept, &mut accept);
                self.press_enter(&accept, line, cx);
                self.prompt.accepting = true;
            }
        }
    }

    /// Whether a key of ours is safe: the line editor, and nothing of it but its main loop, reads it.
    fn may_ask(&self, cx: &Cx<'_>) -> bool {
        self.setup.shell != Shell::Other
            && !self.prompt.searched
            && !self.prompt.enter_is_pending(cx.now)
            && self.prompt.unsettled_until().is_none_or(|until| cx.now >= until)
            && self.editor_reads(cx)
    }

    fn ask_for_line(&mut self, hotkey: bool, token: Token<'_>, cx: &mut Cx<'_>) {
        let told_by = match self.dialect.enter {
            Enter::Told { key } if !hotkey => Some(key.unwrap_or(token.bytes)),
            _ => None,
        };
        match told_by {
            Some(key) => cx.fx.pty.extend_from_slice(key),
            None => self.dialect.press(Key::Query, &mut cx.fx.pty),
        }
        let step = AskStep::Asked { since: cx.now, told: told_by.is_some() };
        self.ask = Some(Ask { hotkey, key: token.bytes.to_vec(), is_alone: self.key_is_alone, step });
        self.prompt.accepting = false;
        self.prompt.last_key = Some(cx.now);
    }

    /// `Q`: the answer to a query.
    pub(super) fn on_line(&mut self, told: LineTold, cx: &mut Cx<'_>) {
        if self.on_relay_repainted(cx) {
            return;
        }
        if self.answer.is_some() {
            return self.on_leftover(told.text, cx);
        }
        if matches!(self.ask, Some(Ask { step: AskStep::Asked { told: false, .. }, .. })) {
            self.line_is_known(told, cx);
        }
    }

    /// `N`: Enter was pressed, and the shell waits for our word. Also for a line that was typed ahead.
    pub(super) fn on_enter_told(&mut self, told: LineTold, cx: &mut Cx<'_>) {
        if self.dialect.enter == Enter::Held || self.relay.is_some() || !self.stands_at_prompt(cx) {
            return;
        }
        if self.prompt.accepting {
            return;
        }
        self.prompt.entered_at = None;
        // Typed into a command of the agent's that did not read it: a command of the user's.
        if self.answer.is_some() {
            if self.line_typed_ahead_goes_first(cx) {
                self.accept(&[], told.text, cx);
            }
            return;
        }
        if self.restore.is_some() {
            return self.accept(&[], told.text, cx);
        }
        if self.ask.is_none() {
            let step = AskStep::Asked { since: cx.now, told: true };
            self.ask = Some(Ask { hotkey: false, key: Vec::new(), is_alone: false, step });
        }
        if matches!(self.ask, Some(Ask { step: AskStep::Asked { told: true, .. }, .. })) {
            self.line_is_known(told, cx);
        }
    }

    /// Whether the primary prompt stands, as its line editor says who waits for our word. Its own mark may have been lost with the
    /// user's hooks, and without an answer Enter would do nothing.
    fn stands_at_prompt(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.phase != Phase::Prompt && !matches!(self.phase, Phase::Replaced | Phase::Dead) && self.editor_reads(cx)
        {
            self.new_prompt(cx);
        }
        self.phase == Phase::Prompt
    }

    fn line_is_known(&mut self, LineTold { cursor, text, is_command }: LineTold, cx: &mut Cx<'_>) {
        let Some(ask) = &mut self.ask else { return };
        let Some(text) = text else {
            if let Some(ask) = self.ask.take().filter(|ask| !ask.hotkey) {
                self.accept(&ask.key, None, cx);
            }
            return self.release_held(cx);
        };
        ask.step = AskStep::Answered { text: text.clone() };
        cx.fx.events.push(if ask.hotkey {
            LiveEvent::HotkeyPressed { text, cwd: self.cwd.clone(), is_command }
        } else {
            LiveEvent::LineEntered { text, cursor, cwd: self.cwd.clone(), is_command, is_alone: ask.is_alone }
        });
    }

    pub(super) fn ask_deadline(&self) -> Option<Instant> {
        match self.ask {
            // Enter has chosen from a menu, say: something was painted, and the line was not told.
            Some(Ask { step: AskStep::Asked { since, told: true }, .. }) if self.last_output > since => {
                Some((self.last_output + MENU_QUIET).min(since + QUERY_WAIT))
            }
            Some(Ask { step: AskStep::Asked { since, .. }, .. }) => Some(since + QUERY_WAIT),
            _ => None,
        }
    }

    pub(super) fn tick_ask(&mut self, cx: &mut Cx<'_>) {
        if self.ask_deadline().is_some_and(|until| cx.now >= until) {
            self.give_up_asking(cx);
        }
    }

    /// The prompt at which the line was asked for is gone. What was held of it goes where the shell is now. Whether one was asked for.
    pub(super) fn forget_asking(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(ask) = self.ask.take() else { return false };
        if self.dialect.enter == Enter::Held && !ask.hotkey {
            self.shell_key(Token { kind: TokenKind::Enter, bytes: &ask.key }, cx);
        }
        true
    }

    /// The line is not known: Enter takes effect, unless the shell has it already; the hotkey does not.
    fn give_up_asking(&mut self, cx: &mut Cx<'_>) {
        if let Some(ask) = self.ask.take() {
            if !ask.hotkey && matches!(ask.step, AskStep::Asked { told: false, .. }) {
                self.press_enter(&ask.key, None, cx);
            }
            self.release_held(cx);
            self.advance_queue(cx);
        }
    }

    /// `exec bash` in the user's shell: a line editor reads, but it is another shell's, without our script.
    fn look_for_replaced_shell(&mut self, cx: &mut Cx<'_>) {
        if self.editor_reads(cx) && cx.probe.shell_replaced() {
            self.phase = Phase::Replaced;
            let reason = "`exec` has replaced the shell, so it runs without the assistant".to_owned();
            cx.fx.events.push(LiveEvent::NotIntegrated { reason });
        }
    }
}
