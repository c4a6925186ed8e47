//! Writes what an agent wants to run as a line of the live shell. Pure.
//!
//! A program with arguments is quoted. `bash -c LINE` of one plain line becomes the line itself where the live shell reads it as bash
//! does, so that `cd` and `export` stick. Variables of the request become `env NAME=VALUE`, another folder becomes a subshell.

use std::{collections::BTreeSet, path::Path};

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::{parse_plain, why_read_otherwise};

use crate::wire::{CreateTerminal, EnvVariable};

/// Builtins that would end or change the user's own shell, where a script means only its own.
const OF_THE_SCRIPT_ITSELF: [&str; 7] = ["exit", "exec", "logout", "return", "set", "shopt", "trap"];

/// A part of a line.
enum LinePart {
    /// One program with arguments.
    Program(String),
    /// Anything that a shell reads.
    Script(String),
}

/// The line for this request in a shell of this kind, which is in `cwd`.
///
/// # Errors
/// A sentence for the agent: no shell can take it, or this one has no way to write it.
pub(crate) fn line_of(request: &CreateTerminal, shell: Shell, cwd: &Path) -> Result<String, String> {
    let texts = [&request.command].into_iter().chain(&request.args).chain(request.env.iter().map(|one| &one.value));
    if texts.into_iter().any(|text| text.contains('\0')) {
        return Err("the command has a NUL in it, which no shell can take".into());
    }
    if request.command.trim().is_empty() {
        return Err("the command is empty".into());
    }
    let part = match (script_of(request), request.env.is_empty()) {
        (Some((of, script)), true) if sticks_in(shell, of, script) => LinePart::Script(script.to_owned()),
        (None, true) if request.args.is_empty() => LinePart::Script(request.command.clone()),
        (None, false) if request.args.is_empty() && request.command.contains(char::is_whitespace) => {
            let words = [shell.name(), "-c", &request.command].map(str::to_owned);
            LinePart::Program(with_env(&request.env, &words, shell)?)
        }
        _ => {
            let words: Vec<String> = [&request.command].into_iter().chain(&request.args).cloned().collect();
            LinePart::Program(with_env(&request.env, &words, shell)?)
        }
    };
    match request.cwd.as_deref().filter(|wanted| !is_same_folder(wanted, cwd)) {
        None => Ok(match part {
            LinePart::Program(line) | LinePart::Script(line) => line,
        }),
        Some(wanted) => in_folder(wanted, part, shell, cwd),
    }
}

/// The script that the request hands to a shell, and the kind of that shell.
fn script_of(request: &CreateTerminal) -> Option<(Shell, &str)> {
    let (script, flags) = request.args.split_last()?;
    let is_flag =
        |flag: &String| flag.strip_prefix('-').is_some_and(|letters| letters.bytes().all(|b| b.is_ascii_alphabetic()));
    let is_handed = flags.last().is_some_and(|flag| flag.ends_with('c')) && flags.iter().all(is_flag);
    let program = Path::new(&request.command);
    let of = match Shell::of(program) {
        Shell::Other if program.file_name().is_some_and(|name| name == "sh" || name == "dash") => Shell::Bash,
        known => known,
    };
    (is_handed && of != Shell::Other).then_some((of, script.as_str()))
}

/// Whether `script` of a shell `of` is one plain line that the live shell reads in the same way, and that leaves it alive.
fn sticks_in(live: Shell, of: Shell, script: &str) -> bool {
    if of == Shell::Fish && live != Shell::Fish {
        return false;
    }
    let Ok(commands) = parse_plain(script.trim()) else { return false };
    let stays = commands
        .iter()
        .all(|command| command.words.first().is_some_and(|name| !OF_THE_SCRIPT_ITSELF.contains(&name.text.as_str())));
    // The parsers read bash; a line of zsh must mean the same there.
    let is_alike = |shell: Shell| shell == Shell::Bash || why_read_otherwise(shell, script.trim(), &commands).is_none();
    stays && (live == of || (is_alike(live) && is_alike(of)))
}

fn with_env(env: &[EnvVariable], words: &[String], shell: Shell) -> Result<String, String> {
    let mut line = Vec::new();
    if !env.is_empty() {
        line.push("env".to_owned());
    }
    let mut seen = BTreeSet::new();
    for EnvVariable { name, value } in env {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_letter) {
            return Err("the name of a variable is not valid".into());
        }
        if seen.insert(name) {
            line.push(format!("{name}={}", quoted(value, shell)));
        }
    }
    let is_first = |index: usize| index == 0;
    line.extend(words.iter().enumerate().map(|(index, word)| {
        // `a=b` in front would be an assignment.
        if is_first(index) && word.contains('=') { shell.quoted_text(word) } else { quoted(word, shell) }
    }));
    Ok(line.join(" "))
}

/// The word, in quotes if it is not plain.
fn quoted(word: &str, shell: Shell) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | ',' | '@' | '%' | '+' | '=');
    let is_bare = !word.is_empty() && word.chars().all(is_plain) && !word.starts_with(['=', '%', '@']);
    if is_bare { word.to_owned() } else { shell.quoted_text(word) }
}

