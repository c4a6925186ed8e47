use proptest::prelude::*;

use super::{out::MAX_TEXT_BYTES, *};
use crate::vocabulary::sample::SAMPLE;

fn read(shell: Shell, line: &str) -> Result<Structure, Option<&'static str>> {
    super::read(shell, line, &SAMPLE)
}

fn plain(shell: Shell, line: &str) -> Result<String, Option<&'static str>> {
    read(shell, line).map(|structure| structure.text)
}

#[test]
fn a_line_comes_to_the_commands_that_it_runs() {
    for (line, text) in [
        ("for f in conf/*.conf; do head -n 5 \"$f\"; done", "head -n 5 conf/*.conf; echo conf/*.conf"),
        ("for f in a b; do cat $f.txt; wc -l < \"$f\"; done", "cat a.txt; wc -l <a; cat b.txt; wc -l <b; echo a b"),
        ("if grep -q x f; then echo y; else echo n; fi", "grep -q x f; echo y; echo n"),
        ("ls -l $(which python3)", "ls -l 1; which python3"),
        ("diff <(sort a) <(sort b)", "diff /dev/null /dev/null; sort a; sort b"),
        ("echo \"n: $(wc -l < a)\"", "echo \"n: \"1; wc -l <a"),
        ("while read -r l; do echo \"> $l\"; done < a.txt", "echo \"> \"1; true <a.txt"),
        ("find . | while read -r f; do stat \"$f\"; done | sort", "find . | stat x | sort"),
        ("n=$(ls | wc -l); echo \"$n files\"", "echo 1\" files\"; ls | wc -l"),
        ("[[ -f a && $HOME == b* ]] && cat a", "cat a; true"),
        ("(cd src && grep -n x *.c)", "cd src; grep -n x *.c"),
        ("{ ls; df; } | head", "ls; df | head"),
        ("grep x <<< \"$HOME/a\"", "echo ~/\"a\" | grep x"),
        ("a=(x *.c); wc -l \"${a[@]}\" ${#a[@]}", "wc -l 1 1; true <x; true <*.c"),
        ("f() { wc -l \"$1\"; }; f a.txt; f \"$HOME/b\"", "wc -l 1; true <a.txt; true; true <~/\"b\"; true"),
        ("n=0; (( n += $(wc -l < b) )); echo $n $((16#ff))", "echo 1 1; true <0; wc -l <b; true"),
        ("for f in $(ls); do wc -l < \"$f\"; done", "wc -l <./x; ls; echo x; cat x"),
        ("mapfile -t l < a.txt; head -n 3 ${l[0]}", "head -n 3 x; true <a.txt"),
        ("ls a.{c,h} {b,}x{1..2} -{l,a}", "ls a.c a.h bx1 bx2 x1 x2 -l -a"),
        ("for f in {a,b}.txt; do cat $f; done", "cat a.txt; cat b.txt; echo a.txt b.txt"),
        ("cat ~/{a,b}/c0{08..10}", "cat ~/a/c008 ~/a/c009 ~/a/c010 ~/b/c008 ~/b/c009 ~/b/c010"),
        ("echo \"${PATH//:/$'\\n'}\"", "echo 1"),
        ("printf -v n '%03d' 7; head -n 1 a$n", "head -n 1 ax; printf '%03d' 7"),
        ("set -euo pipefail; sort a | uniq", "sort a | uniq; true"),
        ("shopt -s nullglob; wc -l *.c", "wc -l *.c; true"),
        ("[[ a =~ (b) ]] && echo \"${BASH_REMATCH[1]}\"", "echo 1; true"),
        ("path=/tmp/a; version=2; echo \"${path##*/} $version\"", "echo 1\" \"2; true </tmp/a; true <2"),
    ] {
        let found = plain(Shell::Bash, line);
        assert_eq!(found.as_deref(), Ok(text), "{line}");
    }
}

