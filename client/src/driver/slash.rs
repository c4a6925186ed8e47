//! Performs the effects of commands such as `? /model`.

use cohab_conversation::effect::Effect;
use cohab_protocol::{ClientMessage, SessionAction, SessionRequest};
use cohab_term::{capability::Passage, clipboard::copy_sequence};

use super::{Driver, program::Program, state::prompt_line::Insertion};

impl Driver {
    /// Does an effect that only these commands have; any other is done elsewhere.
    pub(super) fn perform_for_slash(&mut self, effect: Effect) {
        match effect {
            Effect::AttachAgain { request_id, change } => {
                let mut attach = self.daemon.attach.clone();
                if let Some(change) = change {
                    change.apply(&mut attach, &self.daemon.initial_settings);
                }
                let action = SessionAction::Attach(attach);
                self.perform(Effect::Send(ClientMessage::SessionRequest(SessionRequest { request_id, action })));
            }
            Effect::KeepForAttach(change) => change.apply(&mut self.daemon.attach, &self.daemon.initial_settings),
            Effect::RunProgram { args, cwd, columns } => self.program = Some(Program::start(&args, &cwd, columns)),
            Effect::StopProgram => self.program = None,
            Effect::Insert(text) => self.prompt_line.insertion = Some(Insertion { text, is_picked: false }),
            Effect::InsertPicked(text) => self.prompt_line.insertion = Some(Insertion { text, is_picked: true }),
            // What is too large was refused before.
            Effect::Copy(text) => self.terminal.write(&copy_sequence(&text, Passage::Direct).unwrap_or_default()),
            _ => {}
        }
    }
}
