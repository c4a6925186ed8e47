//! The client's own record of what the user agreed to. The client owns the terminal and decides last, on the exact bytes it
//! types: a command that the policy would ask about runs only if this record holds the user's consent to just that text in just
//! that folder.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    time::Instant,
};

use cohab_policy::{
    self, Level, YES_HOLDS,
    consent::{Decision, Grants, Ground, Hazards, RunConsent, Side, Situation, decide},
    user_rules::RuleSource,
};
use cohab_protocol::{ApprovalId, ApprovalMode, ExecuteCommand};

/// Approvals that are kept until used; older ones are void.
const PENDING_APPROVALS: usize = 64;
/// Commands approved for the session; beyond, the user is asked again.
const SESSION_COMMANDS: usize = 1_000;

/// What the user agreed to in this shell.
#[derive(Debug, Default)]
pub(crate) struct Consents {
    once: HashMap<ApprovalId, Grant>,
    order: VecDeque<ApprovalId>,
    session: HashSet<Agreed>,
    /// How often commands of the assistant have changed what decides what the shell runs.
    generation: u64,
}

/// A yes that was not used yet.
#[derive(Debug)]
struct Grant {
    agreed: Agreed,
    at: Instant,
    /// Of the shell when it was said.
    generation: u64,
}

/// What a yes under the id of a request is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrantStatus {
    /// It was said to just this, in the shell as it is.
    Holds,
    /// It was said to just this, but the shell has been changed since.
    ChangedShell,
    /// No grant, or one that does not count.
    Nothing,
}

/// By what a command may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunAuthority {
    /// The user agreed to just this, which does more than read, or to everything.
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
pub(crate) struct Agreed {
    /// The exact text.
    pub command: String,
    /// The working directory.
    pub cwd: PathBuf,
}

impl Consents {
    /// Remembers consent to run exactly this one time, under the id of the question.
    pub(crate) fn allow_once(&mut self, id: ApprovalId, agreed: Agreed, at: Instant) {
        self.once.insert(id, Grant { agreed, at, generation: self.generation });
        self.order.push_back(id);
        if self.order.len() > PENDING_APPROVALS
            && let Some(oldest) = self.order.pop_front()
        {
            self.once.remove(&oldest);
        }
    }

    /// Remembers consent to run exactly this for as long as this shell lives, unless it is to be asked about each time.
    pub(crate) fn allow_for_session(&mut self, agreed: Agreed) {
        if self.session.len() < SESSION_COMMANDS && Hazards::of(&agreed.command).lets_consent_last() {
            self.session.insert(agreed);
        }
    }

    /// A command of the assistant changed what this shell runs, or may have: the same words may now mean something else.
    pub(crate) fn shell_changed(&mut self) {
        self.generation += 1;
    }

    fn status(&mut self, request: &ExecuteCommand, wanted: &Agreed, now: Instant) -> GrantStatus {
        let yes = request.approval_id.and_then(|id| self.once.remove(&id));
        match yes.filter(|yes| yes.agreed == *wanted && now.saturating_duration_since(yes.at) <= YES_HOLDS) {
            Some(yes) if yes.generation == self.generation => GrantStatus::Holds,
            Some(_) => GrantStatus::ChangedShell,
            None => GrantStatus::Nothing,
        }
    }

    /// The turn is over: what was agreed to once and did not run will not run.
    pub(crate) fn forget_unused(&mut self) {
        self.once.clear();
        self.order.clear();
    }

