# Writes into file $1 what this bash is like, for receipts and undo: parts with a NUL behind each, at the end the directory stack.
# Builtins only, and no value of a variable that is not exported but the prompt. The `||` keeps a user's errexit out.
__cohab_state() {
  {
    builtin printf '%s\0' "$PWD" "${PS1-}" "$SHELLOPTS" "$BASHOPTS"
    builtin umask
    builtin printf '\0'
    builtin export -p
    builtin printf '\0'
    builtin alias -p
    builtin printf '\0'
    builtin compgen -A function
    builtin printf '\0'
    builtin compgen -A variable
    builtin printf '\0'
    builtin jobs -p
    builtin printf '\0%s' "${DIRSTACK[@]:1}" .
  } >|"$1" 2>/dev/null || builtin true
}
