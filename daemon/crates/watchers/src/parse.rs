//! Reads a condition.

use std::path::{Component, Path, PathBuf};

use crate::{
    condition::{Condition, FileEvent, LogPattern, PortEvent, ProcessRef},
    cron::Cron,
    time_rule::{self, TimeRule},
};

/// Longest condition, in bytes.
const MAX_BYTES: usize = 4096;
/// Longest name of a process, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// An example of each kind of condition, in the order of the help.
pub const EXAMPLES: &[&str] = &[
    PROCESS,
    "process 1234 ends",
    FILE,
    "file build/app appears",
    FOLDER,
    PORT,
    LOG,
    AT,
    "at 2026-12-01 09:00",
    IN,
    EVERY,
    CRON,
];
const PROCESS: &str = "cargo ends";
const FILE: &str = "file build/app changes";
const FOLDER: &str = "folder src changes";
const PORT: &str = "port 8080 opens";
const LOG: &str = "log server.log matches /ERROR/";
const AT: &str = "at 14:30";
const IN: &str = "in 10m";
const EVERY: &str = "every 15m";
const CRON: &str = "cron '0 9 * * mon-fri'";

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct ConditionError {
    fault: String,
    /// A condition of the kind that was probably meant.
    pub example: &'static str,
}

fn wrong<T>(fault: impl Into<String>, example: &'static str) -> Result<T, ConditionError> {
    Err(ConditionError { fault: fault.into(), example })
}

/// Reads a condition. Relative paths are below `folder`, and `~/` is `home`; both are absolute.
///
/// ```
/// use cohab_watchers::parse::parse;
/// let condition = parse("file app.log changes", "/srv".as_ref(), "/home/ann".as_ref()).unwrap();
/// assert_eq!(condition.to_string(), "file /srv/app.log changes");
/// ```
///
/// # Errors
/// What is wrong with the text, and an example.
pub fn parse(text: &str, folder: &Path, home: &Path) -> Result<Condition, ConditionError> {
    let text = text.trim();
    if text.len() > MAX_BYTES || text.chars().any(char::is_control) {
        return wrong(format!("a condition is one line of at most {MAX_BYTES} bytes"), FILE);
    }
    let (first, rest) = text.split_once(char::is_whitespace).map_or((text, ""), |(first, rest)| (first, rest.trim()));
    let base = PathBase { folder, home };
    match first {
        "file" => base.file(rest),
        "folder" => base.watched_folder(rest),
        "log" => base.log(rest),
        "port" => port(rest),
        "at" => time_rule::at(rest).map(Condition::Time).ok_or_else(|| at_error(rest)),
        "in" => span(rest, IN).map(|seconds| Condition::Time(TimeRule::In(seconds))),
        "every" => span(rest, EVERY).map(|seconds| Condition::Time(TimeRule::Every(seconds))),
        "cron" => {
            let cron = Cron::parse(unquoted(rest));
            cron.map(|cron| Condition::Time(TimeRule::Cron(cron))).or_else(|fault| wrong(fault, CRON))
        }
        "process" => process(rest),
        // `cargo ends`
        _ if rest == ENDS => process(text),
        "" => wrong("the condition is empty", FILE),
        _ => wrong(format!("no kind of condition begins with \"{first}\""), FILE),
    }
}

const ENDS: &str = "ends";

fn at_error(rest: &str) -> ConditionError {
    ConditionError { fault: format!("\"{rest}\" is neither a time of day nor a date with a time"), example: AT }
}

fn span(text: &str, example: &'static str) -> Result<u64, ConditionError> {
    match time_rule::span(text) {
        Some(seconds) => Ok(seconds),
        None => wrong(format!("\"{text}\" is no time span from 1s to 366d"), example),
    }
}

fn process(text: &str) -> Result<Condition, ConditionError> {
    let Some((name, ENDS)) = text.rsplit_once(char::is_whitespace).map(|(name, verb)| (name.trim(), verb)) else {
        return wrong("a process can only end", PROCESS);
    };
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return match name.parse::<u32>().ok().filter(|id| *id > 0 && i32::try_from(*id).is_ok()) {
            Some(id) => Ok(Condition::ProcessEnds(ProcessRef::Id(id))),
            None => wrong(format!("\"{name}\" is no process id"), "process 1234 ends"),
        };
    }
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.contains(|c: char| c.is_whitespace() || c == '/') {
        return wrong("the name of a process is one word without a path", PROCESS);
    }
    Ok(Condition::ProcessEnds(ProcessRef::Name(name.to_owned())))
}

