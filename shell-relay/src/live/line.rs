//! Handles keys at the prompt: a question is taken before Enter takes effect.

use std::time::{Duration, Instant};

use cohab_shell_state::shell::Shell;
use cohab_types::refusal::Refusal;

use super::{
    Enter, EnterPaint, Interrupted, LineDecision, LineShape, LiveEvent, LiveShell, Phase, Probe, QUERY_WAIT, Restore,
    StepContext, Token, TokenKind, View, WidgetKey, keys,
    line_query::{Ask, AskStep},
};
use crate::marks::{Letters, ReportedLine};

/// Enter painted something, and no further output came for this time.
const MENU_QUIET: Duration = Duration::from_millis(80);
/// The keys of the editor's quoted-insert.
const CTRL_Q: u8 = 0x11;
const CTRL_V: u8 = 0x16;
/// The commands of vi that seek the letter of the next key.
const SEEKS_NEXT_KEY: &[u8] = b"fFtT";
/// Ctrl-A, Ctrl-E, Ctrl-G, Ctrl-U: bash's search ends with them, regardless of their bindings.
const ENDS_SEARCH: [u8; 4] = [0x01, 0x05, 0x07, 0x15];

impl LiveShell {
    /// Answers [`LiveEvent::LineEntered`] (`Shell`: Enter takes effect) or [`LiveEvent::HotkeyPressed`] (`Shell`: nothing happens).
    /// `Assistant` and `Unrecorded` begin an answer. If no such event is open (any more), `Shell` does nothing, and
    /// the others are refused unless an answer is on.
    pub fn decide_line(&mut self, decision: LineDecision, probe: &dyn Probe, now: Instant, fx: &mut super::Effects) {
        let cx = &mut StepContext { probe, now, fx };
        let Some(ask) = self.editor.ask.take_if(|ask| matches!(ask.step, AskStep::Answered { .. })) else {
            if decision != LineDecision::Shell && self.answer.is_none() {
                let error = super::queue::not_at_prompt(Refusal::NotReady, "the line is gone");
                cx.fx.events.push(LiveEvent::AnswerRefused(error));
            }
            return;
        };
        match decision {
            LineDecision::Assistant => self.start_answer(WidgetKey::Take, false, cx),
            LineDecision::Unrecorded => self.start_answer(WidgetKey::Stash, false, cx),
            LineDecision::Shell => {
                if let (false, AskStep::Answered { text }) = (ask.hotkey, ask.step) {
                    self.accept((!ask.is_passed).then_some(&ask.key), ask.key.is_empty(), Some(text), cx);
                }
                self.release_held(cx);
                self.advance_queue(cx);
            }
        }
    }

    pub(super) fn shell_key(&mut self, token: Token<'_>, cx: &mut StepContext<'_>) {
        match self.phase {
            Phase::Prompt => self.prompt_key(token, cx),
            Phase::Precmd { .. } if token.kind == TokenKind::Hotkey => self.hold_until_settled(token),
            Phase::Continuation => {
                if token.kind == TokenKind::Enter {
                    self.expect_enter_paint(cx);
                }
                self.prompt.last_key = Some(cx.now);
                cx.fx.pty.extend_from_slice(token.bytes);
            }
            _ => {
                if self.phase == Phase::Running && token.kind == TokenKind::Enter && self.editor_reads(cx) {
                    self.look_for_replaced_shell(cx);
                    self.expect_enter_paint(cx);
                }
                self.prompt.keys_since_left = true;
                cx.fx.pty.extend_from_slice(token.bytes);
            }
        }
    }

