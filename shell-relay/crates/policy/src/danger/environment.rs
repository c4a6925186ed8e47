//! Recognizes variables and builtins that change the meaning of later commands.

use cohab_shell_syntax::{LooseWord, glob, split_assignment};

use super::super::findings::Findings;

/// Variables that decide which programs or code run.
const DECIDING: &[&str] = &[
    "PATH",
    "LD_*",
    "DYLD_*",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_FUNC_*",
    "IFS",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT",
    "RPROMPT",
    "PROMPT_COMMAND",
    "CDPATH",
    "FPATH",
    "fpath",
    "path",
    "HISTFILE",
    "HISTSIZE",
    "HISTFILESIZE",
    "HISTCONTROL",
    "HISTIGNORE",
    "EDITOR",
    "VISUAL",
    "*PAGER",
    "BROWSER",
    "LESS*",
    "GIT_*",
    "*_ASKPASS",
    "*_OPTIONS",
    "*_OPTS",
    "NODE_*",
    "PYTHON*",
    "PERL*",
    "RUBY*",
    "RUSTC*",
    "RUSTUP_*",
    "CARGO_*",
    "GO*",
    "npm_config_*",
    "NPM_CONFIG_*",
    "MAKEFLAGS",
    "MAKEFILES",
    "GNUMAKEFLAGS",
    "RIPGREP_CONFIG_PATH",
    "*_proxy",
    "*_PROXY",
    "SSL_CERT_*",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "WGETRC",
    "SHELL",
    "HOME",
    "ZDOTDIR",
    "TERMINFO*",
    "TERMCAP",
    "TAR_OPTIONS",
    "XDG_*",
    "COHAB_*",
    "SUDO_*",
    "DOCKER_HOST",
    "KUBECONFIG",
    "AWS_*",
    "SSH_AUTH_SOCK",
    "SSH_*",
    "CC",
    "CXX",
    "LUA_*",
    "GCONV_PATH",
    "NLSPATH",
    "LOCPATH",
    "MANPATH",
    "MANOPT",
    "GREP_OPTIONS",
    "TMPDIR",
    "INPUTRC",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "GDK_*",
    "GTK_*",
    "QT_*",
    "OPENSSL_*",
    "BASH_LOADABLES_PATH",
];

/// Builtins whose words may be assignments.
const ASSIGNING: &[&str] =
    &["export", "declare", "typeset", "local", "readonly", "env", "sudo", "setenv", "let", "integer", "float"];

/// Builtins that give a value to a variable that is one of their words.
const FILLING: &[&str] = &["read", "mapfile", "readarray", "getopts", "vared", "sysread"];

/// Options of `set` in fish that report a variable.
const SHOWING: &[&str] = &["-q", "--query", "-S", "--show"];

/// Builtins whose words are evaluated as arithmetic, in which a subscript may hold a command.
const EVALUATING: &[&str] = &[
    "let", "declare", "typeset", "local", "read", "printf", "unset", "test", "[", "[[", "export", "readonly",
    "mapfile", "wait",
];

const BUILTINS_THAT_COUNT: &[&str] = &[
    "cd", "export", "alias", "source", ".", "eval", "exec", "set", "unset", "trap", "read", "echo", "printf", "test",
    "command", "builtin", "exit", "return", "sudo", "ls",
];

pub(super) fn is_builtin_that_counts(name: &str) -> bool {
    BUILTINS_THAT_COUNT.contains(&name)
}

/// Whether a command's words may be assignments, or are shell options and the like.
pub(super) fn assigns(name: &str) -> bool {
    let others =
        ["shopt", "enable", "hash", "bind", "complete", "compdef", "umask", "ulimit", "unalias", "setopt", "abbr"];
    ASSIGNING.contains(&name) || EVALUATING.contains(&name) || others.contains(&name)
}

/// Whether a variable of this name changes the actions of later commands, or the programs that they run.
#[must_use]
pub fn decides_what_runs(name: &str) -> bool {
    DECIDING.iter().any(|pattern| glob::matches(name, pattern))
}

pub(super) fn judge_assignment(name: &str, value: &str, findings: &mut Findings) {
    if decides_what_runs(name) {
        findings.danger(format!("sets `{name}`, which decides what runs"));
    } else if value.contains("() {") || value.contains("(){") {
        findings.danger(format!("puts code into `{name}`"));
    } else {
        findings.ask(format!("sets the variable `{name}`"));
    }
}

