//! The port through which words of a line are looked up.

/// Looks up words of a line in the user's shell and folder.
pub trait Names {
    /// Whether the shell would run something by this name: an alias, a function, a builtin, a program on its `PATH`.
    fn resolves(&self, name: &str) -> bool;
    /// Whether a file, a build target or a branch of this name exists.
    fn exists(&self, argument: &str) -> bool;
    /// Whether the user has given this name to something in their shell: an alias, a function, an abbreviation.
    fn is_own(&self, _name: &str) -> bool {
        false
    }
    /// The subcommands of `cohab` itself, if it is known here.
    fn subcommands_of_cohab(&self) -> &[&str] {
        &[]
    }
}
