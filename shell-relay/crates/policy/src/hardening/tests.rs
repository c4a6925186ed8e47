use std::path::Path;

use cohab_shell_state::shell::Shell;
use proptest::prelude::*;

use super::*;

const TABLES: &[&str] = &[
    include_str!("../tests/tuned_everyday.txt"),
    include_str!("../tests/held_out_everyday.txt"),
    include_str!("../tests/daily_reading.txt"),
    include_str!("../tests/unseen_reading.txt"),
    include_str!("../tests/second_unseen_reading.txt"),
    include_str!("../tests/third_unseen_reading.txt"),
    include_str!("../tests/fourth_unseen_reading.txt"),
    include_str!("../tests/advisories_reading.txt"),
];

fn context() -> Context<'static> {
    Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"))
}

fn everyday() -> impl Iterator<Item = &'static str> {
    TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.is_empty() && !line.starts_with(['#', '%']))
}

const GIT: &str = "git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat \
                   -c diff.submodule=short -c log.showSignature=false";

#[test]
fn each_program_gets_its_words_where_it_takes_them() {
    for (line, typed) in [
        ("git status", format!("{GIT} status --ignore-submodules=all")),
        (
            "git -C src diff --stat",
            format!("{GIT} -C src diff --no-ext-diff --no-textconv --ignore-submodules=all --stat"),
        ),
        ("git log -p -- a", format!("{GIT} log --no-ext-diff --no-textconv -p -- a")),
        ("git show", format!("{GIT} show --no-ext-diff --no-textconv")),
        ("git blame f", format!("{GIT} blame --no-textconv f")),
        ("git stash list", format!("{GIT} stash list --no-ext-diff --no-textconv")),
        ("git stash show -p", format!("{GIT} stash show --no-ext-diff --no-textconv -p")),
        ("git stash show", format!("{GIT} stash show")),
        ("git reflog", format!("{GIT} reflog --no-ext-diff --no-textconv")),
        ("git reflog show HEAD", format!("{GIT} reflog show --no-ext-diff --no-textconv HEAD")),
        ("git branch -a", format!("{GIT} branch -a")),
        ("git config --list", "git --no-pager config --list".into()),
        ("git --version", "git --version".into()),
        ("rg -n 'a b' src", "rg --no-config -n 'a b' src".into()),
        ("rg --version", "rg --version".into()),
        ("lsof -i:80", "lsof -nP -i:80".into()),
        ("netstat -tl", "netstat -n -tl".into()),
        ("bootctl", "bootctl --no-pager".into()),
        ("npm root -g", "npm root --no-update-notifier -g".into()),
        ("npm -v", "npm -v".into()),
        ("systemctl status x", "systemctl --no-pager status x".into()),
        ("journalctl -u x -n 5", "journalctl --no-pager -u x -n 5".into()),
        ("ls -l | wc -l", "ls -l | wc -l".into()),
        ("sqlite3 x.db .tables", "sqlite3 -readonly x.db .tables".into()),
        ("du -sh *", "du -sh -- *".into()),
        ("grep -n x a *", "grep -n x a -- *".into()),
        ("wc -l -- *", "wc -l -- *".into()),
        ("du -sh src/*", "du -sh src/*".into()),
        ("ls *", "ls *".into()),
    ] {
        assert_eq!(typed_form(line).as_deref(), Some(&*typed), "{line}");
    }
}

#[test]
fn everything_but_the_words_stays_to_the_byte() {
    for (line, typed) in [
        (
            "cd src  &&\tgit   show  'a b'|head -5;git branch",
            format!("cd src  &&\t{GIT}   show --no-ext-diff --no-textconv  'a b'|head -5;{GIT} branch"),
        ),
        (
            "rg \"a'b|;\" 2>/dev/null || rg x<f\nrg y >/dev/null 2>&1",
            "rg --no-config \"a'b|;\" 2>/dev/null || rg --no-config x<f\nrg --no-config y >/dev/null 2>&1".into(),
        ),
        ("git 2>/dev/null status &>/dev/null", format!("{GIT} 2>/dev/null status --ignore-submodules=all &>/dev/null")),
        ("echo git status; find . \\( -name git \\)", "echo git status; find . \\( -name git \\)".into()),
        ("echo \"\\\"rg\" | rg 1", "echo \"\\\"rg\" | rg --no-config 1".into()),
    ] {
        assert_eq!(typed_form(line).as_deref(), Some(&*typed), "{line}");
    }
}

#[test]
fn what_is_no_plain_line_has_no_typed_form_and_is_typed_as_it_was_agreed_to() {
    for line in ["git status $(x)", "git status &", "X=1 git status", "git 'status", "rg x > f <<E\nE", ""] {
        assert_eq!(typed_form(line), None, "{line}");
        let unasked = unasked(line, context()).expect("nothing was judged");
        assert_eq!((unasked.text.as_str(), unasked.git_folders.len()), (line, 0));
    }
    for line in ["git commit -m x", "git push", "git status && make"] {
        let unasked = unasked(line, context()).expect("it was agreed to");
        assert_eq!((unasked.text.as_str(), unasked.git_folders.len()), (line, 0), "{line}");
    }
}

