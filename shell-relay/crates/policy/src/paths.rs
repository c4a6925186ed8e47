//! Recognizes secret files and files that decide which programs run: by their text, and by their real place if `Files` can resolve it.

mod shape;
mod written;

use std::path::{Component, Path, PathBuf};

use cohab_policy_data::sensitive_paths::{
    PLAIN_NAMES, PROCESS_LINKS, SECRET_ABSOLUTE, SECRET_EXACT_NAMES, SECRET_FILES, SECRET_IN_ETC, SECRET_NAMES,
    SECRET_PLACES,
};
use cohab_shell_syntax::glob;

use super::{
    Context, Level,
    pattern_match::{Likeness, MAX_NAME_BYTES, has_wildcard, like, like_name},
    verdict::Objection,
};

pub(super) use written::{LastLink, assess_write, is_elsewhere, write_risk};

/// The reason why a path may not be touched without a question.
pub(super) type PathRisk = Option<Objection>;

/// A path by its components from the root, made from text alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlainPath {
    components: Vec<String>,
    /// The absolute path, with each `..` where it was written: behind a link `..` leads to another place than the text says.
    written: PathBuf,
}

impl PlainPath {
    fn root() -> Self {
        Self { components: Vec::new(), written: PathBuf::from("/") }
    }

    /// Resolves `~`, `~/`, `.` and `..`. `None` for `~user`, `~+` and the like.
    pub(super) fn resolve(text: &str, has_tilde: bool, context: Context<'_>) -> Option<Self> {
        let mut path = Self::root();
        let relative = if has_tilde {
            let rest = text.strip_prefix('~')?;
            if !rest.is_empty() && !rest.starts_with('/') {
                return None;
            }
            path.push_all(&context.home.to_string_lossy());
            rest
        } else {
            if !text.starts_with('/') {
                path.push_all(&context.cwd.to_string_lossy());
            }
            text
        };
        path.push_all(relative);
        Some(path)
    }

    pub fn from_path(path: &Path, context: Context<'_>) -> Self {
        let mut plain = Self::root();
        if path.is_relative() {
            plain.push_all(&context.cwd.to_string_lossy());
        }
        plain.push_all(&path.to_string_lossy());
        plain
    }

    fn push_all(&mut self, text: &str) {
        self.written.push(text.trim_start_matches('/'));
        for component in text.split('/') {
            match component {
                "" | "." => {}
                ".." => drop(self.components.pop()),
                name => self.components.push(name.to_owned()),
            }
        }
    }

    pub(super) fn to_path_buf(&self) -> PathBuf {
        PathBuf::from(self.shown())
    }

    /// Absolute, with each `..` where it was written.
    pub(super) fn written(&self) -> &Path {
        &self.written
    }

    fn shown(&self) -> String {
        format!("/{}", self.components.join("/"))
    }

    fn name(&self) -> &str {
        self.components.last().map_or("", String::as_str)
    }

    /// Whether `self` is `other` or contains it.
    fn is_at_or_above(&self, other: &Self) -> bool {
        other.components.starts_with(&self.components)
    }

    /// The likeness of the path to `place` or a path below it.
    fn place_at(&self, start: usize, place: &str) -> Likeness {
        let mut likeness = Likeness::Sure;
        let mut own = self.components.iter().skip(start);
        for wanted in place.split('/') {
            likeness = own.next().map_or(Likeness::No, |component| likeness.min(like(component, wanted)));
            if likeness == Likeness::No {
                break;
            }
        }
        likeness
    }

    /// The likeness of the path to one of `places`, each given from the root, or to a path below it.
    fn place_in(&self, places: &[&str]) -> Likeness {
        places.iter().map(|place| self.place_at(0, place)).max().unwrap_or(Likeness::No)
    }

    /// The likeness of a part of the path to one of `places`, which all begin with a dot. A pattern matches no leading dot either.
    fn anywhere_in(&self, places: &[&str]) -> Likeness {
        self.below_any(|component| component.starts_with('.') || component == "Library", places)
    }

