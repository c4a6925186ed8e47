//! The question for consent: what would be done, in full, and how to answer. Nothing is ever cut but the middle of a command that is
//! too long to be read, and the card says so; no text of the model stands in the title or the frame.

mod answers;
mod foreign;
mod impact;

use cohab_policy::{self, Level, Part};
use cohab_protocol::{ApprovalRequest, ApprovalSubject, ProposedChange, ProposedCommand, RunMode, WirePath};
use cohab_term::wrap::{StyledRow, row_width, wrap_exactly, wrap_words};
use cohab_term::{
    output_style::OutputStyle,
    theme,
    visible::{visible, visible_command},
};
use cohab_types::place_in_answer::PlaceInAnswer;
use ratatui::text::{Line, Span};

pub(crate) use answers::{Answering, QuestionRows, key_rows, question};
pub(crate) use impact::{IMPACT_ROWS, has_details, impact_rows};

use super::{
    diff::{DiffRow, counts, diff_rows, without_names},
    long_command::{Ends, WHOLE_BYTES, ends},
};
use crate::approval::{ApprovalEnvironment, Lasting};

const BAR: &str = "│ ";
const TOP: &str = "╭ ";
const BOTTOM: &str = "╰ ";
const BAR_COLUMNS: usize = 2;
/// Rows that go on from the one above are indented by so much: none can be mistaken for a row of the card's own.
const HANG: &str = "  ";
/// Of a line of more parts only those are listed that do more than read.
const MAX_QUIET_PARTS: usize = 6;
/// Reasons that the title of a card about a path gives as well.
const SAID_BY_TITLE: [&str; 2] = ["writes", "searches a place that also holds secrets"];
/// Narrower terminals get the card without its bar.
const MIN_BAR_WIDTH: usize = 12;

/// What would be done and why it is asked; a caller whose live area is too small prints it above. `parts` are the commands of a line of
/// several. Details are the verdict on each part and command, and the kind of the shell; danger has no details, all of it is shown.
#[must_use]
pub(crate) fn card(
    request: &ApprovalRequest,
    parts: &[Part],
    is_detailed: bool,
    environment: &ApprovalEnvironment,
    width: usize,
    output_style: OutputStyle,
) -> Vec<Line<'static>> {
    let mut card = Card::new(request.is_dangerous, width, output_style);
    let is_whole = is_detailed || request.is_dangerous;
    let title = title(&request.subject, request.is_dangerous);
    let title_style = if request.is_dangerous { theme::DANGER } else { theme::STRONG };
    let mut title = vec![Span::styled(title, title_style)];
    let runs_here = !matches!(
        request.subject,
        ApprovalSubject::LocalServer { .. } | ApprovalSubject::GoOn { .. } | ApprovalSubject::Input { .. }
    );
    if environment.is_root && runs_here {
        title.push(Span::styled(output_style.choose(" · as root", " As root."), theme::DANGER));
    }
    card.words(&title);
    match &request.subject {
        ApprovalSubject::Command { command, cwd, mode } => {
            card.command("", command);
            if is_whole {
                card.parts(parts);
            }
            card.hosts(command);
            card.place(cwd, *mode, is_whole, environment);
        }
        ApprovalSubject::Commands(commands) => card.batch(commands, is_whole, environment),
        ApprovalSubject::FileChange { path, diff, .. } => {
            card.change_head("file", path, diff, environment);
            card.machine(environment);
            card.diff(path, diff);
        }
        ApprovalSubject::FileChanges(changes) => card.changes(changes, environment),
        ApprovalSubject::FileRead { path, .. } => {
            card.field("file", &path_text(path, environment));
            card.machine(environment);
        }
        ApprovalSubject::Search { path, pattern, .. } => {
            card.field("for", &visible(pattern));
            card.field("in", &path_text(path, environment));
            card.machine(environment);
        }
        ApprovalSubject::LocalServer { url, server, model } => {
            card.field("server", &format!("{} at {}", visible(server), visible(url)));
            card.field("model", &visible(model));
        }
        ApprovalSubject::GoOn { what } => card.words(&[Span::raw(visible(what))]),
        ApprovalSubject::Input { by, message, label, value } => card.input(by, message, label, value.as_deref()),
        ApprovalSubject::Foreign { by, action, details } => card.foreign(by, action, details, is_whole),
    }
    for reason in reasons(request, parts, is_whole) {
        if let Some(reason) = beyond_title(&reason, &request.subject) {
            card.reason(reason);
        }
    }
    card.into_top()
}

