//! Finds start-up files and the prompt tools that they name. Pure, but for [`read`].

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use cohab_shell_state::shell::Shell;
use cohab_text::sanitize::one_line;

use super::facts::{RcFacts, RcLine};

/// Read of one file.
const FILE_MAX_BYTES: u64 = 256 * 1024;
/// Shown of one line.
const LINE_MAX_COLUMNS: usize = 100;

/// How a prompt tool shows itself in a running shell.
enum Sign {
    Function(&'static str),
    Variable(&'static str),
}

/// Tools that work on the prompt or the line editor: name, sign inside the shell, word in a start-up file.
const TOOLS: [(&str, Sign, &str); 17] = [
    ("starship", Sign::Function("starship_precmd"), "starship init"),
    ("starship", Sign::Function("enable_transience"), "starship init"),
    ("oh-my-zsh", Sign::Function("omz"), "oh-my-zsh.sh"),
    ("oh-my-bash", Sign::Function("_omb_module_require"), "oh-my-bash.sh"),
    ("powerlevel10k", Sign::Function("p10k"), "powerlevel10k"),
    ("oh-my-posh", Sign::Function("_omp_hook"), "oh-my-posh init"),
    ("oh-my-posh", Sign::Function("_omp_precmd"), "oh-my-posh init"),
    ("bash-preexec", Sign::Function("__bp_precmd_invoke_cmd"), "bash-preexec"),
    ("ble.sh", Sign::Variable("BLE_VERSION"), "ble.sh"),
    ("zsh-autosuggestions", Sign::Function("_zsh_autosuggest_start"), "zsh-autosuggestions"),
    ("zsh-syntax-highlighting", Sign::Function("_zsh_highlight"), "zsh-syntax-highlighting"),
    ("fast-syntax-highlighting", Sign::Function("fast-theme"), "fast-syntax-highlighting"),
    ("atuin", Sign::Function("_atuin_precmd"), "atuin init"),
    ("atuin", Sign::Function("__atuin_precmd"), "atuin init"),
    ("direnv", Sign::Function("_direnv_hook"), "direnv hook"),
    ("liquidprompt", Sign::Function("lp_activate"), "liquidprompt"),
    ("tide", Sign::Function("tide"), "tide configure"),
];

/// The command that makes a shell of this kind print `has=NAME` for each sign of a tool, and bash its `promptvars`.
#[must_use]
pub fn question(kind: Shell) -> String {
    let test = |sign: &Sign| match (kind, sign) {
        (Shell::Fish, Sign::Function(name)) => format!("functions -q {name}; and echo has={name}\n"),
        (Shell::Fish, Sign::Variable(name)) => format!("set -q {name}; and echo has={name}\n"),
        (_, Sign::Function(name)) => format!("typeset -f {name} >/dev/null 2>&1 && echo has={name}\n"),
        (_, Sign::Variable(name)) => format!("[ -n \"${{{name}-}}\" ] && echo has={name}\n"),
    };
    let mut text: String = TOOLS.iter().map(|(_, sign, _)| test(sign)).collect();
    if kind == Shell::Bash {
        text.push_str("shopt promptvars\n");
    }
    text.push_str("true");
    text
}

/// The tools of an answer to [`question`].
#[must_use]
pub fn tools_in_answer(answer: &str) -> Vec<&'static str> {
    let is_there = |sign: &Sign| {
        let (Sign::Function(name) | Sign::Variable(name)) = sign;
        answer.lines().any(|line| line.strip_prefix("has=") == Some(name))
    };
    named(TOOLS.iter().filter(|(_, sign, _)| is_there(sign)).map(|(tool, _, _)| *tool))
}

/// Whether bash expands variables in prompts, by an answer to [`question`].
#[must_use]
pub fn promptvars_in_answer(answer: &str) -> Option<bool> {
    let line = answer.lines().find_map(|line| line.strip_prefix("promptvars"))?;
    Some(line.trim() == "on")
}

fn named(tools: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for tool in tools {
        if !names.contains(&tool) {
            names.push(tool);
        }
    }
    names
}

/// The user's own start-up files that an interactive shell of this kind may read. `variable` is the environment.
#[must_use]
pub fn files(kind: Shell, is_login: bool, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let (folder, names): (PathBuf, &[&str]) = match (kind, is_login) {
        (Shell::Bash, false) => (home.to_owned(), &[".bashrc"]),
        (Shell::Bash, true) => (home.to_owned(), &[".bash_profile", ".bash_login", ".profile", ".bashrc"]),
        (Shell::Zsh, false) => (variable("ZDOTDIR").unwrap_or_else(|| home.to_owned()), &[".zshenv", ".zshrc"]),
        (Shell::Zsh, true) => {
            (variable("ZDOTDIR").unwrap_or_else(|| home.to_owned()), &[".zshenv", ".zprofile", ".zshrc", ".zlogin"])
        }
        (Shell::Fish, _) => {
            (variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("fish"), &["config.fish"])
        }
        (Shell::Other, _) => (home.to_owned(), &[]),
    };
    names.iter().map(|name| folder.join(name)).collect()
}

/// The beginnings of those files that are there, with their names as the user would write them.
#[must_use]
pub fn read(files: &[PathBuf], home: &Path) -> Vec<(String, String)> {
    let read_one = |path: &PathBuf| {
        // A pipe of that name would never end.
        let file = path.is_file().then(|| File::open(path).ok()).flatten()?;
        let mut bytes = Vec::new();
        file.take(FILE_MAX_BYTES).read_to_end(&mut bytes).ok()?;
        let name = path.strip_prefix(home).map_or_else(|_| path.clone(), |rest| Path::new("~").join(rest));
        Some((one_line(&name.to_string_lossy(), LINE_MAX_COLUMNS), String::from_utf8_lossy(&bytes).into_owned()))
    };
    files.iter().filter_map(read_one).collect()
}

/// What the texts of start-up files say, and what the shell `printed` about them.
#[must_use]
pub fn examine(texts: &[(String, String)], printed: &str) -> RcFacts {
    let mut facts = RcFacts { complaint: complaint(printed), ..RcFacts::default() };
    let mut all = String::new();
    for (file, text) in texts {
        for (index, line) in text.lines().enumerate() {
            let code = line.trim();
            if code.starts_with('#') {
                continue;
            }
            let found = || RcLine { file: file.clone(), number: index + 1, text: one_line(code, LINE_MAX_COLUMNS) };
            if facts.exec.is_none() && replaces_shell(code) {
                facts.exec = Some(found());
            }
            if facts.redirect.is_none() && has_command(code, "exec") && !replaces_shell(code) && code.contains('>') {
                facts.redirect = Some(found());
            }
            if facts.exit.is_none() && has_command(code, "exit") {
                facts.exit = Some(found());
            }
            if facts.promptvars.is_none() && code.contains("shopt -u") && code.contains("promptvars") {
                facts.promptvars = Some(found());
            }
            all.push_str(code);
            all.push('\n');
        }
    }
    facts.tools = named(TOOLS.iter().filter(|(_, _, word)| all.contains(word)).map(|(tool, _, _)| *tool));
    facts
}

/// Whether one of the commands of a line begins with `word`. A guess, for hints only.
fn has_command(line: &str, word: &str) -> bool {
    line.split([';', '&', '|', '{', '(']).any(|command| {
        let words = command.split_whitespace();
        let mut words = words.skip_while(|word| matches!(*word, "then" | "else" | "do" | "command" | "builtin"));
        words.next() == Some(word)
    })
}

/// Whether it has an `exec` of a program, not only of redirections.
fn replaces_shell(line: &str) -> bool {
    let after = line.split("exec").nth(1).map(str::trim_start).unwrap_or_default();
    has_command(line, "exec")
        && after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '$' | '"' | '~' | '-'))
        && !after.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['<', '>'])
}