    /// The likeness of the path to a secret of a system's `etc`: of the running system, or of a copy in another place.
    fn in_some_etc(&self) -> Likeness {
        let is_etc = |component: &str| like(component, "etc") == Likeness::Sure;
        self.place_in(SECRET_IN_ETC).max(self.below_any(is_etc, SECRET_IN_ETC))
    }

    /// The likeness of a part of the path to one of `places`, if it begins with a component that `may_begin`.
    fn below_any(&self, may_begin: impl Fn(&str) -> bool, places: &[&str]) -> Likeness {
        let starts = self.components.iter().enumerate().filter(|(_, component)| may_begin(component));
        starts
            .flat_map(|(start, _)| places.iter().map(move |place| self.place_at(start, place)))
            .max()
            .unwrap_or(Likeness::No)
    }

    /// The likeness of the path to a folder of ours or a path below it.
    fn ours(&self, own: &[PathBuf]) -> Likeness {
        own.iter().map(|folder| self.at_or_below(folder).0).max().unwrap_or(Likeness::No)
    }

    /// Whether the path may be one of `folders` or lie right in one.
    fn is_right_in(&self, folders: &[PathBuf]) -> bool {
        let is_in = |folder: &PathBuf| {
            let (likeness, depth) = self.at_or_below(folder);
            likeness > Likeness::No && depth <= 1
        };
        folders.iter().any(is_in)
    }

    /// The likeness of the path to `folder`, which is absolute, or a path below it, and the number of further names.
    fn at_or_below(&self, folder: &Path) -> (Likeness, usize) {
        let mut components = self.components.iter();
        let names = folder.components().filter(|part| matches!(part, Component::Normal(_)));
        let likeness = names.fold(Likeness::Sure, |likeness, name| {
            let wanted = name.as_os_str().to_string_lossy();
            components.next().map_or(Likeness::No, |component| likeness.min(like(component, &wanted)))
        });
        (likeness, components.len())
    }

    /// Whether the path names a secret, or may.
    fn secrecy(&self) -> Likeness {
        let name = self.name();
        if PLAIN_NAMES.iter().any(|plain| glob::matches(name, plain)) && !has_wildcard(name) {
            return Likeness::No;
        }
        let lower = name.to_ascii_lowercase();
        if !has_wildcard(name) && SECRET_EXACT_NAMES.iter().any(|pattern| glob::matches(&lower, pattern)) {
            return Likeness::Sure;
        }
        let names = SECRET_NAMES.iter().map(|pattern| like_name(name, &lower, pattern)).max().unwrap_or(Likeness::No);
        let is_file = |place: &&&str| place.split('/').count() == self.components.len();
        let files = SECRET_FILES.iter().filter(is_file).map(|place| self.place_at(0, place)).max();
        names
            .max(files.unwrap_or(Likeness::No))
            .max(self.place_in(SECRET_ABSOLUTE))
            .max(self.in_some_etc())
            .max(self.anywhere_in(SECRET_PLACES))
    }
}

/// The risk of reading `path`.
pub(super) fn read_risk(path: &PlainPath, context: Context<'_>) -> PathRisk {
    content_risk_by_text(path, context).or_else(|| target_risk(path, context, content_risk_by_text))
}

fn content_risk_by_text(path: &PlainPath, context: Context<'_>) -> PathRisk {
    read_risk_by_text(path, context).or_else(|| shape::risk(path, context))
}

/// The risk of the files that `path` really leads to.
fn target_risk(path: &PlainPath, context: Context<'_>, risk: fn(&PlainPath, Context<'_>) -> PathRisk) -> PathRisk {
    let Some(targets) = context.files?.targets(&path.written) else {
        return Some(Objection::ask(format!("a pattern matches too many files to be checked: {}", path.shown())));
    };
    let targets = targets.iter().map(|target| PlainPath::from_path(target, context));
    let risks =
        targets.filter(|target| target.components != path.components).filter_map(|target| risk(&target, context));
    risks.max_by_key(|risk| risk.level).map(|risk| risk.through(&path.shown()))
}

