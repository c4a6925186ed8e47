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

/// The name of a session: `shell:<uuid>` for an interactive shell, `cli:<uuid>` for a one-shot question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionKey(pub String);

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
