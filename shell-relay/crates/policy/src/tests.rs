use std::path::{Path, PathBuf};

use cohab_shell_state::shell::Shell;
use proptest::prelude::*;

use super::*;

mod bypasses;
mod catalogues;
mod dialects;
mod file_lookup_cache;
mod hostile;
mod idioms;
mod listing;
mod places;
mod planted_names;
mod rows;
mod verdict_tests;
mod xargs;

fn context() -> Context<'static> {
    Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"))
}

fn level(line: &str) -> Level {
    assess_line(line, context()).level
}

/// The same where programs are kept from writing.
fn locked() -> Context<'static> {
    Context { lock: Some(Lock::UNNAMED), ..context() }
}

/// Whether the user's own shell may run a line unasked. The end-to-end tests run the lines of a separate shell that can write nothing for
/// real.
fn is_allowed_in_this_shell(line: &str, context: Context<'_>) -> bool {
    let is_known = context.lock.is_some() && is_known_as_confined(line);
    !is_known
        && assess_line(line, context).level == Level::Allow
        && known_names::reading(context.shell, line).structure.is_none()
}

/// Whether the line is one that only the lock allows.
fn is_known_as_confined(line: &str) -> bool {
    CONFINED.lines().filter_map(|row| row.strip_prefix("bash\tconfined\t")).any(|known| known == line)
}

fn level_in(shell: Shell, line: &str) -> Level {
    assess_line(line, context().in_shell(shell)).level
}

/// Lines of a table; `\n`, `\t`, `\r` and `\u{hex}` behind `%%` in front of the line are escapes.
fn lines(table: &'static str) -> impl Iterator<Item = String> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with("## ")).map(|line| {
        match line.strip_prefix("%% ") {
            Some(escaped) => unescape(escaped),
            None => line.to_owned(),
        }
    })
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at..];
        let (c, len) = match escape.as_bytes().get(1) {
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            Some(b'r') => ('\r', 2),
            Some(b'u') => {
                let end = escape.find('}').expect("closed");
                (char::from_u32(u32::from_str_radix(&escape[3..end], 16).expect("hex")).expect("a character"), end + 1)
            }
            _ => ('\\', 1),
        };
        out.push(c);
        rest = &escape[len..];
    }
    out + rest
}

const TUNED_EVERYDAY: &str = include_str!("tests/tuned_everyday.txt");
const HELD_OUT_EVERYDAY: &str = include_str!("tests/held_out_everyday.txt");
const DANGER: &str = include_str!("tests/danger.txt");
const HELD_OUT_DANGER: &str = include_str!("tests/held_out_danger.txt");
/// Lines of the other tables that only the lock allows: shell, class, line. They run for real in the end-to-end tests.
const CONFINED: &str = include_str!("tests/confined.tsv");
const NEVER_ALLOWED: &str = include_str!("tests/never_allowed.txt");
const ASK: &str = include_str!("tests/ask.txt");
const ZSH_HARM: &str = include_str!("tests/zsh_harm.txt");
const FISH_HARM: &str = include_str!("tests/fish_harm.txt");

/// Lines that are not allowed, with the reasons; and the number of all lines.
fn refused(table: &'static str) -> (Vec<String>, usize) {
    let verdicts: Vec<_> = lines(table).map(|line| (assess_line(&line, locked()), line)).collect();
    let refused = verdicts.iter().filter(|(verdict, _)| verdict.level != Level::Allow);
    (
        refused.map(|(verdict, line)| format!("{line}  =>  {:?} {:?}", verdict.level, verdict.reasons)).collect(),
        verdicts.len(),
    )
}

/// Dangerous lines that are not flagged as such; and the number of all lines.
fn missed(table: &'static str) -> (Vec<String>, usize) {
    let missed = lines(table).filter(|line| level(line) < Level::Danger);
    (missed.collect(), lines(table).count())
}

/// Asserts that these lines are at most this percentage; returns the number of all lines.
#[track_caller]
fn are_at_most(percent: usize, (found, all): (Vec<String>, usize)) -> usize {
    assert!(found.len() * 100 <= all * percent, "{} of {all}:\n{}", found.len(), found.join("\n"));
    all
}

/// Asserts that none of these lines is allowed, except in a separate shell that can write nothing; returns their number.
#[track_caller]
fn none_is_allowed(lines: impl Iterator<Item = String>) -> usize {
    let all: Vec<_> = lines.collect();
    let is_allowed =
        |line: &&String| is_allowed_in_this_shell(line, context()) || is_allowed_in_this_shell(line, locked());
    let allowed: Vec<_> = all.iter().filter(is_allowed).cloned().collect();
    assert!(allowed.is_empty(), "{} of {}:\n{}", allowed.len(), all.len(), allowed.join("\n"));
    all.len()
}

