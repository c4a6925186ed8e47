//! Recognizes programs that run code they are given.

use cohab_shell_syntax::LooseWord;

use super::super::{findings::Findings, inline_code, options};

const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "csh", "tcsh", "mksh", "rbash", "pwsh", "nu", "elvish", "xonsh",
];
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "guile",
    "R",
    "Rscript",
    "irb",
    "ipython",
    "awk",
    "gawk",
    "mawk",
    "julia",
    "swift",
    "osascript",
    "ocaml",
    "ghci",
    "runghc",
    "scala",
    "groovy",
    "jshell",
    "gdb",
    "m4",
    "bc",
    "dc",
    "psql",
    "sqlite3",
    "mysql",
    "ex",
    "ed",
    "vim",
    "emacs",
    "expect",
    "make",
    "xargs",
    "at",
    "batch",
    "parallel",
    "crontab",
];
/// Their words are shown or searched, and never run.
const TEXT_ONLY: &[&str] = &[
    "echo",
    "printf",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "file",
    "stat",
    "which",
    "type",
    "whereis",
    "man",
    "command",
    "readlink",
    "realpath",
    "ps",
    "pgrep",
    "pidof",
    "pkill",
    "diff",
    "cmp",
    "md5sum",
    "sha256sum",
    "basename",
    "dirname",
    "test",
    "[",
    "apropos",
    "whatis",
    "locate",
    "lsof",
    "du",
    "ldd",
    "cp",
    "mv",
    "ln",
    "rm",
    "chmod",
    "chown",
    "touch",
    "dpkg",
    "rpm",
    "strings",
    "od",
    "xxd",
    "sort",
    "uniq",
    "cut",
    "tr",
    "shellcheck",
    "shfmt",
    "sudo",
    "time",
    "sh",
    "bash",
    "zsh",
    "dash",
    "fish",
    "cd",
    "find",
    "chsh",
];
/// Pieces of programs that start others, open connections, delete, or hide what they do.
const HARMFUL_CODE: &[&str] = &[
    "os.system",
    "os.popen",
    "os.exec",
    "os.spawn",
    "os.remove",
    "os.unlink",
    "os.execute",
    "io.popen",
    "subprocess",
    "pty.spawn",
    "popen",
    "__import__",
    "import socket",
    "socket.",
    "import pty",
    "urllib",
    "requests.",
    "http.client",
    "httplib",
    "shutil.rmtree",
    "shutil.move",
    "rmtree",
    "exec(",
    "exec ",
    "eval(",
    "eval ",
    "system(",
    "system ",
    "`",
    "child_process",
    "spawn(",
    "spawnSync",
    "execSync",
    "fs.rm",
    "fs.unlink",
    "rmSync",
    "rmdirSync",
    "unlink",
    "os.fork",
    "fork(",
    "fork ",
    "fork;",
    "fsockopen",
    "curl_exec",
    "passthru",
    "shell_exec",
    "proc_open",
    "IO::Socket",
    "LWP",
    "TCPSocket",
    "Net::",
    "require('net')",
    "require(\"net\")",
    "fetch(",
    "b64decode",
    "base64",
    "compile(",
    "Kernel.",
    "%x",
    "IO.popen",
    "Open3",
    "File.delete",
    "FileUtils",
    "qx",
    "reverse_shell",
    "Process.",
    "dofile",
    "loadstring",
    "setuid",
    "environ",
    "process.env",
    "ENV[",
    "getenv",
    "open(",
];
const SHELL_PATHS: &[&str] = &[
    "/bin/sh",
    "/bin/bash",
    "/bin/zsh",
    "/bin/dash",
    "/bin/ksh",
    "bin/fish",
    "!sh",
    "!bash",
    "!/bin",
    "=sh",
    "sh -c",
    "bash -c",
    "exec sh",
    "exec=sh",
    "sh -i",
    "bash -i",
    "sh 0<",
];

pub(crate) fn is_shell(verb: &str) -> bool {
    SHELLS.contains(&verb)
}

pub(super) fn is_interpreter(verb: &str) -> bool {
    is_shell(verb) || INTERPRETERS.contains(&verb) || verb.starts_with("python3.")
}

/// They run the text that comes through a pipe unless their arguments say otherwise; their operand is a database.
const DATABASES: &[&str] = &["psql", "mysql", "mariadb", "sqlite3", "mongo", "mongosh", "clickhouse-client", "duckdb"];

