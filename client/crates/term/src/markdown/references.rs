//! Link definitions seen so far. A link may use a definition from an earlier block; one from a later block comes too late for a
//! stream, so such a link stays as written and the definition is shown as text.

use std::collections::HashMap;

use pulldown_cmark::Parser;

use super::dialect::options;

/// Definitions kept; later ones are ignored.
const MAX_REFERENCES: usize = 256;
/// Longest label and longest target kept, each.
const MAX_REFERENCE_BYTES: usize = 2 * 1024;

/// Labels and their targets.
#[derive(Debug, Default)]
pub(super) struct References {
    targets: HashMap<String, String>,
}

impl References {
    /// The target of a label.
    pub(super) fn target(&self, label: &str) -> Option<&str> {
        self.targets.get(&label.to_lowercase()).map(String::as_str)
    }

    /// Remembers the definitions in a block. The first one of a label counts.
    pub(super) fn learn(&mut self, text: &str) {
        if !text.contains("]:") {
            return;
        }
        for (label, definition) in Parser::new_ext(text, options()).reference_definitions().iter() {
            let is_short = label.len().max(definition.dest.len()) <= MAX_REFERENCE_BYTES;
            if is_short && self.targets.len() < MAX_REFERENCES {
                self.targets.entry(label.to_lowercase()).or_insert_with(|| definition.dest.to_string());
            }
        }
    }
}