fn port(text: &str) -> Result<Condition, ConditionError> {
    let (place, verb) = text.rsplit_once(char::is_whitespace).unwrap_or((text, ""));
    let Some(event) = PortEvent::ALL.into_iter().find(|event| event.word() == verb) else {
        return wrong("a port opens or closes", PORT);
    };
    let place = place.trim();
    let (host, number) = match place.rsplit_once(':') {
        Some((host, number)) => (Some(host), number),
        None => (None, place),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let Some(port) = number.parse::<u16>().ok().filter(|port| is_number && *port > 0) else {
        return wrong(format!("\"{number}\" is no port from 1 to 65535"), PORT);
    };
    let is_host = |host: &str| !host.is_empty() && !host.contains(char::is_whitespace);
    match host {
        Some(host) if !is_host(host) => wrong("the host before the colon is missing", "port example.org:22 closes"),
        host => Ok(Condition::Port { host: host.map(str::to_owned), port, event }),
    }
}

/// What paths are relative to.
struct PathBase<'a> {
    folder: &'a Path,
    home: &'a Path,
}

impl PathBase<'_> {
    fn path(&self, text: &str, example: &'static str) -> Result<PathBuf, ConditionError> {
        let text = unquoted(text);
        let path = match text.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None if text == "~" => self.home.to_owned(),
            None => self.folder.join(text),
        };
        if text.is_empty() || !path.is_absolute() {
            return wrong("the path is missing", example);
        }
        // Without `.` and doubled slashes, so that a name is the last part.
        Ok(path.components().filter(|part| *part != Component::CurDir).collect())
    }

    fn file(&self, text: &str) -> Result<Condition, ConditionError> {
        let (path, verb) = text.rsplit_once(char::is_whitespace).unwrap_or(("", text));
        let Some(event) = FileEvent::ALL.into_iter().find(|event| event.word() == verb) else {
            return wrong("a file changes, appears or disappears", FILE);
        };
        let path = self.path(path, FILE)?;
        if path.file_name().is_none() {
            return wrong("the path names no file", FILE);
        }
        Ok(Condition::File { path, event })
    }

    fn watched_folder(&self, text: &str) -> Result<Condition, ConditionError> {
        let Some((path, "changes")) = text.rsplit_once(char::is_whitespace) else {
            return wrong("a folder can only change", FOLDER);
        };
        Ok(Condition::FolderChanges(self.path(path, FOLDER)?))
    }

    fn log(&self, text: &str) -> Result<Condition, ConditionError> {
        let Some((path, pattern)) = text.split_once(" matches ") else {
            return wrong("a log matches a pattern between slashes", LOG);
        };
        let pattern = pattern.trim();
        let (pattern, ignores_case) = match pattern.strip_suffix("/i") {
            // `/i` alone could be the whole of `/i/` without its end.
            Some(rest) if rest.len() > 1 => (rest, true),
            _ => (pattern.strip_suffix('/').unwrap_or_default(), false),
        };
        let Some(text) = pattern.strip_prefix('/').filter(|text| !text.is_empty()) else {
            return wrong("the pattern stands between slashes", LOG);
        };
        let pattern = LogPattern { text: text.to_owned(), ignores_case };
        if let Err(error) = pattern.regex() {
            let fault = error.to_string();
            let last = fault.lines().next_back().unwrap_or_default();
            return wrong(format!("\"{text}\" is no regular expression: {}", last.trim_start_matches("error: ")), LOG);
        }
        let path = self.path(path, LOG)?;
        if path.file_name().is_none() {
            return wrong("the path names no file", LOG);
        }
        Ok(Condition::LogMatches { path, pattern })
    }
}

