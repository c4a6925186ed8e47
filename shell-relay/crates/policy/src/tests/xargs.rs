//! Tests for commands that run on names found by another command: `find -exec` and `xargs`.

use super::*;

#[test]
fn a_command_that_only_reads_what_is_found_is_allowed() {
    for line in [
        "find . -type f -size +50M -exec ls -lh {} \\;",
        "find . -type f -size +50M -exec ls -lh {} ';'",
        "find . -name '*.log' -exec du -ch {} + | tail -1",
        "find . -type l ! -exec test -e {} \\; -print",
        "find src -name '*.ts' -exec grep -Hn TODO {} +",
        "find . -name package.json -not -path '*/.*' -exec dirname {} \\;",
        "find -name '*.c' -exec wc -l {} +",
        "find . -name '*.rs' | xargs wc -l | sort -n",
        "find . -name '*.rs' -print0 | xargs -0 grep -l unsafe",
        "find . -type f | head -5 | xargs cat",
        "rg -l foo src | xargs grep -c bar",
        "git ls-files | xargs wc -l",
        "git diff --name-only | xargs ls -l",
        "pgrep nginx | xargs ps -o pid,cmd -p",
        "ls *.txt | xargs -n1 basename",
        "echo 1 2 3 | xargs -n 1",
        "echo src/main.rs | xargs wc -l",
        "printf '%s\\n' a.txt b.txt | xargs cat",
        "cat names | xargs -I{} echo 'found: {}'",
        "cat list | xargs -r -P4 -n 1 stat -c %s",
    ] {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert_eq!(level_in(shell, line), Level::Allow, "{line}: {:?}", assess_line(line, context()).reasons);
        }
    }
}

#[test]
fn what_does_more_or_may_read_a_secret_is_not() {
    for line in [
        "find . -exec rm {} +",
        "find . -exec xxd {} + ",
        "find . -exec sed -i s/a/b/ {} +",
        "find . -exec sort -o {} {} \\;",
        "find . -exec cat .env {} +",
        "find . -exec ls",
        "find . -exec ls \\;",
        "find . -exec cat x{}y \\;",
        "find . -execdir ls {} +",
        "find . -ok ls {} \\;",
        "find / -name '*.conf' -exec cat {} +",
        "find ~ -type f -exec grep x {} +",
        "find ~/.ssh -exec ls {} +",
        "find . -name .env -exec cat {} +",
        "find . -name '*.pem' -exec cat {} \\;",
        "find -L . -exec cat {} +",
        "find . -exec ls {} + -delete",
        "find . -exec ls {} + -exec rm {} +",
        "find . -exec {} \\;",
        "find . -exec 'ls' {} \\; -exec sh -c id \\;",
        "find . | xargs cat",
        "cat list | xargs cat",
        "echo .env | xargs wc -l",
        "echo /etc/shadow | xargs md5sum",
        "printf '%s\\n' .env | xargs file",
        "printf '\\x2eenv' | xargs cat",
        "echo --files0-from=.env | xargs wc",
        "find .. -name '*.env' -exec cat {} +",
        "find . -iname '*.KEY' -exec cat {} +",
        "find . -regex '.*id_rsa' -exec cat {} +",
        "echo 'a b' | xargs -I{} find {}",
        "cat list | xargs grep x",
        "cat list | xargs -I{} wc {}",
        "cat list | xargs -I{} find {}",
        "cat list | xargs sort",
        "cat list | xargs du --exclude",
        "find . -name x -print0 | xargs -0 grep -e",
        "git ls-files | xargs cat",
        "find . -type f | sed s/^/x/ | xargs cat",
        "find . -printf '%p' | xargs cat",
        "find ~ -type f | xargs head",
        "find . -type f | xargs -a list cat",
        "find . -type f | xargs -p cat",
        "find . -type f | xargs env cat",
        "pgrep x | xargs kill",
        "pgrep -a x | xargs ps",
        "echo e | xargs ps",
        "xargs wc -l",
        "ls | xargs -I ls ls",
        "ls | xargs 'ls'",
        "ls {} x{}",
        "{} ls",
        "{}",
    ] {
        assert_ne!(level(line), Level::Allow, "{line}");
    }
}

#[test]
fn listing_what_is_found_is_no_danger_and_running_it_is() {
    assert_eq!(level("find / -perm -4000 -exec ls {} \\;"), Level::Ask);
    for line in ["find . -exec sh {} \\;", "find . -exec", "find . -exec ./x {} +", "find . -exec sed -i p {} +"] {
        assert_eq!(level(line), Level::Danger, "{line}");
    }
}

#[test]
fn xargs_is_typed_so_that_nothing_it_reads_is_an_option() {
    for (line, typed) in [
        ("git ls-files | xargs wc -l", "| xargs wc -l --"),
        ("find . -name x -print0 | xargs -0 grep y", "| xargs -0 grep y --"),
        ("cat a | xargs -n1 ls -l | head", "| xargs -n1 ls -l -- | head"),
    ] {
        let text = unasked(line, context()).expect("typed").text;
        assert!(text.contains(typed), "{text}");
    }
    for line in ["ls | xargs wc -l --", "echo a | xargs", "ls | xargs -I{} ls {}", "echo a | xargs echo b"] {
        assert_eq!(unasked(line, context()).expect("typed").text, line);
    }
}
