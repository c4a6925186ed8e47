//! A command of the user's that failed.

use cohab_shell_relay::live::UserCommand;

/// Of a line that is asked about, in characters; the whole one stands in the history.
const LINE_MAX_CHARS: usize = 200;
/// Programs that say no by status 1, which is an answer and no failure.
const SAY_NO_BY_1: [&str; 17] = [
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "diff", "cmp", "test", "[", "[[", "pgrep", "false", "true", "which",
    "type", "expr",
];
/// Words before a program that run it.
const RUNNERS: [&str; 10] = ["sudo", "doas", "command", "builtin", "time", "nice", "nohup", "env", "exec", "!"];

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    line: Option<String>,
    status: i32,
}

impl Failure {
    /// Of a command that ended so, if that is a failure.
    pub(crate) fn of(command: &UserCommand) -> Option<Self> {
        let UserCommand { line, status, .. } = command;
        let is_failure = match status {
            // Ctrl-C, a reader that went first, and Ctrl-Z.
            0 | 130 | 141 | 145..=150 => false,
            1 => !line.as_deref().is_some_and(says_no),
            _ => true,
        };
        is_failure.then(|| Self { line: line.clone(), status: *status })
    }

    /// The question that asks about it.
    pub(crate) fn question(&self) -> String {
        let line = self.line.as_deref().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        match line.filter(|line| !line.is_empty()) {
            Some(line) if line.chars().count() > LINE_MAX_CHARS => {
                let start: String = line.chars().take(LINE_MAX_CHARS).collect();
                // Half a secret would not be known as one.
                match start.rsplit_once(' ') {
                    Some((words, _)) => format!("Why did this fail: `{words} …` (exit {})?", self.status),
                    None => format!("Why did the last command fail (exit {})?", self.status),
                }
            }
            Some(line) => format!("Why did this fail: `{line}` (exit {})?", self.status),
            None => format!("Why did the last command fail (exit {})?", self.status),
        }
    }
}

/// Whether a program of the line, whose status may be the line's, says no by status 1.
fn says_no(line: &str) -> bool {
    let lists = line.split([';', '\n']).flat_map(|list| list.split("&&")).flat_map(|list| list.split("||"));
    // The last of a pipeline gives the status.
    lists.filter_map(|pipeline| pipeline.rsplit('|').next()).any(|command| {
        let is_assignment = |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.is_empty());
        let mut words = command.split_whitespace().skip_while(|word| is_assignment(word) || RUNNERS.contains(word));
        let program = words.next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program);
        SAY_NO_BY_1.contains(&program) || program == "git" && matches!(words.next(), Some("diff" | "grep"))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn failure(line: Option<&str>, status: i32) -> Option<Failure> {
        Failure::of(&UserCommand {
            line: line.map(str::to_owned),
            status,
            cwd: "/".into(),
            duration: Duration::ZERO,
            output_tail: String::new(),
            output_bytes: 0,
        })
    }

    #[test]
    fn what_the_user_stopped_and_what_only_says_no_is_no_failure() {
        for (line, status) in [
            ("make", 0),
            ("sleep 100", 130),
            ("yes | head", 141),
            ("vim", 148),
            ("grep x y", 1),
            ("/usr/bin/grep x y", 1),
            ("cat y | LC_ALL=C grep -q x", 1),
            ("sudo diff a b", 1),
            ("[ -e x ] && echo yes", 1),
            ("test -e x", 1),
            ("cd x; git diff --exit-code", 1),
            ("! true", 1),
            ("false", 1),
            ("which nothing", 1),
        ] {
            assert_eq!(failure(Some(line), status), None, "{line}");
        }
        for (line, status) in [
            ("make", 1),
            ("grep x missing", 2),
            ("grep x y | wc", 1),
            ("gerp x y", 127),
            ("git push", 1),
            ("git", 1),
            ("diffuse a", 1),
            ("", 1),
            ("x=1", 1),
        ] {
            assert!(failure(Some(line), status).is_some(), "{line}");
        }
        assert!(failure(None, 1).is_some());
    }

    #[test]
    fn the_question_names_line_and_status_in_one_line() {
        let question = |line: Option<&str>, status| failure(line, status).unwrap().question();
        assert_eq!(question(Some("make  all\n  -j"), 2), "Why did this fail: `make all -j` (exit 2)?");
        assert_eq!(question(None, 2), "Why did the last command fail (exit 2)?");
        assert_eq!(question(Some(" "), 3), "Why did the last command fail (exit 3)?");
        let long = question(Some(&"ä bc ".repeat(1_000)), 2);
        assert!((150..250).contains(&long.chars().count()) && long.ends_with(" …` (exit 2)?"), "{long}");
        assert_eq!(question(Some(&"ä".repeat(1_000)), 2), "Why did the last command fail (exit 2)?");
    }
}
