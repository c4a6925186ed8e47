//! Tests for explanations of failed commands, with messages of bash, zsh, fish and common programs.

use super::{bash, done, play};

fn history(line: &str, status: i32, output: &str) -> String {
    format!("<shell-history>\n$ {line}\nexit {status} in /w after 0.1s\n{}</shell-history>\n", indented(output))
}

fn indented(output: &str) -> String {
    output.lines().map(|line| format!("    {line}\n")).collect()
}

fn asked(line: &str, status: i32, output: &str, question: &str) -> String {
    format!("{}<question>\n{question}\n</question>", history(line, status, output))
}

/// The output of a machine that has git, docker and python3, and otherwise nothing relevant.
fn machine(command: &str) -> (String, bool) {
    let text = match command.split(' ').next().unwrap_or_default() {
        "printenv" => "/usr/local/bin:/usr/bin:/bin",
        "find" if command.contains("%f") && command.contains("grep") => "git\ngtk\ndocker\ndockerd\npython3\nls\ncargo",
        "find" if command.contains("/usr/lib") => "/usr/lib/libssl.so.3",
        "find" => "Readme.md\nsrc\ntarget",
        "ss" => "LISTEN 0 5 0.0.0.0:3000 0.0.0.0:* users:((\"node\",pid=4711,fd=3))",
        "df" if command.contains("-i") => "Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/a 9 1 8 11% /",
        "df" => "Filesystem Size Used Avail Use% Mounted on\n/dev/a 9G 9G 0 100% /var\n/dev/b 9G 1G 8G 11% /",
        "git" => "UU src/a.rs\nM  b.rs",
        "id" => "ann",
        "ls" if command.contains("node_modules") => "package.json",
        "ls" if command.contains("venv") => ".venv\nrequirements.txt",
        "ls" => "-rw-r--r-- 1 root root 7 Nov 20 10:00 x",
        "ip" => "default via 10.0.0.1 dev eth0",
        "head" => "   #   !   /   b   i   n   /   b   a   s   h  \\r  \\n",
        "command" => "/usr/bin/apt-cache",
        "apt-cache" => "htop:\n  Installed: (none)\n  Candidate: 3.2.2-2",
        _ => "",
    };
    done(text)
}

/// `(line, status, output, parts of the answer)`.
type Case = (&'static str, i32, &'static str, &'static [&'static str]);

fn explain_all(cases: &[Case]) {
    for (line, status, output, expected) in cases {
        let (_, answer) = play(&asked(line, *status, output, "what went wrong?"), machine);
        for part in *expected {
            assert!(answer.contains(part), "{line}: no {part:?} in\n{answer}");
        }
    }
}

#[test]
fn a_program_that_is_not_found_is_named_with_its_nearest_in_every_shell() {
    explain_all(&[
        ("gti status", 127, "bash: gti: command not found", &["`git status`", "`fix it`"]),
        ("gti status", 127, "zsh: command not found: gti", &["`git status`"]),
        ("gti status", 127, "fish: Unknown command: gti\nfish:\ngti status\n^~^", &["`git status`"]),
        ("gti status", 127, "sh: 1: gti: not found", &["Status 127"]),
        ("dokcer ps", 127, "-bash: dokcer: command not found", &["`docker ps`"]),
        ("python x.py", 127, "bash: python: command not found", &["`python3 x.py`"]),
        ("htop", 127, "bash: htop: command not found", &["`htop` has a program", "`install htop`"]),
        (
            "htop",
            127,
            "Command 'htop' not found, but can be installed with:\nsudo apt install htop",
            &["`install htop`"],
        ),
    ]);
}

#[test]
fn rights_are_explained_with_the_owner() {
    explain_all(&[
        ("cat x", 1, "cat: x: Permission denied", &["belongs to **root**", "you are **ann**", "`sudo`"]),
        ("echo a > x", 1, "bash: x: Permission denied", &["belongs to **root**"]),
        (
            "./x",
            126,
            "fish: Unknown command. './x' exists but is not an executable file.",
            &["executable file`. The file is there", "belongs to **root**"],
        ),
        ("echo a > x", 1, "zsh: permission denied: x", &["belongs to **root**"]),
        ("python3 a.py", 1, "PermissionError: [Errno 13] Permission denied: 'x'", &["belongs to **root**"]),
        ("node a.js", 1, "Error: EACCES: permission denied, open 'x'", &["belongs to **root**"]),
        ("docker ps", 1, "permission denied while trying to connect to the Docker daemon socket", &["group `docker`"]),
        ("git push", 128, "git@example.org: Permission denied (publickey).", &["SSH key"]),
        ("useradd x", 1, "useradd: Permission denied.\nuseradd: cannot lock /etc/passwd; are you root?", &["sudo"]),
    ]);
}