/// The part in another folder; the shell itself stays where it is.
fn in_folder(wanted: &Path, part: LinePart, shell: Shell, cwd: &Path) -> Result<String, String> {
    let Some(folder) = wanted.to_str().filter(|folder| !folder.contains('\0')) else {
        return Err("the folder's name is not text".into());
    };
    match (part, shell) {
        (LinePart::Program(line), Shell::Bash | Shell::Zsh) => Ok(format!("(cd {} && {line})", quoted(folder, shell))),
        (LinePart::Script(line), Shell::Bash | Shell::Zsh) => {
            Ok(format!("(cd {} || exit\n{line}\n)", quoted(folder, shell)))
        }
        (_, Shell::Fish | Shell::Other) => Err(format!(
            "the user's shell is in {}, and {} cannot run one command in another folder: `cd` there first, or leave out `cwd`",
            cwd.display(),
            shell.name(),
        )),
    }
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(shell: Shell, request: serde_json::Value) -> Result<String, String> {
        let request = serde_json::from_value(request).expect("a request");
        line_of(&request, shell, Path::new("/w"))
    }

    fn ok(shell: Shell, request: serde_json::Value) -> String {
        line(shell, request).expect("a line")
    }

    #[test]
    fn a_program_is_quoted_for_the_shell() {
        let request = json!({"command": "grep", "args": ["-r", "it's", "", "a b", "src/*.rs"]});
        assert_eq!(ok(Shell::Bash, request.clone()), r"grep -r 'it'\''s' '' 'a b' 'src/*.rs'");
        assert_eq!(ok(Shell::Fish, request), r"grep -r 'it\'s' '' 'a b' 'src/*.rs'");
        assert_eq!(ok(Shell::Bash, json!({"command": "A=b", "args": ["x"]})), "'A=b' x");
        assert_eq!(ok(Shell::Zsh, json!({"command": "ls", "args": ["=ls", "~"]})), "ls '=ls' '~'");
    }

    #[test]
    fn a_plain_line_of_a_script_sticks_in_every_shell() {
        for (program, flags) in
            [("bash", vec!["-lc"]), ("/bin/bash", vec!["-c"]), ("sh", vec!["-c"]), ("bash", vec!["-l", "-c"])]
        {
            for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
                let args: Vec<&str> = flags.iter().copied().chain(["cd sub && export FOO=bar"]).collect();
                let line = ok(shell, json!({"command": program, "args": args}));
                assert_eq!(line, "cd sub && export FOO=bar", "{program} {shell:?}");
            }
        }
        assert_eq!(ok(Shell::Bash, json!({"command": "cd sub && export FOO=bar"})), "cd sub && export FOO=bar");
    }

    #[test]
    fn a_script_that_is_not_plain_stays_one() {
        for script in ["exit 3", "for i in 1 2; do echo $i; done", "cd \"$HOME\"", "exec zsh", "set -e; ls", "a\0"] {
            let line = line(Shell::Bash, json!({"command": "bash", "args": ["-c", script]}));
            assert!(
                line.as_ref().map_or(script.contains('\0'), |line| line.starts_with("bash -c ")),
                "{script}: {line:?}"
            );
        }
        let fish = json!({"command": "fish", "args": ["-c", "cd sub"]});
        assert_eq!(ok(Shell::Bash, fish.clone()), "fish -c 'cd sub'");
        assert_eq!(ok(Shell::Fish, fish), "cd sub");
        let positional = json!({"command": "bash", "args": ["-c", "echo", "name", "arg"]});
        assert_eq!(ok(Shell::Bash, positional), "bash -c echo name arg");
    }

    #[test]
    fn variables_and_another_folder_are_in_the_line() {
        let env = json!([{"name": "A", "value": "x y"}, {"name": "B", "value": ""}]);
        let request = json!({"command": "make", "args": ["test"], "env": env, "cwd": "/w"});
        assert_eq!(ok(Shell::Bash, request), "env A='x y' B='' make test");
        let script = json!({"command": "bash", "args": ["-c", "cd a"], "env": [{"name": "A", "value": "1"}]});
        assert_eq!(ok(Shell::Bash, script), "env A=1 bash -c 'cd a'");
        let whole = json!({"command": "cd a && ls", "env": [{"name": "A", "value": "1"}]});
        assert_eq!(ok(Shell::Zsh, whole), "env A=1 zsh -c 'cd a && ls'");
        assert!(
            line(Shell::Bash, json!({"command": "a", "args": ["b"], "env": [{"name": "A;b", "value": ""}]})).is_err()
        );
        let elsewhere = json!({"command": "ls", "args": ["-l"], "cwd": "/nowhere here"});
        assert_eq!(ok(Shell::Bash, elsewhere.clone()), "(cd '/nowhere here' && ls -l)");
        assert!(line(Shell::Fish, elsewhere).expect_err("refused").contains("`cd` there first"));
        assert_eq!(ok(Shell::Zsh, json!({"command": "a; b # c", "cwd": "/x"})), "(cd /x || exit\na; b # c\n)");
    }

    #[test]
    fn what_no_shell_takes_is_refused() {
        assert!(line(Shell::Bash, json!({"command": " "})).is_err());
        assert!(line(Shell::Bash, json!({"command": "ls", "args": ["a\0b"]})).is_err());
    }
}
