//! A question for consent while it is open: keys in, decisions out. What it looks like is in `ui/card.rs`.

mod environment;
mod impact_preview;
mod offer;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use cohab_impact::plan::Plan;
use cohab_policy::{Part, user_rules::Rule};
use cohab_protocol::{ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalSubject};
use cohab_term::{
    input::{EditResult, InputText},
    keys::{Input, KeyCode, KeyPress},
    output_style::OutputStyle,
};
use ratatui::text::Line;

pub use environment::{ApprovalEnvironment, Lasting};
pub(crate) use impact_preview::ImpactPreview;
pub(crate) use offer::Offer;

use crate::{
    background_task::{LOOK_LIMIT, Task, TaskResult},
    ui::card::{self, Answering, QuestionRows},
};

/// Keys are ignored for this long after the question appeared: they were meant for something else. So is the rest of a line that is
/// typed without looking: letters that follow one of those as fast, or one that means nothing here, must not end in a consent.
const DEAF: Duration = Duration::from_millis(300);
/// A letter takes effect when no other one has followed it for so long: then it was no beginning of a line. It is shown at once, and
/// people who type without looking are faster.
const CHOICE_REST: Duration = Duration::from_millis(200);
/// So long after its last letter a line for the shell may go on: people who look for keys need half a second.
const LINE_REST: Duration = Duration::from_secs(1);
/// So long the file of rules may take to be written.
const STORE_LIMIT: Duration = Duration::from_secs(1);
/// Rows that a question needs below its card: the keys or a typed line, and one of the text above.
const QUESTION_ROWS: usize = 4;

/// An open question, and those of the same batch that come after it.
#[derive(Clone, Debug)]
pub struct OpenQuestion {
    environment: Arc<ApprovalEnvironment>,
    request: ApprovalRequest,
    offer: Offer,
    parts: Vec<Part>,
    /// Whether the user wants to see the details.
    is_detailed: bool,
    preview: ImpactPreview,
    answering: Answering,
    /// Keys decide nothing until then.
    deaf_until: Instant,
    /// The letter that takes effect then.
    chosen: Option<(char, Instant)>,
    /// The batch that is decided one by one, and what of it is still to come.
    batch: Option<ApprovalId>,
    rest: VecDeque<ApprovalRequest>,
}

/// What came of an input, a finished task or of time.
#[derive(Debug, Default, PartialEq)]
pub struct KeyOutcome {
    /// A request is decided: the daemon gets the decision, and the client keeps it.
    pub decided: Option<(ApprovalRequest, ApprovalDecision)>,
    /// Something to say about it, and whether it went wrong.
    pub remark: Option<(String, bool)>,
    /// Something to be done on the side.
    pub task: Option<Task>,
    /// A command for the prompt.
    pub insert: Option<String>,
    /// Another card is shown now.
    pub has_new_card: bool,
    /// Nothing is asked any more.
    pub is_closed: bool,
}

impl OpenQuestion {
    /// A question that appears now, and what is to be looked at for it.
    #[must_use]
    pub fn new(request: ApprovalRequest, environment: Arc<ApprovalEnvironment>, now: Instant) -> (Self, Option<Task>) {
        let (request, offer) = Offer::of(request, &environment);
        let mut question = Self {
            parts: environment.parts(&request.subject),
            environment,
            offer,
            is_detailed: false,
            preview: ImpactPreview::Needless,
            answering: Answering::Keys,
            deaf_until: now + DEAF,
            chosen: None,
            batch: None,
            rest: VecDeque::new(),
            request,
        };
        let is_batch = |subject: &_| matches!(subject, ApprovalSubject::Commands(_) | ApprovalSubject::FileChanges(_));
        if !question.offer.as_one && is_batch(&question.request.subject) {
            let task = question.begin_one_by_one(now);
            return (question, task);
        }
        let task = question.begin_look(now);
        (question, task)
    }

    /// Nothing but yes and no, once: the question is of the client's own.
    pub(crate) fn offer_only_yes_and_no(&mut self) {
        self.offer = Offer::default();
    }