fn read_risk_by_text(path: &PlainPath, context: Context<'_>) -> PathRisk {
    if path.components.iter().any(|component| component.len() > MAX_NAME_BYTES) {
        return Some(Objection::ask("a name in a path is too long to be checked"));
    }
    let risk = |level, what: &str| Some(Objection::new(level, format!("{what}: {}", path.shown())));
    match path.ours(context.own) {
        Likeness::Sure => return risk(Level::Danger, "reads cohab's own files"),
        Likeness::Maybe => return risk(Level::Ask, "a pattern may match cohab's own files"),
        Likeness::No => {}
    }
    match path.secrecy() {
        Likeness::Sure => return risk(Level::Danger, "reads secrets"),
        Likeness::Maybe => return risk(Level::Ask, "a pattern may match secret files"),
        Likeness::No => {}
    }
    if path.place_in(PROCESS_LINKS) > Likeness::No {
        return risk(Level::Ask, "reads through the links of a process");
    }
    let is_device = path.components.first().is_some_and(|first| like(first, "dev") > Likeness::No)
        && path.components.len() > 1
        && path.name() != "null";
    if is_device || (path.components.len() == 2 && path.place_at(0, "proc/kmsg") > Likeness::No) {
        return risk(Level::Ask, "reads a device");
    }
    if !path.components.iter().any(|component| has_wildcard(component)) {
        return None;
    }
    if path.components.iter().any(|component| component.starts_with('.') && has_wildcard(component)) {
        return risk(Level::Ask, "a pattern matches hidden files");
    }
    let home = PlainPath::from_path(context.home, context);
    if home.components.len() < path.components.len()
        && home.is_at_or_above(path)
        && has_wildcard(&path.components[home.components.len()])
    {
        return risk(Level::Ask, "a pattern in the home directory");
    }
    None
}

/// The risk of listing `path`: names are no secret, the folders of secrets are.
pub(super) fn list_risk(path: &PlainPath, context: Context<'_>) -> PathRisk {
    let is_plain_list = path.components.iter().any(|component| has_wildcard(component));
    let by_text = |path: &PlainPath, context: Context<'_>| {
        let is_device = path.components.first().is_some_and(|first| first == "dev");
        if is_device { None } else { read_risk_by_text(path, context) }
    };
    // The names that a pattern matches are no secret, even if one of them is `server.pem`.
    by_text(path, context).or_else(|| if is_plain_list { None } else { target_risk(path, context, by_text) })
}

/// The reason why a search may not begin at `path`.
pub(super) fn search_risk(path: &PlainPath, context: Context<'_>) -> PathRisk {
    search_risk_by_text(path, context).or_else(|| target_risk(path, context, search_risk_by_text))
}

/// The reason why a search of everything below `path`, a plain place, is asked: a secret file with a name that `is_read`.
pub(super) fn hoard_risk(
    path: &PlainPath,
    with_hidden: bool,
    is_read: &dyn Fn(&str) -> bool,
    context: Context<'_>,
) -> PathRisk {
    // Only names are known: `shadow` may be that of a copied `etc`.
    let is_secret = |name: &str| {
        let file = PlainPath { components: vec![name.to_owned()], written: PathBuf::new() };
        let is_named = || SECRET_IN_ETC.iter().any(|place| place.strip_prefix("etc/") == Some(name));
        is_read(name) && (file.secrecy() == Likeness::Sure || shape::tells_anywhere(name) || is_named())
    };
    let found = context.files?.find_below(&path.written, with_hidden, &is_secret)?.display().to_string();
    Some(Objection::ask(format!("also reads a file that may hold secrets: {found}")))
}