#[test]
fn known_everyday_lines_are_allowed() {
    are_at_most(0, refused(TUNED_EVERYDAY));
}

#[test]
fn unseen_everyday_lines_are_allowed_but_for_one_in_twenty() {
    let all = are_at_most(5, refused(HELD_OUT_EVERYDAY));
    assert!(all >= 200, "{all}");
}

#[test]
fn no_harmful_line_is_allowed() {
    none_is_allowed(lines(DANGER).chain(lines(HELD_OUT_DANGER)).chain(lines(ASK)));
}

#[test]
fn no_line_that_tries_to_get_by_is_allowed() {
    none_is_allowed(lines(NEVER_ALLOWED));
}

#[test]
fn no_line_that_does_harm_in_zsh_or_fish_is_allowed_there() {
    for (shell, table) in [(Shell::Zsh, ZSH_HARM), (Shell::Fish, FISH_HARM)] {
        let allowed: Vec<_> = lines(table).filter(|line| level_in(shell, line) == Level::Allow).collect();
        assert!(allowed.is_empty(), "{shell:?}:\n{}", allowed.join("\n"));
        assert!(lines(table).count() >= 50, "{shell:?}");
    }
}

#[test]
fn everyday_lines_stay_allowed_in_zsh_and_fish_but_for_one_in_ten() {
    for shell in [Shell::Zsh, Shell::Fish] {
        let plain = lines(TUNED_EVERYDAY).chain(lines(HELD_OUT_EVERYDAY)).filter(|line| level(line) == Level::Allow);
        let plain: Vec<_> = plain.collect();
        let asked: Vec<_> = plain.iter().filter(|line| level_in(shell, line) != Level::Allow).cloned().collect();
        assert!(
            asked.len() * 10 <= plain.len(),
            "{shell:?}: {} of {}:\n{}",
            asked.len(),
            plain.len(),
            asked.join("\n")
        );
    }
}

#[test]
fn filters_that_have_something_to_read_are_allowed() {
    for line in [
        "ls | cat",
        "ls | grep x | wc -l",
        "sort < a.txt",
        "ls | sort | uniq -c",
        "grep -r x src",
        "rg x",
        "awk 'BEGIN{print 1}'",
        "jq -n 1",
        "shuf -i 1-9",
        "echo a | tr a b",
        "ls | sed -n 1p",
        "sed -ne 1p a.txt",
        "tail -n 5 a.txt",
        "wc --help",
        "ls | paste -s -d,",
    ] {
        assert_eq!(level(line), Level::Allow, "{line}: {:?}", assess_line(line, context()).reasons);
    }
}

#[test]
fn known_dangerous_lines_are_flagged() {
    let all = are_at_most(0, missed(DANGER));
    assert!(all >= 400, "{all}");
}

#[test]
fn unseen_dangerous_lines_are_flagged_but_for_one_in_twenty() {
    let all = are_at_most(5, missed(HELD_OUT_DANGER));
    assert!(all >= 200, "{all}");
}

#[test]
fn lines_that_only_change_something_are_asked() {
    let loud: Vec<_> = lines(ASK)
        .filter(|line| level(line) != Level::Ask)
        .map(|line| format!("{line} {:?}", assess_line(&line, context())))
        .collect();
    assert!(loud.is_empty(), "{}", loud.join("\n"));
}

#[test]
fn every_refusal_has_a_reason_and_the_worst_comes_first() {
    for line in lines(DANGER).chain(lines(ASK)) {
        let verdict = assess_line(&line, context());
        assert!(!verdict.reasons.is_empty(), "{line}");
    }
    let verdict = assess_line("frobnicate; rm -rf x", context());
    assert_eq!(
        verdict.reasons,
        [
            "`rm` deletes files recursively or by force",
            "not known to be read-only: `frobnicate`",
            "changes files: `rm`"
        ]
    );
}

#[test]
fn a_cd_counts_for_what_follows() {
    assert_eq!(level("cd ~/.aws && cat credentials"), Level::Danger);
    assert_eq!(level("cd /etc; cat shadow"), Level::Danger);
    assert_eq!(level("cd ~ && grep -r x ."), Level::Ask);
    assert_eq!(level("cd /tmp/other && git status"), Level::Ask);
    assert_eq!(level("cd src && git status"), Level::Allow);
    assert_eq!(level("cd - && cat x"), Level::Ask);
}

