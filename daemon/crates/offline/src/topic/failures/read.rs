//! Reads names in messages: the program, file, port, host or module in question. Pure.

use super::super::super::shell_line::is_plain_name;

/// The text in the first pair of quotes.
fn quoted(line: &str) -> Option<&str> {
    const PAIRS: [(char, char); 5] = [('‘', '’'), ('“', '”'), ('\'', '\''), ('"', '"'), ('`', '\'')];
    PAIRS
        .iter()
        .filter_map(|&(open, close)| {
            let start = line.find(open)? + open.len_utf8();
            let end = start + line[start..].find(close)?;
            (end > start).then(|| (start, &line[start..end]))
        })
        .min_by_key(|(start, _)| *start)
        .map(|(_, text)| text)
}

/// The text before `marker`, from the previous colon: `cat: NAME: Permission denied`.
fn before<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    let at = find_ignoring_case(line, marker)?;
    let head = line[..at].trim_end().strip_suffix(':')?;
    let name = head.rsplit(": ").next()?.trim();
    (!name.is_empty()).then_some(name)
}

/// The text after `marker` and a colon: `zsh: permission denied: NAME`.
fn after<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    let at = find_ignoring_case(line, marker)? + marker.len();
    let name = line[at..].strip_prefix(':')?.trim();
    (!name.is_empty()).then_some(name)
}

fn find_ignoring_case(line: &str, marker: &str) -> Option<usize> {
    // The markers are ASCII, so lower case keeps the positions.
    line.to_ascii_lowercase().find(marker)
}

/// The program that a shell did not find.
pub(super) fn missing_program(line: &str) -> Option<&str> {
    let markers = ["command not found", "unknown command", "befehl nicht gefunden", "kommando nicht gefunden"];
    // Ubuntu prints: Command 'x' not found, did you mean ...
    if let Some(name) = line.strip_prefix("Command '").and_then(|rest| rest.split('\'').next()) {
        return Some(name).filter(|name| is_plain_name(name));
    }
    let name = markers.iter().find_map(|marker| after(line, marker)).or_else(|| quoted(line));
    let name = name.or_else(|| markers.iter().find_map(|marker| before(line, marker)));
    let name = name.or_else(|| before(line, "not found"))?;
    Some(name.trim_matches(['\'', '‘', '’'])).filter(|name| is_plain_name(name))
}

/// The file in a message.
pub(super) fn file(line: &str) -> Option<&str> {
    const MARKERS: [&str; 7] = [
        "permission denied",
        "operation not permitted",
        "no such file or directory",
        "cannot execute",
        "bad interpreter",
        "is a directory",
        "datei oder verzeichnis nicht gefunden",
    ];
    let is_file = |name: &&str| !name.is_empty() && name.len() < 4096 && !name.starts_with('[');
    // Programs that quote the name quote it before or after the message: cannot open 'x' ..., EACCES: ..., open 'x'.
    if let Some(name) = quoted(line).filter(is_file) {
        return Some(name);
    }
    MARKERS
        .iter()
        .find_map(|marker| after(line, marker).or_else(|| before(line, marker)))
        .map(|name| name.strip_prefix("open ").unwrap_or(name))
        .filter(is_file)
}

/// The script with a missing interpreter.
pub(super) fn script<'a>(line: &'a str, command: &'a str) -> Option<String> {
    let told = line.split(": ").map(|part| part.trim_matches(['\'', '‘', '’', '“', '”'])).find(|part| {
        part.contains('/') && !part.contains(' ') && !part.starts_with("/usr/bin/env") && !part.starts_with("/bin/")
    });
    let first = || shlex::split(command)?.into_iter().next().filter(|word| word.contains('/'));
    let named = line.contains("process '").then(|| quoted(line)).flatten();
    first().or_else(|| named.or(told).map(str::to_owned))
}

/// A port in a message or a command: after a colon, "port", or an option.
pub(super) fn port(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let behind = |marker: &str| {
        lower.match_indices(marker).find_map(|(at, _)| {
            let digits: String = lower[at + marker.len()..]
                .chars()
                .skip_while(|c| " =:('".contains(*c))
                .take_while(char::is_ascii_digit)
                .collect();
            digits.parse().ok().filter(|port| (1..=65_535).contains(port))
        })
    };
    ["port ", "port=", "port: ", "-p ", ":::", "', ", ":"].iter().find_map(|marker| behind(marker)).or_else(|| {
        let mut words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.find_map(|word| word.parse().ok().filter(|port| (1024..=65_535).contains(port)))
    })
}

/// The missing module in a message, without the path of its file.
pub(super) fn module(line: &str) -> Option<&str> {
    let lower = line.to_ascii_lowercase();
    let name = if lower.contains("cannot load such file") {
        line.split(" -- ").nth(1)?.split_whitespace().next()?
    } else if lower.contains("in @inc") {
        // "(you may need to install the Foo::Bar module)"
        match line.split_once("install the ") {
            Some((_, rest)) => rest.split_whitespace().next()?,
            None => line.split_whitespace().nth(2)?,
        }
    } else {
        quoted(line).or_else(|| line.rsplit("named ").next()?.split_whitespace().next())?
    };
    let is_sound = |c: char| c.is_ascii_alphanumeric() || "_-./@:".contains(c);
    (!name.is_empty() && name.chars().all(is_sound)).then_some(name)
}

/// The missing library in a loader's message.
pub(super) fn library(line: &str) -> Option<&str> {
    line.split([':', ' ', '\'', '"'])
        .find(|part| part.starts_with("lib") && (part.contains(".so") || part.contains(".dylib")))
}

