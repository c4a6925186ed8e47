//! The events at which hooks run. Pure.

use std::fmt;

/// A point at which hooks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookEvent {
    /// The first question of a conversation.
    SessionStart,
    /// A conversation ends.
    SessionEnd,
    /// The user asks a question, or adds to a turn.
    UserPromptSubmit,
    /// The model wants to call a tool.
    PreToolUse,
    /// A tool did what was asked.
    PostToolUse,
    /// A tool failed.
    PostToolUseFailure,
    /// The user is about to be asked for consent.
    PermissionRequest,
    /// The conversation is about to be shortened.
    PreCompact,
    /// The model ends its answer.
    Stop,
    /// A subagent ends its work.
    SubagentStop,
    /// A question waits for the user.
    Notification,
}

impl HookEvent {
    /// All of them, in the order of a session.
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::Notification,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PreCompact,
        Self::SubagentStop,
        Self::Stop,
        Self::SessionEnd,
    ];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PermissionRequest => "PermissionRequest",
            Self::PreCompact => "PreCompact",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::Notification => "Notification",
        }
    }

    /// The event of this name.
    ///
    /// ```
    /// use cohab_hooks::event::HookEvent;
    /// assert_eq!(HookEvent::of("PreToolUse"), Some(HookEvent::PreToolUse));
    /// assert_eq!(HookEvent::of("pretooluse"), None);
    /// ```
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether a hook guards what comes next: if such a hook fails, that does not happen.
    #[must_use]
    pub fn is_guard(self) -> bool {
        matches!(self, Self::UserPromptSubmit | Self::PreToolUse | Self::PermissionRequest)
    }

    /// Whether plain text that a hook prints is for the model.
    #[must_use]
    pub fn takes_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }

    /// Whether the model reads the reason of a hook that objects, although nothing can be stopped any more.
    #[must_use]
    pub fn reports_to_model(self) -> bool {
        matches!(self, Self::PostToolUse | Self::PostToolUseFailure)
    }

    /// Whether a hook may have the model continue.
    #[must_use]
    pub fn may_continue(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop)
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
