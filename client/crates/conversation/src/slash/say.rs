//! Formats the answers of the slash commands as lines.

use cohab_protocol::{ApprovalMode, ContextReport, ModelIdentity, NamedCommand, Usage, amount};
use cohab_term::{output_style::OutputStyle, theme, wrap::wrap_words};
use cohab_text::sanitize::one_line;
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{COMMANDS, CommandKind, SlashCommand};
use crate::{session_override::ModelWish, ui::status};

/// Commands that share a row of the help with the one before them, and the meaning of both in at most 40 columns: all rows fit a small
/// screen.
const SHARED_ROWS: [(CommandKind, &str); 6] = [
    (CommandKind::Tasks, "work on it behind the prompt, list that"),
    (CommandKind::Resume, "hold or continue the answer"),
    (CommandKind::Unshare, "lend this shell to agents elsewhere"),
    (CommandKind::Forget, "list the facts, delete those with WORDS"),
    (CommandKind::Context, "show the cost, what the model is sent"),
    (CommandKind::Insert, "copy a code block, put it on the prompt"),
];
/// Below this width a command and its meaning stand in two rows.
const TWO_COLUMNS_WIDTH: usize = 60;
/// Most skills and commands of the user, and of the project, below the help.
const MAX_NAMED: usize = 12;
/// Columns of their names next to their meanings, as many as above.
const NAMED_COLUMNS: usize = 35;
/// Longest bar next to a part of the context, in columns.
const BAR_COLUMNS: u64 = 20;
/// Names of parts and models are cut here, in columns.
const NAME_COLUMNS: usize = 60;

/// A sentence.
#[must_use]
pub(crate) fn plain(text: &str, width: usize) -> Vec<Line<'static>> {
    wrapped(&[Span::raw(text.to_owned())], width)
}

/// Said when a task is taken.
#[must_use]
pub(crate) fn task_started(id: u32, output_style: OutputStyle) -> String {
    output_style.choose(
        format!("task {id} works on it · cohab tasks"),
        format!("Task {id} works on it. `cohab tasks` lists what is worked on."),
    )
}

/// A sentence of second rank.
#[must_use]
pub(crate) fn dim(text: &str, width: usize) -> Vec<Line<'static>> {
    wrapped(&[Span::styled(text.to_owned(), theme::DIM)], width)
}

