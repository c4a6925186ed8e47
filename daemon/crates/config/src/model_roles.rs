//! Assigns models to tasks: tiers for questions, roles for auxiliary work. Pure.
//!
//! A tier or a role names a profile of the settings; without a profile, the model of `[model]` (or of the profile in its place) does the
//! task.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Difficulty of a question. In order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Short and simple.
    Low,
    /// Neither low nor high.
    Medium,
    /// Long, deep or hard.
    High,
}

impl Tier {
    /// All tiers, the lowest first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The name in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The source of the tier of questions, by `COHAB_TIER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierWish {
    /// The user chose this tier.
    Fixed(Tier),
    /// The rules choose.
    Auto,
}

impl TierWish {
    /// Parses `low`, `medium`, `high` or `auto`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let tier = Tier::ALL.into_iter().find(|tier| tier.name() == text).map(Self::Fixed);
        tier.or((text == "auto").then_some(Self::Auto))
    }
}

/// `[tiers]`: the profile of each tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TierSettings {
    /// For short and simple questions.
    pub low: Option<String>,
    /// For questions that are neither simple nor hard.
    pub medium: Option<String>,
    /// For long and hard questions.
    pub high: Option<String>,
}

impl TierSettings {
    /// The profile of a tier.
    #[must_use]
    pub fn profile(&self, tier: Tier) -> Option<&str> {
        match tier {
            Tier::Low => &self.low,
            Tier::Medium => &self.medium,
            Tier::High => &self.high,
        }
        .as_deref()
    }

    /// Whether any tier has a profile.
    #[must_use]
    pub fn is_set(&self) -> bool {
        Tier::ALL.into_iter().any(|tier| self.profile(tier).is_some())
    }
}

/// Auxiliary work, separate from the answers. The last five are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Shortens conversations.
    Compactor,
    /// Names conversations.
    Namer,
    /// Judges answers.
    Judge,
    /// Divides work.
    Orchestrator,
    /// Leads the engineers of a part of the work.
    TeamLead,
    /// Does a part of the work.
    Engineer,
    /// Reviews the result.
    Reviewer,
    /// Describes the current work.
    Narrator,
}

impl Role {
    /// All roles, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Compactor,
        Self::Namer,
        Self::Judge,
        Self::Orchestrator,
        Self::TeamLead,
        Self::Engineer,
        Self::Reviewer,
        Self::Narrator,
    ];

    /// The name in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compactor => "compactor",
            Self::Namer => "namer",
            Self::Judge => "judge",
            Self::Orchestrator => "orchestrator",
            Self::TeamLead => "team_lead",
            Self::Engineer => "engineer",
            Self::Reviewer => "reviewer",
            Self::Narrator => "narrator",
        }
    }
}

/// `[roles]`: the profile of each role that has one.
pub type RoleSettings = BTreeMap<Role, String>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_called_in_the_settings_as_they_are_told() {
        for role in Role::ALL {
            let roles: RoleSettings = toml::from_str(&format!("{} = 'cheap'", role.name())).unwrap();
            assert_eq!(roles.get(&role).map(String::as_str), Some("cheap"));
        }
    }

    #[test]
    fn a_wish_is_a_tier_or_leaves_it_to_the_rules() {
        assert_eq!(TierWish::parse(" high "), Some(TierWish::Fixed(Tier::High)));
        assert_eq!(TierWish::parse("auto"), Some(TierWish::Auto));
        assert_eq!(TierWish::parse("highest"), None);
        assert!(Tier::Low < Tier::Medium && Tier::Medium < Tier::High);
    }
}
