//! Copies hooks of another file, such as the settings of Claude Code, into the user's own.

use std::io::Write;

use cohab_hooks::{own_file, places::OWN_FILE};

use super::{Caller, Failure, ImportArgs, list};

/// Copies the hooks, after the user agreed.
pub(super) fn import(args: &ImportArgs, caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let from = caller.file(Some(&args.file))?;
    let shown = caller.shown(&from);
    let failed = |path: &str, fault: &str| Failure::Other(format!("{path}: {fault}"), None);
    let (bytes, content) = own_file::read(&from).map_err(|fault| failed(&shown, &fault))?;
    if content.hooks.is_empty() {
        return Err(failed(&shown, "it has no hooks that cohab can run"));
    }
    let own = caller.shown(&caller.places.settings.join(OWN_FILE));
    writeln!(output, "These programs will run everywhere, with your rights and outside of any sandbox:")?;
    list::rows(&content, output)?;
    if !caller.agrees(&format!("Copy them to {own}?"), args.yes, output)? {
        writeln!(output, "Not copied.")?;
        return Ok(());
    }
    own_file::add(&caller.places.settings, &bytes).map_err(|fault| failed(&own, &fault))?;
    writeln!(output, "Copied, in force from the next question on. `cohab hooks` lists them.")?;
    Ok(())
}
