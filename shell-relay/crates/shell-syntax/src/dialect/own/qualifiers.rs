//! Reads qualifiers of zsh's patterns that only choose and sort: `*(.om[1,5])`.

use super::Of;

/// Letters that choose by kind, right or owner.
const KINDS: &str = "./@=p*%rwxAIERWXsStUGF-^,";
/// The keys of `o` and `O`: never code (`oe`, `o+`).
const ORDERS: &str = "nLlamcd";
/// Modifiers of a name's text, for programs that only print it.
const MODIFIERS: &[char] = &['a', 'A', 'e', 'h', 'l', 'r', 't', 'u'];

/// The pattern in front of the qualifiers of `raw`; `None` without qualifiers, or if one of them does more than choose. If nothing
/// matches, a null pattern (`N`, or any pattern by an option) leaves the word out, so no other word may mean more without it.
pub(super) fn without<'a>(raw: &'a str, command: &Of<'_>) -> Option<&'a str> {
    let (pattern, inside) = raw.strip_suffix(')')?.rsplit_once('(')?;
    let name = pattern.split('(').next()?;
    if pattern.ends_with(['?', '+', '@', '!', '#', '^', '$']) || name.contains(['\'', '"', '\\']) {
        return None;
    }
    let (kinds, modifiers) = inside.split_once(':').map_or((inside, None), |(kinds, rest)| (kinds, Some(rest)));
    let is_modifier = |text: &str| text.len() == 1 && text.starts_with(MODIFIERS);
    let are_plain = modifiers.is_none_or(|all| command.name == "echo" && all.split(':').all(is_modifier));
    let may_lack = command.vocabulary.may_lack_operands(command.name);
    let may_be_left_out = match super::has_wildcard(name) {
        true => may_lack || !kinds.contains('N'),
        // The word is taken for a plain name.
        false => may_lack && command.is_last,
    };
    (!inside.is_empty() && are_plain && only_choose(kinds) && may_be_left_out).then_some(pattern)
}

/// Whether these qualifiers only choose and sort.
pub(crate) fn only_choose(mut rest: &str) -> bool {
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        let behind = match first {
            c if KINDS.contains(c) || matches!(c, 'N' | 'n') => Some(rest),
            'o' | 'O' => rest.strip_prefix(|c| ORDERS.contains(c)),
            'a' | 'm' | 'c' => amount(rest.trim_start_matches(['M', 'w', 'h', 'm', 's', 'd'])),
            'L' => amount(rest.trim_start_matches(['k', 'K', 'm', 'M', 'g', 'G', 'p', 'P'])),
            'l' | 'Y' => amount(rest),
            '[' => subscript(rest),
            _ => None,
        };
        let Some(behind) = behind else { return false };
        rest = behind;
    }
    true
}

/// The text behind a number with a sign.
fn amount(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < digits.len()).then_some(rest)
}

/// The text behind `1,5]`. Anything else would be evaluated.
fn subscript(text: &str) -> Option<&str> {
    let (inside, rest) = text.split_once(']')?;
    inside.split(',').all(|number| amount(number) == Some("")).then_some(rest)
}