#[test]
fn each_folder_in_which_git_may_start_is_told_as_the_system_finds_it() {
    let folders = |line| unasked(line, context()).expect(line).git_folders;
    let app = Path::new("/home/ann/work/app");
    assert_eq!(folders("git status"), [app]);
    assert_eq!(folders("ls | wc -l; git log | head -3; git diff"), [app]);
    assert_eq!(folders("git -C src log"), [app.join("src")]);
    assert_eq!(folders("git -C src/../x log"), [app.join("src/../x")]);
    assert_eq!(folders("cd src && git status"), [app.to_owned(), app.join("src")]);
    assert_eq!(
        folders("cd src; git -C a log; git show"),
        ["a", "src/a", "", "src"].map(|rest| match rest {
            "" => app.to_owned(),
            rest => app.join(rest),
        })
    );
    assert_eq!(folders("git -C ~/work/app/src log"), [app.join("src")]);
    assert!(folders("rg git").is_empty());
    assert!(folders("git --version").is_empty());
}

/// The line without the inserted words.
fn without_words(typed: &str) -> String {
    let inserted = typed.replace(&GIT["git".len()..], "");
    [
        " --no-ext-diff --no-textconv --ignore-submodules=all",
        " --no-ext-diff --no-textconv",
        " --ignore-submodules=all",
        " --no-textconv",
        " --no-config",
        " -nP",
        " -n",
        " --no-update-notifier",
        " -readonly",
        " --paging=never",
        " -L",
        " | cat",
    ]
    .into_iter()
    .fold(inserted, |text, words| text.replace(words, ""))
    .replace("python3 -I ", "python3 ")
    .replace(" -- ", " ")
}

#[test]
fn everyday_lines_are_allowed_as_they_are_typed_in_each_shell() {
    let mut differing = 0;
    for line in everyday() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let context = context().in_shell(shell);
            if assess_line(line, context).level > Level::Allow {
                continue;
            }
            let typed = unasked(line, context).unwrap_or_else(|reason| panic!("{shell:?} {line}: {reason}")).text;
            let verdict = assess_line(&typed, context);
            assert_eq!(verdict.level, Level::Allow, "{typed}: {verdict:?}");
            differing += usize::from(typed != line);
        }
    }
    assert!(differing > 300, "{differing}");
}

#[test]
fn forced_settings_are_allowed_and_no_others() {
    let level = |line: &str| assess_line(line, context()).level;
    assert_eq!(level("git -c core.pager=cat status"), Level::Allow);
    for line in [
        "git -c core.pager=less status",
        "git -c core.fsmonitor=./evil status",
        "git -c core.hooksPath=. status",
        "git -ccore.pager=evil status",
        "git -c core.pager=cat -c core.pager=evil status",
        "git -c",
        "git diff --ext-diff",
        "git log --textconv",
    ] {
        assert_ne!(level(line), Level::Allow, "{line}");
    }
}

proptest! {
    #[test]
    fn a_typed_form_is_allowed_and_is_the_line_with_words_put_in(
        parts in prop::collection::vec((prop::sample::select(everyday().collect::<Vec<_>>()), prop::sample::select(vec![";", " ; ", "&&", " || ", "\n", " | "])), 1..4),
    ) {
        let line = parts.iter().map(|(line, join)| format!("{line}{join}")).collect::<String>();
        let line = line.trim_end_matches([' ', ';', '&', '|', '\n']);
        if assess_line(line, context()).level == Level::Allow {
            let typed = unasked(line, context()).expect("an allowed line can be typed").text;
            prop_assert_eq!(assess_line(&typed, context()).level, Level::Allow, "{}", &typed);
            if !["ctl", "systemd-", "git config", "xargs", "aws"].iter().any(|name| line.contains(name)) {
                let inside = typed.strip_prefix("( ").and_then(|rest| rest.strip_suffix(" )")).unwrap_or(&typed);
                let is_line = [&*typed, inside].iter().any(|typed| without_words(typed) == without_words(line));
                prop_assert!(is_line, "{} {}", typed, line);
            }
        }
    }

    #[test]
    fn a_mangled_line_has_its_words_in_place_or_none(line in prop::sample::select(everyday().collect::<Vec<_>>()), cut in 0usize..60, extra in "[$`'\"\\\\(){}<>|&;#~ \ngit-]{0,8}") {
        let cut = line.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(line.len());
        let mangled = format!("{}{extra}{}", &line[..cut], &line[cut..]);
        if let Some(typed) = typed_form(&mangled) {
            let (before_all, after) = (parse_plain(&mangled).expect("plain"), parse_plain(&typed).expect("plain"));
            let mut after = after.iter();
            for (at, before) in before_all.iter().enumerate() {
                let is_paged = pages_to_the_terminal(&before_all[at..]);
                let after_it = after.next().expect("no command is lost");
                let mut rest = after_it.words.iter();
                prop_assert!(before.words.iter().all(|word| rest.any(|other| other == word)), "{}", typed);
                prop_assert_eq!(&before.redirects, &after_it.redirects);
                if is_paged {
                    prop_assert_eq!(&after.next().expect("a printer").words, &[bare(PRINTER)]);
                }
            }
            prop_assert!(after.next().is_none());
        }
    }
}

#[test]
fn a_pager_is_typed_so_that_it_prints_and_ends() {
    for (line, typed) in [
        ("man ls", "man ls | cat"),
        ("man 7 signal && ls", "man 7 signal | cat && ls"),
        ("man ls | head", "man ls | head"),
        ("man -k word", "man -k word"),
        ("less a.log", "less -L a.log | cat"),
        ("sort a | less -S", "sort a | less -L -S | cat"),
        ("less a.log | grep x", "less -L a.log | grep x"),
        ("bat a.rs", "bat --paging=never a.rs"),
        ("bat -P a.rs", "bat -P a.rs"),
    ] {
        assert_eq!(typed_form(line).as_deref(), Some(typed));
    }
    for line in ["less a.log 2>/dev/null", "man ls > /dev/null"] {
        assert_eq!(typed_form(line), None, "the redirection would be the printer's: {line}");
    }
}
