//! The environment of a client, as far as it is told.

use std::collections::BTreeMap;

/// Variables of the client's environment that settings come from, by name. Values may be keys.
pub type Variables = BTreeMap<String, String>;

/// The variable with the name of the terminal that cohab opened: that of the session which its shell began with.
pub const TERMINAL_VARIABLE: &str = "COHAB_TERMINAL";
