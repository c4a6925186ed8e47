//! Defines an intent of the assistant: name, topic, example, patterns and plan.

use super::{
    run::{Run, Step},
    slots::Slots,
};

/// Groups of intents, in the order of the overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Disk,
    Files,
    Shell,
    Text,
    Processes,
    Network,
    Git,
    Archives,
    Permissions,
    Packages,
    System,
    Help,
}

impl Topic {
    /// All topics.
    pub(super) const ALL: [Self; 12] = [
        Self::Disk,
        Self::Files,
        Self::Shell,
        Self::Text,
        Self::Processes,
        Self::Network,
        Self::Git,
        Self::Archives,
        Self::Permissions,
        Self::Packages,
        Self::System,
        Self::Help,
    ];

    /// The heading of the topic.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Disk => "Disk",
            Self::Files => "Files",
            Self::Shell => "Folders and variables",
            Self::Text => "Text",
            Self::Processes => "Processes",
            Self::Network => "Ports and network",
            Self::Git => "Git",
            Self::Archives => "Archives",
            Self::Permissions => "Permissions",
            Self::Packages => "Packages",
            Self::System => "System",
            Self::Help => "Help",
        }
    }
}

/// An ability of the assistant.
pub(super) struct Intent {
    /// `topic.what`, unique.
    pub(super) name: &'static str,
    /// Its place in the overview.
    pub(super) topic: Topic,
    /// A question that it answers, shown to the user as an example.
    pub(super) example: &'static str,
    /// The questions that mean it, in the notation of `pattern`.
    pub(super) patterns: &'static [&'static str],
    /// The plan that answers it.
    pub(super) plan: fn(&Slots, &mut Run<'_>) -> Step,
}