#[test]
fn reading_and_writing_files_is_judged_by_their_place() {
    assert_eq!(assess_read(Path::new("src/lib.rs"), context()).level, Level::Allow);
    assert_eq!(assess_read(Path::new("/home/ann/.ssh/id_rsa"), context()).level, Level::Danger);
    assert_eq!(assess_read(Path::new("/home/ann"), context()).level, Level::Ask);
    assert_eq!(assess_write(Path::new("src/lib.rs"), context()).level, Level::Ask);
    assert_eq!(assess_write(Path::new(".git/hooks/pre-commit"), context()).level, Level::Danger);
    assert_eq!(assess_write(Path::new("/home/ann/.bashrc"), context()).level, Level::Danger);
}

fn any_line(table: &'static str) -> impl Strategy<Value = String> {
    prop::sample::select(lines(table).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn harm_behind_an_allowed_line_is_never_allowed(good in any_line(TUNED_EVERYDAY), bad in any_line(DANGER), join in prop::sample::select(vec![";", "&&", "|", "\n", "||", "&", " ; "])) {
        prop_assert_ne!(level(&format!("{good}{join}{bad}")), Level::Allow);
        prop_assert_ne!(level(&format!("{bad}{join}{good}")), Level::Allow);
    }

    #[test]
    fn harm_inside_an_allowed_line_is_never_allowed(good in any_line(TUNED_EVERYDAY), bad in any_line(DANGER)) {
        for line in [format!("{good} $({bad})"), format!("{good} \"$({bad})\""), format!("{good} `{bad}`"), format!("{good} <({bad})"), format!("{good} > f"), format!("{good} >> ~/.bashrc"), format!("({bad})"), format!("if {good}; then {bad}; fi")] {
            prop_assert_ne!(level(&line), Level::Allow, "{}", line);
        }
    }

    #[test]
    fn any_text_has_a_verdict_and_hidden_characters_are_danger(text in "\\PC{0,60}", hidden in prop::sample::select(vec!['\0', '\r', '\u{1b}', '\u{202e}', '\u{200b}', '\u{e0041}', '\u{85}', '\u{a0}'])) {
        prop_assert!(level(&text) <= Level::Danger);
        prop_assert_eq!(level(&format!("ls {text}{hidden}")), Level::Danger);
    }

    #[test]
    fn text_that_looks_plain_never_breaks_a_parser(text in "(ls|cat|\\[|find|test|echo)[a-z0-9 '\"\\\\|&;<>*?~!.,/=#\\[\\]\n-]{0,50}") {
        prop_assert!(level(&text) <= Level::Danger);
    }

    #[test]
    fn no_shell_is_judged_more_mildly_than_bash(line in any_line(TUNED_EVERYDAY), cut in 0usize..60, extra in "[$`'\"\\\\(){}<>|&;#~^*?=%!@+0-9a-c \n]{0,8}", shell in prop::sample::select(vec![Shell::Zsh, Shell::Fish, Shell::Other])) {
        let cut = line.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(line.len());
        let mangled = format!("{}{extra}{}", &line[..cut], &line[cut..]);
        for text in [&mangled, &extra] {
            prop_assert!(level_in(shell, text) >= level(&known_names::reading(shell, text).text), "{shell:?} {text}");
        }
    }

    #[test]
    fn a_mangled_line_never_breaks_the_judge(line in any_line(DANGER), cut in 0usize..60, extra in "[$`'\"\\\\(){}<>|&;# \n]{0,6}") {
        let cut = line.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(line.len());
        let mangled = format!("{}{extra}{}", &line[..cut], &line[cut..]);
        prop_assert!(level(&mangled) <= Level::Danger);
    }
}

#[test]
fn the_text_of_a_here_document_is_no_reason_of_its_own() {
    for line in ["cat > x.sh <<'E'\n#!/bin/sh\n# it's $HOME `x` {\nE", "cat > x <<E\n# a\nE"] {
        let reasons = assess_line(line, context()).reasons;
        assert!(reasons.iter().any(|reason| reason == "uses a here-document"), "{reasons:?}");
        assert!(!reasons.iter().any(|reason| reason.contains("comment")), "{reasons:?}");
    }
    assert_eq!(assess_line("cat <<< '# a'", locked()).level, Level::Allow);
}
