//! Data that leaves the machine.

use super::super::{
    scan::{LooseCommand, LooseWord},
    verdict::Findings,
};

/// They connect to what their operands name.
const CONNECTING: &[&str] = &[
    "curl",
    "wget",
    "http",
    "https",
    "xh",
    "dig",
    "nslookup",
    "host",
    "drill",
    "ping",
    "ping6",
    "traceroute",
    "whois",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "aria2c",
    "lynx",
    "w3m",
    "git",
    "gh",
    "aws",
    "gsutil",
    "rclone",
];

/// Besides those: whatever they are told to do, it may come from another host.
const ASKING: &[&str] = &[
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ftp",
    "tftp",
    "lftp",
    "mail",
    "mutt",
    "kubectl",
    "gcloud",
    "az",
    "doctl",
    "heroku",
    "psql",
    "mysql",
    "redis-cli",
    "mongosh",
];
/// They do some of their work here, and some with what a host says.
const PACKAGERS: &[&str] = &[
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "bun",
    "pip",
    "pip3",
    "pipx",
    "uv",
    "uvx",
    "poetry",
    "cargo",
    "go",
    "gem",
    "bundle",
    "composer",
    "brew",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "pacman",
    "zypper",
    "apk",
    "snap",
    "flatpak",
    "docker",
    "podman",
    "helm",
    "terraform",
];
/// The words with which they ask.
const ASKING_WORDS: &[&str] = &[
    "install", "i", "add", "ci", "update", "upgrade", "view", "info", "search", "show", "outdated", "audit", "get",
    "fetch", "pull", "login", "publish", "push", "run", "exec", "dlx", "x", "create", "init", "download", "sync",
    "clone",
];

/// Whether what it prints may come from another host. `arguments` may be words of a text that is handed on.
pub(in super::super) fn talks_to_network(verb: &str, arguments: &[&str]) -> bool {
    let has = |words: &[&str]| arguments.iter().any(|argument| words.contains(argument));
    match verb {
        "git" => has(&["push", "fetch", "clone", "ls-remote", "pull", "remote", "submodule", "lfs"]),
        // The rest of their words is about the project at hand.
        "cargo" | "go" | "npm" | "pnpm" | "yarn" | "bun" => {
            arguments.iter().any(|word| ASKING_WORDS.contains(word) && !matches!(*word, "run" | "exec" | "x" | "init"))
        }
        _ if PACKAGERS.contains(&verb) => has(ASKING_WORDS),
        _ => CONNECTING.contains(&verb) || ASKING.contains(&verb),
    }
}

/// Whether it connects to what its operands name.
pub(super) fn connects(verb: &str) -> bool {
    CONNECTING.contains(&verb)
}

pub(super) fn judge(verb: &str, arguments: &[LooseWord], around: &LooseCommand, findings: &mut Findings) {
    if !CONNECTING.contains(&verb) {
        return;
    }
    let is_local_git = verb == "git"
        && !arguments
            .iter()
            .any(|word| matches!(word.text.as_str(), "push" | "fetch" | "clone" | "ls-remote" | "pull" | "remote"));
    if is_local_git {
        return;
    }
    if arguments.iter().any(|word| word.runs_code) {
        findings.danger(format!("`{verb}` sends the output of a command"));
    } else if matches!(verb, "curl" | "wget" | "dig" | "nslookup" | "host" | "ping" | "http")
        && arguments.iter().any(|word| word.expands)
    {
        findings.danger(format!("`{verb}` sends the value of a variable"));
    }
    let is_fed = around.piped_from.is_some()
        || around.input.is_some()
        || around.redirects.iter().any(|redirect| !redirect.writes);
    if is_fed && matches!(verb, "curl" | "wget" | "http" | "https" | "xh" | "ssh" | "aws" | "gsutil" | "rclone" | "gh")
    {
        findings.danger(format!("`{verb}` sends what it is fed"));
    }
    if is_upload(verb, arguments) {
        findings.danger(format!("`{verb}` sends files to another host"));
    }
}

fn is_upload(verb: &str, arguments: &[LooseWord]) -> bool {
    let operands: Vec<&str> =
        arguments.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    matches!(verb, "scp" | "rsync" | "sftp")
        && operands.len() > 1
        && operands.last().is_some_and(|target| target.split('/').next().is_some_and(|head| head.contains(':')))
}
