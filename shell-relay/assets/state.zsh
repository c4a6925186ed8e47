# Writes into file $1 what this zsh is like, for receipts and undo: parts with a NUL behind each, at the end the directory stack.
# Builtins only, and no value of a variable that is not exported but the prompts. The `||` keeps a user's errexit out.
__cohab_state() {
  {
    builtin set +o # the user's, before they are others in here
    builtin emulate -L zsh -o extended_glob
    builtin local __cohab_k __cohab_v
    builtin printf '\0%s\0%s\0%s\0' "$PWD" "${PS1-}" "${RPS1-}"
    builtin umask
    builtin printf '\0'
    # Not `export` and `alias -L`: what they write of bytes above 7F cannot be read again. A program's value ends before a NUL.
    for __cohab_k in ${(k)parameters[(R)(scalar|integer|float)*export*]}; do
      builtin print -r -- "$__cohab_k=${(qq)${(P)__cohab_k}%%$'\0'*}"
    done
    builtin printf '\0'
    for __cohab_k __cohab_v in "${(@kv)aliases}"; do builtin print -r -- "alias ${(qq)__cohab_k}=${(qq)__cohab_v}"; done
    for __cohab_k __cohab_v in "${(@kv)galiases}"; do builtin print -r -- "alias -g ${(qq)__cohab_k}=${(qq)__cohab_v}"; done
    for __cohab_k __cohab_v in "${(@kv)saliases}"; do builtin print -r -- "alias -s ${(qq)__cohab_k}=${(qq)__cohab_v}"; done
    builtin printf '\0'
    builtin typeset +f
    builtin printf '\0'
    builtin print -rl -- ${(k)parameters[(R)^*(local|export)*]}
    builtin printf '\0'
    builtin print -rl -- ${${(v)jobstates#*:*:}%%=*}
    builtin printf '\0%s' $dirstack .
  } >|"$1" 2>/dev/null || builtin true
}
