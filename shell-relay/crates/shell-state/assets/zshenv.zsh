# Stands in for the user's .zshenv: zsh sees our ZDOTDIR only while it reads this file.
if [[ -n ${COHAB_ZDOTDIR+x} ]]; then
  ZDOTDIR=$COHAB_ZDOTDIR
  builtin unset COHAB_ZDOTDIR
else
  builtin unset ZDOTDIR
fi
[[ ! -r ${ZDOTDIR-$HOME}/.zshenv ]] || builtin source -- ${ZDOTDIR-$HOME}/.zshenv
[[ ! -o interactive ]] || builtin source -- @DIR@/integration.zsh
