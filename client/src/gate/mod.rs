//! Natural language or a command? Decided for one line at a time, before Enter takes effect. Pure: what the line meets in the shell and
//! on the disk is asked of a [`Names`].

pub mod command;

/// Who gets a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The shell: it is a command, or may be one.
    Shell,
    /// The assistant: it is natural language.
    Assistant,
}

/// A decision about a line, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Who gets it.
    pub decision: Decision,
    /// Why, a few words for people.
    pub reason: String,
}

/// What the words of a line are in the user's shell and folder.
pub trait Names {
    /// Whether the shell would run something by this name: an alias, a function, a builtin, a program on its `PATH`.
    fn resolves(&self, name: &str) -> bool;
    /// Whether a file, a target of the build, a branch by this name is there.
    fn exists(&self, argument: &str) -> bool;
}

/// Judges a line.
#[must_use]
pub fn judge(line: &str, names: &dyn Names) -> Judgement {
    let is_sentence =
        line.trim_end().ends_with('?') && !names.resolves(line.split_whitespace().next().unwrap_or_default());
    let decision = if is_sentence { Decision::Assistant } else { Decision::Shell };
    Judgement { decision, reason: String::new() }
}