fn wrapped(spans: &[Span<'_>], width: usize) -> Vec<Line<'static>> {
    wrap_words(spans, width).into_iter().map(Line::from).collect()
}

/// How a command is typed.
#[must_use]
pub(crate) fn usage(prefix: &str, command: &SlashCommand) -> String {
    format!("{prefix} /{} {}", command.name, command.arguments).trim_end().to_owned()
}

/// All commands but the one that was typed to see them, and the kinds of questions.
#[must_use]
pub(crate) fn help(prefix: &str, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let is_table = output_style == OutputStyle::Rich && width >= TWO_COLUMNS_WIDTH;
    let mut entries: Vec<(String, &str)> = Vec::new();
    for command in COMMANDS.iter().filter(|command| command.kind != CommandKind::Help) {
        let usage = usage(prefix, command);
        let shared = SHARED_ROWS.iter().find(|(kind, _)| is_table && *kind == command.kind);
        match (shared, entries.last_mut()) {
            (Some((_, meaning)), Some(row)) => {
                let second = usage.strip_prefix(prefix).unwrap_or(&usage).trim_start();
                *row = (format!("{}, {second}", row.0), meaning);
            }
            _ => entries.push((usage, command.meaning)),
        }
    }
    let longest = entries.iter().map(|(usage, _)| usage.chars().count()).max().unwrap_or(0);
    let entry = |(usage, meaning): &(String, &str)| match (output_style, is_table) {
        (OutputStyle::Accessible, _) => plain(&format!("{usage}: {meaning}"), width),
        (_, true) => vec![Line::from(vec![
            Span::styled(format!("  {usage:<longest$}  "), theme::ACCENT),
            Span::raw((*meaning).to_owned()),
        ])],
        (_, false) => {
            let mut lines = wrapped(&[Span::styled(usage.clone(), theme::ACCENT)], width);
            lines.extend(plain(meaning, width.saturating_sub(2)).into_iter().map(|mut line| {
                line.spans.insert(0, Span::raw("  "));
                line
            }));
            lines
        }
    };
    let mut lines: Vec<Line<'static>> = entries.iter().flat_map(entry).collect();
    let other = format!("Other text is a question; {prefix}+ adds to it, {prefix}! keeps nothing, @FILE attaches.");
    lines.extend(dim(&other, width));
    lines
}

/// The skills and commands that can be called by name, below the help.
#[must_use]
pub(crate) fn named(
    prefix: &str,
    commands: &[NamedCommand],
    width: usize,
    output_style: OutputStyle,
) -> Vec<Line<'static>> {
    let is_hidden = |command: &&NamedCommand| COMMANDS.iter().all(|own| own.name != command.name);
    let commands: Vec<&NamedCommand> = commands.iter().filter(is_hidden).collect();
    let (is_table, columns) = (output_style == OutputStyle::Rich && width >= TWO_COLUMNS_WIDTH, NAMED_COLUMNS);
    let mut lines = Vec::new();
    for (is_of_project, head) in [(false, "Your own skills and commands:"), (true, "Those of this project:")] {
        let of_kind: Vec<_> = commands.iter().filter(|command| command.is_of_project == is_of_project).collect();
        if of_kind.is_empty() {
            continue;
        }
        lines.extend(dim(head, width));
        for command in of_kind.iter().take(MAX_NAMED) {
            let usage = one_line(format!("{prefix} /{} {}", command.name, command.hint).trim_end(), NAME_COLUMNS);
            let meaning = one_line(&command.meaning, width.saturating_sub(2));
            if is_table && usage.chars().count() <= columns {
                let meaning = one_line(&command.meaning, width.saturating_sub(columns + 4));
                lines.push(Line::from(vec![
                    Span::styled(format!("  {usage:<columns$}  "), theme::ACCENT),
                    Span::raw(meaning),
                ]));
            } else if output_style == OutputStyle::Accessible {
                lines.extend(plain(&format!("{usage}: {meaning}"), width));
            } else {
                lines.extend(wrapped(&[Span::styled(usage, theme::ACCENT)], width));
                lines.push(Line::from(format!("  {meaning}")));
            }
        }
        if of_kind.len() > MAX_NAMED {
            lines.extend(dim(&format!("  and {} more", of_kind.len() - MAX_NAMED), width));
        }
    }
    lines
}

/// An answer to a command that there is not.
#[must_use]
pub(crate) fn unknown(prefix: &str, word: &str, near: &[&str]) -> String {
    let word = one_line(word, NAME_COLUMNS);
    match near {
        [one] => format!("There is no /{word}; did you mean /{one}? `{prefix} /help` lists them."),
        [one, other, ..] => {
            format!("There is no /{word}; did you mean /{one} or /{other}? `{prefix} /help` lists them.")
        }
        [] => format!("There is no /{word}; `{prefix} /help` lists the commands."),
    }
}

/// Something followed a command that takes nothing, or something else.
#[must_use]
pub(crate) fn misused(prefix: &str, command: &SlashCommand) -> String {
    let usage = usage(prefix, command);
    if command.arguments.is_empty() {
        format!("/{} takes no words behind it: `{usage}`.", command.name)
    } else {
        format!("Usage: `{usage}`.")
    }
}

fn name_of(model: &ModelIdentity) -> String {
    if model.is_offline {
        return "The built-in assistant without a model".to_owned();
    }
    one_line(&format!("{}/{}", model.provider, model.model), NAME_COLUMNS)
}

fn origin_of(model: &ModelIdentity) -> String {
    let origin = one_line(&model.origin, NAME_COLUMNS);
    if origin.is_empty() { String::new() } else { format!(" ({origin})") }
}

/// Who answers.
#[must_use]
pub(crate) fn model(model: &ModelIdentity, prefix: &str, width: usize) -> Vec<Line<'static>> {
    let mut lines = plain(&format!("{} answers here{}.", name_of(model), origin_of(model)), width);
    let other =
        format!("`{prefix} /model NAME`, `profile:NAME`, `low`, `medium`, `high` or `auto` changes it for this shell.");
    let hint = if model.is_offline {
        "`cohab setup` sets a model up.".to_owned()
    } else {
        format!("{other} `cohab models` lists names.")
    };
    lines.extend(dim(&hint, width));
    lines
}

