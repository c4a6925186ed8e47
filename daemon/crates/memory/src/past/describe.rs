//! Says in a few words when and where something was done. Pure.

use std::path::Path;

use cohab_text::sanitize::one_line;
use jiff::{Timestamp, Zoned};

use super::record::PastItem;

/// Longest folder, in columns.
const FOLDER_COLUMNS: usize = 60;

/// When and where it was done, and how it went: `3 Nov 14:05, in ~/media, exit 1, 12 times`.
#[must_use]
pub fn circumstances(item: &PastItem, now: &Zoned, home: &Path) -> String {
    let mut parts = vec![item.at().map_or_else(|| "time unknown".to_owned(), |at| time(at, now))];
    match item {
        PastItem::Line(line) => {
            parts.extend(line.last.folder.as_deref().map(|path| format!("in {}", folder(path, home))));
            parts.extend(
                line.last.exit_code.map(|code| if code == 0 { "worked".to_owned() } else { format!("exit {code}") }),
            );
            if line.runs > 1 {
                parts.push(format!("{} times", line.runs));
            }
            if line.last.source.is_import() {
                parts.push(format!("from {}", line.last.source.word()));
            }
        }
        PastItem::Turn(turn) => parts.push(format!("in {}", folder(&turn.turn.folder, home))),
    }
    parts.join(", ")
}

/// A time as short as it is clear: `14:05`, `yesterday 14:05`, `3 Nov 14:05`, `3 Nov 2025`.
#[must_use]
pub fn time(at: Timestamp, now: &Zoned) -> String {
    let at = at.to_zoned(now.time_zone().clone());
    let format = if at.date() == now.date() {
        "%H:%M"
    } else if now.date().yesterday().is_ok_and(|yesterday| at.date() == yesterday) {
        "yesterday %H:%M"
    } else if at.year() == now.year() {
        "%-d %b %H:%M"
    } else {
        "%-d %b %Y"
    };
    at.strftime(format).to_string()
}

fn folder(path: &Path, home: &Path) -> String {
    let text = match path.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    };
    one_line(&text, FOLDER_COLUMNS)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::{civil::date, tz::TimeZone};

    use super::*;
    use crate::past::record::{NewRun, PastLine, RunSource};

    #[test]
    fn a_run_is_described_by_time_folder_and_outcome() {
        let now = date(2026, 11, 28).at(18, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        let run = |at: Option<&str>, exit_code, source, runs| {
            let last = NewRun {
                line: "make".into(),
                at: at.map(|at| at.parse().unwrap()),
                folder: Some("/home/ann/shop".into()),
                exit_code,
                duration: Some(Duration::from_secs(1)),
                output_tail: String::new(),
                source,
            };
            circumstances(&PastItem::Line(PastLine { id: 1, last, runs }), &now, Path::new("/home/ann"))
        };
        let shell = RunSource::Shell;
        assert_eq!(run(Some("2026-11-28T09:05:00Z"), Some(0), shell, 1), "09:05, in ~/shop, worked");
        assert_eq!(run(Some("2026-11-27T09:05:00Z"), Some(2), shell, 3), "yesterday 09:05, in ~/shop, exit 2, 3 times");
        assert_eq!(run(Some("2026-11-03T09:05:00Z"), None, shell, 1), "3 Nov 09:05, in ~/shop");
        assert_eq!(run(Some("2025-11-03T09:05:00Z"), None, RunSource::Zsh, 1), "3 Nov 2025, in ~/shop, from zsh");
        assert_eq!(run(None, None, RunSource::Bash, 1), "time unknown, in ~/shop, from bash");
    }
}
