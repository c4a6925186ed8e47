//! Chooses the call ids to send. A conversation may hold ids of other services that not every service accepts: too long, with dots and
//! colons, or not exactly nine letters and digits.

use std::collections::{BTreeMap, BTreeSet};

use crate::history;

/// Longest id that all services accept, except those with short ids.
const MAX_ID_BYTES: usize = 40;
/// Length of a short id.
const SHORT_ID_BYTES: usize = 9;
const BASE_62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The ids of a conversation, from its start. A longer conversation gives its first messages the same ids.
#[derive(Debug, Default)]
pub(crate) struct SentIds {
    is_short: bool,
    sent: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl SentIds {
    /// Starts without ids; with `is_short`, all ids will have nine letters and digits.
    pub(crate) fn new(is_short: bool) -> Self {
        Self { is_short, ..Self::default() }
    }

    /// Chooses the id for the next call. The service's own id stays the same.
    pub(crate) fn claim(&mut self, id: &str, is_own: bool) -> String {
        let mut wish = self.wish(id, is_own);
        for salt in 0_u64.. {
            if let Some(free) = wish.take().filter(|wish| !self.taken.contains(wish)) {
                self.taken.insert(free.clone());
                self.sent.insert(id.to_owned(), free.clone());
                return free;
            }
            wish = Some(self.made(id, salt));
        }
        id.to_owned()
    }

    /// The id that was sent for the call.
    pub(crate) fn of<'a>(&'a self, id: &'a str) -> &'a str {
        self.sent.get(id).map_or(id, String::as_str)
    }

    /// The acceptable id nearest to `id`, if there is one.
    fn wish(&self, id: &str, is_own: bool) -> Option<String> {
        if self.is_short {
            let is_fit = id.len() == SHORT_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return is_fit.then(|| id.to_owned());
        }
        let wish = if is_own { id.to_owned() } else { history::sendable_id(id) };
        (is_own || wish.len() <= MAX_ID_BYTES).then_some(wish)
    }

    /// A replacement, always the same for the same `id` and `salt`.
    fn made(&self, id: &str, salt: u64) -> String {
        // FNV-1a: the id is not a secret, and the hash is the same on every machine.
        let seed = 0xcbf2_9ce4_8422_2325_u64 ^ salt;
        let mut hash = id.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut made = String::from(if self.is_short { "" } else { "call_" });
        for _ in 0..SHORT_ID_BYTES {
            made.push(char::from(BASE_62[(hash % 62) as usize]));
            hash /= 62;
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_service_takes_stays_and_the_rest_is_made_to_fit() {
        let mut long = SentIds::new(false);
        assert_eq!(long.claim("call_1", false), "call_1");
        assert_eq!(long.claim("functions.bash:0", true), "functions.bash:0");
        assert_eq!(long.claim("functions.bash:1", false), "functions_bash_1");
        let second = long.claim("functions:bash.1", false);
        assert!(second.starts_with("call_") && second.len() == 14, "{second}");
        let cut = long.claim(&"x".repeat(41), false);
        assert!(cut.starts_with("call_"), "{cut}");
        assert_eq!((long.of("functions.bash:1"), long.of("unknown")), ("functions_bash_1", "unknown"));
        let mut short = SentIds::new(true);
        assert_eq!(short.claim("AbC123xyz", true), "AbC123xyz");
        assert_ne!(short.claim("call_1", true), "call_1");
    }

    #[test]
    fn an_id_that_another_was_made_into_is_not_given_twice() {
        let made = SentIds::new(true).claim("call_1", false);
        let mut ids = SentIds::new(true);
        ids.claim("call_1", false);
        let native = ids.claim(&made, true);
        assert_ne!(native, made);
        assert_eq!(ids.of(&made), native);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn any_ids_are_sent_as_valid_and_different_ones_the_same_each_time(
            given in proptest::collection::btree_set("[a-z:._]{0,4}|[a-zA-Z0-9]{9}|.{30,60}", 1..30),
            is_short: bool,
        ) {
            let claim = |count: usize| {
                let mut ids = SentIds::new(is_short);
                given.iter().take(count).map(|id| ids.claim(id, false)).collect::<Vec<_>>()
            };
            let all = claim(given.len());
            prop_assert_eq!(&claim(given.len() / 2)[..], &all[..given.len() / 2]);
            let is_valid = |id: &String| match is_short {
                true => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                false => (1..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
            };
            prop_assert!(all.iter().all(is_valid), "{:?}", all);
            prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        }
    }
}
