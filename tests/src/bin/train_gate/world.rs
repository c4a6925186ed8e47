//! Simulates machines: which names resolve there, and which are unknown.

use cohab_line_classifier::{
    Names,
    builtins::{is_builtin, is_builtin_somewhere, is_everywhere},
    first_word::Standing,
    weights::hash,
};

use crate::data::{NameSet, Sample};

/// Percent of the names that are treated as never seen.
const HIDDEN_PERCENT: u64 = 4;
/// Percent of well-known names that a machine has.
const INSTALLED_PERCENT: u64 = 50;
/// Percent of other first words that a machine happens to have as a command.
const CHANCE_PERCENT: u64 = 8;

/// The facts about a line's first word on one made-up machine, and whether its name is treated as never seen.
pub(crate) fn standing(sample: &Sample<'_>, round: u64, names: &NameSet) -> (Standing, bool) {
    let name = sample.first_word();
    let coin = |seed: u64| hash(&sample.hash.to_le_bytes(), round * 8 + seed) % 100;
    let is_builtin = is_builtin(name);
    let is_somewhere = is_builtin_somewhere(name);
    let is_name = names.contains(name) || is_everywhere(name) || is_somewhere;
    let is_hidden = !is_somewhere && coin(1) < HIDDEN_PERCENT;
    let chance = if is_name || !sample.is_language() { INSTALLED_PERCENT } else { CHANCE_PERCENT };
    let resolves = is_builtin || (is_everywhere(name) && !is_hidden) || coin(2) < chance;
    let standing = Standing { resolves, is_well_known: is_name && !is_hidden, is_builtin: is_somewhere && resolves };
    (standing, is_hidden)
}

/// A machine with only the programs of every system.
pub(crate) struct Bare;

impl Names for Bare {
    fn resolves(&self, name: &str) -> bool {
        is_builtin_somewhere(name) || is_everywhere(name)
    }

    fn exists(&self, _: &str) -> bool {
        false
    }
}

/// A machine that has every program.
pub(crate) struct Full<'a>(pub(crate) &'a NameSet);

impl Names for Full<'_> {
    fn resolves(&self, name: &str) -> bool {
        Bare.resolves(name) || self.0.contains(name)
    }

    fn exists(&self, _: &str) -> bool {
        false
    }
}
