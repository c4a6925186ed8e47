//! Questions that only read are answered without a card: the real policy judges the commands of the plans.

use std::path::Path;

use cohab_shell_relay::policy::{Context, Level, assess_line};

use super::{PHRASINGS, names, play};

/// Intents that change something: a card is right.
const ACTING: &[&str] = &[
    "archives.create",
    "archives.extract",
    "git.add-all",
    "git.commit",
    "git.init",
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
    "process.kill",
    "process.kill-port",
    "shell.copy",
    "shell.delete",
    "shell.delete-kind",
    "shell.go-biggest+shell.set",
    "shell.link",
    "shell.make-file",
    "shell.make-folder",
    "shell.make-folder+shell.go",
    "shell.rename",
    "shell.set",
    "shell.set+shell.go",
    "shell.unset",
    "shell.write",
    "system.restart-service",
    "text.replace",
];

/// Commands that only read and are asked all the same, by how they begin.
const ASKED_ALL_THE_SAME: &[(&str, &str)] = &[
    ("ping ", "sends to another machine"),
    ("curl ", "sends to another machine"),
    ("getent ahosts ", "asks a name server: a name can carry data"),
    ("ls -l -d /etc/shadow", "a secret place, even to list"),
    ("rustc --version", "a tool manager stands in for it, and may run what the project names"),
    ("printenv PATH_X", "a variable that nobody knows may be secret"),
];

fn is_allowed(command: &str) -> bool {
    assess_line(command, Context::new(Path::new("/home/ann/src"), Path::new("/home/ann"))).level == Level::Allow
}

fn is_excepted(command: &str) -> bool {
    ASKED_ALL_THE_SAME.iter().any(|(begin, _)| command.starts_with(begin))
}

/// All commands of a plan, with output that most plans can go on with.
fn commands(phrasing: &str) -> Vec<String> {
    let output = |command: &str| {
        let text = match command.split(' ').next() {
            Some("command") => "/usr/bin/apt",
            Some("ls") => "-rw-r--r-- 1 ann ann 7 Nov 20 10:00 a.txt",
            Some("du") => "3.0G\t.\n2.0G\t./a",
            _ => "",
        };
        (format!("{text}\n[exit 0; cwd /home/ann/src; 0.01 s]"), false)
    };
    play(phrasing, output).0
}

#[test]
fn whatever_only_reads_runs_unasked() {
    let phrasings = PHRASINGS.lines().filter_map(|line| line.split(" | ").nth(1));
    let reading = phrasings.filter(|phrasing| !ACTING.contains(&names(phrasing).as_str()));
    let plans: Vec<(&str, Vec<String>)> = reading.map(|phrasing| (phrasing, commands(phrasing))).collect();
    let asked: Vec<_> = plans
        .iter()
        .flat_map(|(phrasing, commands)| commands.iter().map(move |command| (phrasing, command)))
        .filter(|(_, command)| !is_allowed(command) && !is_excepted(command))
        .collect();
    assert!(asked.is_empty(), "{asked:#?}");
    assert!(plans.iter().filter(|(_, commands)| !commands.is_empty()).count() >= 300, "{}", plans.len());
}

#[test]
fn the_exceptions_are_needed() {
    let phrasings: Vec<&str> = PHRASINGS.lines().filter_map(|line| line.split(" | ").nth(1)).collect();
    let intents: Vec<String> = phrasings.iter().map(|phrasing| names(phrasing)).collect();
    for acting in ACTING {
        assert!(intents.iter().any(|intent| intent == acting), "{acting}");
    }
    let commands: Vec<String> = phrasings.iter().flat_map(|phrasing| commands(phrasing)).collect();
    for (begin, why) in ASKED_ALL_THE_SAME {
        let is_met = commands.iter().any(|command| command.starts_with(begin) && !is_allowed(command));
        assert!(is_met && !why.is_empty(), "{begin}");
    }
}