/// The reasons below the card, a row each. Of a whole card those of parts and of commands stand with them.
fn reasons(request: &ApprovalRequest, parts: &[Part], is_whole: bool) -> Vec<String> {
    let of_parts = || parts.iter().flat_map(|part| &part.reasons);
    let own = request.reasons.iter().filter(|reason| !of_parts().any(|told| told == *reason));
    if is_whole {
        return own.cloned().collect();
    }
    let asked = parts.iter().filter(|part| part.level > Level::Allow).filter_map(|part| part.reasons.first());
    let of_commands = match &request.subject {
        ApprovalSubject::Commands(commands) => commands.as_slice(),
        _ => &[],
    };
    joined(asked.chain(of_commands.iter().flat_map(|one| &one.reasons)).chain(own))
}

/// Each reason once. Those that say the same of several things, as ``not known: `a` `` and ``not known: `b` ``, are one.
fn joined<'a>(reasons: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for reason in reasons {
        let start = |text: &str| text.split_once(": `").map(|(start, _)| start.to_owned());
        let same = joined
            .iter()
            .position(|known| known == reason || start(known).is_some_and(|known| start(reason) == Some(known)));
        let Some(same) = same else {
            joined.push(reason.clone());
            continue;
        };
        let thing = reason.split_once(": ").map_or("", |(_, thing)| thing);
        if !joined[same].contains(thing) {
            joined[same].push_str(&format!(", {thing}"));
        }
    }
    joined
}

fn title(subject: &ApprovalSubject, is_dangerous: bool) -> String {
    let title = match subject {
        // Danger is asked one by one.
        ApprovalSubject::Commands(commands) => return format!("Run these {} commands?", commands.len()),
        ApprovalSubject::Command { .. } => "Run this command?",
        ApprovalSubject::FileChanges(changes) => return format!("Make these {} changes?", changes.len()),
        ApprovalSubject::FileChange { tool, .. } if tool == "write" => "Write this file?",
        ApprovalSubject::FileChange { .. } => "Change this file?",
        ApprovalSubject::FileRead { .. } => "Read this file? It may hold secrets.",
        ApprovalSubject::Search { tool, .. } if tool == "glob" => "List these files? The folder may hold secrets.",
        ApprovalSubject::Search { .. } => "Search these files? They may hold secrets.",
        ApprovalSubject::LocalServer { .. } => "Send questions to this model server on your machine?",
        ApprovalSubject::GoOn { .. } => "Continue?",
        ApprovalSubject::Input { .. } => "A program asks you",
        ApprovalSubject::Foreign { .. } => "Let another program do this?",
    };
    match title.split_at_checked(1).filter(|_| is_dangerous) {
        Some((first, rest)) => format!("Dangerous: {}{rest}", first.to_ascii_lowercase()),
        None => title.to_owned(),
    }
}

/// What a reason says that title and file do not: the path stands above.
fn beyond_title<'a>(reason: &'a str, subject: &ApprovalSubject) -> Option<&'a str> {
    let (ApprovalSubject::FileChange { path, .. }
    | ApprovalSubject::FileRead { path, .. }
    | ApprovalSubject::Search { path, .. }) = subject
    else {
        return Some(reason);
    };
    beyond_path(reason, path)
}

