//! Judges writing to a file: by its real place, and by the programs or settings that the file decides.

use std::path::{Path, PathBuf};

use cohab_policy_data::sensitive_paths::{START_PLACES, SYSTEM_ROOTS};

use super::{PathRisk, PlainPath};
use crate::{Context, Files, Level, pattern_match::Likeness, verdict::Objection};

/// The treatment of a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastLink {
    /// The target of the link is changed.
    Followed,
    /// The link itself is removed, moved or replaced.
    Itself,
}

/// The risk of writing `path`: at least a question. If links lead to another place, the worse risk of both counts.
pub(crate) fn write_risk(path: &PlainPath, last: LastLink, context: Context<'_>) -> Objection {
    let by_text = risk_by_text(path, context);
    landing_risk(path, last, context).filter(|landing| weight(landing) > weight(&by_text)).unwrap_or(by_text)
}

/// Whether the only objection is a place outside of the project.
pub(crate) fn is_elsewhere(risk: &Objection) -> bool {
    risk.level == Level::Ask && risk.is_firm
}

/// The worse of two questions is the one about another place.
fn weight(risk: &Objection) -> (Level, bool) {
    (risk.level, is_elsewhere(risk))
}

/// The worst of the places that are really changed, if they differ from the text.
fn landing_risk(path: &PlainPath, last: LastLink, context: Context<'_>) -> PathRisk {
    let files = context.files?;
    let Some(landings) = files.landings(&path.written, last == LastLink::Followed) else {
        return Some(Objection::ask(format!("a pattern matches too many files to be checked: {}", path.shown())));
    };
    let named = path.to_path_buf();
    let risk = |landing: &PathBuf| {
        let real = PlainPath::from_path(landing, context);
        let by_place = || place_risk(&PlainPath::from_path(&as_named(landing, files, context), context), context);
        content_risk(&real, context).unwrap_or_else(by_place).through(&path.shown())
    };
    landings.iter().filter(|landing| **landing != named).map(risk).max_by_key(weight)
}

/// The name of a real place from the working directory or the home, if these are reached through links themselves.
fn as_named(place: &Path, files: &dyn Files, context: Context<'_>) -> PathBuf {
    let below = |folder: &Path| {
        let real = files.landings(folder, true)?.pop()?;
        Some(folder.join(place.strip_prefix(real).ok()?))
    };
    below(context.cwd).or_else(|| below(context.home)).unwrap_or_else(|| place.to_owned())
}

fn risk_by_text(path: &PlainPath, context: Context<'_>) -> Objection {
    content_risk(path, context).unwrap_or_else(|| place_risk(path, context))
}

/// The risk of the file's contents, in any folder.
fn content_risk(path: &PlainPath, context: Context<'_>) -> PathRisk {
    let what = if path.ours(context.own) > Likeness::No {
        "changes cohab's own files"
    } else if path.secrecy() > Likeness::No {
        "overwrites secrets"
    } else if path.anywhere_in(START_PLACES) > Likeness::No {
        "writes a file that decides what runs later"
    } else {
        return None;
    };
    Some(Objection::danger(format!("{what}: {}", path.shown())))
}

/// The risk of the folder in which a file lies.
fn place_risk(path: &PlainPath, context: Context<'_>) -> Objection {
    let shown = path.shown();
    let home = PlainPath::from_path(context.home, context);
    let is_here = PlainPath::from_path(context.cwd, context).is_at_or_above(path) || is_in_project(path, context);
    if path.is_right_in(context.programs) {
        return Objection::danger(format!("writes to a folder of your PATH: {shown}"));
    }
    // PATH may name more folders now. A user's own folders have these names; a project's folders are no concern here.
    let own_bin = path
        .components
        .strip_prefix(&home.components[..])
        .is_some_and(|rest| rest.iter().enumerate().any(|(depth, name)| name == "bin" && (depth == 0 || !is_here)));
    if own_bin {
        return Objection::danger(format!(
            "writes to a folder of your own programs, which may be in your PATH: {shown}"
        ));
    }
    if path.place_in(SYSTEM_ROOTS) > Likeness::No || path.components.is_empty() {
        return Objection::danger(format!("writes to a system place: {shown}"));
    }
    if is_here {
        Objection::ask(format!("writes {shown}"))
    } else {
        Objection::ask(format!("writes outside the working directory: {shown}")).firm()
    }
}

/// Whether `path` lies in the repository of the working directory. A repository that is the home, or holds it, does not count.
fn is_in_project(path: &PlainPath, context: Context<'_>) -> bool {
    let Some(files) = context.files else { return false };
    let mut folders = context.cwd.ancestors().take_while(|folder| !context.home.starts_with(folder));
    let is_root = |folder: &&Path| files.targets(&folder.join(".git")).is_some_and(|found| !found.is_empty());
    let root = folders.find(is_root);
    root.is_some_and(|root| PlainPath::from_path(root, context).is_at_or_above(path))
}

/// Judges writing `path`, where a link itself is changed.
pub(crate) fn assess_write(path: &Path, context: Context<'_>) -> Objection {
    risk_by_text(&PlainPath::from_path(path, context), context)
}
