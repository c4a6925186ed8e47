//! Recognizes commands that use the network: data that leaves the machine, and text that comes from another host.

use cohab_shell_syntax::{LooseCommand, LooseWord};

use super::super::{findings::Findings, lookups};

/// Programs that connect to the hosts in their operands.
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

/// Further programs whose output may come from another host, with any arguments.
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
    "glab",
    "finger",
    "mtr",
    "tracepath",
    "arping",
    "nmap",
    "smbclient",
    "showmount",
    "rpcinfo",
    "ntpdate",
    "avahi-resolve",
    "mosh",
    "rlogin",
    "rsh",
];
/// Programs that send data to another host with these words.
const TELLING: &[(&str, &[&str])] = &[
    ("brew", &["search"]),
    ("flatpak", &["install", "remote-add", "remote-info", "remote-ls", "search", "update"]),
    ("helm", &["pull", "repo", "show"]),
    ("resolvectl", &["query", "service", "openpgp", "tlsa"]),
    ("snap", &["download", "find", "info", "install", "refresh"]),
    (
        "svn",
        &[
            "-u",
            "--show-updates",
            "-r",
            "--revision",
            "blame",
            "cat",
            "checkout",
            "ci",
            "co",
            "commit",
            "copy",
            "cp",
            "export",
            "import",
            "list",
            "lock",
            "log",
            "ls",
            "merge",
            "up",
            "update",
        ],
    ),
];
/// Words with which `git remote` and `git submodule` only list.
const LISTING: &[&str] = &["-v", "--verbose", "get-url", "status", "--recursive", "--cached"];
/// Programs that do some of their work here, and some with data from a host.
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

/// The words with which they send data to another host.
const TELLING_WORDS: &[&str] = &["login", "publish", "push", "upload"];
/// Programs that ask the host in their operand for a page.
const PAGE_READERS: &[&str] = &["curl", "wget", "http", "https", "xh", "lynx", "w3m"];

/// Whether a program's output may come from another host. `arguments` may be words of a text that is handed on.
pub(in super::super) fn talks_to_network(verb: &str, arguments: &[&str]) -> bool {
    let is_about_hosts = |word: &&&str| match verb {
        // The rest of their words is about the project at hand.
        "cargo" | "go" | "npm" | "pnpm" | "yarn" | "bun" => !matches!(**word, "run" | "exec" | "x" | "init"),
        _ => true,
    };
    PACKAGERS.contains(&verb) && arguments.iter().filter(is_about_hosts).any(|word| ASKING_WORDS.contains(word))
        || tells_network(verb, arguments)
}

/// Whether a program sends data to another host: at least the address of the connection is visible there. This machine is not another
/// host.
pub(in super::super) fn tells_network(verb: &str, arguments: &[&str]) -> bool {
    let has = |words: &[&str]| arguments.iter().any(|argument| words.contains(argument));
    if lookups::name_asked(verb, arguments).is_some() || TELLING.iter().any(|(name, words)| *name == verb && has(words))
    {
        return true;
    }
    match verb {
        "git" if arguments.iter().any(|word| matches!(*word, "remote" | "submodule")) => !only_lists(arguments),
        "git" => has(&["push", "fetch", "clone", "ls-remote", "pull", "lfs"]),
        _ if PACKAGERS.contains(&verb) => has(TELLING_WORDS),
        _ if PAGE_READERS.contains(&verb) => !stays_here(arguments),
        _ => CONNECTING.contains(&verb) || ASKING.contains(&verb),
    }
}

/// Whether the words behind `remote` or `submodule` only list the local settings.
fn only_lists(arguments: &[&str]) -> bool {
    let mut behind = arguments.iter().skip_while(|word| !matches!(**word, "remote" | "submodule")).skip(1);
    match behind.next() {
        None => true,
        Some(first) => LISTING.contains(first) && behind.all(|word| LISTING.contains(word) || *first == "get-url"),
    }
}

/// Whether an address is this machine's own.
pub(in super::super) fn is_loopback(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // In `localhost:80@host` the host stands behind the sign.
    let authority = authority.rsplit(['@', '\\']).next().unwrap_or_default();
    let host =
        authority.strip_prefix("[::1]").map_or_else(|| authority.split(':').next().unwrap_or_default(), |_| "::1");
    matches!(host, "localhost" | "127.0.0.1" | "::1")
}

/// Whether there are addresses and all of them are this machine's own.
fn stays_here(arguments: &[&str]) -> bool {
    let mut addresses =
        arguments.iter().filter(|word| !word.starts_with('-') && (word.contains(['.', ':']) || is_loopback(word)));
    let is_proxied = arguments
        .iter()
        .any(|word| word.starts_with("-x") || word.starts_with("--proxy") || word.starts_with("--connect"));
    !is_proxied && addresses.clone().next().is_some() && addresses.all(|word| is_loopback(word))
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
    if verb == "sftp" && around.input.as_deref().is_some_and(|text| text.contains("put")) {
        findings.danger("`sftp` sends files to another host");
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