/// Whether the program's code comes from its input: no script is among its arguments.
pub(super) fn reads_program(verb: &str, arguments: &[LooseWord]) -> bool {
    if matches!(arguments, [only] if matches!(only.text.as_str(), "--version" | "--help")) {
        return false;
    }
    let has_script = arguments.iter().any(|word| !word.text.starts_with('-') || word.runs_code);
    let is_told = arguments.iter().any(|word| matches!(word.text.as_str(), "-s" | "-" | "/dev/stdin"));
    let has_inline = arguments.iter().any(|word| {
        let flags = word.text.strip_prefix('-').unwrap_or_default();
        !flags.starts_with('-') && flags.contains(['c', 'e', 'r', 'm', 'p', 'n', 'V'])
    });
    if DATABASES.contains(&verb) {
        return !has_inline
            && !arguments.iter().any(|word| word.text.starts_with("--command") || word.text.starts_with("--execute"));
    }
    is_interpreter(verb) && (is_told || !(has_script || has_inline))
}

/// Judges code written into the arguments.
pub(super) fn judge_inline(verb: &str, arguments: &[LooseWord], findings: &mut Findings) {
    if matches!(verb, "eval" | "source" | ".") && arguments.iter().any(|word| word.expands) {
        findings.danger("runs code that is formed by an expansion");
    }
    if matches!(verb, "source" | ".")
        && arguments.iter().any(|word| word.text.starts_with("/dev/") || word.text.starts_with("/tmp/"))
    {
        findings.danger("runs a file that anybody may have written");
    }
    if is_interpreter(verb)
        && !is_shell(verb)
        && arguments.iter().any(|word| HARMFUL_CODE.iter().any(|piece| word.text.contains(piece)))
        && !seems_to_read(verb, arguments)
    {
        findings.danger(format!("the code for `{verb}` starts programs, connects, deletes or evaluates"));
    }
    let is_inline = |option: &LooseWord| matches!(option.text.as_str(), "-c" | "-e" | "-r" | "-p" | "--eval");
    if is_interpreter(verb)
        && !is_shell(verb)
        && arguments.windows(2).any(|pair| is_inline(&pair[0]) && pair[1].runs_code)
    {
        findings.danger(format!("`{verb}` runs the output of a command"));
    }
    // `make -j$(nproc)` runs no output; `python3 <(curl x)` does.
    if is_interpreter(verb) && arguments.iter().any(|word| word.text.starts_with("<(")) {
        findings.danger(format!("`{verb}` runs the output of a command"));
    }
    let is_forced = |word: &LooseWord| matches!(word.text.as_str(), "-9" | "-KILL" | "-SIGKILL");
    if verb == "kill" && arguments.iter().any(is_forced) && arguments.iter().any(|word| word.runs_code) {
        findings.danger("kills what a command names, before it can save anything");
    }
    let is_only_read = |word: &LooseWord| !word.text.starts_with('-') && options::reads_operands(verb);
    if !TEXT_ONLY.contains(&verb) && arguments.iter().any(|word| names_shell(&word.text) && !is_only_read(word)) {
        findings.danger(format!("`{verb}` is told to start a shell"));
    }
}

/// Whether the programs in the arguments are read to their end, and nothing in them is known to act.
fn seems_to_read(verb: &str, arguments: &[LooseWord]) -> bool {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    !arguments.iter().any(|word| word.expands) && inline_code::seems_to_read(verb, &texts)
}

/// Whether one of [`SHELL_PATHS`] stands in the text as a whole word.
fn names_shell(text: &str) -> bool {
    let ends_there = |end: usize| !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
    SHELL_PATHS.iter().any(|path| text.match_indices(path).any(|(at, _)| ends_there(at + path.len())))
}

/// Judges an interpreter whose program comes through a pipe, here-document or here-string.
pub(super) fn judge_fed_interpreter(verb: &str, input: Option<&str>, findings: &mut Findings) {
    match input {
        None if !matches!(verb, "awk" | "gawk" | "mawk" | "bc" | "dc" | "xargs" | "parallel" | "make") => {
            findings.danger(format!("`{verb}` runs what it reads from a pipe"));
        }
        Some(text) if names_shell(text) || HARMFUL_CODE.iter().any(|piece| text.contains(piece)) => {
            findings.danger(format!("the code for `{verb}` starts programs, connects, deletes or evaluates"));
        }
        _ => {}
    }
}
