//! The rows between a card and its keys that list the files a command would touch.

use std::path::{Path, PathBuf};

use cohab_impact::{Grave, Impact, LeftOut, Note, Tally, walk::MAX_NAMES};
use cohab_policy::Part;
use cohab_protocol::{ApprovalRequest, ApprovalSubject};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{Card, OutputStyle, foreign, theme, visible};
use crate::approval::{ApprovalEnvironment, ImpactPreview};

/// More rows than this are not shown; hard words come first.
pub(crate) const IMPACT_ROWS: usize = 8;

/// Of what an undo will not bring back, so much is named.
const MAX_LEFT_OUT: usize = 2;

/// The findings of the short card: what is removed or replaced, and the first thing that is not known.
fn main_notes(notes: Vec<(usize, &Note)>) -> Vec<(usize, &Note)> {
    let mut has_unknown = false;
    let is_main = |(_, note): &(usize, &Note)| match note {
        Note::Matches { count: 1.., .. } => false,
        Note::Unknown(_) => !std::mem::replace(&mut has_unknown, true),
        _ => true,
    };
    notes.into_iter().filter(is_main).collect()
}

/// Whether details are left out of the short card.
#[must_use]
pub(crate) fn has_details(request: &ApprovalRequest, parts: &[Part], preview: &ImpactPreview) -> bool {
    let is_apart = match &request.subject {
        ApprovalSubject::Command { .. } => !parts.is_empty(),
        ApprovalSubject::Commands(_) => true,
        ApprovalSubject::Foreign { details, .. } => foreign::is_long(details),
        _ => false,
    };
    !request.is_dangerous && (is_apart || has_impact_details(preview))
}

/// Whether the short card leaves a row out.
fn has_impact_details(preview: &ImpactPreview) -> bool {
    let ImpactPreview::Seen(impacts) = preview else { return false };
    let notes: Vec<(usize, &Note)> = impacts.iter().enumerate().flat_map(numbered).collect();
    let all = notes.len();
    main_notes(notes).len() < all
}

/// The rows. None where nothing is looked at.
#[must_use]
pub(crate) fn impact_rows(
    request: &ApprovalRequest,
    preview: &ImpactPreview,
    is_detailed: bool,
    environment: &ApprovalEnvironment,
    width: usize,
    output_style: OutputStyle,
) -> Vec<Line<'static>> {
    let mut card = Card::new(request.is_dangerous, width, output_style);
    match preview {
        ImpactPreview::Needless => {}
        ImpactPreview::Until(_) => card.words(&[card.label("touches"), Span::styled("looking", theme::DIM)]),
        ImpactPreview::TooLong => {
            card.words(&[
                card.label("touches"),
                Span::styled("not known, the disk did not answer in time", theme::WARNING),
            ]);
        }
        ImpactPreview::Seen(all) => {
            let (cwd, text) = cwd_and_text(request);
            let base = Base { environment, cwd, text };
            let is_whole = is_detailed || request.is_dangerous;
            let mut notes: Vec<(usize, &Note)> = all.iter().enumerate().flat_map(numbered).collect();
            if !is_whole {
                notes = main_notes(notes);
            }
            notes.sort_by_key(|(_, note)| !matches!(note, Note::Grave(_)));
            for (number, note) in notes {
                let number = if all.len() > 1 { format!("{number} ") } else { String::new() };
                base.note(note, &number, &mut card);
            }
        }
    }
    let mut lines = card.into_middle();
    if lines.len() > IMPACT_ROWS {
        let left = lines.len() - (IMPACT_ROWS - 1);
        lines.truncate(IMPACT_ROWS - 1);
        let mut more = Card::new(request.is_dangerous, width, output_style);
        more.words(&[more.label("more"), Span::styled(format!("{left} rows of this kind"), theme::DIM)]);
        lines.extend(more.into_middle().into_iter().take(1));
    }
    lines
}

fn numbered((index, impact): (usize, &Impact)) -> impl Iterator<Item = (usize, &Note)> {
    impact.notes.iter().map(move |note| (index + 1, note))
}

fn cwd_and_text(request: &ApprovalRequest) -> (Option<&Path>, &str) {
    match &request.subject {
        ApprovalSubject::Command { command, cwd, .. } => (Some(cwd.as_path()), command),
        ApprovalSubject::Commands(commands) => (commands.first().map(|one| one.cwd.as_path()), ""),
        _ => (None, ""),
    }
}

struct Base<'a> {
    environment: &'a ApprovalEnvironment,
    cwd: Option<&'a Path>,
    /// The command, if it is one.
    text: &'a str,
}

