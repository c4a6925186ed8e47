//! The shell's start-up files: what may be in the way, and whether they open every shell inside cohab.

use std::path::{Path, PathBuf};

use super::Context;
use crate::shell_check::{
    facts::{Facts, RcFacts},
    findings::{Finding, Verdict, at, finding},
    rc,
};

/// Words of what `cohab init` prints, and of a line that evaluates it.
const INIT_WORDS: [&str; 2] = ["COHAB_OUTER", "cohab init"];

/// Looks and judges.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let Some(facts) = &context.facts else { return Vec::new() };
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let files = rc::files(facts.shell.kind, facts.shell.is_login, Path::new(&home), variable);
    judge(facts, &rc::read(&files, &home))
}

/// `texts` are the names and texts of the files that are there.
fn judge(facts: &Facts, texts: &[(String, String)]) -> Vec<Finding> {
    let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
    let list = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
    let mut found = vec![in_the_way(&facts.rc).unwrap_or_else(|| finding("start-up-files", Verdict::Ok, list))];
    let line = |text: &str| {
        let is_code = |line: &&str| !line.trim_start().starts_with('#');
        text.lines().filter(is_code).any(|line| INIT_WORDS.iter().any(|word| line.contains(word)))
    };
    let shell = facts.shell.kind.name();
    found.push(match texts.iter().find(|(_, text)| line(text)) {
        Some((name, _)) => {
            finding("every-shell", Verdict::Ok, format!("{name} opens every interactive {shell} inside cohab"))
        }
        None => finding("every-shell", Verdict::Ok, "shells open plain; `cohab` opens one with the assistant")
            .hint(format!("`cohab init {shell}` prints the lines that make every shell open inside")),
    });
    found
}

fn in_the_way(rc: &RcFacts) -> Option<Finding> {
    let warn = |text: String| finding("start-up-files", Verdict::Warn, text);
    if let Some(line) = &rc.promptvars {
        return Some(warn(format!("{} keeps marks out of the prompt", at(line))).hint("take it out"));
    }
    let line = rc.exec.as_ref()?;
    Some(
        warn(format!("{} may put another program in the shell's place", at(line)))
            .hint("`cohab shell-check` tells whether it does"),
    )
}
