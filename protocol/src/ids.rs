//! Identifiers of exchanges. The side that opens an exchange chooses its id; every reply carries the id back.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A fresh id, ordered by time of creation (UUID version 7).
            #[must_use]
            pub fn fresh() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0.as_simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0.as_simple())
            }
        }
    };
}

uuid_id! {
    /// One turn: a query to its answer. Chosen by the client.
    TurnId
}
uuid_id! {
    /// One command in the live shell. Chosen by the daemon; a repeat of an id is never run again.
    CallId
}
uuid_id! {
    /// One question for consent. Chosen by the daemon; valid for one answer.
    ApprovalId
}

/// One `SessionRequest` on one connection. Chosen by the client, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RequestId(pub u64);

/// The name of a session: `shell:<uuid>` for an interactive shell, `cli:<uuid>` for a one-shot question, `program:<uuid>` for a conversation
/// with another program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionKey(pub String);

/// What the names of one-shot questions begin with.
const ONE_SHOT: &str = "cli:";

impl SessionKey {
    /// A name for an interactive shell.
    #[must_use]
    pub fn of_shell() -> Self {
        Self::fresh("shell:")
    }

    /// A name for a one-shot question.
    #[must_use]
    pub fn one_shot() -> Self {
        Self::fresh(ONE_SHOT)
    }

    /// A name for a conversation with another program.
    #[must_use]
    pub fn of_program() -> Self {
        Self::fresh("program:")
    }

    fn fresh(kind: &str) -> Self {
        Self(format!("{kind}{}", Uuid::now_v7().as_simple()))
    }

    /// The name that asks for an older conversation, by the start of its id.
    #[must_use]
    pub fn of_resumed(id: &str) -> Self {
        Self(format!("resume:{id}"))
    }

    /// Whether it is a one-shot question, which nobody comes back to.
    #[must_use]
    pub fn is_one_shot(&self) -> bool {
        self.0.starts_with(ONE_SHOT)
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
