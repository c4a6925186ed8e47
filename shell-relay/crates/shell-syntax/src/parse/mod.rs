//! Parses a plain line into a list of simple commands. Two independent parsers must agree on it.

mod brush;
mod tree;
mod unquote;

use super::{bytes, catch_panic, command::SimpleCommand};

/// Largest number of words of a plain line. The second parser takes microseconds for each.
const MAX_WORDS: usize = 1000;

/// The commands of a plain line.
///
/// # Errors
/// What makes the line more than plain, as a phrase about it: "uses braces".
pub fn parse_plain(line: &str) -> Result<Vec<SimpleCommand>, &'static str> {
    if let Some(reason) = bytes::why_not_plain(line) {
        return Err(reason);
    }
    let commands = catch_panic::caught(|| brush::parse(line)).unwrap_or(Err("breaks a shell parser"))?;
    if commands.iter().map(|command| command.words.len()).sum::<usize>() > MAX_WORDS {
        return Err("has too many words to be checked");
    }
    if commands.len() > bytes::MAX_COMMANDS {
        return Err("runs too many commands to be checked");
    }
    Ok(commands)
}

/// Whether the second parser reads the same commands. Asked last, since it is the slower one.
#[must_use]
pub fn is_confirmed(line: &str, commands: &[SimpleCommand]) -> bool {
    catch_panic::caught(|| tree::parse(line)).flatten().is_some_and(|other| other == commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Join, RedirectKind};

    fn words(line: &str) -> Vec<Vec<String>> {
        let commands = parse_plain(line).expect(line);
        assert!(is_confirmed(line, &commands), "{line}: {commands:?} but {:?}", tree::parse(line));
        commands.into_iter().map(|command| command.words.into_iter().map(|word| word.text).collect()).collect()
    }

    #[test]
    fn both_parsers_read_plain_lines_alike() {
        assert_eq!(words("ls -l 'a b'\"c\"d"), [vec!["ls", "-l", "a bcd"]]);
        assert_eq!(words("a | b && c || d; e\nf"), [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]);
        assert_eq!(words(r#"grep "a\.b\"c" x"#), [vec!["grep", r#"a\.b"c"#, "x"]]);
        assert_eq!(
            words(r"find . \( -name a -o -name b \) ! -type d"),
            [vec!["find", ".", "(", "-name", "a", "-o", "-name", "b", ")", "!", "-type", "d"]]
        );
        assert_eq!(words("[ -f Cargo.toml ] && echo yes"), [vec!["[", "-f", "Cargo.toml", "]"], vec!["echo", "yes"]]);
        assert_eq!(words("[ ! -f ~/x ]"), [["[", "!", "-f", "~/x", "]"]]);
        assert_eq!(words("[ 1 -eq 2 ]"), [vec!["[", "1", "-eq", "2", "]"]]);
        assert_eq!(words("test -d a = b"), [vec!["test", "-d", "a", "=", "b"]]);
        assert_eq!(
            words("find / -name x 2>/dev/null -print | head -5"),
            [vec!["find", "/", "-name", "x", "-print"], vec!["head", "-5"]]
        );
        assert_eq!(
            words("sed -n 1,5p f; git log -p HEAD~3..HEAD^ -- a/b.c"),
            [vec!["sed", "-n", "1,5p", "f"], vec!["git", "log", "-p", "HEAD~3..HEAD^", "--", "a/b.c"]]
        );
        assert_eq!(words("date '+%F %T' && date +%s"), [["date", "+%F %T"], ["date", "+%s"]]);
        assert_eq!(words("echo ''"), [["echo", ""]]);
        assert_eq!(
            words("git stash show -p stash@{0}; git log @{u}.. HEAD^{tree} HEAD^{}~2 a@{-1}:b | wc -l"),
            [
                &["git", "stash", "show", "-p", "stash@{0}"][..],
                &["git", "log", "@{u}..", "HEAD^{tree}", "HEAD^{}~2", "a@{-1}:b"],
                &["wc", "-l"]
            ]
        );
    }

    #[test]
    fn redirections_and_joins_are_kept() {
        let commands = parse_plain("a < f 2>/dev/null | b >&2 && c &>/dev/null").expect("plain");
        assert!(is_confirmed("a < f 2>/dev/null | b >&2 && c &>/dev/null", &commands));
        let joins: Vec<_> = commands.iter().map(|command| command.join).collect();
        assert_eq!(joins, [Join::Then, Join::Pipe, Join::And]);
        assert_eq!(commands[0].redirects[0].kind, RedirectKind::Read);
        assert_eq!(commands[0].redirects[1].fd, Some(2));
        assert_eq!(commands[1].redirects[0].target.text, "2");
        assert_eq!(commands[2].redirects[0].kind, RedirectKind::WriteAll);
    }

    #[test]
    fn a_redirection_belongs_to_the_last_command_in_both_parsers() {
        for line in
            ["a | b 2>/dev/null", "a && b 2>/dev/null", "a; b 2>/dev/null", "a 2>&1 | b", "a | b | c 2>/dev/null | d"]
        {
            let commands = parse_plain(line).expect(line);
            assert!(is_confirmed(line, &commands), "{line}: {commands:?} but {:?}", tree::parse(line));
        }
    }

    #[test]
    fn what_is_not_plain_is_named() {
        for line in [
            "a $(b)",
            "a `b`",
            "a $b",
            "a ${b}",
            "a $'b'",
            "a <(b)",
            "a {b,c}",
            "a @{b,c}",
            "a @{1..3}",
            "a @{b c}",
            "a @{$b}",
            "a @{{b}}",
            "a '@'{b}",
            "a x{b}",
            "a @{b",
            "@{b}}",
            "(a)",
            "{ a; }",
            "f() { a; }",
            "a &",
            "a & b",
            "a |& b",
            "a <<< b",
            "a <<E\nb\nE",
            "X=1 a",
            "X=1",
            "if a; then b; fi",
            "while a; do b; done",
            "for x in a; do b; done",
            "case a in b) c;; esac",
            "[[ a ]]",
            "(( 1 ))",
            "! a",
            "time a",
            "coproc a",
            "a # b",
            "a \\\nb",
            "a 'b",
            "a \"b",
            "a; ; b",
            "a &&",
            "| a",
            "function f { a; }",
            "a \"!x\"",
            "a\\ b",
            "> f",
        ] {
            assert!(parse_plain(line).is_err(), "{line}: {:?}", parse_plain(line));
        }
    }
}
