//! The one line that says what a turn does now. Pure: it holds no clock.

use cohab_protocol::{ApprovalMode, BudgetKind, BudgetUsed, StepActivity, Usage, amount};
use cohab_term::{output_style::OutputStyle, theme};
use cohab_text::sanitize;
use ratatui::text::{Line, Span};

use super::status::{approval_warning, duration, fitted, one_line, seconds};

/// Of what is done now at least so much stays, in columns, before facts of second rank go.
const MIN_ACTIVITY_COLUMNS: usize = 16;
/// Longest argument in a sentence.
const ARGUMENT_MAX_CHARS: usize = 160;

/// A turn of one step that took no longer has no footer.
const SHORT_TURN_S: u64 = 10;

/// From this share on the used budget is shown.
const TOLD_PERCENT: u16 = 50;

/// What is known of a turn that runs.
#[derive(Clone, Copy, Debug)]
pub struct TurnStatus<'a> {
    /// What it does now.
    pub activity: &'a StepActivity,
    /// Number of the step, from 0; the first one is not numbered.
    pub step: u32,
    /// How far the step is, as it says.
    pub said: Option<&'a str>,
    /// Since the question, in whole seconds.
    pub elapsed_s: u32,
    /// What the turn took so far, as far as it is known.
    pub usage: Option<&'a Usage>,
    /// The tightest budget, if there is one.
    pub budget: Option<&'a BudgetUsed>,
    /// What may run unasked.
    pub approval: ApprovalMode,
}

impl TurnStatus<'_> {
    /// In one row, for example `● step 3 · bash cargo test · 12 s · 3.2k tokens · about $0.0123 · Ctrl-C stops`. Where there is little
    /// room facts of second rank go first, then the number of the step, how to stop, and the end of the argument; a warning stays.
    #[must_use]
    pub fn line(&self, width: usize, output_style: OutputStyle) -> Line<'static> {
        let separator = output_style.choose(" · ", ", ");
        let (what, more) = self.activity(output_style);
        let mut head = Line::from(vec![Span::styled(output_style.choose("● ", ""), theme::ACCENT), Span::raw(what)]);
        head.extend(more.map(|more| Span::styled(more, theme::DIM)));
        let mut facts = self.facts();
        facts.insert(0, "Ctrl-C stops".to_owned());
        let end = |facts: &[String]| {
            // How to stop stands last and goes last.
            let facts = facts.iter().skip(1).chain(facts.first()).map(|fact| format!("{separator}{fact}"));
            let mut spans = vec![Span::styled(facts.collect::<String>(), theme::DIM)];
            let warning = approval_warning(self.approval);
            spans.extend(warning.into_iter().flat_map(|warning| [Span::styled(separator, theme::DIM), warning]));
            Line::from(spans)
        };
        let least = head.width().min(MIN_ACTIVITY_COLUMNS);
        while !facts.is_empty() && end(&facts).width() + least > width {
            facts.pop();
        }
        let end = end(&facts);
        let number = format!("step {}{separator}", self.step.saturating_add(1));
        if self.step > 0 && end.width() + number.len() + least <= width {
            head.spans.insert(1, Span::styled(number, theme::DIM));
        }
        let mut line = fitted(&head, width.saturating_sub(end.width()));
        line.spans.extend(end.spans);
        cohab_term::ansi::cut_line(&line, width)
    }

    /// A sentence for the beginning of a step, where nothing is painted twice.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (mut what, more) = self.activity(OutputStyle::Accessible);
        let step = (self.step > 0).then(|| format!("Step {}: ", self.step.saturating_add(1)));
        if step.is_none() {
            what[..1].make_ascii_uppercase();
        }
        // How long it took stands behind each step; a model that thinks for the first time has taken nothing.
        let facts: String = self.tokens_and_cost().map(|fact| format!(", {fact}")).collect();
        let warning = approval_warning(self.approval).map(|warning| format!(" It {}.", warning.content));
        let parts = [step.unwrap_or_default(), what, more.unwrap_or_default(), facts, ".".to_owned()];
        parts.concat() + &warning.unwrap_or_default()
    }

    fn activity(&self, output_style: OutputStyle) -> (String, Option<String>) {
        match self.activity {
            // Who thinks is said once; later there is more to say.
            StepActivity::ModelCall { model } => {
                let model =
                    (self.step == 0).then(|| format!("{}{}", output_style.choose(" · ", " with "), one_line(model)));
                ("thinking".to_owned(), model)
            }
            StepActivity::ToolCall { tool, argument } => {
                let tool = format!("{}{}", output_style.choose("", "running "), one_line(tool));
                (
                    tool,
                    Some(format!(
                        "{}{}",
                        output_style.choose(" ", ": "),
                        sanitize::one_line(argument, ARGUMENT_MAX_CHARS)
                    )),
                )
            }
            StepActivity::Attachment { path } => {
                ("reading".to_owned(), Some(format!(" {}", sanitize::one_line(path, ARGUMENT_MAX_CHARS))))
            }
            StepActivity::Shared => ("shared".to_owned(), Some(" with programs elsewhere".to_owned())),
            StepActivity::Compaction => ("shortening".to_owned(), Some(" the conversation".to_owned())),
        }
    }

    /// Most telling first.
    fn facts(&self) -> Vec<String> {
        let elapsed = (self.elapsed_s > 0).then(|| match self.elapsed_s {
            seconds @ 0..60 => format!("{seconds} s"),
            seconds => duration(u64::from(seconds) * 1_000),
        });
        let said = self.said.map(str::to_owned);
        said.into_iter().chain(elapsed).chain(self.budget()).chain(self.tokens_and_cost()).collect()
    }

    /// Half a budget is no news.
    fn budget(&self) -> Option<String> {
        let BudgetUsed { budget, percent, .. } = self.budget.filter(|used| used.percent >= TOLD_PERCENT)?;
        let of = match budget {
            BudgetKind::TurnTokens => "this question's tokens",
            BudgetKind::DayTokens => "today's tokens",
            BudgetKind::DayCost => "today's money",
            BudgetKind::TurnTime => "this question's time",
        };
        Some(format!("{percent} % of {of}"))
    }

    fn tokens_and_cost(&self) -> impl Iterator<Item = String> {
        tokens_and_cost(self.usage)
    }
}

