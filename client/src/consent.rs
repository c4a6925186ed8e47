//! The client's own record of what the user agreed to. The client owns the terminal and decides last, on the exact bytes it
//! types: a command that the policy would ask about runs only if this record holds the user's consent to just that text in just
//! that folder.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
};

use cohab_protocol::{ApprovalId, ApprovalMode, ExecuteCommand};
use cohab_shell_relay::policy::{self, Level, remembered::Remembered};

/// Approvals that are kept until used; older ones are void.
const PENDING_APPROVALS: usize = 64;
/// Commands approved for the session; beyond, the user is asked again.
const SESSION_COMMANDS: usize = 1_000;

/// What the user agreed to in this shell.
#[derive(Debug, Default)]
pub struct Consents {
    once: HashMap<ApprovalId, Agreed>,
    order: VecDeque<ApprovalId>,
    session: HashSet<Agreed>,
}

/// By what a command may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// The user agreed to just this, or to everything.
    Asked,
    /// The user has confirmed all that spoke against it: it runs as it is typed unasked.
    Confirmed,
    /// The user has confirmed what its names stand for here: git's settings are still looked at.
    Named,
    /// It reads only, or was agreed to earlier: it runs unasked as long as the shell is what it was.
    Unasked,
}

/// A command and the folder it is run in, as the question showed them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agreed {
    /// The exact text.
    pub command: String,
    /// The working directory.
    pub cwd: PathBuf,
}

impl Consents {
    /// Remembers consent to run exactly this one time, under the id of the question.
    pub fn allow_once(&mut self, id: ApprovalId, agreed: Agreed) {
        self.once.insert(id, agreed);
        self.order.push_back(id);
        if self.order.len() > PENDING_APPROVALS
            && let Some(oldest) = self.order.pop_front()
        {
            self.once.remove(&oldest);
        }
    }

    /// Remembers consent to run exactly this for as long as this shell lives, unless it is to be asked about each time.
    pub fn allow_for_session(&mut self, agreed: Agreed) {
        if self.session.len() < SESSION_COMMANDS && !policy::reaches_out(&agreed.command) {
            self.session.insert(agreed);
        }
    }

    /// The turn is over: what was agreed to once and did not run will not run.
    pub fn forget_unused(&mut self) {
        self.once.clear();
        self.order.clear();
    }

