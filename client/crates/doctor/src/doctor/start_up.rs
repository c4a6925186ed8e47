//! Checks the shell's start-up files: what conflicts with cohab, and whether they open every shell inside it.

use std::path::{Path, PathBuf};

use super::context::Context;
use crate::shell_check::{
    facts::RcFacts,
    finding::{Finding, FindingVerdict, at, finding},
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
    judge(facts.shell.kind.name(), &facts.rc, &rc::read(&files, &home))
}

/// `texts` are the names and texts of the files that are there.
fn judge(shell: &str, rc: &RcFacts, texts: &[(String, String)]) -> Vec<Finding> {
    let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
    let list = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
    let mut found = vec![in_the_way(rc).unwrap_or_else(|| finding("rc-files", FindingVerdict::Ok, list))];
    let line = |text: &str| {
        let is_code = |line: &&str| !line.trim_start().starts_with('#');
        text.lines().filter(is_code).any(|line| INIT_WORDS.iter().any(|word| line.contains(word)))
    };
    found.push(match texts.iter().find(|(_, text)| line(text)) {
        Some((name, _)) => {
            finding("every-shell", FindingVerdict::Ok, format!("{name} opens every interactive {shell} inside cohab"))
        }
        None => finding("every-shell", FindingVerdict::Ok, "shells open plain; `cohab` opens one with the assistant")
            .hint(format!("`cohab init {shell}` prints the lines that make every shell open inside")),
    });
    found
}

fn in_the_way(rc: &RcFacts) -> Option<Finding> {
    let warn = |text: String| finding("rc-files", FindingVerdict::Warn, text);
    if let Some(line) = &rc.promptvars {
        return Some(warn(format!("{} keeps marks out of the prompt", at(line))).hint("take it out"));
    }
    let line = rc.exec.as_ref()?;
    Some(
        warn(format!("{} may put another program in the shell's place", at(line)))
            .hint("`cohab shell-check` finds out"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<Finding> {
        let texts = [("~/.bashrc".to_owned(), text.to_owned())];
        judge("bash", &rc::examine(&texts, ""), &texts)
    }

    #[test]
    fn the_lines_of_init_are_found_however_they_got_there_but_not_in_a_comment() {
        for text in
            ["eval \"$(cohab init bash)\"", "x=1\n    COHAB_OUTER=$__cohab_ended \"$__cohab\" --shell \"$BASH\""]
        {
            assert_eq!(told(text)[1].text, "~/.bashrc opens every interactive bash inside cohab", "{text}");
        }
        for text in ["# cohab init bash", "", "alias cohab=x"] {
            assert!(told(text)[1].hint.as_ref().is_some_and(|hint| hint.contains("cohab init bash")), "{text}");
        }
    }

    #[test]
    fn what_replaces_the_shell_or_switches_marks_off_is_a_warning_with_its_place() {
        for text in ["a\nexec fish", "shopt -u promptvars"] {
            let found = &told(text)[0];
            assert!(found.verdict == FindingVerdict::Warn && found.text.contains("~/.bashrc line"), "{found:?}");
        }
        assert_eq!((told("a")[0].verdict, told("a")[0].text.as_str()), (FindingVerdict::Ok, "~/.bashrc"));
        assert_eq!(judge("bash", &RcFacts::default(), &[])[0].text, "there are none");
    }
}