/// Nothing of what is not known.
fn tokens_and_cost(usage: Option<&Usage>) -> impl Iterator<Item = String> {
    let usage = usage.copied().unwrap_or_default();
    let counts = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens];
    let tokens = counts.into_iter().flatten().reduce(u64::saturating_add);
    let tokens = tokens.map(|tokens| format!("{} tokens", amount::count(tokens)));
    let cost = usage.cost_microusd.map(|cost| amount::cost(cost, usage.is_cost_partial));
    tokens.into_iter().chain(cost)
}

/// What a turn took, in one row, for example `3 steps · 14 s · 12k tokens · about $0.03`. None for a short turn of one step, and if nothing but the steps is known; `last_step`
/// counts from 0.
#[must_use]
pub(crate) fn footer(
    last_step: u32,
    elapsed_s: u64,
    usage: Option<&Usage>,
    width: usize,
    output_style: OutputStyle,
) -> Option<Line<'static>> {
    if last_step == 0 && elapsed_s <= SHORT_TURN_S {
        return None;
    }
    let took = (elapsed_s > 0).then(|| seconds(elapsed_s));
    let mut facts: Vec<String> = took.into_iter().chain(tokens_and_cost(usage)).collect();
    if facts.is_empty() {
        return None;
    }
    if last_step > 0 {
        facts.insert(0, format!("{} steps", u64::from(last_step) + 1));
    }
    let text = facts.join(output_style.choose(" · ", ", ")) + output_style.choose("", ".");
    Some(fitted(&Line::styled(text, theme::DIM), width))
}

#[cfg(test)]
mod tests;
