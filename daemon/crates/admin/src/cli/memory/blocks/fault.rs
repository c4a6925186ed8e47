//! Says for people why a block was not changed.

use cohab_memory::blocks::{change::BlockFault, operations::ChangeError, record::BlockLabel};
use cohab_store::StoreError;

use super::super::{super::Failure, Caller, store};

/// The failure of an operation on the block with this label.
pub(super) fn failure(error: ChangeError<StoreError>, label: &BlockLabel, caller: &Caller<'_>) -> Failure {
    match error {
        ChangeError::Store(error) => store::unusable(caller.paths)(error),
        ChangeError::Refused(fault) => refused(&fault, label),
        ChangeError::Contended => {
            Failure::Other(format!("other programs are changing {label}"), Some("try again".to_owned()))
        }
    }
}

/// The failure for a fault of the block with this label.
pub(super) fn refused(fault: &BlockFault, label: &BlockLabel) -> Failure {
    let (message, hint) = sentence(fault, label);
    Failure::Other(message, Some(hint))
}

/// The fault, and the remedy.
pub(super) fn sentence(fault: &BlockFault, label: &BlockLabel) -> (String, String) {
    let history = format!("`cohab memory blocks history {label}` lists its versions");
    match fault {
        BlockFault::Empty => {
            ("the text has no characters".to_owned(), format!("`cohab memory blocks clear {label}` empties the block"))
        }
        BlockFault::TooLong { chars, max_chars } => (
            format!("the text would have {chars} characters; the limit is {max_chars}"),
            format!("shorten it by {}", chars.saturating_sub(*max_chars)),
        ),
        BlockFault::Secret => (
            "the text would hold a secret".to_owned(),
            "write where the secret is kept, not the secret itself".to_owned(),
        ),
        BlockFault::NotFound => (
            format!("{label} does not contain that text"),
            format!("`cohab memory blocks show {label}` shows its text"),
        ),
        BlockFault::NotUnique => {
            (format!("{label} contains that text more than once"), "name more of the text around it".to_owned())
        }
        BlockFault::NotSound => (
            format!("another program changed {label}"),
            format!("`cohab memory blocks show {label}` shows it, `set` replaces its text"),
        ),
        BlockFault::Unknown(label) => (
            format!("there is no block {label}"),
            format!("`cohab memory blocks` lists them, `cohab memory blocks new {label}` makes it"),
        ),
        BlockFault::Exists(label) => (
            format!("there is a block {label} already"),
            format!("`cohab memory blocks set {label} TEXT` replaces its text"),
        ),
        BlockFault::Limit(most) => {
            (format!("the limit of a block is 1 to {most} characters"), "choose another limit".to_owned())
        }
        BlockFault::LimitsTogether(most) => (
            format!("the limits of the blocks would add up to more than {most} characters"),
            "choose a lower --limit, or delete a block: `cohab memory blocks rm LABEL`".to_owned(),
        ),
        BlockFault::TooMany(most) => (
            format!("{most} blocks are stored, which is the most"),
            "delete one: `cohab memory blocks rm LABEL`".to_owned(),
        ),
        BlockFault::TooFewVersions(count) => {
            let versions = if *count == 1 { "version" } else { "versions" };
            (format!("{label} has only {count} {versions}"), history)
        }
        BlockFault::NotThatOld => (format!("{label} has no version from before that time"), history),
    }
}