/// The first line that a shell prints about a mistake in a file: `FILE: line 3: ...`, `FILE:3: ...`, `FILE (line 3): ...`.
fn complaint(printed: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let names_line = |line: &str, lead: &str, end: char| {
        line.match_indices(lead).any(|(at, _)| {
            let rest = &line[at + lead.len()..];
            rest.starts_with(is_digit) && rest.trim_start_matches(is_digit).starts_with(end)
        })
    };
    let is_complaint = |line: &&str| {
        let names_file = line.split_whitespace().take(2).any(|word| word.contains('/'));
        names_file
            && [(": line ", ':'), (":", ':'), ("(line ", ')')].iter().any(|(lead, end)| names_line(line, lead, *end))
    };
    let line = printed.lines().find(is_complaint)?;
    Some(one_line(line, LINE_MAX_COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts_of(text: &str) -> RcFacts {
        examine(&[("~/.bashrc".into(), text.into())], "")
    }

    #[test]
    fn a_line_that_replaces_the_shell_is_told_from_one_that_only_redirects() {
        for line in
            ["exec fish", "[ -z \"$TMUX\" ] && exec tmux new", "if x; then exec /bin/zsh -l; fi", "  exec \"$SHELL\""]
        {
            assert_eq!(facts_of(line).exec.map(|line| line.number), Some(1), "{line}");
        }
        for line in
            ["exec 3>&1", "exec 2>/dev/null", "exec </dev/null", "# exec fish", "echo exec fish", "executable=1"]
        {
            assert_eq!(facts_of(line).exec, None, "{line}");
        }
        for (line, is_redirect) in
            [("exec 2>/dev/null", true), ("exec >~/log", true), ("exec fish 2>&1", false), ("ls > x", false)]
        {
            assert_eq!(facts_of(line).redirect.is_some(), is_redirect, "{line}");
        }
    }

    #[test]
    fn other_lines_of_interest_are_found_with_their_numbers() {
        let facts = facts_of(
            "# shopt -u promptvars\nshopt -u promptvars\neval \"$(starship init bash)\"\n[ -t 0 ] || exit 1\n",
        );
        assert_eq!(facts.promptvars.map(|line| line.number), Some(2));
        assert_eq!(facts.exit.map(|line| line.number), Some(4));
        assert_eq!(facts.tools, ["starship"]);
    }

    #[test]
    fn complaints_of_every_shell_are_seen_and_prompts_are_not() {
        for line in [
            "bash: /home/ann/.bashrc: line 7: syntax error near unexpected token `fi'",
            "/home/ann/.zshrc:3: parse error near `fi'",
            "~/.config/fish/config.fish (line 2): Missing end",
        ] {
            assert_eq!(complaint(&format!("Welcome\n{line}\n$ ")).as_deref(), Some(line));
        }
        for line in ["ann@host:/srv/data$ ", "12:30:01 up 3 days", "see http://example.org:80/x"] {
            assert_eq!(complaint(line), None, "{line}");
        }
    }

    #[test]
    fn the_answer_names_each_tool_once() {
        let answer = "has=starship_precmd\nhas=enable_transience\nhas=BLE_VERSION\npromptvars     \toff\n";
        assert_eq!(tools_in_answer(answer), ["starship", "ble.sh"]);
        assert_eq!(promptvars_in_answer(answer), Some(false));
        assert_eq!(promptvars_in_answer("has=omz"), None);
    }

    #[test]
    fn each_shell_reads_its_own_files() {
        let home = Path::new("/home/ann");
        let names = |kind, login| {
            let variable = |name: &str| (name == "ZDOTDIR").then(|| PathBuf::from("/z"));
            let files = files(kind, login, home, variable);
            files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(Shell::Bash, false), "/home/ann/.bashrc");
        assert_eq!(names(Shell::Zsh, false), "/z/.zshenv /z/.zshrc");
        assert_eq!(names(Shell::Fish, true), "/home/ann/.config/fish/config.fish");
        assert_eq!(names(Shell::Other, true), "");
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join(".bashrc");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(read(&[pipe], home.path()).is_empty());
    }
}
