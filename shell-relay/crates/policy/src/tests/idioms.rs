//! Tests for syntax of zsh or fish alone: it is allowed there as far as it only reads.

use cohab_shell_state::state::{Item, Snapshot};

use super::*;
use crate::{Files, unasked};

const READING: &str = include_str!("idioms_reading.tsv");
const TRAPS: &str = include_str!("idioms_traps.tsv");
const ATTACKS: &str = include_str!("idioms_attacks.tsv");

/// Rows of `shell, line`.
fn rows(table: &'static str) -> impl Iterator<Item = (Shell, &'static str)> {
    table.lines().filter(|row| !row.starts_with("## ")).map(|row| {
        let (shell, line) = row.split_once('\t').expect("a shell");
        (Shell::of(Path::new(shell)), line)
    })
}

fn none_of(table: &'static str) {
    let allowed: Vec<_> = rows(table).filter(|(shell, line)| level_in(*shell, line) == Level::Allow).collect();
    assert!(allowed.is_empty(), "{} of {}: {allowed:#?}", allowed.len(), rows(table).count());
}

#[test]
fn what_only_reads_is_allowed_in_the_shell_whose_words_it_is_in() {
    for (shell, line) in rows(READING) {
        let verdict = assess_line(line, context().in_shell(shell));
        assert_eq!(verdict.level, Level::Allow, "{shell:?} {line}: {:?}", verdict.reasons);
    }
}

#[test]
fn what_does_more_or_is_in_the_words_of_another_shell_is_not() {
    none_of(TRAPS);
}

#[test]
fn none_of_five_hundred_attacks_on_these_words_is_allowed() {
    none_of(ATTACKS);
    assert!(rows(ATTACKS).count() >= 500);
}

#[test]
fn a_line_in_the_words_of_its_shell_is_typed_with_what_keeps_it_read_only() {
    for (shell, line, typed) in [
        (Shell::Zsh, "wc -l *(.) a", "wc -l -- *(.) a"),
        (Shell::Zsh, "wc -l *.{txt,md} | cat", "wc -l -- *.{txt,md} | cat"),
        (Shell::Zsh, "print -l *.(c|h)(N)", "print -l -- *.(c|h)(N)"),
        (Shell::Zsh, "< a lsof -i:80; rg x", "< a lsof -nP -i:80; rg --no-config x"),
        (Shell::Fish, "test -f a; and rg x {a,b}", "test -f a; and rg --no-config x {a,b}"),
        (Shell::Fish, "not rg x; or wc **.c", "not rg --no-config x; or wc -- **.c"),
    ] {
        let unasked = unasked(line, context().in_shell(shell)).expect(line);
        assert_eq!(unasked.text, typed);
    }
    let unasked = unasked("cd src; and git status", context().in_shell(Shell::Fish)).expect("git");
    assert!(unasked.text.contains("and git --no-pager") && unasked.git_folders.len() == 2, "{unasked:?}");
}

#[test]
fn its_names_are_looked_at_like_those_of_any_line() {
    let function = |name: &str| Snapshot::from([(Item::Function(name.into()), vec![b"x".to_vec()])]);
    for (shell, line, name) in [
        (Shell::Zsh, "ls *(.)", "ls"),
        (Shell::Zsh, "print a", "print"),
        (Shell::Fish, "true; and string upper a", "string"),
        (Shell::Fish, "not cat {a,b}", "cat"),
    ] {
        let told = why_not_themselves(line, &function(name), context().in_shell(shell));
        assert_eq!(told, [Caveat::Function(name.into())], "{line}");
    }
}

#[derive(Debug)]
struct Tree(&'static str, &'static str);

impl Files for Tree {
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
        Some(vec![path.to_owned()])
    }
    fn landings(&self, path: &Path, _follows_last: bool) -> Option<Vec<PathBuf>> {
        Some(vec![path.to_owned()])
    }
    fn find_below(&self, root: &Path, _: bool, is_wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        is_wanted(self.0).then(|| root.join(self.0))
    }
    fn link_below(&self, root: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        is_wanted(Path::new(self.1)).then(|| root.join("link"))
    }
}

#[test]
fn a_pattern_for_all_folders_below_is_judged_by_the_secrets_and_links_there() {
    let level =
        |shell, line, file, link| assess_line(line, context().in_shell(shell).with_files(&Tree(file, link))).level;
    let here = "/home/ann/work/app/x";
    assert_eq!(level(Shell::Zsh, "wc -l src/**/*.c", "server.pem", here), Level::Allow);
    assert_eq!(level(Shell::Zsh, "cat src/**/*", "server.pem", here), Level::Ask);
    assert_eq!(level(Shell::Fish, "cat src/**", "server.pem", here), Level::Ask);
    assert_eq!(level(Shell::Fish, "cat src/**.txt", "id.txt", "/srv/data"), Level::Ask);
    assert_eq!(level(Shell::Zsh, "cat src/**/*.txt", "id.txt", "/home/ann/.ssh/id_rsa"), Level::Ask);
    assert_eq!(level(Shell::Zsh, "cat src/**/*.txt", "id.txt", "/srv/data"), Level::Allow);
    assert_eq!(level(Shell::Zsh, "cat src/**/*/*.txt", "id.txt", "/srv/data"), Level::Ask);
    assert_eq!(level(Shell::Fish, "ls src/**.txt", "id.txt", "/srv/data"), Level::Allow);
}

#[test]
fn a_link_that_is_braced_does_not_hide_where_a_text_comes_from() {
    let outside = |line| outside_source(line, context().in_shell(Shell::Fish), Path::new("/home/ann/work/app"));
    assert_eq!(outside("cat {..,src}/../Downloads/notes"), Some("../../Downloads/notes".to_owned()));
    assert_eq!(outside("cat {/tmp,src}/notes"), Some("/tmp/notes".to_owned()));
    let asked = |line| why_asked_under_taint(line, context().in_shell(Shell::Fish), None);
    assert!(asked("true; and cd ..").is_some() && asked("string escape a").is_some() && asked("count a").is_none());
}

fn any_row(table: &'static str) -> impl Strategy<Value = (Shell, &'static str)> {
    prop::sample::select(rows(table).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn harm_beside_a_line_in_the_words_of_its_shell_is_never_allowed(row in any_row(READING), bad in any_line(DANGER), join in prop::sample::select(vec!["; ", "; and ", "; or ", "; not ", " | ", "\n", " && ", " || "])) {
        let (shell, good) = row;
        prop_assert_ne!(level_in(shell, &format!("{good}{join}{bad}")), Level::Allow);
        prop_assert_ne!(level_in(shell, &format!("{bad}{join}{good}")), Level::Allow);
    }

    #[test]
    fn what_is_put_into_such_a_line_never_breaks_the_judge(row in any_row(READING), cut in 0usize..40, extra in "[$`'\"\\\\(){}<>|&;#~^*?=%!@+:,.eNDP0-9a-c \n]{0,8}") {
        let (shell, line) = row;
        let cut = line.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(line.len());
        let text = format!("{}{extra}{}", &line[..cut], &line[cut..]);
        let reading = known_names::reading(shell, &text);
        prop_assert!(level_in(shell, &text) <= Level::Danger);
        prop_assert!((0..=reading.text.len()).all(|at| reading.end_in_line(at).is_none_or(|at| at <= text.len())));
        if level_in(shell, &text) == Level::Allow && let Ok(typed) = unasked(&text, context().in_shell(shell)) {
            prop_assert_eq!(level_in(shell, &typed.text), Level::Allow, "{}", typed.text);
        }
    }
}