fn beyond_path<'a>(reason: &'a str, path: &WirePath) -> Option<&'a str> {
    let Some(rest) = reason.strip_suffix(&format!(" {path}")) else { return Some(reason) };
    Some(rest.trim_end_matches(':')).filter(|rest| !SAID_BY_TITLE.contains(rest))
}

fn mode_note(mode: RunMode) -> Option<&'static str> {
    match mode {
        RunMode::Live => None,
        RunMode::Subshell => Some("a subshell of yours; nothing it sets will stick"),
        RunMode::Isolated => Some("one of its own; nothing it sets will stick"),
    }
}

fn path_text(path: &WirePath, environment: &ApprovalEnvironment) -> String {
    visible(&environment.short(path.as_path()))
}

pub(super) struct Card {
    is_dangerous: bool,
    output_style: OutputStyle,
    bar: Option<Span<'static>>,
    columns: usize,
    lines: Vec<Line<'static>>,
}

impl Card {
    fn new(is_dangerous: bool, width: usize, output_style: OutputStyle) -> Self {
        let style = if is_dangerous { theme::DANGER } else { theme::ACCENT };
        let has_bar = output_style == OutputStyle::Rich && width >= MIN_BAR_WIDTH;
        let bar = has_bar.then(|| Span::styled(BAR, style));
        Self {
            is_dangerous,
            output_style,
            bar,
            columns: width - if has_bar { BAR_COLUMNS } else { 0 },
            lines: Vec::new(),
        }
    }

    fn words(&mut self, spans: &[Span<'_>]) {
        self.wrapped(HANG.len(), |columns| wrap_words(spans, columns));
    }

    fn exactly(&mut self, spans: &[Span<'_>]) {
        self.wrapped(HANG.len(), |columns| wrap_exactly(spans, columns));
    }

    /// All rows but the first are indented.
    fn wrapped(&mut self, indent: usize, wrap: impl Fn(usize) -> Vec<StyledRow>) {
        let rows = wrap(self.columns);
        if rows.len() == 1 || self.columns < MIN_BAR_WIDTH {
            return self.rows(rows);
        }
        let indent = indent.clamp(HANG.len(), self.columns / 2);
        let rows = wrap(self.columns - indent).into_iter().enumerate();
        self.rows(rows.map(|(index, row)| if index == 0 { row } else { indented(row, indent) }).collect());
    }

    /// The name of a fact, in front of it.
    fn label(&self, name: &str) -> Span<'static> {
        let name = match name.split_at_checked(1).filter(|_| self.output_style == OutputStyle::Accessible) {
            Some((first, rest)) => first.to_ascii_uppercase() + rest,
            None => name.to_owned(),
        };
        Span::styled(format!("{name}: "), theme::DIM)
    }

    /// A command, or the ends of a very long one.
    fn command(&mut self, number: &str, command: &str) {
        let Some(Ends { head, left_out, tail }) = ends(command, WHOLE_BYTES) else {
            return self.command_lines(number, command, 0);
        };
        self.command_lines(number, head, 0);
        let told = format!("{left_out} of {} bytes in the middle are not shown", command.len());
        self.words(&[self.label("cut"), Span::styled(told, theme::DANGER)]);
        // The number of the line that the end begins in; never that of the first, whose mark begins a command.
        let line = command[..command.len() - tail.len()].matches('\n').count().max(1);
        self.command_lines(number, tail, line);
    }

    /// A new line of the command has a mark of its own; a wrapped row has none, so the two cannot be mistaken.
    fn command_lines(&mut self, number: &str, text: &str, first: usize) {
        for (index, line) in visible_command(text).split('\n').enumerate() {
            let index = first + index;
            let indent = " ".repeat(number.len());
            let mark = match (self.output_style, index) {
                (OutputStyle::Rich, 0) => format!("{number}$ "),
                (OutputStyle::Rich, _) => format!("{indent}> "),
                (OutputStyle::Accessible, 0) => format!("Command {}", number.trim()).trim_end().to_owned() + ": ",
                (OutputStyle::Accessible, _) => format!("Line {}: ", index + 1),
            };
            let hanging = match self.output_style {
                _ if self.columns < MIN_BAR_WIDTH => String::new(),
                OutputStyle::Rich => indent + HANG,
                OutputStyle::Accessible => HANG.to_owned(),
            };
            let rows =
                wrap_exactly(&[Span::styled(line.to_owned(), theme::STRONG)], self.columns.saturating_sub(mark.len()));
            let marks = std::iter::once(mark.as_str()).chain(std::iter::repeat(hanging.as_str()));
            for (row, mark) in rows.into_iter().zip(marks) {
                let marked = std::iter::once(Span::styled(mark.to_owned(), theme::DIM)).chain(row);
                self.rows(wrap_exactly(
                    &marked.filter(|span| !span.content.is_empty()).collect::<StyledRow>(),
                    self.columns,
                ));
            }
        }
    }

    /// The commands of a line one by one, each with what the policy says of it.
    fn parts(&mut self, parts: &[Part]) {
        let output_style = self.output_style;
        let is_quiet = |part: &Part| parts.len() > MAX_QUIET_PARTS && part.level == Level::Allow;
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| !is_quiet(part)) {
            let (word, style) = match part.level {
                Level::Allow => ("only reads", theme::DIM),
                Level::Ask => ("asked", theme::WARNING),
                Level::Danger | Level::Deny => ("danger", theme::DANGER),
            };
            let why = match part.reasons.first() {
                Some(reason) if part.level > Level::Allow => format!("{word}: {}", visible(reason)),
                _ => word.to_owned(),
            };
            let start = format!("{}{}. ", output_style.choose("", "Part "), index + 1);
            let text = Span::raw(visible_command(&part.text));
            self.words(&[
                Span::styled(start, theme::DIM),
                text,
                Span::styled(output_style.choose(" — ", ", "), theme::DIM),
                Span::styled(why, style),
            ]);
        }
        let quiet = parts.iter().filter(|part| is_quiet(part)).count();
        if quiet > 0 {
            let who = if quiet == parts.len() { "all only read" } else { "the others only read" };
            self.words(&[self.label("parts"), Span::styled(who, theme::DIM)]);
        }
    }

