//! Lists what an undo of a command will not bring back, as far as that is certain before it runs. No program is started.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    LeftOut,
    changes::{Changes, changes},
    plan::{Plan, PlanStep},
};

/// Most bytes that are kept for an undo of a turn.
pub const MAX_KEPT_BYTES: u64 = 64 * 1024 * 1024;
/// Most paths that are kept for it.
pub const MAX_KEPT_PATHS: usize = 4_000;

/// What will not come back; looked for until `deadline`. What [`crate::Note::Unknown`] says is left out.
#[must_use]
pub fn left_out(plan: &Plan, deadline: Instant) -> Vec<LeftOut> {
    let Changes { paths, uncovered, .. } = changes(plan, deadline);
    let is_said = |what: &String| plan.steps.contains(&PlanStep::Unknown(what.clone()));
    let mut found: Vec<LeftOut> = uncovered.into_iter().filter(|what| !is_said(what)).map(LeftOut::Changes).collect();
    let (mut bytes, mut names) = (0, 0);
    for path in paths {
        if let Some(why) = why_not_kept(&path, &mut bytes, &mut names, deadline) {
            found.push(LeftOut::Path(path, why));
        }
    }
    found
}

/// Adds what is at `path` and below it. The reason why it will not be kept.
fn why_not_kept(path: &Path, bytes: &mut u64, names: &mut usize, deadline: Instant) -> Option<&'static str> {
    let (begin_bytes, begin_names) = (*bytes, *names);
    let mut waiting: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        *names += 1;
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if metadata.is_file() {
            *bytes = bytes.saturating_add(metadata.len());
        } else if !metadata.is_symlink() && waiting.is_empty() && *names == begin_names + 1 {
            return Some("no regular file");
        }
        let why = match () {
            () if *bytes > MAX_KEPT_BYTES => "more than 64 MiB",
            () if *names > MAX_KEPT_PATHS => "more than 4,000 files",
            () if Instant::now() > deadline => return None,
            () => continue,
        };
        // It leaves its room to the next one.
        (*bytes, *names) = (begin_bytes, begin_names);
        return Some(why);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::{Known, plan};

    #[test]
    fn only_what_is_not_kept_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("many")).unwrap();
        (0..MAX_KEPT_PATHS).for_each(|n| fs::write(root.join("many").join(n.to_string()), "").unwrap());
        fs::write(root.join("small"), "x").unwrap();
        fs::File::create(root.join("large")).unwrap().set_len(MAX_KEPT_BYTES + 1).unwrap();
        let found = |line: &str| {
            let plan = plan(line, &Known::of("/home/ann".into(), root.clone()));
            let told = |one| match one {
                LeftOut::Changes(what) => what,
                LeftOut::Path(path, why) => format!("{} ({why})", path.strip_prefix(&root).unwrap_or(&path).display()),
            };
            let found = left_out(&plan, Instant::now() + Duration::from_secs(60));
            found.into_iter().map(told).collect::<Vec<_>>().join("; ")
        };
        for (line, expected) in [
            ("rm -rf small none", ""),
            ("git reset --hard", ""),
            ("git clean -fdx; git branch -D x", ""),
            ("rm -rf large small", "large (more than 64 MiB)"),
            ("rm -rf many", "many (more than 4,000 files)"),
            ("rm -rf large many", "large (more than 64 MiB); many (more than 4,000 files)"),
            ("dd if=/dev/zero of=/dev/null", "/dev/null (no regular file)"),
            ("git push --force", "what the other repository holds"),
            ("rm small && apt purge x", "the packages of the system"),
            ("rm -rf $(cat list)", ""),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
    }
}
