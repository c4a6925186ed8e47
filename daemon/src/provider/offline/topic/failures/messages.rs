//! What messages of common programs mean: pure data.

/// What to look at to say more than the message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The message says it all.
    Nothing,
    /// Programs of a similar name, and the package that has it.
    Command,
    /// Who may do what with the file.
    Denied,
    /// Files of a similar name.
    Missing,
    /// Who holds the port.
    Port,
    /// Which file system is full.
    Space,
    /// Which files are in conflict.
    Conflict,
    /// What the project says about its modules.
    Module,
    /// The first line of the script.
    Interpreter,
    /// Other versions of the library.
    Library,
    /// Whether there is a network at all.
    Network,
    /// Whether anything listens there.
    Refused,
    /// The first error of a compiler or interpreter, with its place.
    Code,
    /// The line itself holds the remedy, behind this text.
    Remedy(&'static str),
}

/// Parts of a message, in lower case; what it means; what else to look at. The specific come first: of two that fit the same line
/// the upper one counts.
pub(super) const MESSAGES: &[(&[&str], &str, Look)] = &[
    // Starting programs.
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
        "The first line of the script names an interpreter that is not there.",
        Look::Interpreter,
    ),
    (
        &["error while loading shared libraries", "library not loaded", "cannot open shared object file"],
        "The program needs a library that is not installed, or not where it is looked for.",
        Look::Library,
    ),
    (
        &["exec format error", "cannot execute binary file"],
        "The file is no program for this kind of machine, or a script without its first line `#!...`.",
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
        "The other side did not accept your SSH key: check `ssh-add -l`, and that the public key is registered there.",
        Look::Nothing,
    ),
    (
        &["remote host identification has changed"],
        "The machine shows another key than last time. If you know why, `ssh-keygen -R HOST` forgets the old one; if not, stop here.",
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
    (
        &["command not found", "unknown command", "' not found, ", "befehl nicht gefunden", "kommando nicht gefunden"],
        "The shell knows no program of that name.",
        Look::Command,
    ),
    // Modules before files: their messages name files, too.
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
    // Ports and space.
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
    // Git.
    (
        &[
            "merge conflict",
            "automatic merge failed",
            "unmerged files",
            "unresolved conflict",
            "could not apply",
            "needs merge",
        ],
        "Two changes touch the same lines. Mend the marked places, then stage and commit the files.",
        Look::Conflict,
    ),
    (&["not a git repository"], "This folder is not inside a git repository; go to the project first.", Look::Nothing),
    (
        &["would be overwritten by"],
        "Git protects changes that are not committed: commit or stash them first.",
        Look::Nothing,
    ),
    (
        &["has no upstream branch"],
        "The branch has no counterpart on the remote yet.",
        Look::Remedy("git push --set-upstream"),
    ),
    (
        &["failed to push some refs", "non-fast-forward", "fetch first"],
        "The remote has commits you lack: `git pull` first.",
        Look::Nothing,
    ),
    (
        &["divergent branches"],
        "Both sides have new commits: say how to join them, `git pull --rebase` or `git pull --no-rebase`.",
        Look::Nothing,
    ),
    (&["unrelated histories"], "The two sides have no commit in common; are these the same project?", Look::Nothing),
    (
        &["please tell me who you are", "empty ident name"],
        "Git needs your name: `git config --global user.name \"...\"` and `user.email`.",
        Look::Nothing,
    ),
    (
        &["index.lock"],
        "Another git is at work here, or one was killed. If none runs, delete the file `index.lock` that is named.",
        Look::Nothing,
    ),
    (
        &["dubious ownership"],
        "The repository belongs to somebody else, so git does not trust it.",
        Look::Remedy("git config --global --add safe.directory"),
    ),
    (
        &["no configured push destination", "does not appear to be a git repository"],
        "There is no such remote: `git remote add origin ADDRESS`.",
        Look::Nothing,
    ),
    (
        &[
            "authentication failed",
            "could not read username",
            "password authentication was removed",
            "http basic: access denied",
            "invalid username or",
        ],
        "The other side did not accept your name or token. Most hosts want a token or an SSH key instead of a password.",
        Look::Nothing,
    ),
    (
        &["repository not found"],
        "There is no such repository, or it is not shown to you: check the address and your rights.",
        Look::Nothing,
    ),
    (
        &["did not match any file(s) known to git", "invalid reference", "unknown revision or path"],
        "Git knows neither a branch nor a file of that name. `list the branches` shows them; `git fetch` gets those of the remote.",
        Look::Nothing,
    ),
    (
        &["nothing to commit", "nothing added to commit"],
        "No change is staged, so there was nothing to commit.",
        Look::Nothing,
    ),
    // Network.
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
    // Packages.
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
    // Code.
    (
        &["test result: failed", "tests failed", "test failed", "failures=", "--- fail:", "failing"],
        "A test failed.",
        Look::Code,
    ),
    (
        &["error[e", "could not compile"],
        "The Rust compiler rejects the code; `rustc --explain CODE` tells more about an error.",
        Look::Code,
    ),
    (
        &["undefined reference", "ld returned", "linker command failed", "linking with `cc` failed"],
        "The linker misses a function: a library or an object file is not named.",
        Look::Code,
    ),
    (&["no rule to make target"], "`make` knows no way to make that: a typo, or a missing source file.", Look::Code),
    (&["segmentation fault", "core dumped"], "The program touched memory it must not: a bug in it.", Look::Nothing),
    (
        &[
            "syntax error near",
            "unexpected end of file",
            "unexpected eof",
            "unmatched \"",
            "unmatched '",
            "quotes are not balanced",
            "unexpected end of string",
        ],
        "The shell could not read the line: a quote or bracket is not closed, or a `then`, `do` or `fi` is missing.",
        Look::Nothing,
    ),
    // Files, last: many messages above hold these words as well.
    (&["unbound variable", "parameter not set"], "The script uses a variable that is not set.", Look::Nothing),
    (
        &["no matches found", "no matches for wildcard"],
        "No file fits the pattern, and this shell does not pass it on: quote it if the program should see it.",
        Look::Nothing,
    ),
    (&["event not found"], "`!` calls an earlier line of the history; put it into single quotes.", Look::Nothing),
    (&["exists but is not an executable"], "The file is there but may not be run.", Look::Denied),
    (
        &["permission denied", "permissionerror", "eacces", "keine berechtigung"],
        "You lack the right to do that.",
        Look::Denied,
    ),
    (&["operation not permitted", "eperm"], "Only the owner or root may do that.", Look::Denied),
    (
        &[
            "no such file or directory",
            "enoent",
            "filenotfounderror",
            "does not exist",
            "datei oder verzeichnis nicht gefunden",
        ],
        "A file or folder of that name is not there.",
        Look::Missing,
    ),
    (&["is a directory", "eisdir"], "A file was expected where there is a folder.", Look::Nothing),
    (&["not a directory", "enotdir"], "A folder was expected where there is a file.", Look::Nothing),
    (&["file exists", "eexist", "already exists"], "Something of that name is already there.", Look::Nothing),
    (&["directory not empty", "enotempty"], "The folder still holds files.", Look::Nothing),
    (
        &[
            "invalid option",
            "unrecognized option",
            "unrecognized argument",
            "unknown option",
            "unexpected argument",
            "illegal option",
        ],
        "The program does not know that option; its `--help` lists those it knows.",
        Look::Nothing,
    ),
    (
        &["missing operand", "missing file operand", "too few arguments", "following required arguments"],
        "The command lacks a word, such as the name of a file.",
        Look::Nothing,
    ),
    (
        &[
            "error ts",
            "error: ",
            ": error",
            "undeclared",
            "syntaxerror",
            "traceback (most recent call last)",
            "uncaught",
            "exception in thread",
            "panicked at",
        ],
        "The program or its compiler names an error.",
        Look::Code,
    ),
];

/// What an exit status means by convention.
pub(super) fn status_meaning(status: i32) -> Option<&'static str> {
    Some(match status {
        2 => "Status 2 often means a wrong use of the command.",
        124 => "Status 124: `timeout` ended it because it took too long.",
        126 => "Status 126: the file was found but may not be run.",
        127 => "Status 127: there is no such command.",
        130 => "Status 130: it was interrupted with Ctrl-C.",
        131 => "Status 131: it was ended with Ctrl-\\.",
        134 => "Status 134: it aborted itself, which a failed check inside of it does.",
        136 => "Status 136: it divided by zero or the like.",
        137 => "Status 137: it was killed by force, often because memory ran out.",
        139 => "Status 139: it crashed (segmentation fault): it touched memory it must not, a bug in it.",
        141 => {
            "Status 141: the program it wrote to had already ended (a broken pipe), as with `| head`. That is rarely a fault."
        }
        143 => "Status 143: it was asked to end.",
        148 => "Status 148: it was put aside with Ctrl-Z; `fg` brings it back.",
        255 => "Status 255: with `ssh` it means that the connection failed.",
        _ => return None,
    })
}