    fn prompt_key(&mut self, token: Token<'_>, cx: &mut StepContext<'_>) {
        let quotes = match token.bytes.last() {
            Some(&(CTRL_Q | CTRL_V)) => true,
            Some(letter) => self.editor.letters == Letters::Commands && SEEKS_NEXT_KEY.contains(letter),
            None => false,
        };
        let quoted = std::mem::replace(&mut self.prompt.quoting, quotes) || self.editor.letters == Letters::Replacement;
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
            TokenKind::Enter => {
                self.expect_enter_paint(cx);
                let is_alone = self.typing.key_is_alone;
                self.press_enter(token.bytes, None, cx);
                self.prompt.entered_alone = is_alone;
                return;
            }
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

    /// Holds the hotkey at a prompt that is about to stand, or while its line is still being typed ahead: no widget of the shell's may
    /// get it.
    fn hold_until_settled(&mut self, token: Token<'_>) {
        self.held.push(token);
        let prompt_told = self.phase == Phase::Prompt;
        self.restore = Some(Restore { prompt_told, ..Restore::at_next_prompt(false, false) });
    }

    fn press_enter(&mut self, key: &[u8], line: Option<String>, cx: &mut StepContext<'_>) {
        self.prompt.keys_since_left |= self.prompt.entered_at.is_some();
        (self.prompt.entered_at, self.prompt.entered_alone) = (Some(cx.now), false);
        self.prompt.accepting = false;
        self.prompt.searched = false;
        self.prompt.last_key = Some(cx.now);
        self.user.line = line;
        cx.fx.pty.extend_from_slice(key);
    }

    fn enter(&self) -> Enter {
        if self.editor.enter_is_users { Enter::Held } else { self.dialect.enter }
    }

    /// Enter goes to bash, or has been typed ahead: bash will paint its line again.
    pub(super) fn expect_enter_paint(&mut self, cx: &mut StepContext<'_>) {
        if self.dialect.repaints_at_enter && matches!(self.view, View::Shown) && !self.editor.enter_is_users {
            self.show_enter_paint(cx);
            self.editor.enter_paint = Some(EnterPaint::new());
        }
    }

    /// bash accepts the line without asking.
    pub(super) fn on_accepted_unasked(&mut self, cx: &mut StepContext<'_>) {
        self.editor.enter_paint.take_if(|paint| !paint.reported(LineShape::default()));
        if self.editor.ask.take_if(|ask| ask.is_passed).is_some() {
            (self.prompt.entered_at, self.prompt.entered_alone) = (Some(cx.now), false);
            self.release_held(cx);
        }
    }

    pub(super) fn on_enter_painted(&mut self, bytes: &[u8], cx: &mut StepContext<'_>) {
        let Some(paint) = &mut self.editor.enter_paint else { return };
        let shown_from = cx.fx.terminal.len();
        if paint.push(bytes, cx.now, &mut cx.fx.terminal) {
            self.editor.enter_paint = None;
        }
        self.modes.feed(&cx.fx.terminal[shown_from..]);
    }

    /// The line was accepted.
    pub(super) fn finish_enter_paint(&mut self, cx: &mut StepContext<'_>) {
        if let Some(paint) = self.editor.enter_paint.take() {
            self.show(paint.finish(), cx);
        }
    }

    /// The line is not accepted, or something else is to be drawn.
    pub(super) fn show_enter_paint(&mut self, cx: &mut StepContext<'_>) {
        if let Some(paint) = self.editor.enter_paint.take() {
            self.show(paint.all(), cx);
        }
    }

    pub(super) fn tick_enter_paint(&mut self, cx: &mut StepContext<'_>) {
        let deadline = self.editor.enter_paint.as_ref().and_then(EnterPaint::deadline);
        if deadline.is_some_and(|at| cx.now >= at) {
            self.show_enter_paint(cx);
        }
    }

    fn show(&mut self, bytes: &[u8], cx: &mut StepContext<'_>) {
        self.modes.feed(bytes);
        cx.fx.terminal.extend_from_slice(bytes);
    }

    /// The reported line is a command. `enter` is the user's key, if the shell does not have it.
    fn accept(
        &mut self,
        enter: Option<&Vec<u8>>,
        is_typed_ahead: bool,
        line: Option<String>,
        cx: &mut StepContext<'_>,
    ) {
        if let Some(enter) = enter {
            return self.press_enter(enter, line, cx);
        }
        let mut accept = Vec::new();
        // bash: keys can have come in between only if the line was typed ahead.
        let accepts_any_line = self.dialect.fresh_accepts_any_line && !is_typed_ahead;
        self.dialect.press(if accepts_any_line { WidgetKey::Fresh } else { WidgetKey::Accept }, &mut accept);
        self.press_enter(&accept, line, cx);
        self.prompt.accepting = true;
    }

    /// Whether a key of ours is safe: the main loop of the line editor, and nothing else, reads it.
    fn may_ask(&self, cx: &StepContext<'_>) -> bool {
        self.setup.shell != Shell::Other
            && !self.editor.is_deaf
            && !self.prompt.searched
            && !self.prompt.enter_is_pending(cx.now)
            && self.prompt.unsettled_until().is_none_or(|until| cx.now >= until)
            && self.editor_reads(cx)
    }

    fn ask_for_line(&mut self, hotkey: bool, token: Token<'_>, cx: &mut StepContext<'_>) {
        let told_by = match self.enter() {
            Enter::Told { key } if !hotkey => Some(key.unwrap_or(token.bytes)),
            _ => None,
        };
        match told_by {
            Some(key) => {
                self.expect_enter_paint(cx);
                cx.fx.pty.extend_from_slice(key);
            }
            None => self.dialect.press(WidgetKey::Query, &mut cx.fx.pty),
        }
        let step = AskStep::Asked { since: cx.now, told: told_by.is_some() };
        let is_passed = told_by.is_some();
        self.editor.ask =
            Some(Ask { hotkey, key: token.bytes.to_vec(), is_alone: self.typing.key_is_alone, is_passed, step });
        self.prompt.accepting = false;
        self.prompt.last_key = Some(cx.now);
    }

    /// `Q`: the answer to a query.
    pub(super) fn on_line(&mut self, told: ReportedLine, cx: &mut StepContext<'_>) {
        if self.on_relay_repainted(cx) {
            return;
        }
        if self.answer.is_some() {
            return self.on_leftover(told.text, cx);
        }
        if matches!(self.editor.ask, Some(Ask { step: AskStep::Asked { told: false, .. }, .. })) {
            self.line_is_known(told, cx);
        }
    }

    /// `N`: Enter was pressed, and the shell waits for our answer. Also for a line that was typed ahead.
    pub(super) fn on_enter_told(&mut self, told: ReportedLine, cx: &mut StepContext<'_>) {
        let has_rows = told.text.as_ref().is_some_and(|text| text.contains('\n'));
        let line = LineShape { has_rows, is_at_end: told.is_at_end };
        self.editor.enter_paint.take_if(|paint| !paint.reported(line));
        if self.relay.is_some() || !self.stands_at_prompt(cx) || self.prompt.accepting {
            return;
        }
        // zsh shows its prompt before it reports it, so keys at that prompt may look typed ahead.
        let is_alone = self.prompt.entered_at.take().is_some() && self.prompt.entered_alone;
        if self.enter() == Enter::Held && self.answer.is_none() {
            // The user's own Enter follows ours, with a line that was judged before.
            return self.accept(None, true, told.text, cx);
        }
        // The line was typed into a command of the agent's that did not read it: it is a command of the user's.
        if self.answer.is_some() {
            if self.line_typed_ahead_goes_first(cx) {
                self.accept(None, true, told.text, cx);
            }
            return;
        }
        if self.restore.is_some() {
            return self.accept(None, true, told.text, cx);
        }
        if self.editor.ask.is_none() {
            let step = AskStep::Asked { since: cx.now, told: true };
            self.editor.ask = Some(Ask { hotkey: false, key: Vec::new(), is_alone, is_passed: true, step });
        }
        if matches!(self.editor.ask, Some(Ask { step: AskStep::Asked { told: true, .. }, .. })) {
            self.line_is_known(told, cx);
        }
    }

    /// Whether the primary prompt stands, as reported by its line editor, which waits for our answer. The prompt's own mark may have been
    /// lost with the user's hooks, and without an answer Enter would do nothing.
    fn stands_at_prompt(&mut self, cx: &mut StepContext<'_>) -> bool {
        if self.phase != Phase::Prompt && !matches!(self.phase, Phase::Replaced | Phase::Dead) && self.editor_reads(cx)
        {
            self.new_prompt(cx);
        }
        self.phase == Phase::Prompt
    }

    fn line_is_known(&mut self, line: ReportedLine, cx: &mut StepContext<'_>) {
        let ReportedLine { cursor, text, is_command, is_vi, is_at_end: _ } = line;
        let Some(ask) = &mut self.editor.ask else { return };
        self.editor.is_deaf = false;
        if is_vi && ask.hotkey && ask.key == keys::ALT_ENTER {
            return self.pass_escape_and_enter(cx);
        }
        let Some(text) = text else {
            if let Some(ask) = self.editor.ask.take().filter(|ask| !ask.hotkey) {
                self.accept((!ask.is_passed).then_some(&ask.key), ask.key.is_empty(), None, cx);
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

    /// In vi's modes these two keys in one piece keep their meaning: many terminals, or a slow line, send them so.
    fn pass_escape_and_enter(&mut self, cx: &mut StepContext<'_>) {
        self.editor.ask = None;
        let token = Token { kind: TokenKind::Enter, bytes: keys::ALT_ENTER };
        if self.enter() == (Enter::Told { key: None }) {
            self.ask_for_line(false, token, cx);
        } else {
            cx.fx.pty.extend_from_slice(token.bytes);
            self.release_held(cx);
        }
    }

    /// Another line editor than the shell's own reads the keys.
    pub(super) fn on_foreign_editor(&mut self, name: &str, cx: &mut StepContext<'_>) {
        if self.phase == Phase::Boot {
            self.phase = Phase::NotIntegrated;
            let reason = format!(
                "{name} reads the keys of this shell, so questions are not recognized at its prompt; `cohab ask` works"
            );
            cx.fx.events.push(LiveEvent::NotIntegrated { reason });
        }
    }

    pub(super) fn ask_deadline(&self) -> Option<Instant> {
        match self.editor.ask {
            // Enter may have chosen from a menu: something was painted, and the line was not reported.
            Some(Ask { step: AskStep::Asked { since, told: true }, .. }) if self.last_output > since => {
                Some((self.last_output + MENU_QUIET).min(since + QUERY_WAIT))
            }
            Some(Ask { step: AskStep::Asked { since, .. }, .. }) => Some(since + QUERY_WAIT),
            _ => None,
        }
    }

    pub(super) fn tick_ask(&mut self, cx: &mut StepContext<'_>) {
        if self.ask_deadline().is_some_and(|until| cx.now >= until) {
            self.give_up_asking(cx);
        }
    }

    /// The prompt at which the line was asked for is gone. Held keys of it go to the present receiver of the shell's keys. Returns
    /// whether a line was asked for.
    pub(super) fn forget_asking(&mut self, cx: &mut StepContext<'_>) -> bool {
        let Some(ask) = self.editor.ask.take() else { return false };
        if !ask.is_passed && !ask.hotkey {
            self.shell_key(Token { kind: TokenKind::Enter, bytes: &ask.key }, cx);
        }
        true
    }

    /// The line is unknown: Enter takes effect, unless the shell has it already; the hotkey does not.
    fn give_up_asking(&mut self, cx: &mut StepContext<'_>) {
        if let Some(ask) = self.editor.ask.take() {
            if matches!(ask.step, AskStep::Asked { told: false, .. }) {
                self.editor.is_deaf = true;
                let reason =
                    "the line editor does not answer, so lines are not looked at here; `cohab ask` works".to_owned();
                cx.fx.events.push(LiveEvent::NotIntegrated { reason });
                if !ask.hotkey {
                    self.press_enter(&ask.key, None, cx);
                }
            }
            self.release_held(cx);
            self.advance_queue(cx);
        }
    }

    /// `exec bash` in the user's shell: a line editor reads, but it is another shell's, without our script.
    fn look_for_replaced_shell(&mut self, cx: &mut StepContext<'_>) {
        if cx.probe.shell_replaced() {
            self.phase = Phase::Replaced;
            let reason = "`exec` has replaced the shell, so it runs without the assistant".to_owned();
            cx.fx.events.push(LiveEvent::NotIntegrated { reason });
        }
    }
}