#[test]
fn what_is_not_known_for_sure_is_refused() {
    for line in [
        "cat $x",
        "cat ${!x}",
        "cat ${x:=a}",
        "cat ${x@P}",
        "for PATH in a; do ls; done",
        "for IFS in a; do ls; done",
        "read PATH < a",
        "while true; do ls; done",
        "until false; do date; sleep 1; done",
        "for ((;;)); do ls; done",
        "for c in ls rm; do $c x; done",
        "$(which ls)",
        "ls &",
        "a | while read -r x; do cat; done & ls",
        "cat <<E\nx\nE",
        "ls >(cat)",
        "for d in a b; do cd $d; ls; done",
        "cd $(pwd); ls",
        "x=1; cd a; ls $x",
        "cd . <<< $(ls); ls $(pwd)",
        "cd a || ls $(pwd)",
        "cd =ls && ls $(pwd)",
        "cd +1 && ls $(pwd)",
        "x=1",
        "f() { f | f; }; f",
        "for i in {1..9999}; do diff <(sleep 99) a; done",
        "f() { f & }; f",
        "f() { ls; g; }; g() { f; }; f",
        "ls; ls() { df; }; ls",
        "g() { ls; }; f() { g; }; f",
        "x=$(f() { ls; }); f a",
        "f() { ls; } | cat; f a",
        "true && f() { ls; }; f a",
        "for i in 1 2; do f() { ls; }; f; done",
        "ls; x=$(pwd)",
        "(( PATH = 1 )); ls",
        "echo ${!HOME}",
        "echo $1",
        "echo $?",
        "cat > $(echo f)",
        "for f in a; do ls > $f.$PATH; done",
        "http_proxy=x; ls",
        "__x=1; ls",
        "npm_config_prefix=x; ls",
        "LD_PRELOAD=x ls",
        "(find . ; ls) | xargs cat",
        "select f in a; do ls; done",
        "{ ls; ",
        "if ls; then date",
        "case x in a) ls;& b) id;; esac",
        "shopt -s dotglob; cat *",
        "shopt -s nullglob dotglob; cat *",
        "shopt -s globstar; cat **/a",
        "shopt -s nullglob",
        "ls | set -e",
        "set -e > a; ls",
        "GLOBIGNORE=a; cat *",
        "printf -v PATH a; ls $(pwd)",
        "printf -v 'a[$(id)]' a; ls $(pwd)",
        "printf -v n %s a > b; ls $(pwd)",
        "IFS=a",
        "for x in {1..99999}{1..99999}; do ls; done",
    ] {
        assert!(read(Shell::Bash, line).is_err(), "{line}: {:?}", plain(Shell::Bash, line));
    }
}

#[test]
fn a_variable_of_one_shell_is_an_own_name_in_another() {
    for line in ["for path in a; do ls; done", "status=$(ls); echo $status", "x=(); options=1; ls $(pwd)"] {
        assert!(read(Shell::Bash, line).is_ok(), "{line}");
        assert_eq!(read(Shell::Zsh, line), Err(Some("sets a variable that may matter")), "{line}");
    }
}

#[test]
fn a_program_may_get_a_text_that_a_shell_would_run() {
    for line in [
        "awk '{a[$(NF-1)]++}' a.txt | sort | tee /dev/null $(pwd)",
        "for f in a b; do awk '{ print a[$(NF-1)] }' $f; done",
    ] {
        assert!(read(Shell::Bash, line).is_ok(), "{line}");
    }
    for line in [
        "x='a[$(id)]'; ls $x",
        "f() { ls $1; }; f 'a[$(id)]'",
        "printf %d 'a[$(id)]'; ls $(pwd)",
        "command printf %d 'a[$(id)]'; ls $(pwd)",
        "for x in 'a[$(id)]'; do ls $x; done",
        "read -r x <<< 'a[$(id)]'",
        "[[ 'a[$(id)]' -eq 1 ]]",
        "x=$(awk 'BEGIN { print \"a[$(id)]\" }'); (( x ))",
        "awk 'BEGIN { print \"a[$(id)]\" }' | while read -r x; do ls; done",
        "x=$(sed 's/a/a[$(id)]/' b); echo ${b:$x}",
        "x=`sed 's/a/a[$(id)]/' b`; [ $x -eq 1 ]",
        "echo 'a[$(id)]' | while read -r x; do ls; done",
        "cat \"\\$(id)\" $(( 1 ))",
    ] {
        assert!(read(Shell::Bash, line).is_err(), "{line}");
    }
}