    fn batch(&mut self, commands: &[ProposedCommand], is_whole: bool, environment: &ApprovalEnvironment) {
        let shared = commands
            .first()
            .filter(|first| commands.iter().all(|one| (&one.cwd, one.mode) == (&first.cwd, first.mode)));
        let digits = commands.len().to_string().len();
        for (index, one) in commands.iter().enumerate() {
            self.command(&format!("{:>digits$} ", index + 1), &one.command);
            self.hosts(&one.command);
            if shared.is_none() {
                self.place(&one.cwd, one.mode, is_whole, environment);
            }
            for reason in one.reasons.iter().filter(|_| is_whole) {
                self.reason(reason);
            }
        }
        if let Some(shared) = shared {
            self.place(&shared.cwd, shared.mode, is_whole, environment);
        }
    }

    /// Several changes, each with its file, its diff and its reasons.
    fn changes(&mut self, changes: &[ProposedChange], environment: &ApprovalEnvironment) {
        for (index, one) in changes.iter().enumerate() {
            self.change_head(&format!("file {}", index + 1), &one.path, &one.diff, environment);
            self.diff(&one.path, &one.diff);
            for reason in &one.reasons {
                if let Some(reason) = beyond_path(reason, &one.path) {
                    self.reason(reason);
                }
            }
        }
        self.machine(environment);
    }

    /// The file that is changed, with the numbers of added and removed lines.
    fn change_head(&mut self, name: &str, path: &WirePath, diff: &str, environment: &ApprovalEnvironment) {
        let (added, removed) = counts(without_names(diff, &path.to_string()));
        self.exactly(&[
            self.label(name),
            Span::raw(path_text(path, environment)),
            Span::styled(format!("{}+{added} -{removed}", self.output_style.choose("  ", ", ")), theme::DIM),
        ]);
    }

