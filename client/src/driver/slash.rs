//! Performs the effects of commands such as `? /model`.

use cohab_protocol::{ClientMessage, SessionAction, SessionRequest};
use cohab_term::clipboard::{Passage, copy_sequence};

use super::{Driver, program::Program};
use crate::effect::Effect;

const PASTE_START: &str = "\x1b[200~";
const PASTE_END: &str = "\x1b[201~";

impl Driver {
    /// Does an effect that only these commands have; any other is done elsewhere.
    pub(super) fn perform_for_slash(&mut self, effect: Effect) {
        match effect {
            Effect::AttachAgain { request_id, change } => {
                let mut attach = self.attach.clone();
                if let Some(change) = change {
                    change.apply(&mut attach, &self.initial_settings);
                }
                let action = SessionAction::Attach(attach);
                self.perform(Effect::Send(ClientMessage::SessionRequest(SessionRequest { request_id, action })));
            }
            Effect::KeepForAttach(change) => change.apply(&mut self.attach, &self.initial_settings),
            Effect::RunProgram { args, cwd, columns } => self.program = Some(Program::start(&args, &cwd, columns)),
            Effect::StopProgram => self.program = None,
            Effect::TypeAtPrompt(line) => self.type_at_prompt(&line),
            // What is too large was refused before.
            Effect::Copy(text) => self.terminal.write(&copy_sequence(&text, Passage::Direct).unwrap_or_default()),
            _ => {}
        }
    }

    /// Without the marks of a paste the shell's abbreviations and key bindings would see the letters as typed ones.
    fn type_at_prompt(&mut self, line: &str) {
        let is_marked = self.live.modes().bracketed_paste();
        let (start, end) = if is_marked { (PASTE_START, PASTE_END) } else { ("", "") };
        self.on_keys(format!("{start}{line}{end}").as_bytes());
    }
}
