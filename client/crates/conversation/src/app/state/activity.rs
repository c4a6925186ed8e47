//! The assistant's current activity, of which there is at most one.

use super::{resume::Resuming, slash::Slash, turn::Turn, undo::Undoing};

/// One thing that the assistant does.
#[derive(Debug, Default)]
pub(crate) enum Activity {
    /// Nothing: the prompt is the user's.
    #[default]
    Idle,
    /// A question is answered, by the model or from behind the prompt.
    Turn(Box<Turn>),
    /// A command to the assistant itself runs.
    Slash(Slash),
    /// What the last turn changed is taken back.
    Undo(Undoing),
    /// An older session is joined.
    Resume(Resuming),
}

impl Activity {
    pub(crate) fn turn(&self) -> Option<&Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            _ => None,
        }
    }

    pub(crate) fn turn_mut(&mut self) -> Option<&mut Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            _ => None,
        }
    }

    pub(crate) fn slash(&self) -> Option<&Slash> {
        match self {
            Self::Slash(slash) => Some(slash),
            _ => None,
        }
    }

    pub(crate) fn undoing_mut(&mut self) -> Option<&mut Undoing> {
        match self {
            Self::Undo(undoing) => Some(undoing),
            _ => None,
        }
    }

    pub(crate) fn resuming_mut(&mut self) -> Option<&mut Resuming> {
        match self {
            Self::Resume(resuming) => Some(resuming),
            _ => None,
        }
    }
}