#[test]
fn a_held_port_is_named_with_its_holder_whatever_the_server() {
    explain_all(&[
        (
            "npm start",
            1,
            "Error: listen EADDRINUSE: address already in use :::3000\n    at Server",
            &["3000", "`node` (process 4711)"],
        ),
        ("python3 -m http.server 3000", 1, "OSError: [Errno 98] Address already in use", &["`node` (process 4711)"]),
        ("flask run -p 3000", 1, "Address already in use\nPort 3000 is in use by another program.", &["4711"]),
        (
            "nginx",
            1,
            "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)",
            &["port 80", "free now"],
        ),
        ("go run .", 1, "listen tcp :3000: bind: address already in use", &["4711"]),
        ("gunicorn app", 1, "Connection in use: ('127.0.0.1', 3000)", &["4711"]),
        ("docker run -p 3000:80 x", 125, "Bind for 0.0.0.0:3000 failed: port is already allocated", &["4711"]),
        ("cargo run", 101, "Error: Address already in use (os error 98)", &["does not say which"]),
    ]);
}

#[test]
fn space_conflicts_and_network_are_looked_at() {
    explain_all(&[
        ("cp a b", 1, "cp: error writing 'b': No space left on device", &["`/var`", "100%"]),
        ("npm i", 1, "npm ERR! code ENOSPC", &["`/var`"]),
        ("make", 1, "write: Disk quota exceeded", &["Your quota"]),
        ("vite", 1, "Error: ENOSPC: System limit for number of file watchers reached", &["watched"]),
        ("git merge b", 1, "CONFLICT (content): Merge conflict in src/a.rs\nAutomatic merge failed", &["- `src/a.rs`"]),
        ("git commit -m x", 128, "error: Committing is not possible because you have unmerged files.", &["src/a.rs"]),
        ("curl https://nohost.invalid", 6, "curl: (6) Could not resolve host: nohost.invalid", &["spelling"]),
        ("ping x", 2, "ping: x: Temporary failure in name resolution", &["No address"]),
        (
            "curl http://localhost:9000",
            7,
            "curl: (7) Failed to connect to localhost port 9000",
            &["Nothing listens on port 9000"],
        ),
        ("psql", 2, "connection to server at \"127.0.0.1\", port 5432 failed: Connection refused", &["port 5432"]),
        ("git push", 1, "! [rejected] main -> main (fetch first)\nerror: failed to push some refs", &["git pull"]),
        (
            "git clone https://example.org/x",
            128,
            "fatal: Authentication failed for 'https://example.org/x'",
            &["token"],
        ),
        (
            "git push",
            128,
            "fatal: The current branch b has no upstream branch.\nTo push, use\n    git push --set-upstream origin b",
            &["`git push --set-upstream origin b`"],
        ),
        (
            "git stauts",
            1,
            "git: 'stauts' is not a git command. See 'git --help'.\nThe most similar command is\n\tstatus",
            &["`git status`"],
        ),
    ]);
}

#[test]
fn modules_interpreters_and_libraries_are_looked_at() {
    explain_all(&[
        ("python3 a.py", 1, "ModuleNotFoundError: No module named 'yaml'", &["pip install pyyaml", ".venv/bin/python"]),
        ("node a.js", 1, "Error: Cannot find module 'express'\nRequire stack:", &["`npm install`"]),
        ("node a.js", 1, "Error: Cannot find module './lib/x'", &["It is a file"]),
        (
            "ruby a.rb",
            1,
            "a.rb:1:in `require': cannot load such file -- nokogiri (LoadError)",
            &["gem install nokogiri"],
        ),
        (
            "perl a.pl",
            2,
            "Can't locate Foo/Bar.pm in @INC (you may need to install the Foo::Bar module)",
            &["libfoo-bar-perl"],
        ),
        (
            "./x.sh",
            126,
            "bash: ./x.sh: /bin/bash^M: bad interpreter: No such file or directory",
            &["Windows", "`fix it`"],
        ),
        ("./x.sh", 127, "bash: ./x.sh: cannot execute: required file not found", &["Windows"]),
        ("./x.sh", 127, "zsh: ./x.sh: bad interpreter: /bin/bash^M: no such file or directory", &["Windows"]),
        (
            "./x.sh",
            126,
            "exec: Failed to execute process './x.sh':  The file uses Windows line endings (\\r\\n).",
            &["Windows"],
        ),
        ("./x.py", 127, "/usr/bin/env: ‘python3\\r’: No such file or directory", &["Windows"]),
        (
            "./app",
            127,
            "./app: error while loading shared libraries: libssl.so.1.1: cannot open shared object file: No such file",
            &["`libssl.so.1.1`", "libssl.so.3"],
        ),
        ("cat READEM.md", 1, "cat: READEM.md: No such file or directory", &["`Readme.md`"]),
        ("cd srcc", 1, "bash: cd: srcc: No such file or directory", &["`src`"]),
        ("cd srcc", 1, "zsh:cd:1: no such file or directory: srcc", &["`src`"]),
        ("cd srcc", 1, "cd: The directory 'srcc' does not exist", &["`src`"]),
    ]);
}

