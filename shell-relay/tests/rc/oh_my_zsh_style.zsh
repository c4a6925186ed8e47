# What the frameworks for zsh do, in short: expanding prompts of two rows, a right prompt that comes later by a descriptor,
# a transient prompt, titles, keypad mode, magic paste and widgets of their own, hooks of all kinds.
setopt prompt_subst auto_cd auto_pushd pushd_ignore_dups interactive_comments multios long_list_jobs no_flow_control
setopt extended_history share_history hist_ignore_dups hist_ignore_space hist_verify
HISTFILE=${ZDOTDIR-$HOME}/.zsh_history HISTSIZE=50000 SAVEHIST=10000
autoload -Uz add-zsh-hook colors compinit url-quote-magic bracketed-paste-magic
colors
compinit -u -D
zstyle ':completion:*' menu select
zle -N self-insert url-quote-magic
zle -N bracketed-paste bracketed-paste-magic
bindkey -e

typeset -g style_full='${style_above}
%(?.%F{green}.%F{red})❯%f ' style_transient='%F{green}❯%f ' style_above= style_right= style_fd=
PROMPT=$style_full RPROMPT='${style_right}'

# The application mode of the keypad while a line is edited, as terminfo wants it. And the prompt of a line that is done shrinks.
zle-line-init() { (( ! ${+terminfo[smkx]} )) || echoti smkx; }
zle-line-finish() {
  (( ! ${+terminfo[rmkx]} )) || echoti rmkx
  PROMPT=$style_transient RPROMPT=
  zle .reset-prompt
}
zle -N zle-line-init
zle -N zle-line-finish

style_title() { [[ ! -t 1 ]] || print -Pn "\e]2;$1\a"; }

style_precmd() {
  PROMPT=$style_full RPROMPT='${style_right}'
  style_above="%F{cyan}%~%f %F{yellow}[$(print -P '%n')]%f"
  style_title '%n@%m: %~'
  style_start_branch
}

style_preexec() { style_title ${2:gs/%/%%}; }

# The branch is found by a process beside the shell; the line editor is told when it can be read.
style_start_branch() {
  if [[ -n $style_fd ]]; then
    zle -F $style_fd 2>/dev/null
    exec {style_fd}<&-
  fi
  exec {style_fd}< <(command git symbolic-ref --short -q HEAD 2>/dev/null || echo no-branch)
  zle -F $style_fd style_finish_branch
}

style_finish_branch() {
  local branch
  if IFS= read -r branch <&$1; then
    style_right="%F{magenta}$branch%f"
    zle && zle .reset-prompt
  fi
  zle -F $1
  exec {1}<&-
  style_fd=
}

add-zsh-hook precmd style_precmd
add-zsh-hook preexec style_preexec