/// Whether the expansion runs code in its result: `${x@P}` as a prompt, in zsh `${(e)x}` as a word.
pub(super) fn runs_what_it_expands(text: &str) -> bool {
    let flags = text.split("${(").skip(1).filter_map(|rest| rest.split_once(')'));
    text.contains("@P}") || flags.into_iter().any(|(flags, _)| flags.contains(['e', '%']))
}

pub(super) fn judge_builtin(verb: &str, arguments: &[LooseWord], findings: &mut Findings) {
    if ASSIGNING.contains(&verb) {
        for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
            match split_assignment(&word.text) {
                Some((name, value)) => judge_assignment(name, value, findings),
                None if verb == "env" || verb == "sudo" => break,
                None => {}
            }
        }
    }
    // fish: `set -gx NAME value`.
    let named = arguments.iter().find(|word| !word.text.starts_with('-'));
    let mut options = arguments.iter().filter(|word| word.text.starts_with('-')).peekable();
    let only_shows = options.peek().is_some() && options.all(|word| SHOWING.contains(&word.text.as_str()));
    if let ("set", Some(word)) = (verb, named)
        && !only_shows
        && decides_what_runs(&word.text)
    {
        judge_assignment(&word.text, "", findings);
    }
    let filled = match (verb, arguments) {
        ("printf", [option, target, ..]) if option.text == "-v" => Some(target.text.as_str()),
        ("printf", [option, ..]) => option.text.strip_prefix("-v"),
        (_, words) if FILLING.contains(&verb) => {
            words.iter().map(|word| word.text.as_str()).find(|text| decides_what_runs(text))
        }
        _ => None,
    };
    if let Some(name) = filled.filter(|name| !name.is_empty()) {
        judge_assignment(name, "", findings);
    }
    let hides_code =
        |word: &LooseWord| word.text.contains('[') && (word.text.contains("$(") || word.text.contains('`'));
    if EVALUATING.contains(&verb) && arguments.iter().any(hides_code) {
        findings.danger(format!("`{verb}` evaluates a subscript that holds a command"));
    }
    let only_prints = verb != "bind" && arguments.first().is_some_and(|option| option.text == "-p");
    match verb {
        "complete" | "bind" | "trap" if arguments.len() > 1 && !only_prints => {
            findings.danger(format!("`{verb}` plans code for later"));
        }
        "declare" | "typeset" | "local" if arguments.iter().any(|word| word.text == "-n") => {
            findings.danger("makes a name stand for another variable");
        }
        "declare" | "typeset" | "set" if arguments.is_empty() => {
            findings.ask("shows all variables, which may hold secrets");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::{Context, Level, assess_line};

    fn level(line: &str) -> Level {
        assess_line(line, Context::new(Path::new("/home/ann/app"), Path::new("/home/ann"))).level
    }

    #[test]
    fn each_variable_that_decides_what_runs_is_danger_however_it_is_set() {
        for name in "PATH LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV SHELLOPTS BASHOPTS BASH_FUNC_ls IFS PS0 PS1 PS2 PS3 \
                     PS4 PROMPT_COMMAND CDPATH HISTFILE EDITOR VISUAL PAGER GIT_PAGER MANPAGER BROWSER LESS LESSOPEN GIT_DIR \
                     SUDO_ASKPASS SSH_ASKPASS NODE_OPTIONS MAVEN_OPTS NODE_PATH PYTHONSTARTUP PERL5LIB RUBYOPT RUSTC_WRAPPER \
                     CARGO_HOME GOFLAGS npm_config_prefix MAKEFLAGS RIPGREP_CONFIG_PATH https_proxy ALL_PROXY SSL_CERT_FILE"
            .split_whitespace()
        {
            for line in [
                format!("{name}=x"),
                format!("{name}=x ls"),
                format!("export {name}=x"),
                format!("declare -x {name}=x"),
                format!("readonly {name}=x"),
                format!("env {name}=x ls"),
                format!("printf -v {name} x"),
                format!("read {name}"),
            ] {
                assert_eq!(level(&line), Level::Danger, "{line}");
            }
        }
        for line in ["export COLOR=x", "COLOR=x ls", "COLOR=x"] {
            assert_eq!(level(line), Level::Ask, "{line}");
        }
    }
}
