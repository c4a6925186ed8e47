//! The ends of a command that is too long to be shown. Pure.

/// A longer command is not shown in full, in bytes: the policy does not look through it either, and it is always danger.
pub(crate) const WHOLE_BYTES: usize = 128 * 1024;
/// Of such a command so much of its start and of its end is shown, in bytes.
pub(crate) const END_BYTES: usize = 4 * 1024;

/// Both ends of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends<'a> {
    /// Its start.
    pub head: &'a str,
    /// Bytes between them.
    pub left_out: usize,
    /// Its end.
    pub tail: &'a str,
}

/// The ends of a command of more than `whole_bytes`; `None` for a shorter one, which is shown as it is.
#[must_use]
pub(crate) fn ends(command: &str, whole_bytes: usize) -> Option<Ends<'_>> {
    if command.len() <= whole_bytes.max(2 * END_BYTES) {
        return None;
    }
    let is_boundary = |at: &usize| command.is_char_boundary(*at);
    let head = (0..=END_BYTES).rev().find(is_boundary)?;
    let tail = (command.len() - END_BYTES..=command.len()).find(is_boundary)?;
    Some(Ends { head: &command[..head], left_out: tail - head, tail: &command[tail..] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_command_loses_its_middle() {
        assert_eq!(ends(&"x".repeat(WHOLE_BYTES), WHOLE_BYTES), None);
        for text in ["x".repeat(WHOLE_BYTES + 1), "a\u{e9}\u{20ac}".repeat(WHOLE_BYTES / 3)] {
            let Ends { head, left_out, tail } = ends(&text, WHOLE_BYTES).expect("it is long");
            assert_eq!(head.len() + left_out + tail.len(), text.len());
            assert!(text.starts_with(head) && text.ends_with(tail));
            assert!(head.len() > END_BYTES - 4 && tail.len() > END_BYTES - 4);
        }
    }
}
