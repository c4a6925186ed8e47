//! Tests for the effect of the file system on a verdict.

use super::*;

/// A disk on which every path but the working directory and the home leads to the same place, or to itself.
#[derive(Debug)]
struct Disk(Option<&'static str>);

impl Files for Disk {
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
        let target = self.0.filter(|_| path != context().cwd && path != context().home);
        Some(vec![target.map_or_else(|| path.to_owned(), PathBuf::from)])
    }

    fn landings(&self, path: &Path, _follows_last: bool) -> Option<Vec<PathBuf>> {
        self.targets(path)
    }

    fn find_below(&self, _: &Path, _: bool, _: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        None
    }
}

/// A folder with too many files to look at them all.
#[derive(Debug)]
struct Crowd;

impl Files for Crowd {
    fn targets(&self, _: &Path) -> Option<Vec<PathBuf>> {
        None
    }

    fn landings(&self, _: &Path, _: bool) -> Option<Vec<PathBuf>> {
        None
    }

    fn find_below(&self, _: &Path, _: bool, _: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        None
    }
}

#[test]
fn a_look_at_the_files_never_makes_a_verdict_milder() {
    let disks: [&dyn Files; 5] =
        [&Disk(None), &Disk(Some("/home/ann/.bashrc")), &Disk(Some("/srv/x")), &Disk(Some("/etc/shadow")), &Crowd];
    for table in [TUNED_EVERYDAY, HELD_OUT_EVERYDAY, ASK, DANGER, HELD_OUT_DANGER, NEVER_ALLOWED] {
        for line in lines(table) {
            let by_text = level(&line);
            for disk in disks {
                let looked = assess_line(&line, context().with_files(disk));
                assert!(looked.level >= by_text, "{disk:?}: {line}: {by_text:?}, now {looked:?}");
            }
        }
    }
}

#[test]
fn what_leads_to_a_place_that_decides_or_is_secret_is_danger() {
    for line in
        ["touch x", "cp a x", "echo x > x", "dd of=x", "tee -a x", "chmod +x x", "sed -i s/a/b/ x/y --follow-symlinks"]
    {
        for target in ["/home/ann/.zshrc", "/home/ann/.ssh/config", "/etc/passwd", "/home/ann/bin/ls"] {
            let verdict = assess_line(line, context().with_files(&Disk(Some(target))));
            assert_eq!(verdict.level, Level::Danger, "{line} to {target}");
            let is_told = |reason: &String| reason.contains(target) && reason.contains("through");
            assert!(verdict.reasons.iter().any(is_told), "{verdict:?}");
        }
    }
}
