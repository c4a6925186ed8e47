//! Tests for the plans under the real policy: questions that only read run without a card, and changes are asked about. The policy judges
//! the commands as bash, zsh and fish read them.

use std::{collections::BTreeSet, path::Path};

use cohab_policy::{Context, Level, assess_line};
use cohab_shell_state::shell::Shell;

use super::{PHRASINGS, names, play, topic};

/// Intents that change something: a card is right.
const ACTING: &[&str] = &[
    "archives.compress-biggest",
    "archives.create",
    "archives.extract",
    "git.add-all",
    "git.clone",
    "git.commit",
    "git.commit-all",
    "git.delete-branch",
    "git.delete-merged",
    "git.fetch",
    "git.init",
    "git.merge",
    "git.new-branch",
    "git.pull",
    "git.push",
    "git.restore",
    "git.stage",
    "git.stash",
    "git.stash-pop",
    "git.switch",
    "git.undo-commit",
    "network.download",
    "packages.install",
    "packages.remove",
    "packages.upgrade",
    "permissions.make-executable",
    "permissions.make-private",
    "permissions.make-readonly",
    "permissions.set-mode",
    "process.kill",
    "process.kill-hog",
    "process.kill-port",
    "shell.backup",
    "shell.copy",
    "shell.copy-kind",
    "shell.delete",
    "shell.delete-big",
    "shell.delete-biggest",
    "shell.delete-empty",
    "shell.delete-kind",
    "shell.delete-old",
    "shell.link",
    "shell.make-file",
    "shell.make-folder",
    "shell.move-kind",
    "shell.rename",
    "shell.set",
    "shell.unset",
    "shell.write",
    "system.restart-service",
    "system.start-service",
    "system.stop-service",
    "text.replace",
];

/// Commands that only read and are still asked about, by their first letters.
const ASKED_ALL_THE_SAME: &[(&str, &str)] = &[
    ("ping ", "sends to another machine"),
    ("curl ", "sends to another machine"),
    ("getent ahosts ", "asks a name server: a name can carry data"),
    ("ls -l -d /etc/shadow", "a secret place, even to list"),
    ("printenv PATH_X", "a variable that nobody knows may be secret"),
    ("printenv PATHEXT", "a variable that nobody knows may be secret"),
];

/// The same for commands that are asked about in one shell only.
const ASKED_IN: &[(Shell, &str, &str)] = &[
    (Shell::Zsh, "typeset +x", "the policy knows the names of variables only in bash"),
    (Shell::Zsh, "help ", "no command of zsh"),
    (Shell::Fish, "help ", "opens a browser"),
    (Shell::Fish, "cd --help", "starts a pager"),
];

const SHELLS: [(Shell, &str); 3] = [(Shell::Bash, "bash"), (Shell::Zsh, "zsh"), (Shell::Fish, "fish")];

fn is_allowed(command: &str, shell: Shell) -> bool {
    let context = Context::new(Path::new("/home/ann/src"), Path::new("/home/ann")).in_shell(shell);
    assess_line(command, context).level == Level::Allow
}

fn is_excepted(command: &str, shell: Shell) -> bool {
    ASKED_ALL_THE_SAME.iter().any(|(begin, _)| command.starts_with(begin))
        || ASKED_IN.iter().any(|(there, begin, _)| *there == shell && command.starts_with(begin))
}

/// Output with which most plans can continue.
fn helpful(command: &str) -> (String, bool) {
    let text = match command.split(' ').next().unwrap_or_default() {
        "command" => "/usr/bin/apt",
        "ls" if command.contains("2> /dev/null") => return ("[exit 2; cwd /home/ann/src; 0.01 s]".into(), false),
        "ls" => "-rw-r--r-- 1 ann ann 7 Nov 20 10:00 a.txt",
        "du" if command.contains("-k") => "300\t./a\n20\t./b",
        "du" => "3.0G\t.\n2.0G\t./a",
        "find" if command.contains("%s") => "900 ./a.log\n20 ./b.log",
        "find" if command.contains("-type d") => "./a\n./b",
        "find" => "./a.txt\n./b.txt",
        "ps" => "87.5 4711 ann node a.js",
        "pgrep" => "4711 node a.js",
        "ss" => "LISTEN 0 5 0.0.0.0:3000 0.0.0.0:* users:((\"node\",pid=4711,fd=3))",
        "git" if command.contains("--merged") => "* main\n  done",
        "git" if command.contains("--list") => "  fix-typo",
        "git" if command.contains("--contains") => "",
        "git" if command.contains("status") => " M a.rs",
        "git" => "a.rs",
        "grep" => "1:foo",
        _ => "",
    };
    (format!("{text}\n[exit 0; cwd /home/ann/src; 0.01 s]"), false)
}