    fn begin_look(&mut self, now: Instant) -> Option<Task> {
        let plans = self.environment.plans(&self.request.subject);
        let is_dangerous = self.request.is_dangerous;
        if plans.iter().any(Plan::is_worth_a_look) {
            self.preview = ImpactPreview::Until(now + LOOK_LIMIT);
        } else if !is_dangerous || plans.iter().all(|plan| plan.steps.is_empty()) {
            return None;
        }
        Some(Task::Look { question: self.request.approval_id, plans, is_dangerous })
    }

    /// The question comes onto the screen only now.
    pub(crate) fn appear(&mut self, now: Instant) {
        self.deaf_until = now + DEAF;
    }

    /// The question takes the place of a prompt that the user was using: no letter counts before a key that is meant for the question.
    pub(crate) fn wait_for_attention(&mut self) {
        self.answering = Answering::Unattended;
    }

    /// Whether it is the one called `id`, or a part of that batch.
    #[must_use]
    pub(crate) fn is_about(&self, id: ApprovalId) -> bool {
        self.request.approval_id == id || self.batch == Some(id)
    }

    /// What would be done, whole.
    #[must_use]
    pub fn card(&self, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
        card::card(&self.request, &self.parts, self.is_detailed, &self.environment, width, output_style)
    }

    /// The card, if it and what stands below it fit on so many rows; else it belongs into the scrollback.
    #[must_use]
    pub fn fitting_card(&self, width: usize, rows: usize, output_style: OutputStyle) -> Option<Vec<Line<'static>>> {
        let below = QUESTION_ROWS + if self.preview == ImpactPreview::Needless { 0 } else { card::IMPACT_ROWS };
        Some(self.card(width, output_style)).filter(|card| card.len() + below <= rows)
    }

    /// The rows below: what would be touched, the keys or what is typed.
    #[must_use]
    pub fn question(&self, width: usize, output_style: OutputStyle) -> QuestionRows {
        // What was looked at is the command as it was asked.
        let is_another = matches!(self.answering, Answering::Confirming { edited: Some(_), .. });
        let preview = if is_another { &ImpactPreview::Needless } else { &self.preview };
        let mut lines =
            card::impact_rows(&self.request, preview, self.is_detailed, &self.environment, width, output_style);
        let QuestionRows { lines: keys, cursor } = card::question(
            &self.request,
            &Offer { details: self.has_details(), ..self.offer.clone() },
            &self.answering,
            self.chosen(),
            &self.environment,
            width,
            output_style,
        );
        let cursor = cursor.map(|(row, column)| (row + lines.len(), column));
        lines.extend(keys);
        QuestionRows { lines, cursor }
    }

    fn has_details(&self) -> bool {
        !self.is_detailed && card::has_details(&self.request, &self.parts, &self.preview)
    }

    /// The card that is on the screen: it changes when the details are asked for.
    #[must_use]
    pub fn shown_card(&self) -> (ApprovalId, bool) {
        (self.request.approval_id, self.is_detailed)
    }

    fn chosen(&self) -> Option<char> {
        self.chosen.map(|(letter, _)| letter)
    }

    /// When [`on_time`](Self::on_time) is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let preview = if let ImpactPreview::Until(until) = self.preview { Some(until) } else { None };
        let store = if let Answering::Storing { until, .. } = self.answering { Some(until) } else { None };
        let choice = self.chosen.map(|(_, until)| until);
        [preview, store, choice].into_iter().flatten().min()
    }

    /// Time has passed.
    pub fn on_time(&mut self, now: Instant) -> KeyOutcome {
        if matches!(self.preview, ImpactPreview::Until(until) if now >= until) {
            self.preview = ImpactPreview::TooLong;
        }
        if let Some((letter, _)) = self.chosen.take_if(|(_, until)| now >= *until) {
            return self.on_chosen(letter, now);
        }
        match &self.answering {
            Answering::Storing { until, .. } if now >= *until => self.not_stored("it did not take it within 1 s", now),
            _ => KeyOutcome::default(),
        }
    }

    /// What was to be done on the side is done.
    pub fn on_done(&mut self, done: TaskResult, now: Instant) -> KeyOutcome {
        match done {
            TaskResult::Looked { question, impacts } if question == self.request.approval_id => {
                // Where only an undo is looked into, the card does not wait for it.
                if self.preview != ImpactPreview::Needless || impacts.iter().any(|impact| !impact.notes.is_empty()) {
                    self.preview = ImpactPreview::Seen(impacts);
                }
                KeyOutcome::default()
            }
            TaskResult::Stored { question, result } if question == self.request.approval_id => {
                let Answering::Storing { decision, .. } = &self.answering else { return KeyOutcome::default() };
                let decision = decision.clone();
                match result {
                    Ok(()) => {
                        let remark = self.environment.remembered(&self.request.subject, &decision);
                        KeyOutcome { remark: Some((remark, false)), ..self.decide(decision, now) }
                    }
                    Err(reason) => self.not_stored(&reason, now),
                }
            }
            _ => KeyOutcome::default(),
        }
    }

    fn not_stored(&mut self, reason: &str, now: Instant) -> KeyOutcome {
        let remark = format!(
            "Not stored in {}: {reason}. {}",
            self.environment.rules_name(),
            self.environment.remembered_here()
        );
        KeyOutcome { remark: Some((remark, true)), ..self.decide(ApprovalDecision::Session, now) }
    }

    /// Takes what the user did. A paste never decides anything; it is text where text is typed.
    pub fn on_input(&mut self, input: &Input, now: Instant) -> KeyOutcome {
        match self.answering {
            Answering::Unattended => return self.on_unattended(input, now),
            Answering::Keys | Answering::Keeping(_) | Answering::Storing { .. } => {}
            _ => return self.on_text(input, now),
        }
        let chosen = self.chosen.take().map(|(letter, _)| letter);
        let press = match input {
            Input::Key(press) => *press,
            Input::Paste(_) => return self.not_an_answer(now),
        };
        if press.has_ctrl {
            let is_stop = press.key == KeyCode::Char('c') && now >= self.deaf_until;
            return if is_stop { self.decide(ApprovalDecision::CancelTurn, now) } else { KeyOutcome::default() };
        }
        match (press.key, chosen) {
            (KeyCode::Enter, Some(letter)) => self.on_chosen(letter, now),
            (KeyCode::Char(letter), None) if now >= self.deaf_until && self.is_offered(letter) => {
                self.chosen = Some((letter.to_ascii_lowercase(), now + CHOICE_REST));
                KeyOutcome::default()
            }
            (KeyCode::Char(_), _) => self.not_an_answer(now),
            (KeyCode::Escape, _) => self.on_escape(now),
            _ => KeyOutcome::default(),
        }
    }

    /// Letters are the rest of a line for the shell; so is a key that completes or enters that line.
    fn on_unattended(&mut self, input: &Input, now: Instant) -> KeyOutcome {
        let press = match input {
            Input::Key(press) if *press == KeyPress::ctrl('c') => *press,
            Input::Key(press) if !press.has_ctrl && !matches!(press.key, KeyCode::Char(_)) => *press,
            _ => {
                self.deaf_until = now + LINE_REST;
                return KeyOutcome::default();
            }
        };
        if now < self.deaf_until {
            return KeyOutcome::default();
        }
        match press.key {
            KeyCode::Escape | KeyCode::Char(_) => return self.decide(ApprovalDecision::CancelTurn, now),
            KeyCode::Tab | KeyCode::Enter | KeyCode::Up | KeyCode::Down | KeyCode::Left | KeyCode::Right => {
                self.answering = Answering::Keys;
                self.deaf_until = now + DEAF;
            }
            _ => {}
        }
        KeyOutcome::default()
    }

    /// What was typed belongs to something else, and so may what follows it.
    fn not_an_answer(&mut self, now: Instant) -> KeyOutcome {
        self.deaf_until = now + DEAF;
        KeyOutcome::default()
    }

    fn on_escape(&mut self, now: Instant) -> KeyOutcome {
        if matches!(self.answering, Answering::Keeping(_)) {
            self.answering = Answering::Keys;
            return KeyOutcome::default();
        }
        if now < self.deaf_until { KeyOutcome::default() } else { self.decide(ApprovalDecision::CancelTurn, now) }
    }

    /// A letter takes effect.
    fn on_chosen(&mut self, letter: char, now: Instant) -> KeyOutcome {
        if matches!(self.answering, Answering::Keeping(_)) {
            return self.on_keeping(letter, now);
        }
        match letter {
            'y' if self.request.is_dangerous => self.confirm(None),
            'y' => return self.decide(ApprovalDecision::Once, now),
            's' => {
                let remark = Some((self.environment.remembered_here(), false));
                return KeyOutcome { remark, ..self.decide(ApprovalDecision::Session, now) };
            }
            'd' | 'a' | 'p' => {
                let rules = match letter {
                    'd' => self.offer.folder.clone().into_iter().collect(),
                    'a' => self.offer.always.clone().into_iter().collect(),
                    _ => self.offer.project.clone(),
                };
                if !rules.is_empty() {
                    self.answering = Answering::Keeping(rules);
                    self.deaf_until = now + DEAF;
                }
            }
            'i' => {
                let ApprovalSubject::Command { command, .. } = &self.request.subject else {
                    return KeyOutcome::default();
                };
                let insert = Some(command.clone());
                return KeyOutcome { insert, ..self.decide(ApprovalDecision::CancelTurn, now) };
            }
            'o' => {
                let task = self.begin_one_by_one(now);
                return KeyOutcome { task, has_new_card: true, ..KeyOutcome::default() };
            }
            'v' => {
                self.is_detailed = true;
                return KeyOutcome { has_new_card: true, ..KeyOutcome::default() };
            }
            'e' => {
                if let ApprovalSubject::Command { command: text, .. }
                | ApprovalSubject::Input { value: Some(text), .. } = &self.request.subject
                {
                    self.answering = Answering::Editing(InputText::new(text));
                }
            }
            // The turn ends; a reason is not needed.
            'n' if matches!(self.request.subject, ApprovalSubject::GoOn { .. } | ApprovalSubject::Input { .. }) => {
                return self.decide(ApprovalDecision::Refused { note: String::new() }, now);
            }
            'n' => self.answering = Answering::Refusing(InputText::new("")),
            _ => {}
        }
        KeyOutcome::default()
    }

    /// Whether a letter means something here.
    fn is_offered(&self, letter: char) -> bool {
        let letter = letter.to_ascii_lowercase();
        match (&self.answering, letter) {
            (Answering::Unattended | Answering::Storing { .. }, _) => false,
            (_, 'y' | 'n') => true,
            (Answering::Keeping(_), _) => false,
            (_, 's') => self.offer.session,
            (_, 'd') => self.offer.folder.is_some(),
            (_, 'a') => self.offer.always.is_some(),
            (_, 'p') => !self.offer.project.is_empty(),
            (_, 'o') => self.offer.as_one,
            (_, 'e') => self.offer.edit,
            (_, 'i') => self.offer.insert,
            (_, 'v') => self.has_details(),
            _ => false,
        }
    }

    /// The rules are on the screen: `y` stores them.
    fn on_keeping(&mut self, letter: char, now: Instant) -> KeyOutcome {
        let Answering::Keeping(rules) = &self.answering else { return KeyOutcome::default() };
        if letter == 'y' {
            let rules = rules.clone();
            let is_for_folder = rules.iter().all(|rule| rule.folder.is_some());
            let decision = if is_for_folder { ApprovalDecision::Folder } else { ApprovalDecision::Always };
            return self.store(rules, decision, now);
        }
        self.answering = Answering::Keys;
        KeyOutcome::default()
    }

    fn store(&mut self, rules: Vec<Rule>, decision: ApprovalDecision, now: Instant) -> KeyOutcome {
        self.answering = Answering::Storing { decision, until: now + STORE_LIMIT };
        let task = Some(Task::Store { question: self.request.approval_id, rules });
        KeyOutcome { task, ..KeyOutcome::default() }
    }

    fn on_text(&mut self, input: &Input, now: Instant) -> KeyOutcome {
        let (Answering::Confirming { typed: text, .. } | Answering::Editing(text) | Answering::Refusing(text)) =
            &mut self.answering
        else {
            return KeyOutcome::default();
        };
        if text.apply(input) == EditResult::Edited {
            return KeyOutcome::default();
        }
        let decision = match input {
            Input::Key(press) if *press == KeyPress::plain(KeyCode::Enter) => self.on_submitted(),
            Input::Key(press) if *press == KeyPress::plain(KeyCode::Escape) => {
                self.answering = Answering::Keys;
                None
            }
            Input::Key(press) if *press == KeyPress::ctrl('c') => Some(ApprovalDecision::CancelTurn),
            _ => None,
        };
        decision.map_or_else(KeyOutcome::default, |decision| self.decide(decision, now))
    }

    fn on_submitted(&mut self) -> Option<ApprovalDecision> {
        match &self.answering {
            Answering::Editing(text) if self.request.is_dangerous && self.is_asked(text.text()) => {
                self.confirm(None);
                None
            }
            Answering::Editing(text) if offer::is_dangerous(&self.request, text.text(), &self.environment) => {
                let edited = text.text().to_owned();
                self.confirm(Some(edited));
                None
            }
            Answering::Confirming { typed, edited } if typed.text().trim() == "yes" => Some(match edited {
                Some(command) => ApprovalDecision::Edited { command: command.clone() },
                None => ApprovalDecision::Once,
            }),
            Answering::Confirming { .. } => {
                self.answering = Answering::Keys;
                None
            }
            Answering::Editing(text)
                if text.text().trim().is_empty() && !matches!(self.request.subject, ApprovalSubject::Input { .. }) =>
            {
                None
            }
            Answering::Editing(text) => Some(ApprovalDecision::Edited { command: text.text().to_owned() }),
            Answering::Refusing(text) => Some(ApprovalDecision::Refused { note: text.text().trim().to_owned() }),
            Answering::Unattended | Answering::Keys | Answering::Keeping(_) | Answering::Storing { .. } => None,
        }
    }

    fn confirm(&mut self, edited: Option<String>) {
        self.answering = Answering::Confirming { typed: InputText::new(""), edited };
    }

    /// Whether `text` is the command as it was asked. The editor leaves out what cannot be typed.
    fn is_asked(&self, text: &str) -> bool {
        matches!(&self.request.subject, ApprovalSubject::Command { command, .. } if InputText::new(command).text() == text)
    }

    /// The request is decided: the next one of the batch takes its place, if there is one.
    fn decide(&mut self, decision: ApprovalDecision, now: Instant) -> KeyOutcome {
        let is_stop = decision == ApprovalDecision::CancelTurn;
        let decided = Some((self.request.clone(), decision));
        match self.rest.pop_front().filter(|_| !is_stop) {
            Some(next) => {
                KeyOutcome { decided, has_new_card: true, task: self.turn_to(next, now), ..KeyOutcome::default() }
            }
            None => KeyOutcome { decided, is_closed: true, ..KeyOutcome::default() },
        }
    }

    fn begin_one_by_one(&mut self, now: Instant) -> Option<Task> {
        let mut rest: VecDeque<_> = offer::singles(&self.request).into();
        let next = rest.pop_front()?;
        (self.rest, self.batch) = (rest, Some(self.request.approval_id));
        self.turn_to(next, now)
    }

    fn turn_to(&mut self, next: ApprovalRequest, now: Instant) -> Option<Task> {
        let (rest, batch) = (std::mem::take(&mut self.rest), self.batch);
        let (question, task) = Self::new(next, Arc::clone(&self.environment), now);
        *self = Self { rest, batch, ..question };
        task
    }
}

#[cfg(test)]
mod tests;