    /// Whether `request` may run now, and by what; `remembered` is what the user allowed for good. Uses up a consent for one time.
    pub(crate) fn permits(
        &mut self,
        request: &ExecuteCommand,
        mode: ApprovalMode,
        context: cohab_policy::Context<'_>,
        remembered: &dyn RuleSource,
        now: Instant,
    ) -> Option<RunAuthority> {
        let wanted = Agreed { command: request.command.clone(), cwd: context.cwd.to_owned() };
        let status = self.status(request, &wanted, now);
        let verdict = cohab_policy::assess_line(&request.command, context);
        // A yes to what would run anyway, but for what was read before, says nothing of what its names stand for.
        let only_reads = verdict.level == Level::Allow;
        // The client reads the files itself and does not rely on the daemon.
        let rules = remembered.loaded(context.cwd);
        let ruled = rules.apply(&request.command, context, verdict);
        let situation = Situation {
            side: Side::Client,
            mode,
            level: ruled.verdict.level,
            is_firm: ruled.verdict.is_firm(),
            hazards: Hazards::of(&request.command),
            // Only the daemon knows.
            is_tainted: false,
            grants: Grants {
                answer: match status {
                    GrantStatus::Holds if !only_reads => RunConsent::Full,
                    // Unasked: as long as the user has not confirmed the changes of the shell, the client asks about it.
                    GrantStatus::Holds | GrantStatus::ChangedShell => RunConsent::Weak,
                    GrantStatus::Nothing => RunConsent::None,
                },
                has_rule: ruled.allowed_by.is_some(),
                has_session: self.session.contains(&wanted),
                was_refused: false,
            },
        };
        match decide(&situation) {
            Decision::Run(Ground::Answer | Ground::AllMode) => Some(RunAuthority::Asked),
            Decision::Run(_) => Some(RunAuthority::Unasked),
            Decision::Ask | Decision::Refuse(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use cohab_policy::user_rules::NoRules;
    use cohab_protocol::{CallId, TurnId};

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

    fn authority(
        consents: &mut Consents,
        request: &ExecuteCommand,
        mode: ApprovalMode,
        now: Instant,
    ) -> Option<RunAuthority> {
        let context = cohab_policy::Context::new(Path::new("/home/ann"), Path::new("/home/ann"));
        consents.permits(request, mode, context, &NoRules, now)
    }

    fn permits(consents: &mut Consents, request: &ExecuteCommand, mode: ApprovalMode) -> bool {
        authority(consents, request, mode, Instant::now()).is_some()
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
        for (command, runs) in [
            ("touch a", true),
            ("ls", true),
            ("echo x > b", true),
            ("rm -rf x", false),
            ("echo x > /tmp/b", false),
            ("git push", false),
        ] {
            assert_eq!(permits(&mut consents, &request(command, None), ApprovalMode::Auto), runs, "{command}");
        }
        let authority = authority(&mut consents, &request("touch a", None), ApprovalMode::Auto, Instant::now());
        assert_eq!(authority, Some(RunAuthority::Unasked), "not in a shell that was changed");
    }

    #[test]
    fn consent_holds_once_and_for_the_exact_text() {
        let (mut consents, id) = (Consents::default(), ApprovalId::fresh());
        consents.allow_once(id, agreed("touch a"), Instant::now());
        assert!(permits(&mut consents, &request("touch a", Some(id)), ApprovalMode::Ask));
        assert!(!permits(&mut consents, &request("touch a", Some(id)), ApprovalMode::Ask));
        consents.allow_once(id, agreed("touch a"), Instant::now());
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
        consents.allow_once(id, elsewhere.clone(), Instant::now());
        assert!(!permits(&mut consents, &request("rm -r build", Some(id)), ApprovalMode::Ask));
        consents.allow_for_session(elsewhere);
        assert!(!permits(&mut consents, &request("rm -r build", None), ApprovalMode::Ask));
    }

    #[test]
    fn what_was_agreed_to_in_a_turn_ends_with_it() {
        let (mut consents, id) = (Consents::default(), ApprovalId::fresh());
        consents.allow_once(id, agreed("touch a"), Instant::now());
        consents.forget_unused();
        assert!(!permits(&mut consents, &request("touch a", Some(id)), ApprovalMode::Ask));
    }

    #[test]
    fn old_questions_are_forgotten() {
        let (mut consents, first) = (Consents::default(), ApprovalId::fresh());
        consents.allow_once(first, agreed("touch a"), Instant::now());
        for _ in 0..PENDING_APPROVALS {
            consents.allow_once(ApprovalId::fresh(), agreed("touch b"), Instant::now());
        }
        assert!(!permits(&mut consents, &request("touch a", Some(first)), ApprovalMode::Ask));
        assert_eq!(consents.once.len(), PENDING_APPROVALS);
    }

    #[test]
    fn a_yes_counts_for_ten_minutes() {
        let (mut consents, said) = (Consents::default(), Instant::now());
        for (waited, runs) in [(YES_HOLDS, true), (YES_HOLDS + Duration::from_millis(1), false)] {
            let id = ApprovalId::fresh();
            consents.allow_once(id, agreed("touch a"), said);
            let authority = authority(&mut consents, &request("touch a", Some(id)), ApprovalMode::Ask, said + waited);
            assert_eq!(authority.is_some(), runs, "after {waited:?}");
        }
    }

    #[test]
    fn a_yes_to_what_only_reads_does_not_say_what_its_names_stand_for() {
        let (mut consents, now) = (Consents::default(), Instant::now());
        for (command, expected) in
            [("ls -a", RunAuthority::Unasked), ("base64 x", RunAuthority::Unasked), ("touch a", RunAuthority::Asked)]
        {
            let id = ApprovalId::fresh();
            consents.allow_once(id, agreed(command), now);
            let authority = authority(&mut consents, &request(command, Some(id)), ApprovalMode::Ask, now);
            assert_eq!(authority, Some(expected), "{command}");
        }
        assert_eq!(authority(&mut consents, &request("ls", None), ApprovalMode::All, now), Some(RunAuthority::Asked));
    }

    #[test]
    fn a_yes_before_the_shell_was_changed_is_no_yes_behind_it() {
        let (mut consents, now) = (Consents::default(), Instant::now());
        for (command, expected) in [("touch a", Some(RunAuthority::Unasked)), ("rm -rf x", None)] {
            let id = ApprovalId::fresh();
            consents.allow_once(id, agreed(command), now);
            consents.shell_changed();
            let request = request(command, Some(id));
            assert_eq!(authority(&mut consents, &request, ApprovalMode::Ask, now), expected, "{command}");
            consents.allow_once(id, agreed(command), now);
            assert_eq!(
                authority(&mut consents, &request, ApprovalMode::Ask, now),
                Some(RunAuthority::Asked),
                "{command}"
            );
        }
    }
}
