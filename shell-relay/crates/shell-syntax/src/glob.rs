//! Matches shell patterns of `*` and `?`.

/// Whether some text matches both patterns. As in the shell, a leading wildcard of `glob` matches no leading dot.
#[must_use]
pub fn overlaps(glob: &str, pattern: &str) -> bool {
    if pattern.starts_with('.') && glob.starts_with(['*', '?']) {
        return false;
    }
    let mut glob: Vec<char> = glob.chars().collect();
    glob.dedup_by(|next, before| *next == '*' && *before == '*');
    let pattern: Vec<char> = pattern.chars().collect();
    // reachable[j]: some text matches what was taken of `glob` and the first j characters of `pattern`.
    let mut reachable = vec![false; pattern.len() + 1];
    reachable[0] = true;
    pass_stars(&mut reachable, &pattern);
    for &wanted in &glob {
        let mut next = vec![false; pattern.len() + 1];
        for taken in 0..=pattern.len() {
            if !reachable[taken] {
                continue;
            }
            let meets_star = pattern.get(taken) == Some(&'*');
            if wanted == '*' {
                next[taken..].fill(true);
                break;
            }
            next[taken] |= meets_star;
            if pattern.get(taken).is_some_and(|&c| c == wanted || c == '?' || (wanted == '?' && c != '*')) {
                next[taken + 1] = true;
            }
        }
        pass_stars(&mut next, &pattern);
        reachable = next;
    }
    reachable[pattern.len()]
}

fn pass_stars(reachable: &mut [bool], pattern: &[char]) {
    for (at, &c) in pattern.iter().enumerate() {
        if c == '*' && reachable[at] {
            reachable[at + 1] = true;
        }
    }
}

/// Whether the literal `text` matches `pattern`.
#[inline]
#[must_use]
pub fn matches(text: &str, pattern: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return text == pattern;
    }
    let (head, tail) = pattern.split_once('*').unwrap_or((pattern, ""));
    if pattern.contains('?') || tail.contains('*') {
        return overlaps(text, pattern);
    }
    text.len() >= head.len() + tail.len() && text.starts_with(head) && text.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_overlap_when_one_text_matches_both() {
        for (glob, pattern) in [
            ("*", "id_rsa"),
            ("id_*", "id_rsa"),
            ("*.pem", "*.pem"),
            ("*.p?m", "*.pem"),
            (".e*", ".env"),
            ("*a*", "*.pem"),
            ("a", "a"),
        ] {
            assert!(overlaps(glob, pattern), "{glob} {pattern}");
        }
        for (glob, pattern) in
            [("*", ".ssh"), ("*.rs", "*.pem"), ("?d", "id_rsa"), ("x*", "id_rsa"), ("", "a"), ("a", "")]
        {
            assert!(!overlaps(glob, pattern), "{glob} {pattern}");
        }
    }

    #[test]
    fn literal_text_matches_its_pattern() {
        for (text, pattern, is_match) in [
            ("credentials.toml", "credentials*", true),
            ("server.pem", "*.pem", true),
            (".pem", "*.pem", true),
            ("a.b.c", "*.b.*", true),
            ("nvme0n1", "nvme?n*", true),
            ("x", "y", false),
            ("ab", "ab*b", false),
        ] {
            assert_eq!(matches(text, pattern), is_match, "{text} {pattern}");
        }
    }
}