fn search_risk_by_text(path: &PlainPath, context: Context<'_>) -> PathRisk {
    let wide = || Objection::ask(format!("searches a place that also holds secrets: {}", path.shown()));
    content_risk_by_text(path, context).or_else(|| is_wide(path, context).then(wide))
}

/// Whether secrets of this user or of the system lie below `path`.
pub(super) fn is_wide(path: &PlainPath, context: Context<'_>) -> bool {
    let home = PlainPath::from_path(context.home, context);
    if path.is_at_or_above(&home) || path.components.first().is_some_and(|first| first == "proc") {
        return true;
    }
    let is_home_of_another = match &path.components[..] {
        [only] => only == "root",
        [homes, _] => homes == "home" || homes == "Users",
        _ => false,
    };
    if is_home_of_another {
        return true;
    }
    let starts = |place: &str| {
        place.split('/').zip(&path.components).all(|(wanted, component)| like(component, wanted) > Likeness::No)
    };
    if SECRET_ABSOLUTE.iter().chain(SECRET_IN_ETC).any(|place| starts(place)) {
        return true;
    }
    if context.own.iter().any(|own| path.is_at_or_above(&PlainPath::from_path(own, context))) {
        return true;
    }
    path.components.strip_prefix(&home.components[..]).is_some_and(|rest| {
        SECRET_PLACES
            .iter()
            .any(|place| place.split('/').zip(rest).all(|(wanted, component)| like(component, wanted) > Likeness::No))
    })
}

/// Whether `text` names a path in the working directory or below that is plain to read, with all links resolved.
pub(super) fn is_plain_below(text: &str, context: Context<'_>) -> bool {
    let cwd = PlainPath::from_path(context.cwd, context);
    let is_below = |path: &PlainPath| cwd.is_at_or_above(path);
    let Some(path) = PlainPath::resolve(text, false, context) else { return false };
    let leads_out = context
        .files
        .and_then(|files| files.targets(&path.written))
        .is_some_and(|targets| targets.iter().any(|target| !is_below(&PlainPath::from_path(target, context))));
    is_below(&path) && !leads_out && read_risk(&path, context).is_none()
}

