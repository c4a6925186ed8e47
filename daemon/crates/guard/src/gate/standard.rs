//! The standard policy combines the pure policy's verdict on an effect with facts about this machine.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use cohab_agent::port::{Agreed, Effect};
use cohab_policy::{Context, Level, Verdict, assess_line, assess_read, assess_write};
use cohab_policy_io::files::FileSystem;

/// Execute permission for any user.
const MAY_RUN: u32 = 0o111;

/// The reason to ask about what another program does.
const NOT_OURS: &str = "another program does this: cohab cannot see or undo what it changes";

/// Judges an effect.
#[must_use]
pub fn standard_policy(effect: &Effect, context: Context<'_>) -> Verdict {
    match effect {
        Effect::RunCommand { command } => assess_line(command, context.with_files(&FileSystem)),
        Effect::Read { path, .. } => assess_read(path, context),
        Effect::Write { path, .. } => {
            let mut verdict = assess_write(path, context.with_files(&FileSystem));
            verdict.reasons.extend(is_program(path).then(|| "it is a program: the new content may be run".into()));
            verdict
        }
        Effect::Internal | Effect::Foreign { agreed: Agreed::InQuestion, .. } => Verdict::new(Level::Allow, Vec::new()),
        Effect::Foreign { .. } => Verdict::new(Level::Ask, vec![NOT_OURS.into()]),
    }
}

/// Whether an existing file is executable.
fn is_program(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & MAY_RUN != 0)
}

#[cfg(test)]
#[path = "standard_tests.rs"]
mod tests;
