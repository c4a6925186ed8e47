//! The line at the prompt as the driver knows it: the typed text, the hint next to it, and the classifier's thread.

use std::{collections::HashMap, path::PathBuf};

use cohab_conversation::{app::Options, line_question::first_word};
use cohab_types::client_settings::FlipKey;

use crate::{
    driver::start::Start,
    hint::PromptHint,
    prompt_line::{classifier_thread::ClassifierThread, corrections_store, world::World},
};

/// First words that are known from the shell itself.
const TOLD_MAX: usize = 512;

/// Text that is put on the prompt as if the user had pasted it.
pub struct Insertion {
    pub text: String,
    /// It was picked from a list of ours, which had the keys that were typed meanwhile.
    pub is_picked: bool,
}

/// What the driver keeps for the line at the prompt.
pub struct PromptLine {
    pub hint: PromptHint,
    pub classifier: ClassifierThread,
    pub flip_key: FlipKey,
    /// Whether the shell knew these words when it was asked last.
    pub told: HashMap<String, bool>,
    /// An answer has just ended: its line may have come back.
    pub answer_ended: bool,
    /// A blank row is to stand above the prompt that comes, unless that brings one.
    pub wants_gap: bool,
    /// Text for the next prompt.
    pub insertion: Option<Insertion>,
    /// Whether the line editor takes a paste as one piece, as of the last entered line.
    pub takes_pastes: bool,
    /// Keys went elsewhere than to the line that is followed.
    pub keys_ahead: bool,
    pub out: Vec<u8>,
}

impl PromptLine {
    pub fn new(options: &Options, columns: u16, start: &Start, names: Option<PathBuf>) -> Self {
        let flip_key = start.config.client.flip_key;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let world = World {
            path,
            home: options.environment.home.clone(),
            corrections: start.paths.state_dir.join(corrections_store::FILE_NAME),
            names,
            subcommands: start.subcommands,
        };
        Self {
            hint: PromptHint::new(options.environment.shell, columns, options.output_style, flip_key.name()),
            classifier: ClassifierThread::new(world),
            flip_key,
            told: HashMap::new(),
            answer_ended: false,
            wants_gap: false,
            insertion: None,
            takes_pastes: false,
            keys_ahead: false,
            out: Vec::new(),
        }
    }

    /// Keeps whether the shell knows the first word of a line.
    pub fn remember_word(&mut self, line: &str, is_command: Option<bool>) {
        let Some(is_command) = is_command else { return };
        if self.told.len() >= TOLD_MAX {
            self.told.clear();
        }
        self.told.insert(first_word(line).to_owned(), is_command);
    }
}
