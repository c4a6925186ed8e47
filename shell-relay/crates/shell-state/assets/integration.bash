# Ties an interactive bash (4.4 or later) to cohab. Marks go to /dev/tty, so `exec >file` does not lose them. The user's aliases are off
# while this is read, and functions of the user's named like builtins are not called.
{
if [[ ${BLE_VERSION-} ]]; then # ble.sh reads all keys itself: none of ours would mean anything
  builtin printf '\e]7391;%s;%s;F;ble.sh\a' @NONCE@ "$$" 2>/dev/null >/dev/tty
else
# $BASHPID and not $$: a subshell cannot end a command.
__cohab_m() { builtin printf '\e]7391;%s;%s;%s\a' "$__cohab_nonce" "$BASHPID" "$1" 2>/dev/null >/dev/tty; }

__cohab_enc() { # percent-encode $1 into __cohab_r, one kind of byte after the other: byte by byte a long line would take seconds
  local __cohab_rest __cohab_c __cohab_h
  local LC_ALL=C # it may be read-only; who calls this is quiet
  __cohab_r=${1//'%'/%25} __cohab_rest=${1//[A-Za-z0-9\/._~%-]/}
  while [[ $__cohab_rest ]]; do
    __cohab_c=${__cohab_rest:0:1} __cohab_rest=${__cohab_rest//"${__cohab_rest:0:1}"/}
    builtin printf -v __cohab_h '%02X' "'$__cohab_c" # sign-extends bytes above 7F, hence the last two digits
    __cohab_r=${__cohab_r//"$__cohab_c"/%${__cohab_h: -2}}
  done
}

__cohab_precmd() { # $1: the command's status, $2: the traps, if the stub did not come to tell. A non-zero return under the user's errexit would end the shell
  local __cohab_st=${1-$?} __cohab_r __cohab_ee=
  case $- in *e*) __cohab_ee=1; builtin set +e ;; esac
  __cohab_repage
  __cohab_bind
  # After a command that came neither by our Enter nor from the client.
  [[ ! $__cohab_owner && ( ! $__cohab_ran || $__cohab_entered$__cohab_id ) ]] || __cohab_look_at_enter
  __cohab_entered= __cohab_ran= __cohab_more= __cohab_word=
  # Ctrl-C discards the rest of the stub. Within a function of somebody's its local variables would be told, too.
  [[ ! $__cohab_id || ! -e $__cohab_dir/wantenv || -e $__cohab_dir/env.$__cohab_id || ${#FUNCNAME[@]} -gt 1 ]] ||
    { builtin printf '%s' "${2-}" >|"$__cohab_dir/traps"; __cohab_state "$__cohab_dir/env.$__cohab_id"; }
  __cohab_open= __cohab_next= __cohab_cmd= # it may hold what `set` would tell later
  [[ ! $__cohab_entry ]] || { builtin history -d "$__cohab_entry"; __cohab_entry=; }
  __cohab_enc "$PWD"; __cohab_m "D;$__cohab_id;$__cohab_st;$__cohab_r"; __cohab_unpre; __cohab_id=
  [[ ! $__cohab_ee ]] || builtin set -e
  [[ $- != *e* ]] || __cohab_ee=1
  [[ $__cohab_ee ]] || return "$__cohab_st"
}

__cohab_wrap() { # last: themes rebuild PS1 before this. References only, never the nonce itself
  local __cohab_st=$?
  local -
  builtin set +xveu
  builtin shopt -q promptvars || {
    PS1=${PS1//'${__cohab_b-}'} PS2=${PS2//'${__cohab_more:=${__cohab_p2-}}'} PS0=${PS0//'${__cohab_ran:=${__cohab_c-}}'}
    return "$__cohab_st"
  }
  [[ $PS1 == *'${__cohab_b-}'* ]] || PS1+='${__cohab_b-}'
  __cohab_marked=1
  # The assignments tell the function for Enter that a command runs, or that the line is not the first one.
  [[ ${PS0-} == *'${__cohab_c-}'* ]] || PS0='${__cohab_ran:=${__cohab_c-}}'${PS0-}
  [[ $PS2 == *'${__cohab_p2-}'* ]] || PS2='${__cohab_more:=${__cohab_p2-}}'$PS2
}

__cohab_unpage() { # as in a shell of our own: who asked a question did not ask for a pager. Undo brings back what it has to
  local __cohab_n
  [[ $__cohab_id != 00000000* ]] || return 0
  for __cohab_n in PAGER GIT_PAGER; do
    [[ ${!__cohab_n@a} != *r* ]] || continue
    __cohab_pagers+=("$__cohab_n" "${!__cohab_n+set}${!__cohab_n@a}" "${!__cohab_n-}")
    builtin export "$__cohab_n=cat"
  done
}

__cohab_repage() { # what the command itself has set stays
  local __cohab_n=${__cohab_pagers[0]-} __cohab_was=${__cohab_pagers[1]-} __cohab_v=${__cohab_pagers[2]-}
  [[ $__cohab_n ]] || return 0
  if [[ ${!__cohab_n-} == cat ]]; then
    case $__cohab_was in
      '') builtin unset -v "$__cohab_n" ;;
      *x*) builtin export "$__cohab_n=$__cohab_v" ;;
      *) builtin export -n "$__cohab_n=$__cohab_v" ;;
    esac
  fi 2>/dev/null
  __cohab_pagers=("${__cohab_pagers[@]:3}")
  __cohab_repage
}

__cohab_pre() {
  __cohab_opts=$-
  { builtin set +euvx; } 2>/dev/null # v also if it is off: bash may go on echoing after a command has set it
  [[ :$SHELLOPTS: == *:pipefail:* ]] && __cohab_pl=1 || __cohab_pl=
  [[ ! -e $__cohab_dir/wantenv ]] || __cohab_state "$__cohab_dir/env.$__cohab_id.before"
  local HISTTIMEFORMAT= 2>/dev/null # a prefix to the builtin would have the whole environment built again
  [[ ${HISTIGNORE-} == *' __cohab_pre; *'* || $(builtin history 1) != *' __cohab_pre; '* ]] || builtin history -d -1
  __cohab_unpage
  builtin jobs -ps 2>/dev/null >|"$__cohab_dir/stopped" # into a file: no process is started for this
  __cohab_m "O;$__cohab_id"
}

__cohab_unpre() { # undo leaks (set -euo pipefail), put the user's own values back
  [[ $__cohab_opts ]] || return 0
  local __cohab_o
  for __cohab_o in e u x v f n; do
    if [[ $__cohab_opts == *$__cohab_o* ]]; then
      [[ $- == *$__cohab_o* ]] || builtin set "-$__cohab_o"
    else
      [[ $- != *$__cohab_o* ]] || builtin set "+$__cohab_o"
    fi
  done 2>/dev/null
  if [[ $__cohab_pl ]]; then builtin set -o pipefail; else builtin set +o pipefail; fi
  __cohab_opts=
}

__cohab_newly_stopped() { # whether a job is stopped that was not before
  local __cohab_job __cohab_before=$'\n'"$(<"$__cohab_dir/stopped")"$'\n'
  local IFS= 2>/dev/null
  while builtin read -r __cohab_job; do
    [[ ! $__cohab_job || $__cohab_before == *$'\n'$__cohab_job$'\n'* ]] || return 0
  done <<<"$(builtin jobs -ps)"
  return 1
}

__cohab_e() {
  __cohab_open=
  local __cohab_st=$1 __cohab_r __cohab_stopped=
  builtin set +x
  # The status alone does not tell a stopped job from an `exit 148`.
  case $__cohab_st in 147 | 148 | 149 | 150) ! __cohab_newly_stopped || __cohab_stopped=';stopped' ;; esac
  __cohab_enc "$PWD"; __cohab_m "E;$__cohab_id;$__cohab_st;$__cohab_r$__cohab_stopped"
  __cohab_repage
  [[ ! -e $__cohab_dir/wantenv ]] || __cohab_state "$__cohab_dir/env.$__cohab_id"
  [[ $__cohab_opts != *v* ]] || builtin set -v # within a hook it would not last
  return "$__cohab_st"
}

__cohab_hook() { # no local variables: PROMPT_COMMAND may become an array. `&& :` keeps the user's ERR trap from a second call
  local -
  builtin set +eux
  if [[ ${bash_preexec_imported-}${__bp_imported-} ]]; then
    precmd_functions=(__cohab_precmd "${precmd_functions[@]}" __cohab_wrap)
  elif [[ ${PROMPT_COMMAND@a} == *a* ]] || ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    PROMPT_COMMAND=("{ $__cohab_first && :; } >/dev/null 2>&1" "${PROMPT_COMMAND[@]}" '{ __cohab_wrap && :; } >/dev/null 2>&1')
  else
    PROMPT_COMMAND="{ $__cohab_first && :; } >/dev/null 2>&1"$'\n'${PROMPT_COMMAND-}$'\n{ __cohab_wrap && :; } >/dev/null 2>&1'
  fi
}

__cohab_unrecorded() { # the stub, whatever the user sets
  [[ ${HISTIGNORE+${HISTIGNORE@a}} != *r* ]] || return 0 # __cohab_pre takes it out again
  [[ ${HISTIGNORE-} == *' __cohab_pre; *'* ]] || HISTIGNORE="${HISTIGNORE:+$HISTIGNORE:} __cohab_pre; *"
}

__cohab_stash() { # $1: the keymap, which is vi's insertion again at the next prompt
  __cohab_bind
  __cohab_us=$2
  case $1 in
    vi-command) builtin bind -m vi-insert '"\e[7391;b~": vi-movement-mode' ;;
    vi-insert) builtin bind -m vi-insert '"\e[7391;b~": ""' ;;
  esac
  __cohab_mode=$1 __cohab_word=
  __cohab_line=$READLINE_LINE __cohab_point=$READLINE_POINT; READLINE_LINE= READLINE_POINT=0
  __cohab_m "S;${#__cohab_line}"
}

__cohab_take() { # a question: one Up away, as any line would be
  [[ ! -o history || ! $READLINE_LINE ]] || builtin history -s -- "$READLINE_LINE"
  __cohab_stash "$@"
}

__cohab_show() { # bash-preexec's hooks read `history 1`: the command is there until the next prompt. What undo brings back is not shown
  local __cohab_text=$__cohab_cmd
  local IFS= 2>/dev/null
  [[ $__cohab_id != 00000000* ]] || __cohab_text='cohab undo'
  [[ ! -e $__cohab_dir/shown ]] || builtin read -r -d '' __cohab_text <"$__cohab_dir/shown" || : # a secret is filled in
  __cohab_entry=$HISTCMD
  builtin history -s -- "$__cohab_text"
  ((HISTCMD > __cohab_entry)) || __cohab_entry= # none was made: it repeats the last, or there is no history
}

__cohab_hold() { # what was read is held until key 3 or the next prompt; what ran last never runs again
  [[ $__cohab_next && $__cohab_next != "$__cohab_last" ]] || __cohab_next= __cohab_cmd=
  __cohab_m "L;${__cohab_next:--}"
}

__cohab_load() {
  local IFS= 2>/dev/null # as a prefix to `read` it would have the whole environment built again
  __cohab_next=
  { builtin read -r __cohab_next; builtin read -r -d '' __cohab_cmd; } <"$__cohab_dir/cmd" || : # a user's errexit
  __cohab_hold
}

__cohab_typed() { # the file's content was typed into the line, percent-encoded, because there was no place for a file
  builtin printf -v __cohab_cmd '%b' "${READLINE_LINE//%/\\x}"
  READLINE_LINE= READLINE_POINT=0
  __cohab_next=${__cohab_cmd%%$'\n'*} __cohab_cmd=${__cohab_cmd#*$'\n'}
  __cohab_hold
}

__cohab_fence() { __cohab_m 'L;='; } # all keys before this one were read

__cohab_run() { # $1: the keymap. What is held runs once; without it this key does nothing
  if [[ ! $__cohab_next ]]; then
    builtin bind -m "$1" '"\e[7391;c~": ""'
    __cohab_m 'L;-'
    return
  fi
  builtin bind -m "$1" '"\e[7391;c~": accept-line'
  __cohab_id=$__cohab_next __cohab_last=$__cohab_next __cohab_next=
  __cohab_present
  __cohab_unrecorded
  [[ ! ${bash_preexec_imported-} ]] || __cohab_show
  __cohab_open=1
  READLINE_LINE=' __cohab_pre; \builtin eval -- "$__cohab_cmd"; { __cohab_st=$?; \builtin trap -p >|"$__cohab_dir/traps"; __cohab_e "$__cohab_st" "$__cohab_us"; } >/dev/null 2>&1' READLINE_POINT=0
}

__cohab_restore() { # what was typed meanwhile stands at the cursor
  local __cohab_before=${__cohab_line:0:__cohab_point} __cohab_after=${__cohab_line:__cohab_point}
  READLINE_POINT=$((__cohab_point + READLINE_POINT)) READLINE_LINE=$__cohab_before$READLINE_LINE$__cohab_after
  # To vi's command mode the cursor goes one back.
  [[ $__cohab_mode != vi-command || ! $__cohab_line ]] || ((++READLINE_POINT))
  __cohab_line= __cohab_point=0
}

__cohab_present() { # the user may have unset or replaced our hooks
  [[ "${PROMPT_COMMAND[*]-}${precmd_functions[*]-}" == *__cohab_precmd* ]] || __cohab_hook
}

__cohab_known() { # __cohab_k: whether this shell knows the line's first word as a command. Nothing is run for that
  local __cohab_w=${READLINE_LINE:0:256}
  __cohab_w=${__cohab_w#"${__cohab_w%%[! $'\t\n']*}"}
  __cohab_w=${__cohab_w%%[$' \t\n;|&<>()']*}
  __cohab_k=0
  [[ ! $__cohab_w ]] || ! builtin type -t -- "$__cohab_w" >/dev/null 2>&1 || __cohab_k=1
}

__cohab_query() { __cohab_bind; __cohab_ask Q "$1"; __cohab_present; }

__cohab_name() { # for the hint beside the line, which knows bash's own names. What a completion defines nobody types
  ((${#BASH_ALIASES[@]})) || builtin compgen -A function -X '_*' || return 0
  builtin trap '' XFSZ
  { builtin printf '%s\n' "${!BASH_ALIASES[@]}"; builtin compgen -A function -X '_*' || :; } >|"$__cohab_dir/names"
  builtin trap - XFSZ
}

__cohab_ask() { # $1: the mark, $2: the keymap. A line beyond bounds is cut, so that it is known at least how it begins
  local __cohab_r __cohab_k __cohab_all=$READLINE_LINE __cohab_max
  ((${#__cohab_all} <= 1024)) || __cohab_m R # the client waits for what takes this shell long
  for __cohab_max in 16384 4096; do
    ((${#__cohab_all} <= __cohab_max)) || __cohab_all="${__cohab_all:0:__cohab_max} [...]"
    __cohab_enc "$__cohab_all"
    ((${#__cohab_r} > 60000)) || break
  done
  __cohab_known
  ((READLINE_POINT < ${#READLINE_LINE})) || __cohab_k+=';end'
  case $2 in vi-*) __cohab_k+=';vi' ;; esac
  __cohab_m "$1;$READLINE_POINT;$__cohab_r;$__cohab_k"
}

__cohab_enter() { # $1: the keymap. Enter in the main loop of readline; in a search, say, Enter is what it always is
  __cohab_entered=1
  if [[ $__cohab_word && $READLINE_LINE == "$__cohab_word"?* ]]; then
    # A macro of the user's has typed on: its first line runs, and the rest is typed behind that.
    __cohab_split "$1" '\C-m'
    __cohab_m W
  elif [[ ! $READLINE_LINE || $__cohab_ran || $__cohab_more ]] || ((${#FUNCNAME[@]} > 1)) || builtin read -t 0 ||
    [[ ! $__cohab_marked ]]; then # no prompt has ever had its mark: the client takes this shell as it is
    builtin bind -m "$1" '"\e[7391;f~": accept-line'
    __cohab_m W
  else # the client says what becomes of the line
    builtin bind -m "$1" '"\e[7391;f~": ""'
    __cohab_word=$READLINE_LINE
    __cohab_ask N "$1"
  fi
  __cohab_present
}

__cohab_accept() { # $1: the keymap. Keys that came after Enter belong to the next line
  if [[ $__cohab_word && $READLINE_LINE == "$__cohab_word"* ]]; then
    __cohab_split "$1" ''
  else
    builtin bind -m "$1" '"\e[7391;f~": ""'
  fi
}

__cohab_split() { # $1: the keymap, $2: keys. The line that was reported is accepted; what stands behind it, and the keys, are typed then
  local __cohab_rest=${READLINE_LINE#"$__cohab_word"}
  READLINE_LINE=$__cohab_word READLINE_POINT=${#__cohab_word} __cohab_word=
  __cohab_rest=${__cohab_rest//\\/\\\\}
  builtin bind -m "$1" "\"\e[7391;f~\": \"\\e[7391;6~${__cohab_rest//\"/\\\"}$2\""
}

__cohab_look_at_enter() { # binds Enter, unless it is bound to something of the user's: then the client is told, and asks by itself
  local __cohab_map __cohab_key __cohab_r= __cohab_macros __cohab_was=$__cohab_owner __cohab_ours='"\e[7391;e~\e[7391;f~"'
  local IFS= 2>/dev/null
  # By one file: no process is started, and a second one in its place would be waited for until it is on the disk. Without it, Enter is
  # taken for the user's own.
  builtin trap '' XFSZ # a limit of the user's on the size of files would end the shell
  for __cohab_map in "${__cohab_maps[@]}"; do
    builtin bind -m "$__cohab_map" -s
    builtin printf '\1'
    builtin bind -m "$__cohab_map" -q accept-line || : # a user's errexit
    builtin printf '\1'
  done >|"$__cohab_dir/told"
  builtin trap - XFSZ
  builtin read -r -d '' __cohab_r <"$__cohab_dir/told" || :
  __cohab_owner=
  for __cohab_map in "${__cohab_maps[@]}"; do
    __cohab_macros=${__cohab_r%%$'\1'*} __cohab_r=${__cohab_r#*$'\1'}
    if [[ $__cohab_macros != *"\"\\C-m\": $__cohab_ours"* ]]; then
      [[ ${__cohab_r%%$'\1'*} == *'"\C-m"'* ]] || __cohab_owner=1
      for __cohab_key in '"\C-m"' '"\C-j"'; do
        [[ ${__cohab_r%%$'\1'*} != *"$__cohab_key"* ]] || builtin bind -m "$__cohab_map" "$__cohab_key: $__cohab_ours"
      done
    fi
    __cohab_r=${__cohab_r#*$'\1'}
  done
  [[ $__cohab_owner == "$__cohab_was" ]] || __cohab_m "K;${__cohab_owner:-0}"
}

__cohab_clear() { READLINE_LINE= READLINE_POINT=0; __cohab_m 'S;0'; }

__cohab_key() { # in keymap $1 number $2 calls $3
  # The braces keep the user's `set -x` and DEBUG trap quiet, and behind a line break they are braces also in the middle of a command.
  # The last argument is there for its effect, too: $_ stays what it was.
  builtin bind -m "$1" -x "\"\\e[7391;$2~\": "$'\n'"{ $3 $1 \"\$_\"; } >/dev/null 2>&1"
}

__cohab_bind() { # the keymaps of the editing mode, when it is another one. Not all at the start: each binding costs 30 us
  local __cohab_k __cohab_now=emacs
  [[ ! -o vi ]] || __cohab_now=vi
  [[ $__cohab_now != "$__cohab_editing" ]] || return 0
  __cohab_editing=$__cohab_now __cohab_maps=(emacs)
  [[ $__cohab_now == emacs ]] || __cohab_maps=(vi-insert vi-command)
  __cohab_look_at_enter
  [[ $__cohab_bound != *$__cohab_now* ]] || return 0
  __cohab_bound+=$__cohab_now
  for __cohab_k in "${__cohab_maps[@]}"; do
    builtin bind -m "$__cohab_k" '"\e[7391;p~": bracketed-paste-begin' '"\e[7391;3~": "\e[7391;d~\e[7391;c~"' \
      '"\e[7391;4~": "\e[7391;a~\e[7391;b~"' '"\e[7391;b~": ""' '"\e[7391;f~": accept-line' \
      '"\e[7391;7~": "\e[7391;g~\e[7391;f~"' '"\e[7391;6~": accept-line'
    # Functions come last: for each other binding bash lists all of them, twice.
    __cohab_key "$__cohab_k" 2 __cohab_load
    __cohab_key "$__cohab_k" t __cohab_typed
    __cohab_key "$__cohab_k" n __cohab_fence
    __cohab_key "$__cohab_k" d 'builtin trap -p >|"$__cohab_dir/traps"; __cohab_run'
    __cohab_key "$__cohab_k" a __cohab_restore
    __cohab_key "$__cohab_k" e __cohab_enter
    __cohab_key "$__cohab_k" g __cohab_accept
    __cohab_key "$__cohab_k" 8 __cohab_clear
    __cohab_key "$__cohab_k" 9 __cohab_take
  done
}

# One function for all commands, as a user's DEBUG trap is called at each one outside of functions. No other function stands in it: bash
# would copy that twice.
__cohab_install() {
__cohab_nonce=@NONCE@ __cohab_dir=@DIR@ __cohab_id= __cohab_next= __cohab_last= __cohab_cmd= __cohab_line= __cohab_point=0 __cohab_mode= __cohab_us= __cohab_opts= __cohab_pl= __cohab_entry= __cohab_word= __cohab_entered=1 __cohab_owner= __cohab_ran= __cohab_more= __cohab_marked= __cohab_editing= __cohab_bound=
__cohab_pagers=() __cohab_maps=()
# A function does not see all traps, and nothing but a process of its own tells them to an argument: only after Ctrl-C.
__cohab_open= __cohab_first='__cohab_precmd "$?" ${__cohab_open:+"$(builtin trap -p)"}'
# \1 and \2 are what \[ and \] in a prompt stand for, which another shell would print if PS1 is exported.
__cohab_b=$'\1\e]7391;'$__cohab_nonce$';'$$$';B\a\2'
__cohab_p2=$'\1\e]7391;'$__cohab_nonce$';'$$$';P\a\2'
__cohab_c=$'\e]7391;'$__cohab_nonce$';'$$$';C\a'
# In emacs mode an escape that the user pressed before may still be pending. The first binding also reads the user's inputrc, which may
# say vi.
builtin bind -m emacs '"\e\e[7391;": "\e[7391;"'
__cohab_bind
# The client's first key is one of these, so that a mode that was changed by a key has the others then.
for __cohab_k in emacs vi-insert vi-command; do
  __cohab_key "$__cohab_k" 1 __cohab_stash
  __cohab_key "$__cohab_k" 5 __cohab_query
done
builtin unset -v __cohab_k

__cohab_name
__cohab_hook
__cohab_unrecorded
}
__cohab_install
fi
  builtin unset -f __cohab_install
  [[ ! ${__cohab_aliases-} ]] || builtin shopt -s expand_aliases
  builtin unset __cohab_aliases
} >/dev/null 2>&1 # a user's `set -x` would print marks as they are made, and a DEBUG trap of theirs is called here, too
