//! Tests for lines of many programs that only list and report, and for similar lines that do more.

use super::*;

/// Each kind of program with its queries, and with lines that do more than query.
const LISTING: &str = include_str!("listing.txt");

#[test]
fn what_only_tells_is_allowed_and_what_does_more_is_not() {
    let mut wrong = Vec::new();
    for line in lines(LISTING) {
        let (is_allowed, line) = line.strip_prefix("!! ").map_or((true, line.as_str()), |line| (false, line));
        let verdict = assess_line(line, context());
        if (verdict.level == Level::Allow) != is_allowed {
            wrong.push(format!("{line}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
