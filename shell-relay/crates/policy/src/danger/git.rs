//! Reads git's options in front of its subcommand, and settings that make it start programs.

use cohab_shell_syntax::LooseWord;

use super::super::{findings::Findings, rules::git::HARMLESS_SETTINGS};

/// Groups of settings that name programs, places or hosts.
const DECIDING_GROUPS: &[&str] = &[
    "core.",
    "alias.",
    "credential.",
    "pager.",
    "diff.",
    "filter.",
    "include.",
    "includeif.",
    "url.",
    "remote.",
    "gpg.",
    "sequence.",
    "merge.",
    "protocol.",
    "http.",
    "interactive.",
    "trailer.",
    "ssh.",
    "init.templatedir",
    "mergetool.",
    "difftool.",
    "browser.",
    "man.",
    "web.",
    "submodule.",
    "uploadpack.",
    "receive.",
    "sendemail.",
];

/// The arguments from the subcommand on.
pub(super) fn after_global_options(arguments: &[LooseWord]) -> &[LooseWord] {
    let mut rest = arguments;
    while let [first, tail @ ..] = rest {
        if !first.text.starts_with('-') {
            break;
        }
        let takes_next = matches!(
            first.text.as_str(),
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--config-env" | "--super-prefix"
        );
        rest = if takes_next { tail.get(1..).unwrap_or_default() } else { tail };
    }
    rest
}

/// Judges global options and changes of settings.
pub(super) fn judge(arguments: &[LooseWord], from_subcommand: &[LooseWord], findings: &mut Findings) {
    let global = &arguments[..arguments.len() - from_subcommand.len()];
    let is_harm = |text: &str| {
        matches!(text, "-c" | "-p" | "--paginate")
            || text.starts_with("--exec-path=")
            || text.starts_with("--config-env")
            || (text.starts_with("-c") && text.contains('='))
    };
    let is_harmless = |setting: &LooseWord| HARMLESS_SETTINGS.contains(&setting.text.as_str());
    let harms = |(at, word): (usize, &LooseWord)| {
        is_harm(&word.text) && !(word.text == "-c" && global.get(at + 1).is_some_and(is_harmless))
    };
    if global.iter().enumerate().any(harms) {
        findings.danger("`git` starts a program that its options name");
    }
    if global.iter().any(|word| word.text.starts_with("--git-dir") || word.text.starts_with("--work-tree")) {
        findings.ask("`git` in another repository, whose configuration may start programs");
    }
    let Some((subcommand, words)) = from_subcommand.split_first() else { return };
    if subcommand.text == "config" {
        judge_config(words, findings);
    }
    if subcommand.text == "push" && words.iter().any(|word| word.text.starts_with(['+', ':'])) {
        findings.danger("`git push` that deletes or overwrites what is on the other side");
    }
}

fn judge_config(words: &[LooseWord], findings: &mut Findings) {
    let reads = words.iter().any(|word| {
        matches!(word.text.as_str(), "--get" | "--get-all" | "--get-regexp" | "--list" | "-l" | "get" | "list")
    });
    let operands: Vec<&LooseWord> = words.iter().filter(|word| !word.text.starts_with('-')).collect();
    if words.iter().any(|word| matches!(word.text.as_str(), "-e" | "--edit")) {
        findings.danger("`git config` starts an editor on settings that decide what runs");
    }
    let decides =
        |word: &&LooseWord| DECIDING_GROUPS.iter().any(|group| word.text.to_ascii_lowercase().starts_with(group));
    if !reads && operands.len() > 1 && operands.iter().any(decides) {
        findings.danger("changes a git setting that decides what runs");
    }
}
