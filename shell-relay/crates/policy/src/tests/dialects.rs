//! Tests of lines that bash, zsh and fish read differently.

use super::*;

fn verdict(shell: Shell, line: &str) -> Verdict {
    assess_line(line, Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann")).in_shell(shell))
}

fn is_allowed(shell: Shell, line: &str) -> bool {
    verdict(shell, line).level == Level::Allow
}

#[test]
fn everyday_lines_stay_allowed_in_all_shells() {
    for line in [
        "git status",
        "ls -la | head",
        "grep -rn \"x y\" src",
        "cd .. && ls",
        "find . -name '*.rs'",
        "cat file 2>/dev/null",
        "ls nofile 2>&1 | head",
        "find . \\( -name a -o -name b \\) ! -type d",
        "git diff HEAD~3 HEAD^",
        "git stash show -p stash@{0}",
        "git log --oneline @{u}..HEAD && git show main@{2.days.ago}",
        "rg 'struct \\w+' src",
        "ls ~/work *.toml && echo ok || echo 'not ok'; date +%s\npwd",
        "[ -f Cargo.toml ] && echo yes",
        "ls > /dev/null",
        "sort < data.txt",
    ] {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert!(is_allowed(shell, line), "{shell:?} {line}: {:?}", verdict(shell, line));
        }
    }
}

#[test]
fn what_one_shell_reads_otherwise_is_asked_only_there() {
    for (line, zsh, fish) in [
        ("echo 'a\\\\b'", true, false),
        ("echo 'a''b'", false, true),
        ("ls ?.rs", true, false),
        ("cat =ls", false, true),
        ("echo %self", true, false),
        ("cat x^", false, true),
        ("cat notes~", false, true),
        ("ls x#y", false, true),
        ("ls ...", false, true),
        ("ls x^{y}", false, true),
        ("git cat-file -p HEAD^{tree}", false, true),
        ("git show ^{y}", false, false),
        ("cd +1", false, true),
        ("realpath --help", true, false),
        ("ls **/x", true, true),
        ("ls **", false, true),
        ("ls a**/x", false, true),
        ("ls ***/x", false, false),
        ("help cd", false, false),
        ("echo 12>/dev/null", false, false),
        ("printf %d HOME", false, true),
    ] {
        assert!(is_allowed(Shell::Bash, line), "{line}: {:?}", verdict(Shell::Bash, line));
        assert_eq!(is_allowed(Shell::Zsh, line), zsh, "zsh {line}: {:?}", verdict(Shell::Zsh, line));
        assert_eq!(is_allowed(Shell::Fish, line), fish, "fish {line}: {:?}", verdict(Shell::Fish, line));
    }
}

#[test]
fn nothing_is_allowed_in_a_shell_that_is_not_known() {
    let verdict = verdict(Shell::Other, "ls");
    assert_eq!(verdict.level, Level::Ask);
    assert!(verdict.reasons[0].contains("kind of shell"), "{verdict:?}");
}

#[test]
fn harm_that_only_the_users_shell_would_do_is_danger() {
    for (shell, line) in [
        (Shell::Fish, "touch 'x\\' '; rm -rf ~; echo '"),
        (Shell::Fish, "touch (rm -rf ~)"),
        (Shell::Fish, "true; and rm -rf ~"),
        (Shell::Fish, "false; or not rm -rf ~"),
        (Shell::Fish, "begin; rm -rf ~; end"),
        (Shell::Fish, "if true; rm -rf ~; end"),
        (Shell::Fish, "r\\x6d -rf ~"),
        (Shell::Zsh, "noglob rm -rf ~"),
        (Shell::Zsh, "nocorrect rm -rf ~"),
        (Shell::Zsh, "- rm -rf ~"),
        (Shell::Zsh, "repeat 2 rm -rf ~"),
        (Shell::Zsh, "for x (a b) rm -rf ~"),
        (Shell::Zsh, "if [[ a ]] { rm -rf ~ }"),
        (Shell::Zsh, "touch =(rm -rf ~)"),
    ] {
        assert_eq!(verdict(shell, line).level, Level::Danger, "{shell:?} {line}: {:?}", verdict(shell, line));
    }
}