/// The text without quotes around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let quoted = ['\'', '"'].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    quoted.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Condition, ConditionError> {
        parse(text, Path::new("/srv/shop"), Path::new("/home/ann"))
    }

    #[test]
    fn every_example_is_read_and_read_back() {
        for example in EXAMPLES {
            let condition = read(example).unwrap_or_else(|error| panic!("{example}: {error}"));
            assert_eq!(read(&condition.to_string()), Ok(condition), "{example}");
        }
    }

    #[test]
    fn conditions_are_read() {
        for (text, canonical) in [
            ("cargo ends", "process cargo ends"),
            ("process 12 ends", "process 12 ends"),
            ("12 ends", "process 12 ends"),
            ("  file   a b.txt   appears ", "file /srv/shop/a b.txt appears"),
            ("file './x/../y' changes", "file /srv/shop/x/../y changes"),
            ("file ~/x disappears", "file /home/ann/x disappears"),
            ("file changes changes", "file /srv/shop/changes changes"),
            ("folder . changes", "folder /srv/shop changes"),
            ("folder ~ changes", "folder /home/ann changes"),
            ("port [::1]:80 opens", "port [::1]:80 opens"),
            ("port db.internal:5432 closes", "port db.internal:5432 closes"),
            ("log a.log matches /b/c/", "log /srv/shop/a.log matches /b/c/"),
            ("log 'a ' matches /b/", "log '/srv/shop/a ' matches /b/"),
            ("file a / changes", "file '/srv/shop/a ' changes"),
            ("log a.log matches /error/i", "log /srv/shop/a.log matches /error/i"),
            ("log a.log matches /a matches /", "log /srv/shop/a.log matches /a matches /"),
            ("in 90s", "in 90s"),
            ("in 1h30m", "in 90m"),
            ("every 86400s", "every 1d"),
            ("at 9:05", "at 09:05"),
            ("at 2026-12-01 09:00", "at 2026-12-01 09:00"),
            ("cron 0  9 * * 1-5", "cron '0 9 * * 1-5'"),
        ] {
            assert_eq!(read(text).map(|condition| condition.to_string()).as_deref(), Ok(canonical), "{text}");
        }
    }

    #[test]
    fn faults_are_named_with_an_example() {
        for (text, fault, example) in [
            ("", "the condition is empty", FILE),
            ("build ended", "no kind of condition begins with \"build\"", FILE),
            ("file x burns", "a file changes, appears or disappears", FILE),
            ("file changes", "the path is missing", FILE),
            ("file / changes", "the path names no file", FILE),
            ("folder src appears", "a folder can only change", FOLDER),
            ("port 70000 opens", "\"70000\" is no port from 1 to 65535", PORT),
            ("port +80 opens", "\"+80\" is no port from 1 to 65535", PORT),
            ("port 80", "a port opens or closes", PORT),
            ("port :80 opens", "the host before the colon is missing", "port example.org:22 closes"),
            ("log x contains y", "a log matches a pattern between slashes", LOG),
            ("log x matches ERROR", "the pattern stands between slashes", LOG),
            ("log x matches //", "the pattern stands between slashes", LOG),
            ("log x matches /(/", "\"(\" is no regular expression: unclosed group", LOG),
            ("at noon", "\"noon\" is neither a time of day nor a date with a time", AT),
            ("at 25:00", "\"25:00\" is neither a time of day nor a date with a time", AT),
            ("in ten minutes", "\"ten minutes\" is no time span from 1s to 366d", IN),
            ("every 0s", "\"0s\" is no time span from 1s to 366d", EVERY),
            ("every 400d", "\"400d\" is no time span from 1s to 366d", EVERY),
            ("cron 61 * * * *", "\"61\" is no minute from 0 to 59", CRON),
            ("cron * * *", "a cron expression has 5 fields: minute, hour, day, month, weekday", CRON),
            ("process 0 ends", "\"0\" is no process id", "process 1234 ends"),
            ("process a/b ends", "the name of a process is one word without a path", PROCESS),
            ("process cargo dies", "a process can only end", PROCESS),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!((error.to_string().as_str(), error.example), (fault, example), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_condition_or_a_fault(text in "\\PC{0,60}") {
            if let Ok(condition) = read(&text) {
                prop_assert_eq!(read(&condition.to_string()), Ok(condition));
            }
        }

        #[test]
        fn texts_like_conditions_are_read_back(
            kind in prop::sample::select(vec!["file", "folder", "log", "port", "at", "in", "every", "cron", "process", ""]),
            middle in "[a-z0-9/:.~ '*,-]{0,20}",
            end in prop::sample::select(vec!["changes", "appears", "opens", "ends", "matches /a.b/", "matches /a/i", ""]),
        ) {
            if let Ok(condition) = read(&format!("{kind} {middle} {end}")) {
                prop_assert_eq!(read(&condition.to_string()), Ok(condition));
            }
        }
    }
}
