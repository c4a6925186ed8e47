# Writes into file $1 what this zsh is like, for receipts and undo: parts with a NUL behind each, at the end the directory stack.
# Builtins only, and no value of a variable that is not exported but the prompts. The `||` keeps a user's errexit out.
__cohab_state() {
  {
    builtin set +o # the user's, before they are others in here
    builtin emulate -L zsh
    builtin local __cohab_k __cohab_v=
    builtin printf '\0%s\0%s\0%s\0' "$PWD" "${PS1-}" "${RPS1-}"
    builtin umask
    builtin printf '\0'
    # Not `export`: what it writes of bytes above 7F cannot be read again.
    for __cohab_k in ${(k)parameters[(R)(scalar|integer|float)*export*]}; do __cohab_v+="$__cohab_k=${(qqP)__cohab_k}"$'\n'; done
    if [[ $__cohab_v == *$'\0'* ]]; then # rare and slow: what programs get of such a value ends before it
      __cohab_v=
      for __cohab_k in ${(k)parameters[(R)(scalar|integer|float)*export*]}; do
        __cohab_v+="$__cohab_k=${(qq)${(P)__cohab_k}%%$'\0'*}"$'\n'
      done
    fi
    builtin print -rn -- "$__cohab_v"
    builtin printf '\0'
    builtin print -r -- "${(@kvqq)aliases}"
    builtin print -r -- "${(@kvqq)galiases}"
    builtin print -r -- "${(@kvqq)saliases}"
    builtin printf '\0'
    builtin print -r -- "${(kF)functions}"
    builtin printf '\0'
    builtin print -r -- "${(kvF)parameters}" # with their types: to leave out the local and exported here is slow
    builtin printf '\0'
    builtin print -rl -- ${${(v)jobstates#*:*:}%%=*}
    builtin printf '\0%s' $dirstack .
  } >|"$1" 2>/dev/null || builtin true
}