    /// Whether `request` may run now, and by what; `remembered` is what the user allowed for good. Uses up a consent for one time.
    pub fn permits(
        &mut self,
        request: &ExecuteCommand,
        mode: ApprovalMode,
        context: policy::Context<'_>,
        remembered: &dyn Remembered,
    ) -> Option<Permit> {
        let wanted = Agreed { command: request.command.clone(), cwd: context.cwd.to_owned() };
        let is_agreed = request.approval_id.and_then(|id| self.once.remove(&id)).is_some_and(|agreed| agreed == wanted);
        let verdict = policy::assess_line(&request.command, context);
        // The files are read by us, whatever the daemon made of them.
        let rules = remembered.loaded(context.cwd);
        let ruled = rules.apply(&request.command, context, verdict);
        if ruled.verdict.level == Level::Deny {
            return None;
        }
        if is_agreed || mode == ApprovalMode::All {
            return Some(Permit::Asked);
        }
        let is_lifted = match ruled.verdict.level {
            Level::Allow => true,
            // A rule lowers a question only, never danger.
            Level::Ask => {
                let is_ruled = mode >= ApprovalMode::Ask && ruled.allowed_by.is_some();
                let is_automatic = mode == ApprovalMode::Auto && !ruled.verdict.is_firm();
                is_ruled || is_automatic || self.session.contains(&wanted)
            }
            Level::Danger | Level::Deny => false,
        };
        is_lifted.then_some(Permit::Unasked)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cohab_protocol::{CallId, TurnId};
    use cohab_shell_relay::policy::remembered::Nothing;

    use super::*;

    fn request(command: &str, approval_id: Option<ApprovalId>) -> ExecuteCommand {
        ExecuteCommand {
            turn_id: TurnId::fresh(),
            call_id: CallId::fresh(),
            command: command.into(),
            timeout_ms: 1,
            approval_id,
        }
    }

    fn permits(consents: &mut Consents, request: &ExecuteCommand, mode: ApprovalMode) -> bool {
        let context = policy::Context::new(Path::new("/home/ann"), Path::new("/home/ann"));
        consents.permits(request, mode, context, &Nothing).is_some()
    }

    fn agreed(command: &str) -> Agreed {
        Agreed { command: command.into(), cwd: "/home/ann".into() }
    }

    #[test]
    fn a_command_nobody_agreed_to_does_not_run() {
        let mut consents = Consents::default();
        assert!(!permits(&mut consents, &request("rm -rf x", None), ApprovalMode::Ask));
        assert!(!permits(&mut consents, &request("rm -rf x", Some(ApprovalId::fresh())), ApprovalMode::Ask));
        assert!(permits(&mut consents, &request("rm -rf x", None), ApprovalMode::All));
    }

    #[test]
    fn the_automatic_mode_lifts_plain_questions_only() {
        let mut consents = Consents::default();
        for (command, runs) in
            [("touch a", true), ("ls", true), ("echo x > b", true), ("rm -rf x", false), ("echo x > /tmp/b", false)]
        {
            assert_eq!(permits(&mut consents, &request(command, None), ApprovalMode::Auto), runs, "{command}");
        }
        let context = policy::Context::new(Path::new("/home/ann"), Path::new("/home/ann"));
        let permit = consents.permits(&request("touch a", None), ApprovalMode::Auto, context, &Nothing);
        assert_eq!(permit, Some(Permit::Unasked), "not in a shell that was changed");
    }

    #[test]
    fn consent_holds_once_and_for_the_exact_text() {
        let (mut consents, id) = (Consents::default(), ApprovalId::fresh());
        consents.allow_once(id, agreed("touch a"));
        assert!(permits(&mut consents, &request("touch a", Some(id)), ApprovalMode::Ask));
        assert!(!permits(&mut consents, &request("touch a", Some(id)), ApprovalMode::Ask));
        consents.allow_once(id, agreed("touch a"));
        assert!(!permits(&mut consents, &request("touch a; rm b", Some(id)), ApprovalMode::Ask));
    }

    #[test]
    fn consent_for_the_session_holds_on() {
        let mut consents = Consents::default();
        consents.allow_for_session(agreed("touch a"));
        for _ in 0..2 {
            assert!(permits(&mut consents, &request("touch a", None), ApprovalMode::Ask));
        }
        assert!(!permits(&mut consents, &request("touch b", None), ApprovalMode::Ask));
    }

    #[test]
    fn consent_holds_in_the_folder_that_was_shown() {
        let (mut consents, id) = (Consents::default(), ApprovalId::fresh());
        let elsewhere = Agreed { command: "rm -r build".into(), cwd: "/home/ann/old".into() };
        consents.allow_once(id, elsewhere.clone());
        assert!(!permits(&mut consents, &request("rm -r build", Some(id)), ApprovalMode::Ask));
        consents.allow_for_session(elsewhere);
        assert!(!permits(&mut consents, &request("rm -r build", None), ApprovalMode::Ask));
    }

    #[test]
    fn what_was_agreed_to_in_a_turn_ends_with_it() {
        let (mut consents, id) = (Consents::default(), ApprovalId::fresh());
        consents.allow_once(id, agreed("touch a"));
        consents.forget_unused();
        assert!(!permits(&mut consents, &request("touch a", Some(id)), ApprovalMode::Ask));
    }

    #[test]
    fn old_questions_are_forgotten() {
        let (mut consents, first) = (Consents::default(), ApprovalId::fresh());
        consents.allow_once(first, agreed("touch a"));
        for _ in 0..PENDING_APPROVALS {
            consents.allow_once(ApprovalId::fresh(), agreed("touch b"));
        }
        assert!(!permits(&mut consents, &request("touch a", Some(first)), ApprovalMode::Ask));
        assert_eq!(consents.once.len(), PENDING_APPROVALS);
    }
}
