//! Matches the subject of an event, such as the name of a tool, as the files of Claude Code do. Pure.

use regex::{Regex, RegexBuilder};

/// Longest text of a matcher.
const MAX_BYTES: usize = 1_024;
/// Most bytes of a compiled expression.
const MAX_COMPILED_BYTES: usize = 1024 * 1024;

/// Says which subjects a hook is for.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// All.
    All,
    /// Those with one of these names.
    Names(Vec<String>),
    /// Those in whose name the expression is found.
    Pattern(Box<Regex>),
}

impl Matcher {
    /// Reads a matcher: nothing or `*` for all, names separated by `|`, else a regular expression.
    ///
    /// ```
    /// use cohab_hooks::matcher::Matcher;
    /// assert!(Matcher::read("Edit|Write").unwrap().matches(&["Write"]));
    /// assert!(!Matcher::read("Edit").unwrap().matches(&["NotebookEdit"]));
    /// assert!(Matcher::read("mcp__.*").unwrap().matches(&["mcp__time__now"]));
    /// ```
    ///
    /// # Errors
    /// It is no regular expression; a phrase.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(format!("the matcher is longer than {MAX_BYTES} bytes"));
        }
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '|');
        match text {
            "" | "*" => Ok(Self::All),
            names if is_plain(names) => Ok(Self::Names(names.split('|').map(str::to_owned).collect())),
            pattern => match RegexBuilder::new(pattern).size_limit(MAX_COMPILED_BYTES).build() {
                Ok(pattern) => Ok(Self::Pattern(Box::new(pattern))),
                Err(_) => Err(format!(
                    "the matcher `{pattern}` is no regular expression that cohab can read (there is no look-around)"
                )),
            },
        }
    }

    /// Whether it is for a subject with any of these names. A subject without a name is for all matchers.
    #[must_use]
    pub fn matches(&self, names: &[&str]) -> bool {
        names.is_empty()
            || match self {
                Self::All => true,
                Self::Names(own) => own.iter().any(|own| names.contains(&own.as_str())),
                Self::Pattern(pattern) => names.iter().any(|name| pattern.is_match(name)),
            }
    }

    /// Its text.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Names(names) => names.join("|"),
            Self::Pattern(pattern) => pattern.as_str().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(matcher: &str, names: &[&str]) -> bool {
        Matcher::read(matcher).unwrap().matches(names)
    }

    #[test]
    fn plain_names_match_whole_and_patterns_anywhere() {
        for all in ["", "*", "  "] {
            assert!(matches(all, &["Bash", "bash"]), "{all:?}");
        }
        assert!(matches("bash", &["Bash", "bash"]) && matches("Bash", &["Bash", "bash"]));
        assert!(!matches("Bas", &["Bash", "bash"]) && !matches("BASH", &["Bash", "bash"]));
        assert!(matches("Edit|Write|Bash", &["Bash", "bash"]) && !matches("Edit|Write", &["Bash", "bash"]));
        assert!(matches("^Not.*", &["NotebookEdit"]) && matches("book.dit", &["NotebookEdit"]));
        assert!(!matches("^(Read|Grep)$", &["Bash", "bash"]));
        assert!(matches("Bash", &[]), "an event without a subject is for all");
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_text() {
        assert!(Matcher::read("^(?!mcp__)").unwrap_err().contains("look-around"));
        assert!(Matcher::read("(").unwrap_err().contains("`(`"));
        assert!(Matcher::read(&"x".repeat(5_000)).unwrap_err().contains("longer than"));
        assert!(Matcher::read("(a{500}){500}").is_err(), "it would take too much memory");
    }
}
