//! Assigns models to tasks: tiers for questions, roles for auxiliary work. Pure.
//!
//! A tier or a role names a profile of the settings; without a profile, the model of `[model]` (or of the profile in its place) does the
//! task.

use std::collections::BTreeMap;

use cohab_types::{
    section,
    settings::{Key, Kind},
};
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

section! {
    /// `[tiers]`: the profile of each tier.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct TierSettings in "tiers." {
        /// Profile of the model for short and simple questions; if unset, the default profile
        low: Option<String>, Kind::Profile;
        /// Profile of the model for questions that are neither simple nor hard
        medium: Option<String>, Kind::Profile;
        /// Profile of the model for long and hard questions, and when another model makes no progress
        high: Option<String>, Kind::Profile;
    }
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

/// Declares [`Role`] and the keys of `[roles]`: one row per role.
macro_rules! roles {
    ($(#[doc = $doc:literal] $role:ident = $name:literal;)+) => {
        /// Auxiliary work, separate from the answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        pub enum Role {$(
            #[doc = $doc]
            #[serde(rename = $name)]
            $role,
        )+}

        impl Role {
            /// All roles, in the order in which they are shown.
            pub const ALL: &'static [Self] = &[$(Self::$role),+];
            /// The keys of `[roles]`.
            pub const KEYS: &'static [Key] = &[$(Key::new(concat!("roles.", $name), Kind::Profile, None, $doc)),+];

            /// Whether no work is done by this role yet.
            #[must_use]
            pub fn is_reserved(self) -> bool {
                matches!(self, Self::Orchestrator | Self::TeamLead | Self::Narrator)
            }

            /// The name in the settings.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$role => $name,)+
                }
            }
        }
    };
}

roles! {
    /// Profile of the model that shortens conversations
    Compactor = "compactor";
    /// Profile of the model that names conversations
    Namer = "namer";
    /// Profile of a model that takes part in debates
    Judge = "judge";
    /// Reserved for a future role
    Orchestrator = "orchestrator";
    /// Reserved for a future role
    TeamLead = "team_lead";
    /// Profile of the model of subagents that look for facts or change files; the main model if unset
    Engineer = "engineer";
    /// Profile of the model of subagents that check work; the main model if unset
    Reviewer = "reviewer";
    /// Reserved for a future role
    Narrator = "narrator";
}

/// `[roles]`: the profile of each role that has one.
pub type RoleSettings = BTreeMap<Role, String>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_called_in_the_settings_as_they_are_told() {
        for role in Role::ALL.iter().copied() {
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