#[test]
fn words_in_braces_are_left_alone_where_a_shell_reads_them_otherwise() {
    for (shell, line) in [
        (Shell::Bash, "{ls,-l} $(pwd)"),
        (Shell::Bash, "ls {a..$x}"),
        (Shell::Bash, "ls > {a,b}; pwd"),
        (Shell::Bash, "ls {1..9..2} $(pwd)"),
        (Shell::Zsh, "ls {=ls,a} $(pwd)"),
        (Shell::Fish, "ls {1..3} $(pwd)"),
    ] {
        let is_left = read(shell, line).is_ok_and(|structure| structure.text.contains('{'));
        assert!(is_left || read(shell, line).is_err(), "{line}");
    }
}

#[test]
fn a_path_in_a_variable_goes_on_below_it() {
    for (line, text) in [
        ("ls \"$HOME\" \"$HOME/a b\" \"${HOME}/c\"", "ls ~/. ~/\"a b\" ~/\"c\""),
        ("ls \"$PWD\"/a", "ls ./a"),
        ("ls \"$HOME\"2/a \"$PWD\"x $HOME-x $PWD/a", "ls x2/a xx x-x x/a"),
    ] {
        assert_eq!(plain(Shell::Bash, line).as_deref(), Ok(text), "{line}");
    }
}

#[test]
fn a_variable_that_may_hold_something_else_is_anything() {
    let kinds = |line: &str| -> Vec<ComputedKind> {
        let structure = read(Shell::Bash, line).unwrap_or_else(|reason| panic!("{line}: {reason:?}"));
        structure.computed.into_iter().map(|computed| computed.kind).collect()
    };
    for line in [
        "x=a; x=.env; cat \"$x\"",
        "ls && x=a; cat \"$x\"",
        "if ls; then x=a; fi; cat \"$x\"",
        "(x=a); cat \"$x\"",
        "x=a | ls; cat \"$x\"",
        "x=a; for f in 1 2; do cat \"$x\"; x=.env; done",
        "x=a; while read -r l; do cat \"$x\"; x=$l; done < f",
        "for x in a; do ls; done; cat \"$x\"",
        "case a in a) x=b;; esac; cat \"$x\"",
        "cat \"$(x=a; pwd)$x\"",
        "x=a; cat \"${x%b}\"",
        "read -r x < f; cat \"$x\"",
        "IFS=,; x=a; cat $x",
        "x=a; for f in 1 2; do cat $x; IFS=,; done",
        "printf -v x a; cat \"$x\"",
    ] {
        match read(Shell::Bash, line) {
            Ok(_) => assert_eq!(kinds(line).last(), Some(&ComputedKind::Any), "{line}"),
            Err(reason) => assert_eq!(reason, Some("expands a variable"), "{line}"),
        }
    }
    let split = read(Shell::Zsh, "x=a; cat \"${=x}\"").map(|structure| structure.computed[0].kind);
    assert_eq!(split, Ok(ComputedKind::Any), "zsh splits it");
    assert_eq!(kinds("x=a; cat \"$x\""), []);
    assert_eq!(kinds("n=$(wc -l < a); head -n \"$n\" b"), [ComputedKind::Number]);
    assert_eq!(kinds("n=0; for f in a b; do n=$((n + 1)); done; echo $n"), [ComputedKind::Number]);
    assert_eq!(kinds("for f in *.txt; do cat $f; done"), [ComputedKind::Known]);
}