/// Who answers from now on; `wish` is what the user asked for.
#[must_use]
pub(crate) fn model_changed(model: &ModelIdentity, wish: &ModelWish, width: usize) -> Vec<Line<'static>> {
    let (name, origin) = (name_of(model), origin_of(model));
    match wish {
        ModelWish::Named(wanted) if model.is_offline || model.model != *wanted => {
            let wanted = one_line(wanted, NAME_COLUMNS);
            let mut lines =
                wrapped(&[Span::styled(format!("{name} answers, not {wanted}{origin}."), theme::WARNING)], width);
            lines.extend(status::hint("`cohab setup` sets a service up", width));
            lines
        }
        _ => plain(&format!("{name} answers from now on in this shell{origin}."), width),
    }
}

/// What runs unasked from now on.
#[must_use]
pub(crate) fn approval(mode: ApprovalMode, width: usize) -> Vec<Line<'static>> {
    let (text, style) = approval_meaning(mode);
    wrapped(&[Span::styled(format!("Mode `{mode}`, from now on in this shell: {text}"), style)], width)
}

/// All modes, with a mark at the one that is on.
#[must_use]
pub(crate) fn approval_modes(current: ApprovalMode, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let modes = [ApprovalMode::ReadOnly, ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::All];
    let columns = modes.iter().map(|mode| mode.to_string().len()).max().unwrap_or(0);
    let line = |mode: ApprovalMode| {
        let is_on = mode == current;
        let (text, style) = approval_meaning(mode);
        let (name, text_style) = if is_on { (theme::STRONG, style) } else { (theme::PLAIN, theme::DIM) };
        let text = Span::styled(text, text_style);
        if output_style == OutputStyle::Accessible || width < TWO_COLUMNS_WIDTH {
            let head = format!("{mode}{}: ", if is_on { ", now on" } else { "" });
            return wrapped(&[Span::styled(head, name), text], width);
        }
        let head = format!("{} {:<columns$}  ", if is_on { "▸" } else { " " }, mode.to_string());
        let indent = " ".repeat(columns + 4);
        let rows = wrap_words(&[text], width - indent.len()).into_iter().enumerate();
        rows.map(|(index, mut row)| {
            row.insert(0, Span::styled(if index == 0 { head.clone() } else { indent.clone() }, name));
            Line::from(row)
        })
        .collect()
    };
    modes.into_iter().flat_map(line).collect()
}

fn approval_meaning(mode: ApprovalMode) -> (&'static str, Style) {
    match mode {
        ApprovalMode::Ask => ("commands that only read run at once; you are asked about others.", theme::PLAIN),
        ApprovalMode::ReadOnly => ("commands that only read run at once; others are refused.", theme::PLAIN),
        ApprovalMode::Auto => {
            ("you are asked about danger, other hosts and writes elsewhere; all else runs at once.", theme::WARNING)
        }
        ApprovalMode::All => ("everything runs at once, even commands that delete.", theme::DANGER),
    }
}

