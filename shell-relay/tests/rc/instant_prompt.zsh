# A prompt before the rc file has run, in the manner of powerlevel10k's: to be sourced first. What the rc file prints is held back
# and shown above the real prompt. Works with any theme that is loaded afterwards.
if [[ -t 0 && -t 1 && -t 2 ]]; then
  typeset -g instant_held=$(mktemp) instant_in instant_out instant_err
  typeset -g instant_sp=$options[prompt_sp] instant_cr=$options[prompt_cr]
  print -rn -- $'\e[?25l❯ \e[?25h'
  exec {instant_in}<&0 {instant_out}>&1 {instant_err}>&2 0</dev/null 1>$instant_held 2>&1
  unsetopt prompt_sp prompt_cr

  instant_end() {
    exec 0<&$instant_in 1>&$instant_out 2>&$instant_err {instant_in}<&- {instant_out}>&- {instant_err}>&-
    print -rn -- $'\r\e[J'
    command cat -- $instant_held
    command rm -f -- $instant_held
    [[ $instant_sp == off ]] || setopt prompt_sp
    [[ $instant_cr == off ]] || setopt prompt_cr
    precmd_functions=(${precmd_functions:#instant_end})
    unfunction instant_end
    unset instant_held instant_in instant_out instant_err instant_sp instant_cr
  }
  precmd_functions=(instant_end $precmd_functions)
fi
