//! What variables hold, as far as a line tells it.

use std::ops::Range;

use crate::{policy::decides_what_runs, shell::Shell};

/// Variables that say nothing secret, and decide nothing when their text is used.
const HARMLESS: &[&str] = &[
    "BASHPID",
    "BASH_VERSION",
    "COLORTERM",
    "COLUMNS",
    "CPU",
    "DESKTOP_SESSION",
    "DISPLAY",
    "EDITOR",
    "EUID",
    "GOPATH",
    "GOROOT",
    "HOST",
    "HOSTNAME",
    "HOSTTYPE",
    "INFOPATH",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LINENO",
    "LINES",
    "LOGNAME",
    "LS_COLORS",
    "MACHTYPE",
    "MANPATH",
    "NVM_DIR",
    "OLDPWD",
    "OSTYPE",
    "PAGER",
    "PATH",
    "PPID",
    "PYENV_ROOT",
    "RANDOM",
    "SECONDS",
    "SHELL",
    "SHLVL",
    "SSH_TTY",
    "TERM",
    "TERM_PROGRAM",
    "TMPDIR",
    "TMUX",
    "TZ",
    "UID",
    "USER",
    "VENDOR",
    "VIRTUAL_ENV",
    "VISUAL",
    "WAYLAND_DISPLAY",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_CURRENT_DESKTOP",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_STATE_HOME",
    "ZSH_VERSION",
    "CONDA_DEFAULT_ENV",
    "SSH_CONNECTION",
];
/// Numbers that a shell keeps itself.
const NUMBERS: &[&str] = &["EUID", "LINENO", "PPID", "RANDOM", "SECONDS", "UID"];
/// Names in lower case that mean something to a shell, or to programs that are given them.
const MATTERING: &[&str] = &[
    "aliases",
    "argv",
    "builtins",
    "cdpath",
    "chpwd_functions",
    "commands",
    "dirstack",
    "cmd_duration",
    "epochtime",
    "fignore",
    "fpath",
    "funcstack",
    "functions",
    "galiases",
    "histchars",
    "history",
    "historywords",
    "jobdirs",
    "jobstates",
    "jobtexts",
    "last_pid",
    "keymaps",
    "mailpath",
    "manpath",
    "match",
    "mbegin",
    "mend",
    "reply",
    "hostname",
    "status_generation",
    "module_path",
    "modules",
    "nameddirs",
    "options",
    "parameters",
    "path",
    "patchars",
    "pipestatus",
    "precmd_functions",
    "preexec_functions",
    "prompt",
    "psvar",
    "reswords",
    "saliases",
    "signals",
    "status",
    "termcap",
    "terminfo",
    "umask",
    "userdirs",
    "version",
    "usergroups",
    "watch",
    "widgets",
    "zle_bracketed_paste",
    "zle_highlight",
    "zsh_eval_context",
    "zsh_scheduled_events",
];

/// A part of a word that is known only when the line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub source: Source,
    /// The shell may make several words of it, or none.
    pub is_split: bool,
    /// The word is nothing else.
    pub is_whole: bool,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A number in digits.
    Digits,
    /// The same, or nothing: a command prints it.
    Number,
    /// Names of files that a pattern matches, which stands there as it is written.
    Matches,
    /// The list of commands of that number prints it.
    List(usize),
    /// The commands at these bytes print it.
    Piped(Range<usize>),
    /// Anything.
    Any,
}

impl Mark {
    pub(super) fn moved(mut self, bytes: usize) -> Self {
        if let Source::Piped(range) = &mut self.source {
            *range = range.start + bytes..range.end + bytes;
        }
        self
    }
}

impl Source {
    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Digits | Self::Number)
    }
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A word as it is written: one of [`Written`]'s kinds.
    Text(String),
    Computed(Source),
}

/// What kind of word a text is, with its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The same wherever it is put.
    Plain,
    /// A pattern of names of files.
    Pattern,
    /// Within single quotes, with blanks.
    Quoted,
}

/// The kind of a word; `None` if it is another one.
pub(super) fn written(word: &str) -> Option<Written> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:,+%@-=".contains(&byte);
    let bare = word.strip_prefix("~/").unwrap_or(word);
    if word.is_empty() {
        None
    } else if bare.bytes().all(is_plain) && !bare.starts_with('=') {
        Some(Written::Plain)
    } else if bare.bytes().all(|byte| is_plain(byte) || b"*?".contains(&byte)) && !bare.starts_with('=') {
        Some(Written::Pattern)
    } else {
        let inside = word.strip_prefix('\'')?.strip_suffix('\'')?;
        let is_text = !inside.is_empty() && inside.bytes().all(|byte| is_plain(byte) || byte == b' ');
        is_text.then_some(Written::Quoted)
    }
}

/// What a variable of the shell's environment holds; `None` if it may be secret, or is not known.
pub(super) fn of_environment(name: &str, shell: Shell) -> Option<Value> {
    let is_number = NUMBERS.contains(&name) && shell != Shell::Fish;
    HARMLESS.contains(&name).then_some(Value::Computed(if is_number { Source::Digits } else { Source::Any }))
}

/// Whether a name is one that a line may give to a variable of its own: nothing but the line looks at it.
pub(super) fn is_own_name(name: &str) -> bool {
    is_name(name)
        && (name.len() == 1 || name.bytes().any(|byte| byte.is_ascii_lowercase()))
        && !name.bytes().any(|byte| byte.is_ascii_uppercase() && name.len() > 1)
        && !MATTERING.contains(&name)
        && !decides_what_runs(name)
        && !name.starts_with("__")
        && !name.starts_with("fish_")
        && name != "_"
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
