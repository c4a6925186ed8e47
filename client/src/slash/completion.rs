//! Tab behind the prefix: lines for the integration script that tell the shell's own completion of the commands. Pure.
//!
//! The shell draws and inserts as for any command; nothing of it is ours. Only the first word completes so, and only from its slash
//! on; everything else stays a path. Where zsh's completion is not in use, nothing is registered.

use cohab_shell_relay::shell::Shell;

use super::COMMANDS;

/// The prefix for which it is done: the word is part of the script.
pub const PREFIX: &str = "?";

/// Lines behind the integration script of this shell; empty for others. They start no program.
#[must_use]
pub fn script(shell: Shell) -> String {
    let words: Vec<String> = COMMANDS.iter().map(|command| format!("/{}", command.name)).collect();
    let words = words.join(" ");
    match shell {
        Shell::Bash => BASH.replace("@WORDS@", &words),
        Shell::Zsh => {
            let described = COMMANDS.iter().map(|command| format!("'/{}:{}'", command.name, command.meaning));
            ZSH.replace("@WORDS@", &described.collect::<Vec<_>>().join(" "))
        }
        Shell::Fish => {
            let described = COMMANDS.iter().map(|command| format!("/{} '{}'", command.name, command.meaning));
            FISH.replace("@WORDS@", &described.collect::<Vec<_>>().join(" "))
        }
        Shell::Other => String::new(),
    }
}

const BASH: &str = r#"{ __cohab_words() {
  local __cohab_w
  COMPREPLY=()
  [[ $COMP_CWORD == 1 && $2 == /* ]] || return 0
  for __cohab_w in @WORDS@; do [[ $__cohab_w != "$2"* ]] || COMPREPLY+=("$__cohab_w"); done
}
\builtin complete -p '?' || \builtin complete -o bashdefault -o default -F __cohab_words '?'; } >/dev/null 2>&1
"#;

/// At the first prompt, behind the user's own files: whether they use the completion system is known only then.
const ZSH: &str = r#"__cohab_words() {
  local -a words=(@WORDS@)
  if (( CURRENT == 2 )) && [[ $PREFIX == /* ]] && _describe command words; then return 0; fi
  _default
}
__cohab_register() {
  builtin emulate -L zsh
  precmd_functions=(${precmd_functions:#__cohab_register})
  (( ! $+functions[compdef] || $+_comps[?] )) || compdef __cohab_words '?'
  unfunction __cohab_register
}
precmd_functions+=(__cohab_register)
"#;

const FISH: &str = r#"function __cohab_words
    builtin printf '%s\t%s\n' @WORDS@
end
complete -c '?' -n 'builtin test (count (commandline -opc)) -eq 1; and builtin string match -q "/*" -- (commandline -ct)' -a '(__cohab_words)'
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_completed_in_every_shell() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            assert!(!script.contains('@'), "{script}");
            for command in &COMMANDS {
                assert!(script.contains(&format!("/{}", command.name)), "{} {script}", command.name);
                assert!(
                    !command.meaning.contains(['\'', ':', '\\', '%']),
                    "it is quoted in scripts: {}",
                    command.meaning
                );
            }
        }
        assert_eq!(script(Shell::Other), "");
    }
}
