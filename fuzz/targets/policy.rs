//! Fuzzes the policy with any text as a command in the three shells: there is always a verdict, soon, and the same each time. A separate
//! reader, which uses no parser and no table, checks allowed lines again: characters, names of commands, redirections. Harm appended to an
//! allowed line is recognized. Facts from any disk make no verdict milder.
#![no_main]

use std::{path::{Path, PathBuf}, time::{Duration, Instant}};

use cohab_policy::{Context, Files, Level, assess_line, outside_source, parts, reaches_out, user_rules::Rule};
use cohab_shell_state::shell::Shell;
use libfuzzer_sys::fuzz_target;

/// Far longer than the longest input takes, even on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(3);
/// Programs that `find` and `xargs` may never run unasked.
const RUNNERS: &[&str] = &[
    "awk", "bash", "chmod", "cp", "dash", "dd", "env", "eval", "exec", "find", "fish", "gawk", "ln", "make", "mv",
    "nice", "node", "perl", "python", "python3", "rm", "ruby", "sed", "sh", "sudo", "tar", "tee", "timeout", "vim",
    "xargs", "zsh",
];
/// Most commands of a line that may be allowed.
const MAX_COMMANDS: usize = 50;

/// A disk on which the name of a path decides its target.
#[derive(Debug)]
struct Disk;

impl Files for Disk {
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
        let bytes = path.as_os_str().as_encoded_bytes();
        match bytes.iter().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte)) % 6 {
            0 => None,
            1 => Some(Vec::new()),
            2 => Some(vec!["/home/ann/.ssh/id_rsa".into()]),
            3 => Some(vec!["/home/ann/.bashrc".into(), "/srv/x".into()]),
            _ => Some(vec![path.to_owned()]),
        }
    }

    fn landings(&self, path: &Path, _follows_last: bool) -> Option<Vec<PathBuf>> {
        self.targets(path)
    }

    fn find_below(&self, root: &Path, with_hidden: bool, _is_wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        with_hidden.then(|| root.join(".env"))
    }
}

fuzz_target!(|bytes: &[u8]| {
    let line = String::from_utf8_lossy(bytes);
    let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
    let in_bash = assess_line(&line, context).level;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let context = context.in_shell(shell);
        let started = Instant::now();
        let verdict = assess_line(&line, context);
        assert!(started.elapsed() < MAX_TIME, "{shell:?} takes {:?}", started.elapsed());
        assert_eq!(verdict, assess_line(&line, context));
        assert!(verdict.level >= in_bash, "{shell:?} is judged more mildly");
        let looked = assess_line(&line, context.with_files(&Disk));
        assert!(looked.level >= verdict.level, "a look at files makes it milder: {:?}", looked.reasons);
        assert_eq!(verdict.level == Level::Allow, verdict.reasons.is_empty(), "{:?}", verdict.reasons);
        assert!(
            !verdict.reasons.iter().any(|reason| reason.ends_with(": the check itself failed")),
            "a check panicked"
        );
        if verdict.level == Level::Allow {
            check_allowed(&line, context);
        }
    }
    let _ = (parts(&line, context), outside_source(&line, context, Path::new("/home/ann/work")), reaches_out(&line));
    let _ = Rule::of(&line, Some(Path::new("/home/ann/work/app")), Shell::Bash);
});

fn check_allowed(line: &str, context: Context<'_>) {
    if let Err(why) = plain(line) {
        panic!("{why} is allowed: {line:?}");
    }
    for harm in ["; rm -rf ~", " && rm -rf ~", " | sh", "\nrm -rf ~", " $(rm -rf ~)", " > ~/.bashrc", " & rm -rf ~"] {
        let level = assess_line(&format!("{line}{harm}"), context).level;
        assert_eq!(level, Level::Danger, "{line:?} with {harm:?}");
    }
}

/// Checks that a line has only the parts of a plain line.
fn plain(line: &str) -> Result<(), &'static str> {
    if line.len() > 32 * 1024 {
        return Err("a long line");
    }
    let mut commands = 0;
    let mut words: Vec<String> = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some(first) = rest.chars().next() else { break };
        if let Some(after) = ["&&", "||", ";", "|", "\n"].iter().find_map(|sign| rest.strip_prefix(sign)) {
            rest = after;
            commands += usize::from(!words.is_empty());
            command(&words)?;
            words.clear();
        } else if let Some(after) = redirection(rest) {
            rest = after?;
        } else if let Some(after) = placeholder(rest, &words) {
            words.push("{}".to_owned());
            rest = after;
        } else if "&<>(){}$`".contains(first) {
            return Err("a sign that runs something");
        } else {
            let (word, after) = word(rest)?;
            words.push(word);
            rest = after;
        }
    }
    command(&words)?;
    if commands > MAX_COMMANDS { Err("a long list") } else { Ok(()) }
}

