//! Reads commands that change how the line's own shell runs: `set -e`, `shopt -s nullglob`.

use cohab_shell_state::shell::Shell;

use super::{
    commands::Read,
    reader::{NOT_READ, Reader},
    words::Simple,
};

/// The settings that only end a line earlier, or leave out a pattern that matches no file: builtin, words, and whether bash alone has
/// them.
const SETTINGS: &[(&str, &str, bool)] = &[
    ("set", "-e", false),
    ("set", "-u", false),
    ("set", "-eu", false),
    ("set", "-o pipefail", false),
    ("set", "-eo pipefail", false),
    ("set", "-uo pipefail", false),
    ("set", "-euo pipefail", false),
    ("shopt", "-s nullglob", true),
    ("shopt", "-s failglob", true),
];

impl Reader<'_> {
    /// Reads such a setting; false if the command is another one. The setting is gone with the line's own shell, so it must be at the
    /// front of something.
    pub(super) fn run_setting(&mut self, simple: &Simple) -> Read<bool> {
        let mut words = simple.words.iter().map(|word| word.text.as_str());
        let name = words.next().unwrap_or_default();
        let options = words.collect::<Vec<_>>().join(" ");
        let is_known = SETTINGS.iter().any(|(builtin, setting, is_of_bash)| {
            (*builtin, *setting) == (name, options.as_str())
                && (self.shell == Shell::Bash || (self.shell == Shell::Zsh && !is_of_bash))
        });
        if !is_known || simple.words.iter().any(|word| word.expands) {
            return Ok(false);
        }
        self.skip_blanks();
        let has_more = !simple.redirects.is_empty() || simple.input.is_some() || !simple.assignments.is_empty();
        if has_more || self.pipe.is_piped || (self.around.depth == 1 && self.rest().is_empty()) {
            return Err(NOT_READ);
        }
        self.has_more = true;
        self.aside("true".into());
        Ok(true)
    }
}