/// Judges reading `path` or below it.
pub(super) fn assess_read(path: &Path, context: Context<'_>) -> PathRisk {
    search_risk(&PlainPath::from_path(path, context), context)
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    fn context() -> Context<'static> {
        Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"))
    }

    fn read(text: &str) -> Level {
        let path = PlainPath::resolve(text, text.starts_with('~'), context()).expect(text);
        read_risk(&path, context()).map_or(Level::Allow, |risk| risk.level)
    }

    fn write(text: &str) -> Level {
        let path = PlainPath::resolve(text, text.starts_with('~'), context()).expect(text);
        write_risk(&path, LastLink::Followed, context()).level
    }

    #[test]
    fn reading_a_secret_is_danger() {
        for path in [
            "~/.ssh/id_rsa",
            "~/.ssh",
            "../../.ssh/config",
            "/home/ann/.aws/credentials",
            "/root/.gnupg",
            "~/.config/gh/hosts.yml",
            "~/.cargo/credentials.toml",
            ".env",
            ".env.local",
            "a/b/.env",
            "server.pem",
            "x/y.key",
            "SERVER.PEM",
            "/etc/shadow",
            "/etc/./x/../shadow",
            "/mnt/etc/shadow",
            "rootfs/etc/gshadow-",
            "./../../etc/../etc/shadow",
            "/srv/backup/etc/ssh/ssh_host_rsa_key",
            "/mnt/etc/shad*",
            "/etc/sudoers.d/a",
            "/proc/self/environ",
            "/proc/12/mem",
            "/dev/sda",
            "/dev/nvme0n1p1",
            "~/.bash_history",
            "~/.config/cohab/config.toml",
            "~/.ss*/id*",
            "*.pem",
            "id_*",
            ".en?",
            "/etc/shad*",
            "/dev/tcp/1.2.3.4/80",
            "~/.SSH/id_rsa",
            "~/.cargo/*.toml",
            "~/.terraform.d/*.json",
            "/tmp/*-1000",
        ] {
            assert_eq!(read(path), Level::Danger, "{path}");
        }
    }

    #[test]
    fn reading_what_may_be_secret_is_asked() {
        for path in [
            "/etc/*",
            "/mnt/etc/*",
            "~/*",
            "~/.*",
            ".*",
            "/dev/zero",
            "/dev/stdin",
            "/proc/1/root/etc/passwd",
            "*.p*",
            "server.*",
            "*.k?y*",
            "/proc/1/fd/3",
        ] {
            assert_eq!(read(path), Level::Ask, "{path}");
        }
    }

    #[test]
    fn reading_plain_files_is_allowed() {
        for path in [
            "src/main.rs",
            "*.md",
            "*",
            "src/*.rs",
            "README*",
            "*test*",
            "~/work/x.txt",
            "/etc/passwd",
            "/etc/hosts",
            "/mnt/etc/fstab",
            "etc/app.conf",
            "src/shadow",
            "~/.ssh/id_rsa.pub",
            "~/.ssh/known_hosts",
            ".env.example",
            "/proc/cpuinfo",
            "/dev/null",
            "/usr/share/doc",
            ".",
            "..",
            ".gitignore",
            ".github/workflows/ci.yml",
            "/var/log/syslog",
            "/tmp/*.log",
            "/tmp/run-?.log",
            "app.log*",
            "access.log.?",
            "keys.rs",
        ] {
            assert_eq!(read(path), Level::Allow, "{path}");
        }
    }

    #[test]
    fn writing_is_never_allowed_and_danger_where_it_decides_what_runs() {
        for path in ["a.txt", "/tmp/x", "~/notes.md", "../x"] {
            assert_eq!(write(path), Level::Ask, "{path}");
        }
        for path in [
            "~/.bashrc",
            "~/.ssh/authorized_keys",
            ".git/hooks/pre-commit",
            ".git/config",
            ".envrc",
            "/etc/passwd",
            "/usr/local/bin/x",
            "~/.config/systemd/user/a",
            "~/.local/bin/ls",
            "/dev/sda",
            "/proc/sys/kernel/x",
            "~/bin/ls",
            ".vscode/tasks.json",
            "/",
        ] {
            assert_eq!(write(path), Level::Danger, "{path}");
        }
    }

    #[test]
    fn a_search_does_not_begin_above_secrets() {
        let wide =
            |text: &str| is_wide(&PlainPath::resolve(text, text.starts_with('~'), context()).expect(text), context());
        for path in ["/", "~", "/home", "/etc", "/proc", "~/.config", "~/.cargo", "../.."] {
            assert!(wide(path), "{path}");
        }
        for path in [".", "src", "~/work", "/usr/include", "/var/log"] {
            assert!(!wide(path), "{path}");
        }
    }

    #[test]
    fn folders_of_ours_are_secret_wherever_they_are() {
        let own = [PathBuf::from("/data/c/config")];
        let level = |line: &str| super::super::assess_line(line, context().with_own(&own)).level;
        for line in [
            "cat /data/c/config/rules.toml",
            "ls /data/c/config",
            "cat /data/./c/x/../config/audit/key",
            "cat /data/c/con*/a",
            "echo x > /data/c/config/rules.toml",
            "cp a /data/c/config/config.toml",
        ] {
            assert_eq!(level(line), Level::Danger, "{line}");
            assert!(super::super::assess_line(line, context()).level < Level::Danger, "{line}");
        }
        assert_eq!(level("grep -r x /data"), Level::Ask);
        assert_eq!((level("cat /data/c/other"), level("grep -r x /data/d")), (Level::Allow, Level::Allow));
        let own = [PathBuf::from(OsStr::from_bytes(b"/data/\xff"))];
        let read = super::super::assess_read(&own[0].join("rules.toml"), context().with_own(&own));
        assert_eq!(read.level, Level::Danger, "also where its name is no text");
    }
}
