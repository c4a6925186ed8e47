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
        "Not the disk is full: too many files are watched. `fs.inotify.max_user_watches` is the limit.",
        Look::Nothing,
    ),
    (
        &["disk quota exceeded", "edquot"],
        "You have used up what you may use on that file system: delete something of yours, or ask for more.",
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
        "Something still uses it: a program's open file, or a folder a shell is in.",
        Look::Nothing,
    ),
    (&["file name too long"], "The name is longer than the file system allows (usually 255 bytes).", Look::Nothing),
    (&["invalid cross-device link"], "The two places are on different file systems, so copy instead.", Look::Nothing),
    (
        &["out of memory", "cannot allocate memory", "heap out of memory", "memoryerror"],
        "Memory ran out. `how much memory is free?` and `what uses the most memory?` tell more.",
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
        "The name has no address: a typo, or no network.",
        Look::Network,
    ),
    (
        &["connection refused", "econnrefused", "couldn't connect to server", "failed to connect to"],
        "The machine answers, but nothing listens on that port.",
        Look::Refused,
    ),
    (
        &["network is unreachable", "enetunreach", "no route to host", "ehostunreach"],
        "There is no way to that address.",
        Look::Network,
    ),
    (
        &["connection timed out", "etimedout", "operation timed out", "timed out"],
        "The other side does not answer: it is down, or a firewall is between.",
        Look::Nothing,
    ),
    (&["connection reset by peer", "econnreset"], "The other side cut the connection.", Look::Nothing),
    (
        &[
            "certificate has expired",
            "self-signed certificate",
            "self signed certificate",
            "certificate verify failed",
            "unable to get local issuer certificate",
        ],
        "The certificate of the other side is not trusted: expired, made by itself, or the clock here is wrong.",
        Look::Nothing,
    ),
    (
        &["externally-managed-environment"],
        "This Python belongs to the system. Make an environment of your own: `python3 -m venv .venv`, then `.venv/bin/pip install ...`.",
        Look::Nothing,
    ),
    (
        &["could not get lock /var/lib", "unable to acquire the dpkg"],
        "Another package manager is at work; wait until it is done.",
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
        "This folder is no project of that kind; go to its folder first.",
        Look::Nothing,
    ),
];
