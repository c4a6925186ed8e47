# Writes into file $1 what this bash is like, for receipts, undo and what names stand for: parts with a NUL behind each, at the end the
# directory stack. Builtins only, and of variables that are not exported only the values that decide what runs. The `||` keeps a
# user's errexit out. A function does not see all traps: file `traps` is written outside of functions. bash writes each line by itself,
# and that is what takes the time: names of ours are left out, and of functions only the user's bodies are told.
__cohab_state() {
  builtin local __cohab_t= __cohab_f=
  {
    builtin printf '%s\0' "$PWD" "${PS1-}" "$SHELLOPTS" "$BASHOPTS"
    builtin umask
    builtin printf '\0'
    builtin export -p
    builtin printf '\0'
    builtin alias -p
    builtin printf '\0'
    builtin compgen -A function -X '__cohab_*'
    builtin printf '\0'
    builtin compgen -A variable -X '__cohab_*'
    builtin printf '\0'
    builtin jobs -p
    builtin printf '\0'
    builtin declare -p PROMPT_COMMAND PS0 PS2 PS3 PS4 IFS CDPATH HISTFILE HISTIGNORE HISTCONTROL GLOBIGNORE FIGNORE EXECIGNORE \
      BASH_ENV ENV INPUTRC TIMEFORMAT MAILPATH MAILCHECK TMOUT FCEDIT POSIXLY_CORRECT COMP_WORDBREAKS histchars BASH_COMPAT \
      BASH_XTRACEFD BASH_LOADABLES_PATH PROMPT_DIRTRIM preexec_functions precmd_functions
    builtin printf '\0'
    builtin local IFS= 2>/dev/null # a prefix to `read` would have the whole environment built again
    builtin read -r -d '' __cohab_t <"${__cohab_dir-}/traps"
    builtin printf '%s\0' "$__cohab_t"
    builtin hash -l
    builtin printf '\0'
    builtin enable -a
    builtin printf '\0'
    builtin bind -X
    builtin bind -s
    builtin printf '\0'
    builtin complete -p
    builtin printf '\0'
    builtin mapfile -d '' -s 7 -n 1 -t __cohab_f <"$1" # the names of the functions, as they were written above
    builtin local - # names, not patterns
    builtin set -f
    IFS=$'\n'
    [[ ! ${__cohab_f-} ]] || builtin declare -f -- $__cohab_f
    builtin printf '\0%s' "${DIRSTACK[@]:1}" .
  } >|"$1" 2>/dev/null || builtin true
}
