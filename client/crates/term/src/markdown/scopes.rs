//! Maps syntax scopes of code to styles in the terminal's 16 colours.

use ratatui::style::Style;
use syntect::parsing::{Scope, ScopeStack};

use crate::theme;

/// Scope prefixes and their style. In one scope the first that fits counts, so exceptions stand before their rule.
const STYLES: &[(&str, Style)] = &[
    ("comment", theme::CODE_COMMENT),
    ("string", theme::CODE_STRING),
    ("constant", theme::CODE_CONSTANT),
    ("keyword.operator", theme::PLAIN),
    ("keyword", theme::CODE_KEYWORD),
    ("storage", theme::CODE_KEYWORD),
    ("variable.language", theme::CODE_KEYWORD),
    ("variable.parameter", theme::PLAIN),
    ("variable.function", theme::CODE_FUNCTION),
    ("variable.other.member", theme::PLAIN),
    ("entity.name.function", theme::CODE_FUNCTION),
    ("entity.name.tag", theme::CODE_FUNCTION),
    ("entity.other.attribute-name", theme::CODE_TYPE),
    ("entity.name", theme::CODE_TYPE),
    ("entity.other.inherited-class", theme::CODE_TYPE),
    ("support.function", theme::CODE_FUNCTION),
    ("support", theme::CODE_TYPE),
    ("meta.function-call.arguments", theme::PLAIN),
    ("markup.heading", theme::STRONG),
    ("markup.inserted", theme::GOOD),
    ("markup.deleted", theme::BAD),
    ("meta.diff.header", theme::STRONG),
    ("meta.diff.range", theme::ACCENT),
];

/// The compiled list.
pub(super) struct ScopeStyles(Vec<(Scope, Style)>);

impl ScopeStyles {
    pub(super) fn new() -> Self {
        Self(STYLES.iter().filter_map(|(prefix, style)| Some((Scope::new(prefix).ok()?, *style))).collect())
    }

    /// The style of a word: its innermost scope that has one.
    pub(super) fn of(&self, stack: &ScopeStack) -> Style {
        let of_scope = |scope: &Scope| self.0.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
        stack.as_slice().iter().rev().find_map(of_scope).map_or(theme::PLAIN, |(_, style)| *style)
    }
}
