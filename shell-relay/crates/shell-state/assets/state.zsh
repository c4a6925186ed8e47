# Writes into file $1 what this zsh is like, for receipts, undo and what names stand for: parts with a NUL behind each, at the end the
# directory stack. Builtins only, and of variables that are not exported only the values that decide what runs. The `||` keeps a
# user's errexit out.
__cohab_state() {
  # The user's, before they are others in here. One by one: a trap of theirs may say something between two commands.
  builtin set +o >|"$1" 2>/dev/null || builtin true
  builtin printf '\0' >>"$1" 2>/dev/null || builtin true
  builtin trap >>"$1" 2>/dev/null || builtin true
  builtin emulate -L zsh -o no_hash_list_all -o extended_glob
  builtin trap - DEBUG ZERR # only in here: what they say would stand between the parts
  {
    builtin local __cohab_k __cohab_v=
    builtin printf '%s\0%s\0%s\0%s\0' "${__cohab_debug-}" "$PWD" "${PS1-}" "${RPS1-}"
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
    builtin printf '\0'
    builtin typeset -p PS2 PS3 PS4 RPS2 SPROMPT POSTEDIT IFS CDPATH FPATH MODULE_PATH HISTFILE HISTCHARS NULLCMD READNULLCMD FCEDIT \
      TMOUT PERIOD MAILPATH MAILCHECK ENV precmd_functions preexec_functions chpwd_functions periodic_functions \
      zshaddhistory_functions zshexit_functions zsh_directory_name_functions
    builtin printf '\0'
    builtin print -r -- "${(kvF)commands}" # those that were looked for so far: a pattern would be slower than all of them
    builtin printf '\0'
    builtin print -r -- "${(@kvqq)nameddirs}"
    builtin printf '\0'
    builtin print -rl -- ${(k)builtins} '' ${(k)dis_builtins}
    builtin printf '\0'
    builtin bindkey -L
    builtin printf '\0'
    builtin zle -lL
    builtin printf '\0'
    builtin print -r -- "${(pj:\1:@kv)functions[(I)^__cohab_*]}" # ours are long
    builtin printf '\0%s' $dirstack .
  } >>"$1" 2>/dev/null || builtin true
}
