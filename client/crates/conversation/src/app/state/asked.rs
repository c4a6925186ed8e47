//! What the user asks at the prompt, in one of its three kinds.

/// Follows the prefix of a private question.
const PRIVATE_SIGN: char = '!';
/// Follows the prefix of an addition.
const ADDITION_SIGN: char = '+';

/// The kinds of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskedKind {
    /// A question of the conversation.
    Plain,
    /// Nothing of it is stored.
    Private,
    /// It belongs to the question that is being answered.
    Addition,
}

/// A question as the user asks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The words.
    pub text: String,
    pub kind: AskedKind,
    /// Text that goes with it as data: the user did not write it.
    pub data: Option<String>,
}

impl Asked {
    /// A question of the conversation.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: AskedKind::Plain, data: None }
    }

    /// Reads what follows the prefix: `!` and `+` count only directly behind it.
    pub(crate) fn behind_prefix(rest: &str) -> Self {
        let signs = [(PRIVATE_SIGN, AskedKind::Private), (ADDITION_SIGN, AskedKind::Addition)];
        let signed = signs.into_iter().find_map(|(sign, kind)| Some((rest.strip_prefix(sign)?, kind)));
        let (words, kind) = signed.unwrap_or((rest, AskedKind::Plain));
        Self { text: words.trim().to_owned(), kind, data: None }
    }

    pub(crate) fn is_private(&self) -> bool {
        self.kind == AskedKind::Private
    }

    /// The prefix as the user typed it.
    pub(crate) fn prefix(&self, prefix: &str) -> String {
        match self.kind {
            AskedKind::Plain => prefix.to_owned(),
            AskedKind::Private => format!("{prefix}{PRIVATE_SIGN}"),
            AskedKind::Addition => format!("{prefix}{ADDITION_SIGN}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_counts_directly_behind_the_prefix() {
        for (rest, kind, text) in [
            (" why", AskedKind::Plain, "why"),
            ("! why", AskedKind::Private, "why"),
            ("!why", AskedKind::Private, "why"),
            ("+ only src", AskedKind::Addition, "only src"),
            (" ! why", AskedKind::Plain, "! why"),
            (" + 1", AskedKind::Plain, "+ 1"),
            ("!!", AskedKind::Private, "!"),
            ("+", AskedKind::Addition, ""),
            ("", AskedKind::Plain, ""),
        ] {
            assert_eq!(Asked::behind_prefix(rest), Asked { text: text.into(), kind, data: None }, "{rest}");
        }
    }
}
