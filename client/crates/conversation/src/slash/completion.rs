//! Tab behind the prefix: lines for the integration script that tell the shell's own completion of the commands, of words that
//! may follow them, and of files behind `@`. Pure.
//!
//! The shell draws and inserts as for any command; nothing of it is ours. Only the first word completes so, and only from its slash
//! on, and what follows a command with a choice of words; a word with `@` in front is a path behind it; everything else stays a path. Where zsh's completion is not in use, nothing
//! is registered.

use cohab_shell_state::shell::Shell;

use super::{COMMANDS, CommandKind, SlashCommand};
use crate::session_override::{INITIAL, PROFILE_PREFIX};

/// The prefix for which it is done: the word is part of the script.
pub const PREFIX: &str = "?";
/// Of more skills and commands of the user the first are completed.
const MAX_OWN: usize = 50;
/// What completions say of them.
const OWN_MEANING: &str = "your own";
/// Of more profiles the first are completed.
const MAX_PROFILES: usize = 64;

/// Lines behind the integration script of this shell; empty for others. They start no program. `names` are those of profiles, which
/// `/model` takes, and with a slash in front those of the user's own skills and commands; names that a shell would not read as one plain
/// word are left out.
#[must_use]
pub fn script(shell: Shell, names: &[String]) -> String {
    let profiles = names;
    let own = own_names(names);
    let words: Vec<String> =
        COMMANDS.iter().map(|command| command.name).chain(own.iter().copied()).map(|name| format!("/{name}")).collect();
    let words = words.join(" ");
    let choices = COMMANDS.iter().map(|command| (command, choices(command, profiles)));
    let choices =
        choices.filter(|(_, words)| !words.is_empty()).map(|(command, words)| (command.name, words.join(" ")));
    let lines = |line: fn((&str, String)) -> String| choices.map(line).collect::<String>();
    match shell {
        Shell::Bash => {
            let cases = lines(|(name, words)| format!("      /{name}) __cohab_l=({words}) ;;\n"));
            BASH.replace("@WORDS@", &words).replace("@CASES@", &cases)
        }
        Shell::Zsh => {
            let described = COMMANDS.iter().map(|command| format!("'/{}:{}'", command.name, command.meaning));
            let described = described.chain(own.iter().map(|name| format!("'/{name}:{OWN_MEANING}'")));
            let cases = lines(|(name, words)| format!("    (/{name}) compadd -- {words} && return 0 ;;\n"));
            ZSH.replace("@WORDS@", &described.collect::<Vec<_>>().join(" ")).replace("@CASES@", &cases)
        }
        Shell::Fish => {
            let described = COMMANDS.iter().map(|command| format!("/{} '{}'", command.name, command.meaning));
            let described = described.chain(own.iter().map(|name| format!("/{name} '{OWN_MEANING}'")));
            let cases =
                lines(|(name, words)| format!("complete -c '?' -n '__cohab_follows /{name}' -f -a '{words}'\n"));
            FISH.replace("@WORDS@", &described.collect::<Vec<_>>().join(" ")).replace("@CASES@", &cases)
        }
        Shell::Other => String::new(),
    }
}

/// The names of the user's skills and commands, without those that built-in commands have.
fn own_names(names: &[String]) -> Vec<&str> {
    let own = names.iter().filter_map(|name| name.strip_prefix('/')).filter(|name| is_plain(name));
    own.filter(|name| COMMANDS.iter().all(|command| command.name != *name)).take(MAX_OWN).collect()
}

/// What may follow a command, where that is a choice of words.
fn choices(command: &SlashCommand, profiles: &[String]) -> Vec<String> {
    if command.kind == CommandKind::Model {
        let named = profiles.iter().filter(|name| is_plain(name)).take(MAX_PROFILES);
        return named.map(|name| format!("{PROFILE_PREFIX}{name}")).chain([INITIAL.to_owned()]).collect();
    }
    let words = command.arguments.trim_matches(['[', ']']).split('|');
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    words.filter(|word| !word.is_empty()).filter(is_word).map(str::to_owned).collect()
}