/// What the turns of the conversation took.
#[must_use]
pub(crate) fn cost(usage: &Usage, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let cached = usage.cache_read_tokens.unwrap_or(0);
    let written = usage.cache_write_tokens.unwrap_or(0);
    let sent = usage.input_tokens.map(|tokens| {
        let all = tokens.saturating_add(cached).saturating_add(written);
        let from_cache =
            if cached > 0 { format!(" ({} of them cached)", amount::count(cached)) } else { String::new() };
        format!("{} tokens in{from_cache}", amount::count(all))
    });
    let received = usage.output_tokens.map(|tokens| format!("{} out", amount::count(tokens)));
    let price = usage.cost_microusd.map(|cost| amount::cost(cost, usage.is_cost_partial));
    let has_price = price.is_some();
    let facts: Vec<String> = sent.into_iter().chain(received).chain(price).collect();
    if facts.is_empty() {
        return plain("No model usage in this shell yet.", width);
    }
    let mut lines = plain(&format!("So far in this shell: {}.", facts.join(output_style.choose(" · ", ", "))), width);
    if !has_price {
        lines.extend(dim("The cost is unknown: the service does not report it, and models.toml has no price.", width));
    }
    lines.extend(dim("`cohab usage` shows days, models and other shells.", width));
    lines
}

/// What the model is sent, by part.
#[must_use]
pub(crate) fn context(report: &ContextReport, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let total: u64 = report.sections.iter().fold(0, |sum, section| sum.saturating_add(section.tokens));
    let rows = report.sections.iter().map(|section| (one_line(&section.name, NAME_COLUMNS / 2), section.tokens));
    let rows: Vec<(String, u64)> = rows.collect();
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let whole = report.room.map_or(total, |room| room.max).max(1);
    let bar_columns = BAR_COLUMNS.min(u64::try_from(width.saturating_sub(names + 12)).unwrap_or(0));
    let row = |name: &str, tokens: u64| match output_style {
        OutputStyle::Accessible => plain(&format!("{name}: about {} tokens", amount::count(tokens)), width),
        OutputStyle::Rich => {
            let bar = bar(tokens, whole, bar_columns);
            vec![Line::from(vec![
                Span::raw(format!("  {name:<names$}  {:>6}  ", amount::count(tokens))),
                Span::styled(bar, theme::ACCENT),
            ])]
        }
    };
    let mut lines: Vec<Line<'static>> = rows.iter().flat_map(|(name, tokens)| row(name, *tokens)).collect();
    let sum = match &report.room {
        Some(room) => amount::context(room),
        None => format!("about {} tokens; there is no model to take them", amount::count(total)),
    };
    lines.extend(dim(&format!("{}{sum}", output_style.choose("", "Together ")), width));
    if let Some(room) = &report.room {
        lines.extend(dim(&amount::context_parts(room), width));
    }
    lines
}

/// A bar for a part of the whole; what there is at all is seen.
fn bar(part: u64, whole: u64, columns: u64) -> String {
    let length = u128::from(part) * u128::from(columns) / u128::from(whole.max(1));
    let length = usize::try_from(length.min(u128::from(columns))).unwrap_or(0);
    "▪".repeat(if part > 0 && columns > 0 { length.max(1) } else { length })
}

/// What became of a conversation that was shortened.
#[must_use]
pub(crate) fn compacted(before_tokens: u64, after_tokens: u64) -> String {
    if after_tokens < before_tokens {
        let (before, after) = (amount::count(before_tokens), amount::count(after_tokens));
        format!("The conversation is shorter now: about {after} tokens, it was {before}.")
    } else if before_tokens == 0 {
        "There is no conversation to shorten yet.".to_owned()
    } else {
        format!("The conversation is short enough already: about {} tokens.", amount::count(before_tokens))
    }
}

/// What was copied: block `number` of `count`.
#[must_use]
pub(crate) fn copied(number: usize, count: usize, lines: usize) -> String {
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    if count == 1 { format!("Copied {lines}.") } else { format!("Copied block {number} of {count}: {lines}.") }
}

/// A block of several was put on the prompt.
#[must_use]
pub(crate) fn inserted(number: usize, count: usize) -> String {
    format!("Code block {number} of {count} is on your prompt. Enter runs it.")
}

/// What is said when there is no code block with a number; `count` is at least 1.
#[must_use]
pub(crate) fn no_such_block(count: usize) -> String {
    match count {
        1 => "The last answer has one code block only, number 1.".to_owned(),
        count => format!("The last answer's code blocks have the numbers 1 to {count}."),
    }
}

#[cfg(test)]
#[path = "say_tests.rs"]
mod tests;
