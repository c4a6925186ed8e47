//! What the user's lists and consents say of a tool. Pure.

use cohab_config::mcp::McpServer;

use crate::{
    consents::{ServerConsent, ToolConsent},
    pattern::any_covers,
};

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRule {
    /// It is refused.
    Denied,
    /// The user is asked.
    Asked,
    /// The user allowed the tool, but its definition is another one now: the user is asked.
    Changed,
    /// It runs without a question.
    Allowed,
}

/// The rule for a tool whose definition has this digest; without one, nothing is known of it yet. Without a consent it is unknown what
/// the user said, and no tool runs without a question.
#[must_use]
pub fn of_tool(settings: &McpServer, consent: Option<&ServerConsent>, tool: &str, digest: Option<&str>) -> ToolRule {
    let known = consent.and_then(|consent| consent.tools.get(tool));
    if any_covers(&settings.deny, tool) || matches!(known, Some(ToolConsent::Denied)) {
        return ToolRule::Denied;
    }
    if consent.is_none() || any_covers(&settings.ask, tool) {
        return ToolRule::Asked;
    }
    let is_same = |allowed: &str| digest.is_none_or(|digest| digest == allowed);
    match known {
        Some(ToolConsent::Allowed { definition }) if is_same(definition) => ToolRule::Allowed,
        Some(ToolConsent::Allowed { .. }) => ToolRule::Changed,
        _ if !any_covers(&settings.allow, tool) => ToolRule::Asked,
        // A tool that the settings allow counts as it was when it was first seen.
        Some(ToolConsent::Seen { definition }) if !is_same(definition) => ToolRule::Changed,
        Some(ToolConsent::Seen { .. } | ToolConsent::Denied) | None => ToolRule::Allowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_list_wins_and_a_changed_tool_is_asked_about() {
        let settings = McpServer {
            allow: vec!["get_*".into(), "both".into()],
            ask: vec!["both".into()],
            deny: vec!["get_secret".into()],
            ..McpServer::program("x".into(), Vec::new())
        };
        let mut consent = ServerConsent::default();
        let rule = |consent: &ServerConsent, tool: &str, digest| of_tool(&settings, Some(consent), tool, digest);
        assert_eq!(rule(&consent, "get_time", Some("1")), ToolRule::Allowed);
        assert_eq!(rule(&consent, "get_secret", Some("1")), ToolRule::Denied);
        assert_eq!(rule(&consent, "both", None), ToolRule::Asked);
        assert_eq!(of_tool(&settings, None, "get_time", Some("1")), ToolRule::Asked, "what the user said is unknown");
        assert_eq!(of_tool(&settings, None, "get_secret", None), ToolRule::Denied);
        assert_eq!(rule(&consent, "set_time", None), ToolRule::Asked);
        consent.tools.insert("get_time".into(), ToolConsent::Seen { definition: "1".into() });
        assert_eq!(rule(&consent, "get_time", Some("1")), ToolRule::Allowed);
        assert_eq!(rule(&consent, "get_time", Some("2")), ToolRule::Changed);
        consent.tools.insert("set_time".into(), ToolConsent::Allowed { definition: "1".into() });
        assert_eq!(rule(&consent, "set_time", None), ToolRule::Allowed);
        assert_eq!(rule(&consent, "set_time", Some("1")), ToolRule::Allowed);
        assert_eq!(rule(&consent, "set_time", Some("2")), ToolRule::Changed);
        consent.tools.insert("get_time".into(), ToolConsent::Denied);
        assert_eq!(rule(&consent, "get_time", Some("1")), ToolRule::Denied);
    }
}
