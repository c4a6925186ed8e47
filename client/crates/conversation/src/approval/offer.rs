//! The answers that a question offers. The client makes a separate judgement: a command that the client reads as danger is danger,
//! even if the daemon says otherwise.

use cohab_policy::{
    self, Level, Verdict,
    user_rules::{self, Rule},
};
use cohab_protocol::{ApprovalId, ApprovalRequest, ApprovalSubject, ProposedChange, ProposedCommand, RunMode, TurnId};
use cohab_secrets::holds_placeholder;
use cohab_types::place_in_answer::{Counted, PlaceInAnswer};

use super::{ApprovalEnvironment, Lasting};

/// The answers other than `y`, `n` and Esc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Again in this shell without a question. Not for what sends data to another host, or gets a secret: that is asked each time.
    pub session: bool,
    /// The rule for this folder.
    pub folder: Option<Rule>,
    /// The rule for every folder.
    pub always: Option<Rule>,
    /// The rules for tests and builds in this folder, if the command is one of them.
    pub project: Vec<Rule>,
    /// The command can be changed.
    pub edit: bool,
    /// The command can be put on the prompt instead.
    pub insert: bool,
    /// Several commands or changes can be decided at once; else each is asked by itself.
    pub as_one: bool,
    /// The card has details that are not shown yet.
    pub details: bool,
}

impl Offer {
    /// The offer for a request, which is made as strict as the client's own reading of it.
    pub(super) fn of(mut request: ApprovalRequest, environment: &ApprovalEnvironment) -> (ApprovalRequest, Self) {
        let mut offer = match &request.subject {
            ApprovalSubject::LocalServer { .. } | ApprovalSubject::GoOn { .. } => Self::default(),
            ApprovalSubject::Input { value, .. } => Self { edit: value.is_some(), ..Self::default() },
            ApprovalSubject::FileChange { .. }
            | ApprovalSubject::FileRead { .. }
            | ApprovalSubject::Search { .. }
            | ApprovalSubject::Foreign { .. } => {
                Self { session: !request.is_dangerous && !request.is_each_time, ..Self::default() }
            }
            ApprovalSubject::Commands(commands) => {
                let is_danger =
                    |one: &ProposedCommand| assess(&one.command, environment, one.mode, &one.cwd).level > Level::Ask;
                let is_alone = |one: &ProposedCommand| is_danger(one) || holds_placeholder(&one.command);
                let as_one = !request.is_dangerous && commands.len() > 1 && !commands.iter().any(is_alone);
                Self { as_one, ..Self::default() }
            }
            ApprovalSubject::FileChanges(changes) => {
                Self { as_one: !request.is_dangerous && changes.len() > 1, ..Self::default() }
            }
            ApprovalSubject::Command { command, cwd, mode } => {
                let verdict = assess(command, environment, *mode, cwd);
                let is_once = request.is_dangerous || request.is_each_time || holds_placeholder(command);
                let offer = if is_once || verdict.level > Level::Ask {
                    Self { edit: true, ..Self::default() }
                } else {
                    let shell = environment.context_of(*mode, cwd.as_path()).shell;
                    let rule = |folder| Rule::of(command, folder, shell).ok();
                    let (folder, always) = (rule(Some(cwd.as_path())), rule(None));
                    let project = user_rules::project_rules(command, cwd.as_path(), shell);
                    let session = !cohab_policy::reaches_out(command);
                    Self { session, edit: true, folder, always, project, ..Self::default() }
                };
                if verdict.level > Level::Ask && !request.is_dangerous {
                    request.is_dangerous = true;
                    request.reasons.splice(0..0, verdict.reasons);
                    request.reasons.dedup();
                }
                offer
            }
        };
        // Of one answer there is no rest of a session, and no prompt.
        let has_shell = environment.lasting == Lasting::Shell;
        offer.session &= has_shell;
        offer.insert = has_shell
            && matches!(&request.subject, ApprovalSubject::Command { command, .. } if !holds_placeholder(command));
        (request, offer)
    }
}

/// Whether what the user made of a command is danger.
pub(super) fn is_dangerous(request: &ApprovalRequest, text: &str, environment: &ApprovalEnvironment) -> bool {
    let ApprovalSubject::Command { cwd, mode, .. } = &request.subject else { return false };
    assess(text, environment, *mode, cwd).level > Level::Ask
}

fn assess(command: &str, environment: &ApprovalEnvironment, mode: RunMode, cwd: &cohab_protocol::WirePath) -> Verdict {
    cohab_policy::assess_line(command, environment.context_of(mode, cwd.as_path()))
}

/// The parts of a batch as questions of their own, each with its place among them; none if it is no batch.
pub(super) fn singles(batch: &ApprovalRequest) -> Vec<ApprovalRequest> {
    match &batch.subject {
        ApprovalSubject::Commands(commands) => {
            let subject = |one: &ProposedCommand| {
                let (command, cwd, mode) = (one.command.clone(), one.cwd.clone(), one.mode);
                ApprovalSubject::Command { command, cwd, mode }
            };
            let parts = commands.iter().map(|one| (one.approval_id, subject(one), &one.reasons));
            numbered(batch.turn_id, Counted::Command, parts)
        }
        ApprovalSubject::FileChanges(changes) => {
            let subject = |one: &ProposedChange| {
                let (tool, path, diff) = (one.tool.clone(), one.path.clone(), one.diff.clone());
                ApprovalSubject::FileChange { tool, path, diff }
            };
            let parts = changes.iter().map(|one| (one.approval_id, subject(one), &one.reasons));
            numbered(batch.turn_id, Counted::Change, parts)
        }
        _ => Vec::new(),
    }
}

fn numbered<'a>(
    turn_id: TurnId,
    what: Counted,
    parts: impl ExactSizeIterator<Item = (ApprovalId, ApprovalSubject, &'a Vec<String>)>,
) -> Vec<ApprovalRequest> {
    let count = parts.len();
    let request = |(index, (approval_id, subject, reasons)): (usize, (ApprovalId, ApprovalSubject, &Vec<String>))| {
        let place = (count > 1).then(|| PlaceInAnswer { what, number: index + 1, count }.to_string());
        let reasons = reasons.iter().cloned().chain(place).collect();
        ApprovalRequest { approval_id, turn_id, subject, is_dangerous: false, reasons, is_each_time: false }
    };
    parts.enumerate().map(request).collect()
}
