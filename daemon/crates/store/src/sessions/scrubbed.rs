//! Removes secrets from stored entries.

use cohab_model_api::{AssistantMessage, Channel, Message, Scrub, Secrets};
use cohab_secrets::PersonalData;
use cohab_text::cut::cut_middle;

use super::{
    Entry, Left,
    event::{Call, CallResult, Event, TEXT_BYTES},
    steps::{Checkpoint, Input, Step, Turn},
};

/// Folders and names stay: they must be found again. So does personal data: it is the user's own disk.
impl Scrub for Entry {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Entry::Turn { title, .. } => secrets.text(title),
            // The expected title is scrubbed, too, or it would not match the stored one.
            Entry::Title { instead_of, title, .. } => {
                [instead_of, title].into_iter().for_each(|title| secrets.text(title));
            }
            Entry::Event { event, .. } => scrub_event(event, secrets),
            Entry::Conversation { messages, .. } => {
                messages.iter_mut().for_each(|message| scrub_message(message, secrets));
            }
            Entry::Checkpoint(checkpoint) => scrub_checkpoint(checkpoint, secrets),
            Entry::Tasks { tasks, .. } => tasks.iter_mut().for_each(|task| secrets.own_text(&mut task.text)),
            Entry::Left { left, .. } => forget_secret_variables(left, secrets),
            Entry::SetAside { .. } => {}
        }
    }
}

/// The provider's own form of the message is stored only if it holds no secrets: it must not be changed.
fn scrub_message(message: &mut Message, secrets: &Secrets) {
    if let Message::Assistant(AssistantMessage { provider_data, .. }) = message {
        provider_data.take_if(|data| !secrets.is_own_value_clean(&data.json));
    }
    secrets.message(message, PersonalData::default());
}

fn scrub_event(event: &mut Event, secrets: &Secrets) {
    let text = |text: &mut String| secrets.text(text);
    let own = |text: &mut String| secrets.own_text(text);
    match event {
        Event::Question { text: words, .. } | Event::Added { text: words } => text(words),
        Event::Shell { line, output_tail, .. } => {
            line.iter_mut().for_each(text);
            text(output_tail);
        }
        Event::Reasoning { text } | Event::Answer { text } | Event::Summary { text, .. } => own(text),
        Event::Approval { subject, reasons, note, .. } => {
            own(subject);
            reasons.iter_mut().for_each(own);
            text(note);
        }
        Event::Call(Call { title, command, proposed, .. }) => {
            own(title);
            for command in [command, proposed].into_iter().flatten() {
                secrets.shared(command);
                // Not before: half of a secret would not be recognized.
                if command.len() > TEXT_BYTES {
                    *command = cut_middle(command, TEXT_BYTES).into();
                }
            }
        }
        Event::Result(CallResult { output, .. }) => text(output),
        Event::Error { message } => text(message),
        Event::Usage { .. } | Event::Ended { .. } => {}
    }
}

fn scrub_checkpoint(checkpoint: &mut Checkpoint, secrets: &Secrets) {
    match checkpoint {
        Checkpoint::Turn(Turn { question, error, .. }) => {
            [Some(question), error.as_mut()].into_iter().flatten().for_each(|text| secrets.text(text));
        }
        Checkpoint::Step(Step { input, output, error, metadata, .. }) => {
            match input {
                Input::Arguments(arguments) => {
                    secrets.arguments(Channel::ToolArguments, arguments, PersonalData::default());
                }
                Input::Other(value) => secrets.own_value(value),
            }
            secrets.own_text(&mut metadata.title);
            let texts = [output.as_mut(), error.as_mut(), Some(&mut metadata.summary)];
            texts.into_iter().flatten().for_each(|text| secrets.text(text));
        }
    }
}

/// A placeholder would be set in the shell of a continued session.
fn forget_secret_variables(left: &mut Left, secrets: &Secrets) {
    left.environment.retain(|name, value| {
        // As a line of a file, so that the name counts, too.
        let mut line = format!("{name}={value}");
        secrets.own_text(&mut line);
        line.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('=')) == Some(value)
    });
}
