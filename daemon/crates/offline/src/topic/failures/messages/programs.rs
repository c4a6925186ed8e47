//! Messages about programs that do not start and missing modules, and their meanings.

use super::{Look, Message};

pub(super) const MESSAGES: &[Message] = &[
    (
        &[
            "bad interpreter",
            "specified the interpreter",
            "windows line endings",
            "use -[v]s to pass options in shebang",
            "required file not found",
            "\\r’: no such file",
            "\\r': no such file",
            "$'\\r': command not found",
        ],
        "The first line of the script names an interpreter that does not exist.",
        Look::Interpreter,
    ),
    (
        &["error while loading shared libraries", "library not loaded", "cannot open shared object file"],
        "The program needs a library that is not installed, or not in a searched folder.",
        Look::Library,
    ),
    (
        &["exec format error", "cannot execute binary file"],
        "The file is not a program for this kind of machine, or it is a script without a first line `#!...`.",
        Look::Nothing,
    ),
    (&["is not a git command"], "Git knows no such command.", Look::Remedy("most similar command")),
    (
        &["permission denied while trying to connect to the docker daemon", "docker.sock: connect: permission denied"],
        "Your user may not talk to Docker: it has to be in the group `docker` (then log in again), or use `sudo`.",
        Look::Nothing,
    ),
    (
        &["cannot connect to the docker daemon"],
        "The Docker service is not running: ask `start the service docker`.",
        Look::Nothing,
    ),
    (
        &["publickey", "host key verification failed.\nfatal"],
        "The server did not accept your SSH key: check `ssh-add -l`, and that the public key is registered there.",
        Look::Nothing,
    ),
    (
        &["remote host identification has changed"],
        "The machine has a different key than last time. If you know why, `ssh-keygen -R HOST` removes the old key; \
         if not, stop here.",
        Look::Nothing,
    ),
    (&["host key verification failed"], "The machine's key is not known or has changed.", Look::Nothing),
    (
        &["not in the sudoers file"],
        "Your user may not use `sudo` here; an administrator has to allow it.",
        Look::Nothing,
    ),
    (
        &["a password is required", "a terminal is required to read the password"],
        "`sudo` needs your password and could not ask for it.",
        Look::Nothing,
    ),
    // fish begins this message with "Unknown command".
    (&["exists but is not an executable"], "The file is there but may not be run.", Look::Denied),
    (
        &["command not found", "unknown command", "' not found, ", "befehl nicht gefunden", "kommando nicht gefunden"],
        "The shell knows no program of that name.",
        Look::Command,
    ),
    (
        &["no module named", "modulenotfounderror"],
        "A Python module is missing in the environment that ran this.",
        Look::Module,
    ),
    (&["cannot find module", "cannot find package", "err_module_not_found"], "A Node module is missing.", Look::Module),
    (&["cannot load such file"], "A Ruby library is missing.", Look::Module),
    (&["in @inc"], "A Perl module is missing.", Look::Module),
    (&["no required module provides package"], "The Go module does not list that package.", Look::Remedy("go get")),
    (
        &[
            "can't find crate for",
            "unresolved import",
            "use of undeclared crate",
            "use of unresolved module or unlinked crate",
        ],
        "The crate is not among the dependencies: `cargo add NAME`, or a typo.",
        Look::Code,
    ),
    (&["there is no package called"], "An R package is missing: `install.packages(\"NAME\")` in R.", Look::Nothing),
    (
        &["classnotfoundexception", "noclassdeffounderror", "could not find or load main class"],
        "A Java class is not on the class path.",
        Look::Nothing,
    ),
];
