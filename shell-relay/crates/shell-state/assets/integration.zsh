# Ties an interactive zsh (5.3 or later) to cohab. Read before the user's own files; installs itself at the first prompt, after them.
# Marks go to /dev/tty, so `exec >file` does not lose them. Braces around names, and `emulate` where it is allowed: any option of the
# user's may be set.
[[ $ZSH_VERSION == (5.<3->(|.*)|<6->.*) ]] || return 0
typeset -g __cohab_nonce=@NONCE@ __cohab_dir=@DIR@ __cohab_id= __cohab_next= __cohab_last= __cohab_cmd= __cohab_line= __cohab_point=0 __cohab_keymap= __cohab_us= __cohab_x= __cohab_st=0 __cohab_jobs= __cohab_saved= __cohab_entered= __cohab_readonly= __cohab_histfile= __cohab_debug= __cohab_named=
typeset -gA __cohab_opts __cohab_user
typeset -ga __cohab_pagers

__cohab_m() { builtin printf '\e]7391;%s;%s;%s\a' "$__cohab_nonce" "$$" "$1" 2>/dev/null >/dev/tty; }

# No trap on DEBUG of the user's is called for what is done here: it is away from the first hook before a prompt up to the command, but
# for the user's own hooks of the line editor. It comes before the first line of any function but one with options of its own, as these,
# where it comes after a line: so it goes in the first one, and comes back in the last.
builtin emulate zsh -o no_debug_before_cmd -o no_xtrace -c '
__cohab_debug_off() { # returns $1
  local is_function=1 file=$__cohab_dir/traps all && builtin setopt local_traps && builtin trap "" XFSZ &&
    builtin unsetopt local_traps && builtin disable -f TRAPDEBUG 2>/dev/null || is_function= &&
    builtin trap 2>/dev/null >|$file && builtin trap - DEBUG
  { all="$(<$file)" || :; } 2>/dev/null # no process is started for this
  if [[ -n $is_function ]]; then
    __cohab_debug="TRAPDEBUG ${dis_functions[TRAPDEBUG]}"
  elif [[ $all == *DEBUG* ]]; then # the last of the list
    builtin trap >|$file
    __cohab_debug=${all#"$(<$file)"}
  fi
  : 2>/dev/null >|$file
  return ${1:-0}
}
__cohab_debug_on() { # status: whether there is one
  builtin setopt debug_before_cmd && [[ $__cohab_debug == TRAP* ]] && builtin enable -f TRAPDEBUG && __cohab_debug= ||
    [[ -n $__cohab_debug ]] && builtin eval -- "$__cohab_debug" && __cohab_debug=
}'

__cohab_enc() { # percent-encode $1 into REPLY
  builtin emulate -L zsh -o extended_glob -o no_multibyte
  REPLY=${1//(#m)[^A-Za-z0-9\/._~-]/%${(l:2::0:)$(([##16]#MATCH))}}
}

__cohab_precmd() { # first: $? is still the command's. No `emulate -L`: it would undo that options are put back
  { local st=$? REPLY; unsetopt xtrace; } 2>/dev/null # local to functions
  __cohab_next= __cohab_cmd= # it may hold what `set` would tell later
  __cohab_repage
  # Ctrl-C discards the rest of the stub.
  [[ -z $__cohab_id || ! -e $__cohab_dir/wantenv || -e $__cohab_dir/env.$__cohab_id ]] || __cohab_state "$__cohab_dir/env.$__cohab_id"
  __cohab_enc "$PWD"; __cohab_m "D;$__cohab_id;$st;$REPLY"; __cohab_unpre; __cohab_id=
  __cohab_hooks
  [[ -z $__cohab_readonly ]] || { __cohab_readonly=; typeset -gr HISTFILE; }
}

__cohab_hooks() { # ahead of the user's, whatever became of them meanwhile. Others want to be the last
  { builtin emulate -L zsh; unsetopt xtrace; } 2>/dev/null
  local w f named="${#${(k)aliases}} ${#${(k)galiases}} ${#${(k)functions}}" # letters: counting functions would write them all out
  [[ ${(j: :)precmd_functions[1,2]-} == '__cohab_debug_off __cohab_precmd' ]] ||
    precmd_functions=(__cohab_debug_off __cohab_precmd ${precmd_functions:#__cohab_(debug_off|precmd|install)})
  (( ${preexec_functions[(I)__cohab_preexec]} )) || preexec_functions+=(__cohab_preexec)
  (( ${zshaddhistory_functions[(I)__cohab_addhist]} )) || zshaddhistory_functions+=(__cohab_addhist)
  for w in init finish; do # the user's own, or one that came later, is called by ours
    f=${${(M)widgets[zle-line-$w]:#user:*}#user:}
    [[ $f != __cohab_line_$w ]] || continue
    __cohab_user[$w]="$f ${__cohab_user[$w]//$f }"
    zle -N zle-line-$w __cohab_line_$w
  done
  [[ $named == "$__cohab_named" ]] || { # for the hint beside the line
    __cohab_named=$named
    builtin trap '' XFSZ # beyond a limit of the size of files; in here only
    builtin print -rl -- ${(k)aliases} ${(k)galiases} ${(k)functions} ${(k)builtins} $reswords >|$__cohab_dir/names
  } 2>/dev/null
  [[ -n ${WIDGET-} ]] || __cohab_keys # in a widget they are as the prompt made them
}

__cohab_keys() { # at each prompt: `bindkey -d` makes all keymaps anew
  local k e
  for k in emacs viins vicmd; do
    for e in '\e' '\e\e'; do # with a second escape: one that the user pressed before may still be pending
      builtin bindkey -M $k $e'[7391;1~' __cohab_stash $e'[7391;2~' __cohab_load $e'[7391;3~' __cohab_go \
        $e'[7391;p~' __cohab_typed $e'[7391;n~' __cohab_fence $e'[7391;4~' __cohab_restore \
        $e'[7391;5~' __cohab_query $e'[7391;6~' __cohab_fresh $e'[7391;7~' __cohab_run \
        $e'[7391;8~' __cohab_clear $e'[7391;9~' __cohab_take
    done
  done
}

__cohab_preexec() {
  { unsetopt xtrace; } 2>/dev/null
  __cohab_m C
  [[ -n $__cohab_id || -z $__cohab_debug ]] || __cohab_debug_on
}

__cohab_addhist() { # the stub goes into a history of its own, which is dropped at once. A status of 1 alone would leave it one Up away
  { unsetopt xtrace; } 2>/dev/null
  [[ $1 == ' { __cohab_x='* ]] || return 0
  __cohab_histfile=${parameters[HISTFILE]-}
  # A read-only variable would be an error, with which zsh drops the whole line.
  [[ $__cohab_histfile != *readonly* ]] || { typeset -g +r HISTFILE; __cohab_readonly=1; }
  { builtin fc -p; } always { TRY_BLOCK_ERROR=0; }
  return 2 # after 1 zsh does not free the line with that history
}

__cohab_unpage() { # as in a shell of our own: who asked a question did not ask for a pager. Undo brings back what it has to
  builtin emulate -L zsh
  local name
  [[ $__cohab_id != 00000000* ]] || return 0
  for name in PAGER GIT_PAGER; do
    [[ ${(Pt)name} != *readonly* ]] || continue
    __cohab_pagers+=("$name" "${(Pt)name}" "${(P)name}")
    typeset -gx "$name=cat"
  done
}

__cohab_repage() { # what the command itself has set stays
  builtin emulate -L zsh
  local name was value
  for name was value in "${(@)__cohab_pagers}"; do
    [[ ${(P)name} == cat ]] || continue
    case $was in
      ('') builtin unset "$name" ;;
      (*export*) typeset -gx "$name=$value" ;;
      (*) typeset -g +x "$name=$value" ;;
    esac
  done 2>/dev/null
  __cohab_pagers=()
}

__cohab_pre() {
  local o REPLY
  for o in nounset errreturn pipefail verbose noglob; do __cohab_opts[$o]=${options[$o]}; done
  __cohab_saved=1
  unsetopt errexit nounset xtrace errreturn 2>/dev/null
  [[ $__cohab_histfile != *export* ]] || builtin export HISTFILE # lost by `fc -p`
  [[ ! -e $__cohab_dir/wantenv ]] || __cohab_state "$__cohab_dir/env.$__cohab_id.before"
  __cohab_unpage
  __cohab_stopped
  __cohab_jobs=$REPLY
  __cohab_m "O;$__cohab_id"
}

__cohab_unpre() { # undo leaks (set -euo pipefail), put the user's own values back
  [[ -n $__cohab_saved ]] || return 0
  local o
  for o in errexit nounset errreturn pipefail verbose noglob; do
    [[ ${options[$o]} == ${__cohab_opts[$o]-off} ]] || options[$o]=${__cohab_opts[$o]-off}
  done
  __cohab_saved=
}

__cohab_stopped() { # the numbers of stopped jobs, between blanks, into REPLY
  builtin emulate -L zsh
  REPLY=" ${(kj: :)jobstates[(R)suspended*]} "
}

__cohab_newly_stopped() { # whether a job is stopped that was not before
  builtin emulate -L zsh
  local job
  for job in ${(k)jobstates[(R)suspended*]}; do
    [[ $__cohab_jobs == *" $job "* ]] || return 0
  done
  return 1
}

__cohab_e() {
  local st=$1 REPLY stopped=
  unsetopt xtrace 2>/dev/null
  # The status alone does not tell a stopped job from an `exit 148`.
  case $st in (147|148|149|150) if __cohab_newly_stopped; then stopped=';stopped'; fi ;; esac
  __cohab_enc "$PWD"; __cohab_m "E;$__cohab_id;$st;$REPLY$stopped"
  __cohab_repage
  [[ ! -e $__cohab_dir/wantenv ]] || __cohab_state "$__cohab_dir/env.$__cohab_id"
  return $st
}

__cohab_stash() {
  __cohab_us=$_
  builtin emulate -L zsh
  if [[ $CONTEXT != start ]]; then __cohab_m "X;$CONTEXT"; return; fi
  __cohab_line=$BUFFER __cohab_point=$CURSOR __cohab_keymap=$KEYMAP
  BUFFER= POSTDISPLAY= region_highlight=()
  zle -R
  __cohab_m "S;${#__cohab_line}"
}

__cohab_take() { # a question: one Up away, as any line would be
  [[ -z $BUFFER ]] || builtin print -sr -- "$BUFFER"
  __cohab_stash
}

__cohab_hold() { # what was read is held until key 3 or the next prompt; what ran last never runs again
  builtin emulate -L zsh
  __cohab_next=${__cohab_cmd%%$'\n'*} __cohab_cmd=${__cohab_cmd#*$'\n'}
  [[ -n $__cohab_next && $__cohab_next != "$__cohab_last" ]] || __cohab_next= __cohab_cmd=
  __cohab_m "L;${__cohab_next:--}"
}

__cohab_load() {
  builtin emulate -L zsh
  { __cohab_cmd="$(<$__cohab_dir/cmd)"$'\n'; } 2>/dev/null # no process is started for this
  __cohab_hold
}

__cohab_typed() { # the file's content comes as a paste, percent-encoded, because there was no place for a file
  builtin emulate -L zsh
  local content
  zle .bracketed-paste content
  builtin printf -v __cohab_cmd '%b\n' "${content//\%/\\x}"
  __cohab_hold
}

__cohab_fence() { __cohab_m 'L;='; } # all keys before this one were read

__cohab_go() { # what is held runs once; without it this key does nothing
  if [[ -z $__cohab_next ]]; then __cohab_m 'L;-'; return; fi
  # No `emulate -L`: errexit stays off until precmd, else the status of the history hook ends the shell.
  __cohab_opts[errexit]=${options[errexit]}
  unsetopt errexit
  __cohab_id=$__cohab_next __cohab_last=$__cohab_next __cohab_next=
  __cohab_hooks
  BUFFER=$__cohab_stub
  [[ -z $__cohab_debug ]] || BUFFER=${BUFFER/'$__cohab_cmd";'/'__cohab_debug_on; $__cohab_cmd"; __cohab_debug_off $?;'}
  zle .accept-line # the dot: no plugin's wrapper and not our own
}
# xtrace is local to functions: switched here
typeset -g __cohab_stub=' { __cohab_x=${options[xtrace]}; unsetopt xtrace; } 2>/dev/null; __cohab_pre; \eval -- "$__cohab_cmd"; { __cohab_st=$?; [[ $__cohab_x == on ]] && setopt xtrace; __cohab_e $__cohab_st "$__cohab_us"; } 2>/dev/null'

__cohab_fresh() { BUFFER= POSTDISPLAY=; zle .accept-line; }

__cohab_restore() { # what was typed meanwhile stands at the cursor
  builtin emulate -L zsh
  local before=${__cohab_line[1,__cohab_point]} after=${__cohab_line[__cohab_point+1,-1]} typed=$CURSOR
  [[ $__cohab_keymap != vicmd ]] || zle -K vicmd
  BUFFER=$before$BUFFER$after CURSOR=$((__cohab_point + typed))
  __cohab_line= __cohab_point=0 __cohab_keymap=
}

__cohab_clear() { BUFFER= POSTDISPLAY=; zle -R; __cohab_m 'S;0'; }

__cohab_known() { # REPLY: whether this shell knows the line's first word as a command. Nothing is run for that
  builtin emulate -L zsh -o extended_glob
  local word=${BUFFER[1,256]}
  word=${${word##[[:space:]]#}%%[[:space:]\;\|\&\<\>\(\)]*}
  REPLY=0
  if [[ -n $word ]] && builtin whence -- "$word" >/dev/null 2>&1; then REPLY=1; fi
}

__cohab_ask() { # a line beyond bounds is cut, so that it is known at least how it begins
  builtin emulate -L zsh
  local REPLY line=$BUFFER text max
  for max in 16384 4096; do
    (( ${#line} <= max )) || line="${line[1,max]} [...]"
    __cohab_enc "$line"
    (( ${#REPLY} > 60000 )) || break
  done
  text=$REPLY
  __cohab_known
  __cohab_m "$1;$CURSOR;$text;$REPLY$2"
}

__cohab_query() {
  builtin emulate -L zsh
  builtin trap '' XFSZ
  { builtin bindkey -lL main >|$__cohab_dir/told; } 2>/dev/null # into a file: no process is started for this
  case "$(<$__cohab_dir/told)" in (*viins*|*vicmd*) __cohab_ask Q ';vi' ;; (*) __cohab_ask Q ;; esac
}

__cohab_enter() { # more keys wait: they were typed ahead, one line after the other
  if [[ $CONTEXT != start || -z $BUFFER || $PENDING -gt 0 ]]; then
    zle __cohab_accept
  else
    __cohab_entered=$BUFFER
    __cohab_ask N
  fi
}

__cohab_run() { if __cohab_is_entered; then zle __cohab_accept; fi; }

__cohab_is_entered() { # keys that came after Enter belong to the next line
  builtin emulate -L zsh
  if [[ $BUFFER == "$__cohab_entered"?* ]]; then
    builtin print -rz -- "${BUFFER#"$__cohab_entered"}"
    BUFFER=$__cohab_entered
  fi
  [[ $BUFFER == "$__cohab_entered" ]]
}

__cohab_line_init() {
  [[ -n ${__cohab_users+x} ]] || if [[ $CONTEXT == start ]]; then __cohab_m B; else __cohab_m P; fi
  __cohab_user_hook "${__cohab_user[init]-}" "$@"
}

__cohab_line_finish() { __cohab_user_hook "${__cohab_user[finish]-}" "$@"; }

__cohab_user_hook() { # $1: those in whose place ours stands, each with a blank. The first is called; if it calls ours, the next one
  local f=${__cohab_users-$1}
  local __cohab_users=${f#* }
  f=${f%% *}
  shift
  if [[ -z $f ]]; then
    return 0
  elif [[ -z $__cohab_debug ]]; then
    $f "$@"
  else
    __cohab_debug_on && $f "$@" && __cohab_debug_off || __cohab_debug_off
  fi
}

__cohab_install() {
  { builtin emulate -L zsh; unsetopt xtrace; } 2>/dev/null
  local w
  for w in stash load typed fence go restore query fresh clear take run; do zle -N __cohab_$w; done
  zle -A accept-line __cohab_accept
  zle -N accept-line __cohab_enter
  unfunction __cohab_install
  __cohab_precmd
}
precmd_functions+=(__cohab_debug_off __cohab_install)