/// All commands of the plan in a shell.
fn commands_in(phrasing: &str, shell: &str) -> Vec<String> {
    let asked = format!(
        "<environment>\ncwd: /home/ann/src\nshell: {shell}\n</environment>\n<question>\n{phrasing}\n</question>"
    );
    play(&asked, helpful).0
}

fn is_acting(names: &str) -> bool {
    names.split('+').any(|name| ACTING.contains(&name))
}

/// Runs every intent by its example, in every shell, and every phrasing of the table in bash, judged for every shell.
#[test]
fn whatever_only_reads_runs_unasked_in_every_shell() {
    let mut judged: BTreeSet<(String, &str)> = BTreeSet::new();
    for phrasing in PHRASINGS.lines().filter_map(|line| line.split(" | ").nth(1)) {
        if !is_acting(&names(phrasing)) {
            let commands = commands_in(phrasing, "bash");
            let is_of_bash = |command: &str| command.starts_with("compgen") || command.starts_with("jobs");
            judged.extend(commands.into_iter().map(|command| {
                let there = if is_of_bash(&command) { "bash" } else { "any" };
                (command, there)
            }));
        }
    }
    for (_, shell) in SHELLS {
        for intent in topic::intents().filter(|intent| !is_acting(intent.name) && !is_acting(&names(intent.example))) {
            judged.extend(commands_in(intent.example, shell).into_iter().map(|command| (command, shell)));
        }
    }
    let asked: Vec<_> = judged
        .iter()
        .flat_map(|(command, there)| {
            SHELLS.iter().filter(move |(_, name)| *there == "any" || name == there).map(move |shell| (command, shell))
        })
        .filter(|(command, (shell, _))| !is_allowed(command, *shell) && !is_excepted(command, *shell))
        .collect();
    assert!(asked.is_empty(), "{asked:#?}");
    assert!(judged.len() >= 400, "{}", judged.len());
}

#[test]
fn whatever_changes_something_is_asked_about_in_every_shell() {
    for intent in topic::intents().filter(|intent| ACTING.contains(&intent.name)) {
        for (shell, name) in SHELLS {
            let commands = commands_in(intent.example, name);
            let last = commands.last().unwrap_or_else(|| panic!("{} does nothing", intent.example));
            assert!(!is_allowed(last, shell), "{name}: {}: {commands:?}", intent.example);
            // The commands before the last one only read.
            for look in &commands[..commands.len() - 1] {
                assert!(is_allowed(look, shell), "{name}: {}: {look}", intent.example);
            }
        }
    }
}

#[test]
fn the_exceptions_are_needed() {
    let known: Vec<&str> = topic::intents().map(|intent| intent.name).collect();
    for acting in ACTING {
        assert!(known.contains(acting), "{acting}");
    }
    for (begin, why) in ASKED_ALL_THE_SAME {
        let object = begin.trim_end().rsplit(' ').next().unwrap_or_default();
        let speaks_of_it = |line: &&str| line.contains(begin) || line.contains(object);
        let mut phrasings = PHRASINGS.lines().filter(speaks_of_it).filter_map(|line| line.split(" | ").nth(1));
        let is_met = phrasings.any(|phrasing| {
            let commands = commands_in(phrasing, "bash");
            commands.iter().any(|command| command.starts_with(begin) && !is_allowed(command, Shell::Bash))
        });
        assert!(is_met && !why.is_empty(), "{begin}");
    }
    for (shell, begin, why) in ASKED_IN {
        assert!(!is_allowed(begin.trim_end(), *shell) && !why.is_empty(), "{begin}");
    }
}
