//! Finds the name nearest to a mistyped word. Pure.

/// The name that differs from `word` by at most two letters, or by one in a word of up to four letters.
///
/// ```
/// assert_eq!(cohab_text::nearest::to("rsume", ["resume", "rm"]), Some("resume"));
/// assert_eq!(cohab_text::nearest::to("disk", ["list"]), None);
/// ```
pub fn to<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Short words are near to everything.
    let most = if word.len() <= 4 { 1 } else { 2 };
    let near = names.into_iter().map(|name| (distance(word.as_bytes(), name.as_bytes()), name));
    near.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Letters to put in, take out, change or swap with their neighbour. Both words are short; anything longer is far away.
fn distance(a: &[u8], b: &[u8]) -> usize {
    const LONGEST: usize = 16;
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let mut table = [[0; LONGEST + 1]; LONGEST + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let changed = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let best = changed.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if is_swap { best.min(table[i - 2][j - 2] + 1) } else { best }
                }
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (a, b, expected) in
            [("", "", 0), ("new", "new", 0), ("modle", "model", 1), ("help", "halt", 2), ("", "ab", 2)]
        {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
        assert_eq!(distance(&[b'a'; 100], b"new"), usize::MAX);
    }

    #[test]
    fn short_words_are_near_only_by_one_letter() {
        assert_eq!(to("sessionz", ["setup", "sessions"]), Some("sessions"));
        assert_eq!(to("rn", ["rm", "show"]), Some("rm"));
        assert_eq!(to("disk", ["list", "show"]), None);
        assert_eq!(to("weather", ["list", "show"]), None);
    }
}