#[test]
fn a_line_of_fish_is_told_in_the_words_of_bash() {
    for (fish, bash) in [
        ("for f in *.c; head -n 5 $f; end", "for f in *.c; do head -n 5 ${f}; done"),
        (
            "if test -f a; cat a; else if test -f b; cat b; else; echo no; end",
            "if test -f a; then cat a; elif test -f b; then cat b; else echo no; fi",
        ),
        ("while read -l x; echo $x; end < f", "while read x; do echo ${x}; done < f"),
        ("switch (uname); case Linux '*BSD'; ls; case x; df; end", "case $(uname) in Linux|'*BSD') ls ;; x) df; esac"),
        ("begin; ls; df; end | head", "{ ls; df; } |head"),
        ("set -l n (count *); echo \"$n $(date)\"", "n=$(count *); echo \"${n} $(date)\""),
        ("if not test -f a; and test -f b; ls; end", "if ! test -f a && test -f b; then ls; fi"),
        ("echo $x (ls)[-1] 'a\\d'", "echo ${x} $(ls) 'a\\d'"),
        ("set -l a b $c; echo $a[1] $a[$c]", "a=(b ${c}); echo ${a[1]} ${a[1]}"),
        ("function f; wc -l $argv; end; f a", "f() { wc -l $@; }; f a"),
    ] {
        assert_eq!(in_bash(fish).map(|(text, _)| text).as_deref(), Some(bash), "{fish}");
    }
    for line in [
        "for f in a; ls",
        "ls; end",
        "echo 'a\\'b",
        "echo $$x",
        "echo `ls`",
        "ls &",
        "ls # x",
        "eval ls",
        "set -gx PATH a; ls",
        "set -e x",
        "if ls; else ls; fi",
        "find= ;cat x",
        "LC_ALL=C ls",
        "echo (ls",
        "ls >? x",
        "ls 2>| cat",
    ] {
        assert_eq!(in_bash(line), None, "{line}");
    }
}

#[test]
fn what_only_zsh_has_in_a_word_is_left_out_for_the_parsers() {
    for (line, text) in [
        ("for f in *(.N); do wc -l $f; done", "wc -l *; echo *"),
        ("{ ls; df }", "ls; df"),
        ("for l in ${(f)\"$(ls)\"}; do echo \"$l\"; done", "echo 1; ls; echo x"),
    ] {
        let reading = crate::dialect::reading(Shell::Zsh, line, &SAMPLE);
        assert_eq!(reading.text, text, "{line}");
    }
    for line in
        ["ls $(id) *(e:ls:)", "for f in *(+f); do ls; done", "echo ${(e)x}", "echo ${(P)\"$(ls)\"}", "rg $(pwd) *(N)"]
    {
        assert!(read(Shell::Zsh, line).is_err(), "{line}");
    }
}

#[test]
fn nesting_and_repetition_have_bounds() {
    let loops = "for a in b c d e f g h i; do ".repeat(5) + "((1))" + &"; done".repeat(5);
    for line in [
        loops.as_str(),
        &format!("echo $(({}1{}))", "(".repeat(1500), ")".repeat(1500)),
        &format!("echo {}ls{}", "$(".repeat(1000), ")".repeat(1000)),
        &format!("echo {}ls{}", "\"$(".repeat(1000), ")\"".repeat(1000)),
        &format!("{}ls{}", "{ ".repeat(1000), "; }".repeat(1000)),
        &format!("{}ls{}", "while [ $# ]; do ".repeat(200), "; done < <(ls)".repeat(200)),
        &"if ".repeat(1300),
    ] {
        for shell in [Shell::Bash, Shell::Zsh] {
            assert!(read(shell, line).is_err(), "{}", &line[..40]);
        }
    }
    assert_eq!(in_bash(&format!("echo {}ls{}", "(".repeat(1000), ")".repeat(1000))), None);
}

proptest! {
    #[test]
    fn any_text_is_read_in_time_or_refused(text in "(for f in |; do |; done|if |; then |; fi|\\$\\(|\\)|\\$f|\"|'|`|\\{|\\}|<\\(|\\(|[a-z ;|&<>*\\[\\]=$\n]){0,40}") {
        let _ = in_bash(&text);
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            if let Ok(structure) = read(shell, &text) {
                prop_assert!(structure.text.len() <= 2 * MAX_TEXT_BYTES + MAX_BYTES);
            }
        }
    }
}

#[test]
fn flags_of_zsh_that_split_and_join_may_have_any_text_between_two_signs() {
    for line in ["echo ${(j:, :)path}", "echo ${(s.:.)path}", "echo ${(oj./.)path}", "echo ${(f)path}"] {
        assert!(read(Shell::Zsh, line).is_ok(), "{line}");
    }
    for line in [
        "echo ${(e)path}",
        "echo ${(j:, )path}",
        "echo ${(j:a:e)path}",
        "echo ${(s.$(id).)path}",
        "echo ${(j:`id`:)path}",
        "echo ${(j)path}",
        "echo ${()path}",
        "echo ${(P)path}",
    ] {
        assert!(read(Shell::Zsh, line).is_err(), "{line}");
    }
}