impl Base<'_> {
    fn note(&self, note: &Note, number: &str, card: &mut Card) {
        let row = |card: &mut Card, name: &str, text: String, style: Style| {
            card.words(&[card.label(&format!("{number}{name}")), Span::styled(text, style)]);
        };
        match note {
            Note::Grave(grave) => row(card, "touches", self.grave(grave), theme::DANGER),
            Note::Removes(tally) => {
                let style = if tally.is_partial { theme::WARNING } else { theme::STRONG };
                let is_named = |path: &PathBuf| self.text.contains(&self.path(path));
                let is_told = tally.named == 1 && tally.examples.iter().all(is_named);
                let examples = if is_told { String::new() } else { self.examples(&tally.examples, tally.named) };
                card.words(&[
                    card.label(&format!("{number}touches")),
                    Span::styled(counted(tally), style),
                    Span::styled(examples, theme::DIM),
                ]);
            }
            Note::Replaces(files) => {
                let files: Vec<String> =
                    files.iter().map(|(path, bytes)| format!("{} ({})", self.path(path), size(*bytes))).collect();
                row(card, "replaces", files.join(", "), theme::WARNING);
            }
            Note::Matches { pattern, count: 0, .. } => {
                row(card, "matches", format!("nothing for {}", visible(pattern)), theme::WARNING);
            }
            Note::Matches { pattern, count, examples } => {
                let shown: Vec<String> = examples.iter().map(|path| self.path(path)).collect();
                let text = format!("{} is {}", visible(pattern), listed(&shown, *count));
                row(card, "matches", text, theme::PLAIN);
            }
            Note::Unknown(what) => row(card, "not known", visible(what), theme::WARNING),
            Note::LeftOut(what) => {
                let shown: Vec<String> = what.iter().take(MAX_LEFT_OUT).map(|what| self.left_out(what)).collect();
                let text = format!("will not bring back {}", listed(&shown, what.len()));
                row(card, "undo", text, theme::WARNING);
            }
        }
    }

    fn examples(&self, paths: &[PathBuf], count: usize) -> String {
        let shown: Vec<String> = paths.iter().map(|path| self.path(path)).collect();
        if shown.is_empty() { shown.concat() } else { format!(", such as {}", listed(&shown, count)) }
    }

    fn left_out(&self, what: &LeftOut) -> String {
        match what {
            LeftOut::Changes(what) => visible(what),
            LeftOut::Path(path, why) => format!("{} ({why})", self.path(path)),
        }
    }

    /// Below the folder of the command without it, else with `~` for the home.
    fn path(&self, path: &Path) -> String {
        let below = self.cwd.and_then(|cwd| path.strip_prefix(cwd).ok()).filter(|rest| !rest.as_os_str().is_empty());
        visible(&below.map_or_else(|| self.environment.short(path), |rest| rest.display().to_string()))
    }

    fn grave(&self, grave: &Grave) -> String {
        match grave {
            Grave::Home => "your whole home folder".into(),
            Grave::Root => "the whole file system, from the root on".into(),
            Grave::Here(path) => format!("the folder that you are in: {}", visible(&self.environment.short(path))),
            Grave::MountPoint(path) => {
                format!("another file system, mounted at {}", visible(&self.environment.short(path)))
            }
        }
    }
}

fn listed(shown: &[String], count: usize) -> String {
    match count.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn counted(tally: &Tally) -> String {
    let Tally { files, folders, bytes, is_partial, is_upper_bound, .. } = tally;
    let mut text = match (files, folders) {
        (0, 0) if *is_partial => return format!("more than could be counted (over {MAX_NAMES} names, or a slow disk)"),
        (0, 0) => return "nothing that is there".into(),
        (_, 0) => format!("{}, {}", plural(*files, "file"), size(*bytes)),
        (0, 1) => "1 folder, empty".to_owned(),
        (0, _) => format!("{}, without files", plural(*folders, "folder")),
        (..) => format!("{} in {}, {}", plural(*files, "file"), plural(*folders, "folder"), size(*bytes)),
    };
    if *is_partial {
        text = format!("more than {text}");
    } else if *is_upper_bound {
        text = format!("up to {text}");
    }
    text
}

fn plural(count: usize, what: &str) -> String {
    let digits = count.to_string();
    let start = digits.len() % 3;
    let mut grouped = digits[..start].to_owned();
    for group in digits.as_bytes()[start..].chunks(3) {
        if !grouped.is_empty() {
            grouped.push(',');
        }
        grouped.push_str(&String::from_utf8_lossy(group));
    }
    format!("{grouped} {what}{}", if count == 1 { "" } else { "s" })
}

/// `2.1 KB`, `38 MB`, as disks are sold.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1_000 {
        return if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") };
    }
    let (mut unit, mut divisor) = (0, 1_000);
    while bytes / divisor >= 1_000 && unit + 1 < UNITS.len() {
        divisor *= 1_000;
        unit += 1;
    }
    let (whole, tenths) = (bytes / divisor, bytes % divisor * 10 / divisor);
    if whole < 10 { format!("{whole}.{tenths} {}", UNITS[unit]) } else { format!("{whole} {}", UNITS[unit]) }
}
