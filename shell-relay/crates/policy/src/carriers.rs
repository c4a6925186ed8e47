//! Lists programs whose output others may have written although it is not from a file: logs, network names, buffers, containers,
//! other processes, clients of a host.

/// With any arguments, others may have written their output.
const ALWAYS: &[&str] = &[
    "adb",
    "atuin",
    "aureport",
    "ausearch",
    "avahi-browse",
    "bluetoothctl",
    "btmon",
    "clipman",
    "cliphist",
    "copyq",
    "coredumpctl",
    "crictl",
    "ctr",
    "dmesg",
    "elinks",
    "fail2ban-client",
    "finger",
    "greenclip",
    "htop",
    "hcitool",
    "incus",
    "iwlist",
    "journalctl",
    "last",
    "lastb",
    "links",
    "logread",
    "lxc",
    "pm2",
    "ps",
    "sealert",
    "supervisorctl",
    "termux-clipboard-get",
    "tshark",
    "tcpdump",
    "top",
    "wl-paste",
    "xclip",
    "xsel",
    "pbpaste",
];
/// With these words the programs print text that others may have written.
const WITH_WORDS: &[(&str, &[&str])] = &[
    ("cohab", &["learned", "mcp", "tasks", "watch"]),
    ("cohabd", &["learned", "mcp", "tasks", "watch"]),
    ("docker", CONTAINERS),
    ("docker-compose", CONTAINERS),
    ("flyctl", &["logs"]),
    ("fly", &["logs"]),
    ("heroku", &["logs"]),
    ("iw", &["scan"]),
    ("machinectl", &["status", "shell"]),
    ("minikube", &["logs"]),
    ("nerdctl", CONTAINERS),
    ("netlify", &["logs", "logs:function"]),
    ("nmcli", &["wifi"]),
    ("nomad", &["logs"]),
    ("pgrep", &["-a", "-af", "-fa", "--list-full"]),
    ("podman", CONTAINERS),
    ("pstree", &["-a", "-ap", "--arguments"]),
    ("screen", &["hardcopy"]),
    ("svn", &["blame", "cat", "diff", "info", "list", "log", "ls", "propget", "status"]),
    ("systemctl", &["status"]),
    ("tmux", &["capture-pane", "capturep", "save-buffer", "saveb", "show-buffer", "showb", "list-buffers", "lsb"]),
    ("vercel", &["logs"]),
    ("virsh", &["console"]),
];
const CONTAINERS: &[&str] = &["attach", "cp", "diff", "exec", "logs", "run", "start", "top"];

/// Whether others may have written a program's output. `arguments` may be words of a text that is handed on.
pub(super) fn carries(verb: &str, arguments: &[&str]) -> bool {
    ALWAYS.contains(&verb)
        || WITH_WORDS.iter().any(|(name, words)| *name == verb && arguments.iter().any(|word| words.contains(word)))
}
