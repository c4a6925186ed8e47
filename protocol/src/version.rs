//! Names this build and its version of the protocol.

use std::cmp::Ordering;

/// Raised whenever a message changes or is appended. It is part of the socket's name, so an upgraded client starts its own
/// daemon instead of misreading an old one.
pub const PROTOCOL_VERSION: u32 = 15;

/// The name of this build: its release, and in brackets the commit with its time, or a hash of the sources.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("COHAB_BUILD_NAME"), ")");

/// FNV-1a over the golden bytes of every message. Two builds with the same version and another encoding differ here, and
/// refuse each other in the handshake instead of decoding nonsense.
pub const SCHEMA_HASH: u64 = fnv1a(include_bytes!("../tests/golden.txt"));

/// The reason why a client and a daemon of these builds do not work together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The difference, and the older side if that is known.
    pub message: String,
    /// The next step for the user.
    pub hint: String,
}

impl Misfit {
    /// Compares a client and a daemon by the names of their builds.
    #[must_use]
    pub fn between(client: &str, daemon: &str) -> Self {
        let builds = format!("the client is cohab {client}, the daemon is cohab {daemon}");
        let (what, hint) = match age(client).zip(age(daemon)).map(|(client, daemon)| client.cmp(&daemon)) {
            Some(Ordering::Greater) => ("the daemon is older than this client", "run `cohab daemon restart`"),
            Some(Ordering::Less) => (
                "this shell was opened with an older cohab than the daemon's",
                "open a new terminal; this shell works on, without answers",
            ),
            _ => (
                "the client and the daemon are builds that do not fit together",
                "run `cohab daemon restart`; if that does not help, open a new terminal",
            ),
        };
        Self { message: format!("{what}: {builds}"), hint: hint.into() }
    }
}

/// The key that orders builds: their release, then the time of their commit. `None` if the name does not contain both.
fn age(build: &str) -> Option<([u32; 3], &str)> {
    let (release, name) = build.split_once(" (")?;
    let mut numbers = release.split('.').map(|number| number.parse().ok());
    let release = [numbers.next()??, numbers.next()??, numbers.next()??];
    let (_, time) = name.strip_suffix(')')?.split_once(" of ")?;
    Some((release, time))
}

/// 64-bit FNV-1a, usable at compile time.
pub(crate) const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        hash ^= bytes[index] as u64;
        hash = hash.wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_build_is_named_if_that_is_known() {
        let builds = [
            "0.1.0 (1a2b3c4d5 of 2026-01-31 12:00 UTC)",
            "0.1.0 (0f2b3c4d5+ of 2026-02-01 09:30 UTC)",
            "0.2.0 (2a2b3c4d5 of 2026-01-01 00:00 UTC)",
            "0.10.0 (2a2b3c4d5 of 2026-01-01 00:00 UTC)",
        ];
        for (older, newer) in builds.iter().zip(&builds[1..]) {
            let Misfit { message, hint } = Misfit::between(newer, older);
            assert!(message.starts_with("the daemon is older than this client: "), "{message}");
            assert!(message.contains(older) && message.contains(newer) && hint.contains("daemon restart"), "{message}");
            let Misfit { message, hint } = Misfit::between(older, newer);
            assert!(message.starts_with("this shell was opened with an older cohab"), "{message}");
            assert!(hint.starts_with("open a new terminal"), "{hint}");
        }
    }

    #[test]
    fn of_builds_without_a_time_none_is_called_older() {
        let timed = "0.1.0 (1a2b3c4d5 of 2026-01-31 12:00 UTC)";
        for other in ["0.1.0", "0.1.0 (sources 1a2b3c4d)", "0.1 (x of y)", "", timed] {
            let Misfit { message, .. } = Misfit::between(timed, other);
            assert!(message.starts_with("the client and the daemon are builds that do not fit"), "{message}");
        }
    }

    #[test]
    fn this_build_has_a_name() {
        let name = BUILD.strip_prefix(env!("CARGO_PKG_VERSION")).expect("the release comes first");
        assert!(name.len() > " (sources )".len() && name.starts_with(" (") && name.ends_with(')'), "{BUILD}");
    }
}
