//! Messages about ports, space, network and packages, and their meanings.

use super::{Look, Message};

pub(super) const MESSAGES: &[Message] = &[
    (
        &[
            "address already in use",
            "eaddrinuse",
            "port is already allocated",
            "is already in use",
            "was already in use",
            "is in use by another",
            "connection in use",
            "only one usage of each socket address",
        ],
        "Another program holds that port.",
        Look::Port,
    ),
    (
        &["file watchers reached"],
        "Too many files are watched; the disk is not full. `fs.inotify.max_user_watches` is the limit.",
        Look::Nothing,
    ),
    (
        &["disk quota exceeded", "edquot"],
        "Your quota on that file system is used up: delete some of your files, or ask for a larger quota.",
        Look::Space,
    ),
    (
        &["no space left on device", "enospc", "database or disk is full", "not enough space on"],
        "A file system is full.",
        Look::Space,
    ),
    (
        &["read-only file system", "erofs"],
        "That file system is mounted read-only: on purpose, or because of an error (`show the system log`).",
        Look::Nothing,
    ),
    (
        &["too many open files", "emfile"],
        "The program opened more files than it may: `ulimit -n` shows the limit.",
        Look::Nothing,
    ),
    (
        &["argument list too long"],
        "The pattern matches more names than fit into one command: use `find ... -exec`, or a narrower pattern.",
        Look::Nothing,
    ),
    (&["text file busy"], "The program is running, so its file cannot be replaced now.", Look::Nothing),
    (
        &["device or resource busy"],
        "It is still in use: a program has a file open there, or a shell is in that folder.",
        Look::Nothing,
    ),
    (&["file name too long"], "The name is longer than the file system allows (usually 255 bytes).", Look::Nothing),
    (&["invalid cross-device link"], "The two places are on different file systems, so copy instead.", Look::Nothing),
    (
        &["out of memory", "cannot allocate memory", "heap out of memory", "memoryerror"],
        "Memory ran out. `how much memory is free?` and `what uses the most memory?` show details.",
        Look::Nothing,
    ),
    (
        &[
            "could not resolve host",
            "temporary failure in name resolution",
            "name or service not known",
            "nodename nor servname",
            "enotfound",
            "eai_again",
            "no such host",
            "unable to resolve host",
        ],
        "No address was found for the name: a typo, or no network.",
        Look::Network,
    ),
    (
        &["connection refused", "econnrefused", "couldn't connect to server", "failed to connect to"],
        "The machine answers, but nothing listens on that port.",
        Look::Refused,
    ),
    (
        &["network is unreachable", "enetunreach", "no route to host", "ehostunreach"],
        "There is no route to that address.",
        Look::Network,
    ),
    (
        &["connection timed out", "etimedout", "operation timed out", "timed out"],
        "The server does not answer: it is down, or a firewall blocks it.",
        Look::Nothing,
    ),
    (&["connection reset by peer", "econnreset"], "The server closed the connection.", Look::Nothing),
    (
        &[
            "certificate has expired",
            "self-signed certificate",
            "self signed certificate",
            "certificate verify failed",
            "unable to get local issuer certificate",
        ],
        "The server's certificate is not trusted: it is expired or self-signed, or the clock of this machine is \
         wrong.",
        Look::Nothing,
    ),
    (
        &["externally-managed-environment"],
        "This Python belongs to the system. Create a virtual environment: `python3 -m venv .venv`, then \
         `.venv/bin/pip install ...`.",
        Look::Nothing,
    ),
    (
        &["could not get lock /var/lib", "unable to acquire the dpkg"],
        "Another package manager is running; wait until it ends.",
        Look::Nothing,
    ),
    (
        &["unable to locate package", "no match for argument", "target not found"],
        "The package manager knows no such package: check the name with `search for a package named ...`, or refresh its lists.",
        Look::Nothing,
    ),
    (
        &["are you root", "must be root", "must be run as root", "requires root", "superuser privilege"],
        "Only root may do that: put `sudo` in front if you mean it.",
        Look::Nothing,
    ),
    (&["missing script"], "`package.json` has no script of that name; `npm run` lists them.", Look::Nothing),
    (
        &[
            "could not find `cargo.toml`",
            "could not read package.json",
            "no such file or directory, open '/package.json",
        ],
        "This folder is not a project of that kind; go to the project's folder first.",
        Look::Nothing,
    ),
];