#[test]
fn compilers_crashes_and_statuses_are_explained() {
    explain_all(&[
        (
            "cargo build",
            101,
            "   Compiling x\nerror[E0425]: cannot find value `y`\n --> src/main.rs:2:5\nerror: could not compile `x`",
            &["E0425", "`src/main.rs:2:5`"],
        ),
        ("gcc a.c", 1, "a.c: In function ‘main’:\na.c:1:20: error: ‘x’ undeclared", &["a.c:1:20"]),
        (
            "python3 a.py",
            1,
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nNameError: name 'x'",
            &["NameError", "line 3"],
        ),
        ("./a.out", 139, "Segmentation fault (core dumped)", &["memory that is not its own"]),
        ("./a.out", 139, "", &["139"]),
        ("sleep 99", 130, "^C", &["Ctrl-C"]),
        ("./big", 137, "Killed", &["killed by force"]),
        ("yes | head", 141, "", &["broken pipe"]),
        ("frob", 3, "it frobbed badly", &["do not recognise"]),
        ("./deploy", 126, "", &["may not be run"]),
    ]);
}

#[test]
fn a_sure_remedy_is_asked_for_only_when_it_is_wanted() {
    let crlf = asked("./x.sh", 127, "bash: ./x.sh: cannot execute: required file not found", "fix it");
    let (commands, answer) = play(&crlf, machine);
    assert_eq!(commands.last().unwrap(), "sed -i -e 's/\\r$//' ./x.sh");
    assert!(answer.contains("run it again"), "{answer}");
    let (commands, _) = play(&crlf.replace("fix it", "what went wrong?"), machine);
    assert!(commands.iter().all(|command| !command.starts_with("sed")), "{commands:?}");

    let typo = asked("gti push", 127, "bash: gti: command not found", "fix it");
    assert_eq!(play(&typo, machine).0.last().unwrap(), "git push");
    let (_, answer) =
        play(&typo, |command| if command == "git push" { ("the user refused".into(), true) } else { machine(command) });
    assert!(answer.contains("You refused `git push`"), "{answer}");
}

#[test]
fn what_a_program_prints_never_becomes_a_command() {
    let evil = "git: 'stauts' is not a git command.\nThe most similar command is\n\tstatus; touch pwned";
    let (commands, _) = play(&asked("git stauts", 1, evil, "fix it"), machine);
    assert!(commands.iter().all(|command| !command.contains("pwned")), "{commands:?}");
    let evil = "bash: $(touch pwned): command not found";
    let (commands, _) = play(&asked("x", 127, evil, "fix it"), machine);
    assert!(commands.iter().all(|command| !command.contains("pwned")), "{commands:?}");
}

#[test]
fn an_explanation_goes_without_a_look_that_is_refused() {
    let question =
        asked("npm start", 1, "Error: listen EADDRINUSE: address already in use :::3000", "what went wrong?");
    let (_, answer) = play(&question, |_| ("the user refused".into(), true));
    assert!(answer.contains("Another program holds that port. It is port 3000."), "{answer}");
}

#[test]
fn the_holder_of_a_port_is_it_for_the_next_question() {
    let failed = asked("npm start", 1, "Error: listen EADDRINUSE: address already in use :::3000", "what went wrong?");
    let (commands, _) = super::converse(&[&failed, "kill it"], machine);
    assert_eq!(commands.last().unwrap(), "kill 4711");
}

/// The real shells' own messages, and real looks at the real machine.
#[test]
fn real_failures_of_every_shell_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::write(root.join("crlf.sh"), "#!/bin/bash\r\necho\r\n").unwrap();
    std::fs::write(root.join("plain.sh"), "echo\n").unwrap();
    std::fs::write(root.join("Readme.md"), "").unwrap();
    let (_, failed) = bash(root, "chmod u+x crlf.sh");
    assert!(!failed);
    for shell in ["bash", "zsh", "fish"] {
        for (line, expected) in [
            ("gerp x Readme.md", "`grep x Readme.md`"),
            ("./crlf.sh", "Windows"),
            ("cat Raedme.md", "`Readme.md`"),
            ("cd nowhere-at-all", "There is no file or folder"),
        ] {
            let Ok(output) =
                std::process::Command::new(shell).args(["-c", line]).current_dir(root).env("LC_ALL", "C").output()
            else {
                continue;
            };
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let status = output.status.code().unwrap_or(1);
            let question = asked(line, status, &said, "what went wrong?");
            let (commands, answer) = play(&question, |command| bash(root, command));
            assert!(answer.contains(expected), "{shell}: {line}: {commands:?}\n{answer}");
        }
    }
}
