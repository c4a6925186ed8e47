//! Property tests for arbitrary lines.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{
    Decision,
    explain::explain,
    judge,
    line::{Line, MAX_LINE_BYTES},
    test_names::{BARE, DEVELOPERS, rows},
};

const KNOWN: &[&str] =
    &["ls -la", "cat notes", "grep foo", "sort", "wc -l", "git log", "head", "find . -name x", "echo what is this"];

proptest! {
    #[test]
    fn any_line_is_judged_and_explained(line in any::<String>()) {
        let judgement = judge(&line, &DEVELOPERS);
        prop_assert!(!judgement.reason.is_empty());
        prop_assert!(explain(&line, &BARE).starts_with(judge(&line, &BARE).decision.word()));
    }

    #[test]
    fn any_line_of_signs_is_judged(line in "[a-z \"'\\\\`$(){}<>|;&!?*~#=/.,-]{0,80}") {
        prop_assert!(!judge(&line, &DEVELOPERS).reason.is_empty());
    }

    #[test]
    fn a_pipe_between_commands_keeps_a_line_with_the_shell(first in 0..KNOWN.len(), second in 0..KNOWN.len(), blank in " {0,2}") {
        let line = format!("{}{blank}|{blank}{}", KNOWN[first], KNOWN[second]);
        prop_assert_eq!(judge(&line, &BARE).decision, Decision::Shell);
    }

    #[test]
    fn what_is_quoted_is_one_word_without_signs(text in "[a-z |;&<>$(){}*]{0,40}") {
        let line = format!("grep \"{text}\" notes");
        let read = Line::read(&line);
        prop_assert_eq!(read.tokens.len(), 3);
        prop_assert!(!read.signs.pipe && !read.signs.separator && !read.signs.redirection && !read.signs.substitution);
    }

    #[test]
    fn blanks_at_the_end_change_nothing(line in "[a-z'?|. -]{0,60}", blanks in "[ \t]{0,5}") {
        prop_assert_eq!(judge(&line, &DEVELOPERS), judge(&format!("{line}{blanks}"), &DEVELOPERS));
    }
}

#[test]
fn blanks_at_the_end_of_real_lines_change_nothing() {
    for (_, line) in rows(include_str!("fixtures/held_out.tsv")).take(1_500) {
        assert_eq!(judge(line, &BARE), judge(&format!("{line}  \t"), &BARE), "{line}");
    }
}

#[test]
fn of_huge_lines_only_the_beginning_is_looked_at() {
    let bombs = ["'", "\"", "<", "a'", "<a", "(", "é", " x", "$(", "\\", "'\"", "what is this "];
    for bomb in bombs {
        let line = bomb.repeat(1_000_000 / bomb.len());
        let started = Instant::now();
        let judgement = judge(&line, &DEVELOPERS);
        // A quadratic reading of a megabyte takes minutes.
        assert!(started.elapsed() < Duration::from_secs(2), "{bomb:?}");
        let end = (0..=MAX_LINE_BYTES).rev().find(|at| line.is_char_boundary(*at)).expect("0 is one");
        let short = &line[..end];
        assert_eq!(judgement, judge(short, &DEVELOPERS), "{bomb:?}");
    }
}