/// Whether every shell reads it as one word, in quotes or without.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// The colon of a profile parts words in bash, where `COMP_WORDBREAKS` says so: only what follows it is inserted.
const BASH: &str = r#"{ __cohab_files() {
  local __cohab_p=${1//\\/} __cohab_w __cohab_d
  builtin compopt -o nospace
  while builtin read -r __cohab_w; do
    [[ $__cohab_w ]] || continue
    __cohab_d=
    [[ ! -d ${__cohab_w/#'~/'/"$HOME/"} ]] || __cohab_d=/
    if [[ $__cohab_w == '~/'* ]]; then
      builtin printf -v __cohab_w '~/%q' "${__cohab_w#'~/'}"
    else
      builtin printf -v __cohab_w '%q' "$__cohab_w"
    fi
    COMPREPLY+=("@$__cohab_w$__cohab_d")
  done <<<"$(builtin compgen -f -- "$__cohab_p")"
}
__cohab_words() {
  local IFS= __cohab_w __cohab_c=$2 __cohab_s= __cohab_l
  COMPREPLY=()
  if [[ $2 == @* ]]; then
    __cohab_files "${2#@}"
    return 0
  fi
  if [[ $COMP_CWORD == 1 ]]; then
    [[ $2 == /* ]] || return 0
    __cohab_l=(@WORDS@)
  else
    case ${COMP_WORDS[1]} in
@CASES@      *) return 0 ;;
    esac
    __cohab_c="${COMP_WORDS[*]:2:COMP_CWORD-1}"
    [[ $COMP_WORDBREAKS != *:* ]] || __cohab_s=${__cohab_c%"${__cohab_c##*:}"}
  fi
  for __cohab_w in "${__cohab_l[@]}"; do
    [[ $__cohab_w != "$__cohab_c"* ]] || COMPREPLY+=("${__cohab_w#"$__cohab_s"}")
  done
}
for __cohab_w in '?' '?!' '?+'; do
  \builtin complete -p "$__cohab_w" || \builtin complete -o bashdefault -o default -F __cohab_words "$__cohab_w"
done
\builtin unset -v __cohab_w; } >/dev/null 2>&1
"#;

/// At the first prompt, behind the user's own files: whether they use the completion system is known only then.
const ZSH: &str = r#"__cohab_words() {
  if compset -P '@'; then _files; return; fi
  local -a commands=(@WORDS@)
  if (( CURRENT == 2 )) && [[ $PREFIX == /* ]] && _describe command commands; then return 0; fi
  if (( CURRENT == 3 )); then
    case $words[2] in
@CASES@    esac
  fi
  _default
}
__cohab_register() {
  { builtin emulate -L zsh; unsetopt xtrace; } 2>/dev/null
  precmd_functions=(${precmd_functions:#__cohab_register})
  local word
  if (( $+functions[compdef] )); then
    for word in '?' '?!' '?+'; do
      [[ -n ${_comps[$word]-} ]] || compdef __cohab_words $word
    done
  fi
  unfunction __cohab_register
}
precmd_functions+=(__cohab_register)
"#;

const FISH: &str = r#"function __cohab_words
    builtin printf '%s\t%s\n' @WORDS@
end
function __cohab_follows
    set -l __cohab_typed (commandline -opc)
    builtin test (count $__cohab_typed) -eq 2; and builtin test "$__cohab_typed[2]" = $argv[1]
end
function __cohab_files
    set -l __cohab_typed (commandline -ct | string sub -s 2)
    for __cohab_word in (builtin complete -C "'' $__cohab_typed")
        builtin printf '@%s\n' (string split -f 1 \t -- $__cohab_word)
    end
end
for __cohab_word in '?' '?!' '?+'
    complete -c $__cohab_word -n 'builtin string match -q "@*" -- (commandline -ct)' -f -a '(__cohab_files)'
end
set -e __cohab_word
complete -c '?' -n 'builtin test (count (commandline -opc)) -eq 1; and builtin string match -q "/*" -- (commandline -ct)' -a '(__cohab_words)'
@CASES@"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_completed_in_every_shell() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell, &[]);
            assert!(!script.contains("@WORDS@") && !script.contains("@CASES@"), "{script}");
            for command in &COMMANDS {
                assert!(script.contains(&format!("/{}", command.name)), "{} {script}", command.name);
                assert!(
                    !command.meaning.contains(['\'', ':', '\\', '%']),
                    "it is quoted in scripts: {}",
                    command.meaning
                );
            }
        }
        assert_eq!(script(Shell::Other, &[]), "");
    }

    #[test]
    fn names_of_the_users_own_are_completed_unless_a_command_has_them() {
        let names = ["work", "/release", "/model", "/$(x)", "/a b", "/it's"].map(str::to_owned);
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell, &names);
            assert_eq!(script.matches("/release").count(), 1, "{script}");
            assert!(!script.contains("$(x)") && !script.contains("/a b") && !script.contains("it's"), "{script}");
        }
        assert_eq!(own_names(&names), ["release"]);
    }

    #[test]
    fn words_that_follow_are_those_of_the_help_and_the_profiles() {
        let hostile = ["a b", "$(x)", "it's", "", "a*", "work"].map(str::to_owned);
        let of =
            |kind: CommandKind| COMMANDS.iter().find(|command| command.kind == kind).map(|one| choices(one, &hostile));
        assert_eq!(of(CommandKind::Approve).unwrap(), ["ask", "read-only", "auto", "all"]);
        assert_eq!(of(CommandKind::Model).unwrap(), ["profile:work", "default"]);
        assert!(of(CommandKind::Copy).unwrap().is_empty() && of(CommandKind::Sessions).unwrap().is_empty());
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell, &hostile);
            assert!(script.contains("ask read-only auto all") && script.contains("profile:work default"), "{script}");
        }
    }
}
