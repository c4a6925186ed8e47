//! Names with `*`, which stands for any letters. Pure.

/// Whether `pattern` covers the whole `name`.
pub(crate) fn covers(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let Some(last) = parts.pop() else { return true };
    for part in parts {
        let Some((_, after)) = name.split_once(part) else { return false };
        name = after;
    }
    name.ends_with(last)
}

/// Whether one of `patterns` covers `name`.
pub(crate) fn any_covers(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| covers(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name) in
            [("get", "get"), ("*", ""), ("*", "x"), ("get_*", "get_"), ("*_all", "a_all"), ("a*b*c", "aXbYc")]
        {
            assert!(covers(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("get", "gets"), ("get_*", "xget_"), ("*_all", "a_all_"), ("a*b*c", "acb"), ("a*a", "a")]
        {
            assert!(!covers(pattern, name), "{pattern} {name}");
        }
    }
}
