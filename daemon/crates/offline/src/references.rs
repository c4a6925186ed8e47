//! Resolves words that refer to earlier answers: "it", "them", "the first one".

use super::{
    answer::{code, list},
    pick::Pick,
    run::{Halt, Run, Subject},
    slots::Slots,
    words::tokenize,
};

/// Most files in one command, so that the question for consent can be read.
pub(super) const MAX_ACTED: usize = 100;

/// Whether the question may refer to an earlier answer.
pub(super) fn points_back(text: &str) -> bool {
    const POINTERS: [&str; 12] =
        ["it", "them", "that", "this", "those", "these", "one", "ones", "both", "there", "its", "es"];
    tokenize(text)
        .iter()
        .any(|token| !token.is_quoted && (POINTERS.contains(&token.norm.as_str()) || Pick::read(&token.norm).is_some()))
}

/// The named files, or the files of the answer before. For reading, not for changes.
pub(super) fn pointed_files(slots: &Slots, run: &Run<'_>) -> Result<Vec<String>, Halt> {
    if !slots.names.is_empty() {
        return Ok(slots.names.clone());
    }
    match &run.subject {
        _ if slots.place.is_some() => Ok(vec![slots.folder().to_owned()]),
        Subject::Files { names, .. } => choose(slots.pick, names, |name| code(name)),
        Subject::Processes(_) => {
            Err(Halt::Over("The previous answer was about processes; please name the file.".to_owned()))
        }
        Subject::Nothing => Err(unknown()),
    }
}

/// The one file that is named or referred to.
pub(super) fn pointed_file(slots: &Slots, run: &Run<'_>) -> Result<String, Halt> {
    let mut names = pointed_files(slots, run)?;
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        _ => Err(Halt::Over("Please name one of them.".to_owned())),
    }
}

/// The same for changes: the files of a listing are listed again, since files come and go, and a name with a line break in it may look
/// like two others.
pub(super) fn pointed_files_now(slots: &Slots, run: &mut Run<'_>) -> Result<Vec<String>, Halt> {
    let names = pointed_files(slots, run)?;
    let is_pointed = slots.names.is_empty() && slots.place.is_none();
    let Subject::Files { again: Some(again), .. } = run.subject.clone() else { return Ok(names) };
    if !is_pointed {
        return Ok(names);
    }
    let output = run.shell(&again)?;
    if output.is_cut {
        return Err(too_many(MAX_ACTED + 1));
    }
    let there = output.lines();
    let kept: Vec<String> = names.into_iter().filter(|name| there.contains(&name.as_str())).collect();
    match kept.len() {
        0 => Err(Halt::Over("None of these files exist any more, so nothing was done.".to_owned())),
        count if count > MAX_ACTED => Err(too_many(count)),
        _ => Ok(kept),
    }
}

/// The process ids of the answer before.
pub(super) fn pointed_processes(slots: &Slots, run: &Run<'_>) -> Result<Vec<u64>, Halt> {
    match &run.subject {
        Subject::Processes(pids) => choose(slots.pick, pids, ToString::to_string),
        Subject::Files { .. } => {
            Err(Halt::Over("The previous answer was about files; please name the process.".to_owned()))
        }
        Subject::Nothing => Err(unknown()),
    }
}

fn choose<T: Clone>(pick: Option<Pick>, things: &[T], spell: fn(&T) -> String) -> Result<Vec<T>, Halt> {
    let chosen = match (pick, things.len()) {
        (None, 2..) => {
            let spelled: Vec<String> = things.iter().map(spell).map(|text| text.trim_matches('`').to_owned()).collect();
            let text = format!("I do not know which of these you mean; nothing was done:\n\n{}", list(&spelled));
            return Err(Halt::Over(text));
        }
        (pick, _) => pick.unwrap_or(Pick::All).of(things),
    };
    if chosen.is_empty() { Err(unknown()) } else { Ok(chosen) }
}

/// The answer to a request for more files than a user would read before agreeing.
pub(super) fn too_many(count: usize) -> Halt {
    Halt::Over(format!(
        "That is more than I do at once ({count} or more, at most {MAX_ACTED}); nothing was done. Name a smaller folder, or say \
         which by age or size."
    ))
}

fn unknown() -> Halt {
    Halt::Over("I do not know what \"it\" is here; please name it.".to_owned())
}