/// The first line that names an error, with its place if the place has a separate line.
pub(super) fn first_error(output: &[String]) -> Option<(String, Option<String>)> {
    let is_error = |line: &str| {
        let lower = line.trim_start().to_ascii_lowercase();
        let summaries =
            ["error: could not compile", "error: aborting", "make: ***", "error: test failed", "npm err!", "failed ("];
        let is_summary = summaries.iter().any(|start| lower.starts_with(start));
        !is_summary
            && (lower.starts_with("error")
                || [
                    ": error",
                    "error ts",
                    ": fatal error",
                    "undefined:",
                    "undefined reference",
                    "panicked at",
                    "--- fail:",
                ]
                .iter()
                .any(|part| lower.contains(part))
                || (lower.starts_with("test ") && lower.ends_with("... failed"))
                || lower.starts_with("failed ")
                || lower.starts_with("fail: ")
                || lower.starts_with("e   "))
    };
    let index = output.iter().position(|line| is_error(line));
    if let Some(index) = index {
        let place = output[index + 1..].iter().take(3).find_map(|line| {
            ["--> ", "File "].iter().find_map(|start| line.trim().strip_prefix(start)).map(str::to_owned)
        });
        return Some((output[index].trim().to_owned(), place));
    }
    // Python prints the error last, with its place right above.
    let last = output.iter().rev().find(|line| {
        let name = line.split(':').next().unwrap_or_default();
        !line.starts_with(' ')
            && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Interrupt"))
    })?;
    let place = output.iter().rev().find(|line| line.trim_start().starts_with("File \""));
    Some((last.trim().to_owned(), place.map(|line| line.trim().trim_start_matches("File ").to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_program_is_read_from_every_shell() {
        for line in [
            "bash: gti: command not found",
            "bash: line 3: gti: command not found",
            "-bash: gti: command not found",
            "zsh: command not found: gti",
            "zsh:1: command not found: gti",
            "fish: Unknown command: gti",
            "fish: Unknown command 'gti'",
            "sh: 1: gti: not found",
            "sudo: gti: command not found",
            "Command 'gti' not found, did you mean:",
            "bash: gti: Befehl nicht gefunden.",
        ] {
            assert_eq!(missing_program(line), Some("gti"), "{line}");
        }
        assert_eq!(missing_program("bash: $(x): command not found"), None);
    }

    #[test]
    fn the_file_is_read_from_every_program() {
        for line in [
            "bash: a/b c: Permission denied",
            "zsh: permission denied: a/b c",
            "cat: a/b c: Permission denied",
            "fish: Unknown command. 'a/b c' exists but is not an executable file.",
            "PermissionError: [Errno 13] Permission denied: 'a/b c'",
            "mkdir: cannot create directory ‘a/b c’: Permission denied",
            "Error: EACCES: permission denied, open 'a/b c'",
            "open a/b c: permission denied",
            "FileNotFoundError: [Errno 2] No such file or directory: 'a/b c'",
            "ls: cannot access 'a/b c': No such file or directory",
        ] {
            assert_eq!(file(line), Some("a/b c"), "{line}");
        }
    }

    #[test]
    fn the_port_is_read_from_servers_and_commands() {
        for (text, expected) in [
            ("Error: listen EADDRINUSE: address already in use :::3000", Some(3000)),
            ("nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)", Some(80)),
            ("listen tcp :8080: bind: address already in use", Some(8080)),
            ("Port 5000 is in use by another program.", Some(5000)),
            ("Connection in use: ('127.0.0.1', 8000)", Some(8000)),
            ("Bind for 0.0.0.0:5432 failed: port is already allocated", Some(5432)),
            ("python3 -m http.server 8123", Some(8123)),
            ("npm start -- --port=4000", Some(4000)),
            ("Address already in use (os error 98)", None),
            ("OSError: [Errno 98] Address already in use", None),
        ] {
            assert_eq!(port(text), expected, "{text}");
        }
    }

    #[test]
    fn the_module_is_read_from_every_language() {
        for (line, expected) in [
            ("ModuleNotFoundError: No module named 'yaml'", "yaml"),
            ("/usr/bin/python3: No module named flask", "flask"),
            ("Error: Cannot find module 'express'", "express"),
            ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /w/x.mjs", "@a/b"),
            ("x.rb:1:in `require': cannot load such file -- nokogiri (LoadError)", "nokogiri"),
            ("Can't locate Foo/Bar.pm in @INC (you may need to install the Foo::Bar module) (@INC", "Foo::Bar"),
        ] {
            assert_eq!(module(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn the_first_error_of_a_compiler_comes_with_its_place() {
        let read = |text: &str| first_error(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(
            read(
                ".F\n====\nFAIL: test_a (t.A)\n----\nTraceback (most recent call last):\n  File \"t.py\", line 9, in test_a\n    x\nAssertionError: 1 != 2\n\nFAILED (failures=1)"
            ),
            Some(("FAIL: test_a (t.A)".into(), Some("\"t.py\", line 9, in test_a".into())))
        );
        let rust = "   Compiling x\nerror[E0425]: cannot find value `x`\n --> src/main.rs:3:5\n  |\nerror: could not compile `x`";
        assert_eq!(read(rust), Some(("error[E0425]: cannot find value `x`".into(), Some("src/main.rs:3:5".into()))));
        assert_eq!(
            read("a.c: In function ‘main’:\na.c:1:20: error: ‘x’ undeclared").map(|found| found.0),
            Some("a.c:1:20: error: ‘x’ undeclared".into())
        );
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    x\nNameError: name 'x' is not defined";
        assert_eq!(
            read(python),
            Some(("NameError: name 'x' is not defined".into(), Some("\"a.py\", line 3, in <module>".into())))
        );
        assert_eq!(read("all is well"), None);
    }
}
