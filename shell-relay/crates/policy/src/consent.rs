//! Consent: whether an action runs, is asked about or is refused. Client and daemon decide by one function; `consent/cases.table` shows what
//! it says in each situation.

use cohab_secrets::holds_placeholder;
use cohab_types::approval_mode::ApprovalMode;

use super::{Level, reaches_out};

/// The side that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Asks the user. Knows what the model read, and what the user refused in this turn.
    Daemon,
    /// Types the command. Knows the user's answers at first hand, but not what the model read; what it would ask about it does not run.
    Client,
}

/// What makes a consent count for one run only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hazards {
    /// The user's terminal would fill a secret in.
    pub fills_secret: bool,
    /// Data go to another host.
    pub reaches_out: bool,
    /// It runs without the sandbox.
    pub leaves_sandbox: bool,
    /// A hook of the user's wants a question about just this run.
    pub is_objected_to: bool,
}

impl Hazards {
    /// Those of a command in its usual place.
    #[must_use]
    pub fn of(command: &str) -> Self {
        Self { fills_secret: holds_placeholder(command), reaches_out: reaches_out(command), ..Self::default() }
    }

    /// Whether no consent holds for the next time: one inside the sandbox does not hold outside, the target of a secret is decided each time,
    /// and so is what a hook objects to.
    #[must_use]
    pub fn is_asked_each_time(self) -> bool {
        self.fills_secret || self.leaves_sandbox || self.is_objected_to
    }

    /// Whether a consent may be remembered. Where data go is decided when they go.
    #[must_use]
    pub fn lets_consent_last(self) -> bool {
        !self.is_asked_each_time() && !self.reaches_out
    }
}

/// The user's answer to the question about just this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunConsent {
    /// There is none, or only the other side knows it.
    #[default]
    None,
    /// A yes before the shell was changed, or one to what only reads: it says nothing of what the names stand for now.
    Weak,
    /// A yes to just this in the shell as it is.
    Full,
}

/// What the user said before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// To the question about this run.
    pub answer: RunConsent,
    /// One of the user's rules allows it.
    pub has_rule: bool,
    /// It was allowed for the session, and nothing suspends that.
    pub has_session: bool,
    /// It was refused in this turn.
    pub was_refused: bool,
}

/// All that the decision depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Who decides.
    pub side: Side,
    /// The mode in force.
    pub mode: ApprovalMode,
    /// The verdict's level, with the user's rules that raise it.
    pub level: Level,
    /// Whether more than a plain question speaks against it.
    pub is_firm: bool,
    /// What it does besides.
    pub hazards: Hazards,
    /// Whether the model has read untrusted text.
    pub is_tainted: bool,
    /// What the user said before.
    pub grants: Grants,
}

/// What becomes of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Run(Ground),
    /// The user decides.
    Ask,
    /// It does not run, and the user is not asked.
    Refuse(WhyNot),
}

/// What an action runs by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// It only reads.
    Policy,
    /// [`ApprovalMode::All`].
    AllMode,
    /// [`ApprovalMode::Auto`].
    AutoMode,
    /// A rule of the user's.
    Rule,
    /// A consent for the session.
    Session,
    /// [`RunConsent::Full`].
    Answer,
    /// [`RunConsent::Weak`].
    WeakAnswer,
}

/// Why an action is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// The policy never allows it.
    Never,
    /// The mode allows only what reads.
    ReadOnly,
    /// The user has refused it in this turn.
    RefusedBefore,
}

/// Decides about an action.
///
/// ```
/// use cohab_policy::{Level, consent::{Decision, Grants, Ground, Hazards, Side, Situation, decide}};
/// use cohab_types::approval_mode::ApprovalMode;
///
/// let plain = Situation {
///     side: Side::Daemon,
///     mode: ApprovalMode::Auto,
///     level: Level::Ask,
///     is_firm: false,
///     hazards: Hazards::of("touch notes"),
///     is_tainted: false,
///     grants: Grants::default(),
/// };
/// assert_eq!(decide(&plain), Decision::Run(Ground::AutoMode));
/// assert_eq!(decide(&Situation { is_tainted: true, ..plain }), Decision::Ask);
/// ```
#[must_use]
pub fn decide(situation: &Situation) -> Decision {
    let Situation { side, mode, level, is_firm, hazards, is_tainted, grants } = *situation;
    // In any mode the user decides where a secret goes, what untrusted text may send elsewhere, and what a hook objects to.
    let is_always_asked = hazards.fills_secret || hazards.reaches_out && is_tainted || hazards.is_objected_to;
    // A rule or the automatic mode answers a question only, never danger, and nothing that untrusted text may have led to.
    let can_be_lifted = level == Level::Ask && hazards.lets_consent_last() && !is_tainted;
    let can_be_granted = level == Level::Ask && !hazards.is_asked_each_time();
    match mode {
        _ if level == Level::Deny => Decision::Refuse(WhyNot::Never),
        _ if grants.answer == RunConsent::Full => Decision::Run(Ground::Answer),
        ApprovalMode::All if !is_always_asked => Decision::Run(Ground::AllMode),
        _ if level == Level::Allow && !hazards.fills_secret && !hazards.is_objected_to => Decision::Run(Ground::Policy),
        // The client stands behind the daemon, which refuses: it still honours a yes from before the mode was changed.
        ApprovalMode::ReadOnly if side == Side::Daemon => Decision::Refuse(WhyNot::ReadOnly),
        ApprovalMode::Auto if can_be_lifted && !is_firm => Decision::Run(Ground::AutoMode),
        ApprovalMode::Ask | ApprovalMode::Auto if can_be_lifted && grants.has_rule => Decision::Run(Ground::Rule),
        _ if grants.was_refused => Decision::Refuse(WhyNot::RefusedBefore),
        _ if can_be_granted && grants.has_session => Decision::Run(Ground::Session),
        _ if can_be_granted && grants.answer == RunConsent::Weak => Decision::Run(Ground::WeakAnswer),
        _ => Decision::Ask,
    }
}

#[cfg(test)]
mod tests;
