use super::*;
use crate::vocabulary::sample::SAMPLE;

fn read(shell: Shell, line: &str) -> String {
    reading(shell, line, &SAMPLE).text
}

fn in_words_of_bash(shell: Shell, line: &str) -> String {
    super::in_words_of_bash(shell, line, &SAMPLE).0
}

#[test]
fn what_zsh_writes_its_own_way_is_told_in_the_words_of_bash() {
    for (line, plain) in [
        ("ls -l *(.)", "ls -l *"),
        ("ls -lt *(.om[1,5]) | cat", "ls -lt * | cat"),
        ("cat *.txt(N) b*(@,/^x-)", "cat *.txt b*"),
        ("ls **/*(.mh-2Lk+10) x*(On[-3,-1])", "ls **/* x*"),
        ("echo conf/*.conf(.:r:t)", "echo conf/*.conf"),
        ("print -l src/**/*.(c|h)", "print -l src/**/*.c src/**/*.h"),
        ("print -l *.(c|h)(N)", "print -l *.c *.h"),
        ("wc -l ~/x/*.{txt,md}", "wc -l ~/x/*.txt ~/x/*.md"),
        ("grep x . --exclude-dir={.git,out}", "grep x . --exclude-dir=.git --exclude-dir=out"),
        ("du -sh ~/repo(/) | cat", "du -sh ~/repo | cat"),
        ("ls -l =python3", "ls -l ./python3"),
        ("< a.txt sort -u | cat; <b wc", " sort -u < a.txt | cat;  wc <b"),
    ] {
        assert_eq!(in_words_of_bash(Shell::Zsh, line), plain);
        assert_eq!(in_words_of_bash(Shell::Bash, line), line);
    }
}

#[test]
fn what_does_more_than_choose_stays() {
    for line in [
        "ls *(e:'rm x':)",
        "ls *(e:id:)",
        "ls *(+id)",
        "ls *(oe:id:)",
        "ls *(o+id)",
        "ls *(P:-rf:)",
        "ls *(D)",
        "ls *(.D)",
        "cat *(:h)",
        "echo *(:s/a/b/)",
        "echo *(:gs.a.b)",
        "ls *([x])",
        "ls *([1,n])",
        "ls *(u:ann:)",
        "ls *(f:gu+w:)",
        "ls *(M)",
        "ls *(T)",
        "ls *(#qN)",
        "rg y x(.)",
        "ls x(N) y",
        "ls 'x'(N)",
        "ls x?(N)",
        "ls '*'(N)",
        "ls *()",
        "ls *(.)(.)",
        "grep -r x *(N)",
        "rg x *(.N)",
        "ls (a|b)",
        "ls a(b|c)",
        "ls *(b|c)",
        "ls *.(b|c/d)",
        "ls {a,b}{c,d}",
        "ls {a,{b,c}}",
        "ls {a,b c}",
        "ls {,a}",
        "ls {1..3}",
        "ls {abc}",
        "ls 'a'{b,c}",
        "git show @{u,1}",
        "{ls,-l}",
        "cat < {a,b}",
        "< a",
        "< a sort < b",
        "> a sort",
        "2< a sort",
        "ls =(id) *(N)",
        "ls =x.pem",
        "cat =ls",
        "echo a*(:r) | xargs wc",
        "ls *(N) | xargs wc",
        "echo =ls | xargs wc",
    ] {
        assert_eq!(in_words_of_bash(Shell::Zsh, line), line);
    }
}

#[test]
fn what_fish_writes_its_own_way_is_told_in_the_words_of_bash() {
    for (line, plain) in [
        ("test -f a; and echo b; or echo c", "test -f a;  echo b;  echo c"),
        ("not test -f a", " test -f a"),
        ("a; and not b\nor c", "a;   b\n c"),
        ("ls {src,conf}/ and", "ls src/ conf/ and"),
        ("echo and or not", "echo and or not"),
    ] {
        assert_eq!(read(Shell::Fish, line), plain);
    }
    for line in ["< a sort", "'and' ls", "ls {a, b}"] {
        assert_eq!(read(Shell::Fish, line), line);
    }
}

#[test]
fn a_line_without_end_is_read_in_time_or_not_at_all() {
    for unit in ["<a ", "a(.) <a ", "*(N) ", "{a,b} ", "and ", "a;", "*.(a|b)"] {
        for bytes in [32_000, 200_000] {
            let line = unit.repeat(bytes / unit.len());
            for shell in [Shell::Zsh, Shell::Fish] {
                let text = read(shell, &line);
                assert!(bytes < 100_000 || text == line, "{unit}");
            }
        }
    }
}

#[test]
fn places_in_the_text_are_places_in_the_line() {
    let line = "wc -l *.{a,b} x*(.) y";
    let reading = reading(Shell::Zsh, line, &SAMPLE);
    assert_eq!(reading.text, "wc -l *.a *.b x* y");
    for (word, end) in [("wc", "wc"), ("wc -l", "wc -l"), ("wc -l *.a *.b", "wc -l *.{a,b}")] {
        assert_eq!(reading.end_in_line(word.len()), Some(end.len()), "{word}");
    }
    assert_eq!(reading.end_in_line("wc -l *.a".len()), None);
    assert_eq!(reading.end_in_line("wc -l *.a *.b x*".len()), Some("wc -l *.{a,b} x*(.)".len()));
    assert_eq!(reading.end_in_line(reading.text.len()), Some(line.len()));
}