/// The text after a redirection; `None` if `text` does not start with one.
fn redirection(text: &str) -> Option<Result<&str, &'static str>> {
    let from_sign = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = from_sign.len() < text.len();
    if let Some(target) = from_sign.strip_prefix("<") {
        let is_path = target.trim_start_matches([' ', '\t']).starts_with(|c| !"<>&|;\n(".contains(c));
        return Some(if is_path { Ok(target) } else { Err("an input that is no file") });
    }
    if let Some(target) = from_sign.strip_prefix(">&") {
        let after = target.trim_start_matches([' ', '\t']).strip_prefix(['1', '2']);
        let ends = |rest: &&str| rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '|', '&', '<', '>']);
        return Some(after.filter(ends).ok_or("a copied output"));
    }
    let target = match from_sign.strip_prefix("&>") {
        Some(target) if !is_numbered => Some(target),
        _ => from_sign.strip_prefix(">>").or_else(|| from_sign.strip_prefix('>')),
    }?;
    let Ok((name, after)) = word(target.trim_start_matches([' ', '\t'])) else { return Some(Err("a written file")) };
    Some(if name == "/dev/null" { Ok(after) } else { Err("a written file") })
}

/// A word without its quotes, and the text after it.
fn word(text: &str) -> Result<(String, &str), &'static str> {
    let mut word = String::new();
    let mut chars = text.chars();
    let mut quote = None;
    let mut is_begun = false;
    let mut previous = None;
    if text.starts_with('#') {
        return Err("a comment");
    }
    while let Some(c) = chars.clone().next() {
        if quote.is_none() && (c.is_whitespace() || ";&|<>".contains(c)) {
            break;
        }
        // After other letters, a pair of braces is literal in all three shells.
        if let Some(after) = chars.as_str().strip_prefix("{}").filter(|_| quote.is_none() && is_begun) {
            word.push_str("{}");
            chars = after.chars();
            continue;
        }
        // Git's notation of revisions: `stash@{0}`.
        if quote.is_none()
            && previous.is_some_and(|before| "@^".contains(before))
            && let Some(after) = behind_item(chars.as_str())
        {
            word.push_str(&chars.as_str()[..chars.as_str().len() - after.len()]);
            (chars, previous) = (after.chars(), Some('}'));
            continue;
        }
        is_begun = true;
        previous = Some(c);
        chars.next();
        match (quote, c) {
            (_, c) if c.is_control() && !matches!(c, '\t' | '\n') => return Err("a control character"),
            (Some(open), c) if open == c => quote = None,
            (Some('\''), c) => word.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (_, '$' | '`') => return Err("an expansion"),
            (Some(_), '!') => return Err("a `!` in double quotes"),
            (Some(_), '\\') => word.extend(chars.next().filter(|c| *c != '\n')),
            (None, '\\') => match chars.next() {
                Some(c) if "().!*?|+-;".contains(c) => word.push(c),
                _ => return Err("an escape"),
            },
            (None, '(' | ')' | '{' | '}') => return Err("a group"),
            (_, c) => word.push(c),
        }
    }
    if quote.is_some() { Err("an open quote") } else { Ok((word, chars.as_str())) }
}

/// The text after braces around a single plain item.
fn behind_item(text: &str) -> Option<&str> {
    let (item, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_plain = item.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    (is_plain && !item.contains("..")).then_some(after)
}

/// The text after a separate `{}` behind another word: a placeholder for `find` and `xargs`, literal for all others.
fn placeholder<'a>(text: &'a str, words: &[String]) -> Option<&'a str> {
    let after = text.strip_prefix("{}")?;
    let ends = after.is_empty() || after.starts_with([' ', '\t', '\n', '|', ';', '&', '>']);
    (ends && !words.is_empty()).then_some(after)
}

fn command(words: &[String]) -> Result<(), &'static str> {
    let Some(name) = words.first() else { return Ok(()) };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte);
    if name != "[" && (name.is_empty() || !name.bytes().all(is_plain)) {
        return Err("a name that is none");
    }
    let is_value = |word: &str| word.starts_with('-') || word == "{}" || word.bytes().all(|byte| byte.is_ascii_digit());
    let run = match name.as_str() {
        "find" => words.windows(2).filter(|pair| pair[0] == "-exec").map(|pair| &pair[1]).collect(),
        "xargs" => words[1..].iter().find(|word| !is_value(word)).into_iter().collect(),
        _ => Vec::new(),
    };
    if run.iter().any(|name| RUNNERS.contains(&name.as_str())) { Err("a program that runs others") } else { Ok(()) }
}
