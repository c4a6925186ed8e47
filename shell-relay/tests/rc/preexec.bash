# Hooks before and after each command for bash, in the manner and with the interface of bash-preexec: precmd_functions,
# preexec_functions, a DEBUG trap, installed at the first prompt only, so that it comes after all that the rc file sets.
[[ -z ${bash_preexec_imported-} ]] || return 0
bash_preexec_imported=defined
declare -a precmd_functions preexec_functions
__hooks_armed= __hooks_inside= __hooks_status=0 __hooks_underscore=

# The text of a command is read from the history, also of one that begins with a blank.
HISTCONTROL=${HISTCONTROL-}
HISTCONTROL=${HISTCONTROL//ignoreboth/ignoredups}
HISTCONTROL=${HISTCONTROL//ignorespace/}

__hooks_return() { return "$1"; }

__hooks_before_prompt() {
  __hooks_status=$? __hooks_underscore=$1
  [[ ! $__hooks_inside ]] || return "$__hooks_status"
  local __hooks_inside=1 hook
  for hook in precmd "${precmd_functions[@]}"; do
    if declare -F "$hook" >/dev/null; then
      __hooks_return "$__hooks_status"
      "$hook"
    fi
  done
  return "$__hooks_status"
}

# The last element of PROMPT_COMMAND: what comes next is the user's.
__hooks_arm() { __hooks_armed=1; }

__hooks_is_ours() { # a command of PROMPT_COMMAND itself
  local line IFS=$'\n'
  while read -r line; do
    line=${line#"${line%%[![:space:]]*}"}
    [[ $line != "$1" ]] || return 0
  done <<<"${PROMPT_COMMAND[*]//;/$'\n'}"
  return 1
}

__hooks_before_command() {
  local status=$? underscore=$1
  [[ -t 1 && ! $__hooks_inside && ! ${COMP_POINT-} && ! ${READLINE_POINT-} && $__hooks_armed ]] || return 0
  # A subshell of a pipeline starts commands as well: only the first counts.
  ((BASH_SUBSHELL > 0)) || __hooks_armed=
  if __hooks_is_ours "$BASH_COMMAND"; then
    __hooks_armed=
    return 0
  fi
  local __hooks_inside=1 text hook
  text=$(LC_ALL=C HISTTIMEFORMAT= builtin history 1)
  text=${text#*[[:digit:]][* ] }
  [[ $text ]] || return 0
  for hook in preexec "${preexec_functions[@]}"; do
    if declare -F "$hook" >/dev/null; then
      __hooks_return "$__hooks_status"
      "$hook" "$text"
    fi
  done
  __hooks_return "$status" "$underscore"
}

__hooks_install() { # with the user's own trap, which becomes one more hook
  local theirs
  printf -v theirs '%s\n' "${PROMPT_COMMAND[@]}"
  theirs=${theirs/"$__hooks_first_prompt"/:}
  if [[ $1 ]]; then
    eval "set -- $1" # trap -- TEXT DEBUG
    eval "__hooks_users_trap() { $3"$'\n}'
    preexec_functions+=(__hooks_users_trap)
  fi
  PROMPT_COMMAND=$'__hooks_before_prompt "$_"\n'$theirs'__hooks_arm'
  trap '__hooks_before_command "$_"' DEBUG
  __hooks_before_prompt ''
  __hooks_arm
}

# Not in a function: there the trap is not seen.
__hooks_first_prompt='__hooks_install "$(trap -p DEBUG)"'
PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}$__hooks_first_prompt