    fn diff(&mut self, path: &WirePath, diff: &str) {
        for DiffRow { spans, indent } in diff_rows(without_names(diff, &path.to_string()), self.output_style) {
            self.wrapped(indent, |columns| wrap_exactly(&spans, columns));
        }
    }

    /// The hosts that a command names, apart from what its addresses say around them.
    fn hosts(&mut self, command: &str) {
        let hosts = cohab_policy::hosts(command);
        if !hosts.is_empty() {
            let name = if hosts.len() == 1 { "host" } else { "hosts" };
            self.field(name, &visible(&visible_command(&hosts.join(", "))));
        }
    }

    /// Folder, shell and machine, as far as they are worth a word.
    fn place(&mut self, cwd: &WirePath, mode: RunMode, is_whole: bool, environment: &ApprovalEnvironment) {
        self.field("in", &path_text(cwd, environment));
        // Where there is no live shell no command is expected to change one.
        if let Some(note) = mode_note(mode).filter(|_| is_whole || environment.lasting == Lasting::Shell) {
            self.words(&[self.label("shell"), Span::raw(note)]);
        }
        self.machine(environment);
    }

    /// The machine, if it is not this one.
    fn machine(&mut self, environment: &ApprovalEnvironment) {
        if let Some(host) = &environment.remote_host {
            self.words(&[self.label("on"), Span::styled(format!("{} over ssh", visible(host)), theme::WARNING)]);
        }
    }

    fn reason(&mut self, reason: &str) {
        if let Some(place) = PlaceInAnswer::read(reason) {
            return self.words(&[Span::styled(place.to_string(), theme::DIM)]);
        }
        let style = if self.is_dangerous { theme::DANGER } else { theme::WARNING };
        let text = Span::styled(visible(reason), style);
        let mark = Span::styled(self.output_style.choose("! ", "Reason: "), style);
        if self.output_style == OutputStyle::Accessible || self.columns < MIN_BAR_WIDTH {
            return self.words(&[mark, text]);
        }
        // The mark never stands alone.
        let rows = wrap_words(&[text], self.columns - HANG.len()).into_iter().enumerate();
        let marked = |mut row: StyledRow| {
            row.insert(0, mark.clone());
            row
        };
        self.rows(rows.map(|(index, row)| if index == 0 { marked(row) } else { indented(row, HANG.len()) }).collect());
    }

    fn field(&mut self, name: &str, value: &str) {
        self.exactly(&[self.label(name), Span::raw(value)]);
    }

    /// The lines of the card's upper part.
    fn into_top(mut self) -> Vec<Line<'static>> {
        if let (Some(bar), Some(line)) = (&self.bar, self.lines.first_mut()) {
            line.spans[0] = Span::styled(TOP, bar.style);
        }
        self.lines
    }

    /// Lines between the two.
    fn into_middle(self) -> Vec<Line<'static>> {
        self.lines
    }

    /// The lines of what closes the card; a second one has no frame any more.
    fn into_bottom(mut self) -> Vec<Line<'static>> {
        if let Some(bar) = &self.bar {
            for (index, line) in self.lines.iter_mut().enumerate() {
                line.spans[0] = if index == 0 { Span::styled(BOTTOM, bar.style) } else { Span::raw(HANG) };
            }
        }
        self.lines
    }

    fn rows(&mut self, rows: Vec<StyledRow>) {
        for row in rows {
            debug_assert!(row_width(&row) <= self.columns.max(2));
            self.lines.push(Line::from_iter(self.bar.clone().into_iter().chain(row)));
        }
    }
}

fn indented(mut row: StyledRow, columns: usize) -> StyledRow {
    row.insert(0, Span::raw(" ".repeat(columns)));
    row
}

#[cfg(test)]
mod tests;
