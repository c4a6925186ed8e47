//! Answers terminal queries in a shell's output. Some shells wait for these answers before they show a prompt. Pure.

/// Query and answer: identity (twice), cursor position, health.
const ANSWERS: [(&[u8], &[u8]); 4] =
    [(b"\x1b[c", b"\x1b[?62;22c"), (b"\x1b[0c", b"\x1b[?62;22c"), (b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[5n", b"\x1b[0n")];
const QUERY_MAX_BYTES: usize = 4;
/// Queries that are answered; more is noise.
const ANSWERS_MAX: usize = 64;

/// Finds queries in what a shell writes, wherever it is cut.
#[derive(Debug, Default)]
pub(super) struct Queries {
    /// The end of what came before.
    tail: Vec<u8>,
    answered: usize,
}

impl Queries {
    /// The answers to the queries that end in `bytes`, in order.
    pub fn replies_to(&mut self, bytes: &[u8]) -> Vec<u8> {
        let seen = self.tail.len();
        self.tail.extend_from_slice(bytes);
        let mut replies = Vec::new();
        for at in 0..self.tail.len() {
            let answer =
                ANSWERS.iter().find(|(query, _)| self.tail[at..].starts_with(query) && at + query.len() > seen);
            if let Some((_, answer)) = answer.filter(|_| self.answered < ANSWERS_MAX) {
                self.answered += 1;
                replies.extend_from_slice(answer);
            }
        }
        let gone = self.tail.len().saturating_sub(QUERY_MAX_BYTES - 1);
        self.tail.drain(..gone);
        replies
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_query_is_answered_once_wherever_it_is_cut() {
        let text = b"a\x1b[6nb\x1b[0c\x1b[c\x1b[1m";
        let whole = Queries::default().replies_to(text);
        assert_eq!(whole, b"\x1b[1;1R\x1b[?62;22c\x1b[?62;22c");
        for cut in 0..text.len() {
            let mut queries = Queries::default();
            let mut replies = queries.replies_to(&text[..cut]);
            replies.extend(queries.replies_to(&text[cut..]));
            assert_eq!(replies, whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_flood_of_queries_is_not_answered_for_ever() {
        let replies = Queries::default().replies_to(&b"\x1b[5n".repeat(1000));
        assert_eq!(replies.len(), ANSWERS_MAX * b"\x1b[0n".len());
    }

    proptest! {
        #[test]
        fn little_is_kept_of_any_output(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..9)) {
            let mut queries = Queries::default();
            for chunk in chunks {
                queries.replies_to(&chunk);
                prop_assert!(queries.tail.len() < QUERY_MAX_BYTES);
            }
        }
    }
}
