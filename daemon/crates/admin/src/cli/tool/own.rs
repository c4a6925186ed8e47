//! Lists the user's own tools, and changes what the user agreed to about them.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write},
    path::{Path, PathBuf},
};

use cohab_hooks::{
    own_tools::{FoundTool, ToolPlaces},
    places::{Consent, Scope},
};

use super::super::{Failure, record};

/// What the user wants to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsentChange {
    /// A program of the project may be used as a tool.
    Allow,
    /// Its calls run without a question.
    Unasked,
    /// Neither holds any more.
    Forget,
}

/// Who wants it, and where.
pub(super) struct Caller<'a> {
    pub places: &'a ToolPlaces,
    pub home: &'a Path,
    pub root: &'a Path,
    pub folder: &'a Path,
    pub is_yes: bool,
}

/// Changes the consent to a tool.
pub(super) fn change(
    change: ConsentChange,
    file: &Path,
    caller: &Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let given = caller.folder.join(file);
    let path = given.canonicalize().unwrap_or(given);
    let shown = record::folder(&path.to_string_lossy(), caller.home);
    let failed = |message: String, hint: &str| Err(Failure::Other(message, Some(hint.to_owned())));
    if change == ConsentChange::Forget {
        let places = caller.places;
        let was_any = [places.allowed.forget(&path)?, places.unasked.forget(&path)?].contains(&true);
        return match was_any {
            true => Ok(writeln!(output, "{shown} is a tool without your consent now.")?),
            false => failed(format!("you did not agree to anything about {shown}"), "`cohab tool` lists your tools"),
        };
    }
    let found = caller.places.find(Some(caller.root))?;
    let Some(tool) = found.into_iter().find(|tool| tool.path == path) else {
        let hint = "tools are executables in ~/.config/cohab/tools, or .cohab/tools of a project";
        return failed(format!("{shown} is not in a folder of tools"), hint);
    };
    let FoundTool { scope, consent, fingerprint, .. } = tool;
    let fingerprint = match (fingerprint, consent) {
        (Err(fault), _) => return failed(format!("{shown}: {fault}"), "correct that first"),
        (_, Consent::NoTrust) => return failed(format!("you do not trust the project of {shown}"), "`cohab trust`"),
        (Ok(_), Consent::Missing | Consent::Changed) if change == ConsentChange::Unasked => {
            return failed(format!("{shown} may not be used yet"), "`cohab tool --allow FILE` first");
        }
        (Ok(fingerprint), _) => fingerprint,
    };
    if change == ConsentChange::Allow && scope == Scope::User {
        return failed(format!("{shown} is yours and needs no consent"), "`cohab tool` lists it");
    }
    let question = match change {
        ConsentChange::Allow => format!("Let the model use {shown}, as it is now, after a question each time?"),
        ConsentChange::Unasked | ConsentChange::Forget => format!("Let {shown}, as it is now, run without a question?"),
    };
    if !agrees(&question, caller.is_yes, output)? {
        writeln!(output, "Nothing changed.")?;
        return Ok(());
    }
    let list = if change == ConsentChange::Allow { &caller.places.allowed } else { &caller.places.unasked };
    list.allow(path, fingerprint)?;
    writeln!(output, "Done, until its content changes. `cohab tool --forget FILE` takes it back.")?;
    Ok(())
}

fn agrees(question: &str, is_yes: bool, output: &mut dyn Write) -> Result<bool, Failure> {
    if is_yes {
        return Ok(true);
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let hint = Some("look at the file, then add `--yes`".to_owned());
        return Err(Failure::Other("nothing is allowed without your answer at a terminal".to_owned(), hint));
    }
    write!(output, "{question} [y/N] ")?;
    output.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// The programs of the project that wait for consent, a line each.
pub(super) fn waiting(found: &[FoundTool], home: &Path) -> String {
    let shown = |path: &PathBuf| record::folder(&path.to_string_lossy(), home);
    let line = |tool: &FoundTool| {
        let path = shown(&tool.path);
        match tool.consent {
            Consent::Given => None,
            Consent::NoTrust => Some(format!("{path} is not used: `cohab trust` trusts the project\n")),
            Consent::Missing => Some(format!("{path} is not used until you allow it: `cohab tool --allow FILE`\n")),
            Consent::Changed => Some(format!("{path} is not used: it changed, `cohab tool --allow FILE`\n")),
        }
    };
    found.iter().filter_map(line).collect()
}
